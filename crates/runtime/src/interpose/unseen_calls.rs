//! Calls of the C library that may order threads in a way that the trace does not show.

use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::unseen::{ASYNCHRONOUS, LISTENING, NAMES, PROCESSES, STREAM_LOCKS, TIMERS, What, has_threads, mark};
use super::{interpose, tracked};
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::log;
use crate::record::Kind;
use crate::record::object::{ADDS, INTERRUPTS, LOOKS};
use crate::sys::{self, NEXT};

/// Says that it runs here, if the thread that runs here is recorded.
pub fn mark_here(what: What, place: usize) {
    if let Some(thread) = tracked() {
        mark(thread, what, place);
    }
}

/// A call that may let others go on and may wait for them.
pub fn around<R>(what: What, place: usize, call: impl FnOnce() -> R) -> R {
    mark_here(what, place);
    let result = call();
    mark_here(what, place);
    result
}

/// For instrumented code: it may order threads here. Both strings live as long as the program; the second may be null.
extern "C" fn told(what: *const c_char, object: *const c_char, place: usize) {
    if let Some(thread) = tracked() {
        thread.begin();
        log::sync(thread, Kind::Unseen, place, what as u64, object as u64);
        thread.end();
    }
}

/// The real function of this name, found at its first use.
fn real(found: &AtomicUsize, name: &CStr) -> usize {
    if found.load(Relaxed) == 0 {
        // SAFETY: a string that lives for ever.
        found.store(unsafe { sys::dlsym(NEXT, name.as_ptr()) } as usize, Relaxed);
    }
    found.load(Relaxed)
}

type Five = unsafe extern "C" fn(usize, usize, usize, usize, usize) -> usize;

/// Functions of five arguments or fewer, all integers or pointers.
macro_rules! unseen {
    ($($name:ident $object:expr $(, if $is_so:path)? $(=> $does:ident)?;)*) => {
        pub(super) mod calls {
            use super::*;
            $(
                pub extern "C" fn $name(a: usize, b: usize, c: usize, d: usize, e: usize, place: usize) -> usize {
                    static REAL: AtomicUsize = AtomicUsize::new(0);
                    const NAME: &CStr =
                        match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                            Ok(name) => name,
                            Err(_) => c"",
                        };
                    let function = real(&REAL, NAME);
                    if function == 0 {
                        sys::set_errno(sys::ENOSYS);
                        return usize::MAX;
                    }
                    // SAFETY: the library's function of this name; the arguments are the program's.
                    let call = || unsafe { core::mem::transmute::<usize, Five>(function)(a, b, c, d, e) };
                    let is_marked = true $(&& $is_so())?;
                    let does = 0 $(| $does)?;
                    if is_marked { around(What { name: NAME, object: $object, does }, place, call) } else { call() }
                }
            )*
        }
        interpose! { $($name "r9" => calls::$name;)* }
    };
}

unseen! {
    timer_settime Some(TIMERS) => INTERRUPTS;
    setitimer Some(TIMERS) => INTERRUPTS;
    alarm Some(TIMERS) => INTERRUPTS;
    ualarm Some(TIMERS) => INTERRUPTS;
    timerfd_settime Some(TIMERS);
    aio_read Some(ASYNCHRONOUS);
    aio_write Some(ASYNCHRONOUS);
    aio_fsync Some(ASYNCHRONOUS);
    aio_suspend Some(ASYNCHRONOUS);
    aio_error Some(ASYNCHRONOUS);
    aio_return Some(ASYNCHRONOUS);
    aio_cancel Some(ASYNCHRONOUS);
    aio_read64 Some(ASYNCHRONOUS);
    aio_write64 Some(ASYNCHRONOUS);
    aio_suspend64 Some(ASYNCHRONOUS);
    aio_error64 Some(ASYNCHRONOUS);
    aio_return64 Some(ASYNCHRONOUS);
    lio_listio Some(ASYNCHRONOUS);
    lio_listio64 Some(ASYNCHRONOUS);
    getaddrinfo_a Some(c"getaddrinfo_a");
    gai_suspend Some(c"getaddrinfo_a");
    gai_error Some(c"getaddrinfo_a");
    wait Some(PROCESSES);
    waitpid Some(PROCESSES);
    waitid Some(PROCESSES);
    wait3 Some(PROCESSES);
    wait4 Some(PROCESSES);
    splice None;
    tee None;
    vmsplice None;
    copy_file_range None;
    process_vm_readv None;
    process_vm_writev None;
    dlclose Some(c"the loader");
    access Some(NAMES), if has_threads => LOOKS;
    faccessat Some(NAMES), if has_threads => LOOKS;
    stat Some(NAMES), if has_threads => LOOKS;
    stat64 Some(NAMES), if has_threads => LOOKS;
    lstat Some(NAMES), if has_threads => LOOKS;
    lstat64 Some(NAMES), if has_threads => LOOKS;
    fstatat Some(NAMES), if has_threads => LOOKS;
    fstatat64 Some(NAMES), if has_threads => LOOKS;
    statx Some(NAMES), if has_threads => LOOKS;
    unlink Some(NAMES), if has_threads;
    unlinkat Some(NAMES), if has_threads;
    remove Some(NAMES), if has_threads;
    rename Some(NAMES), if has_threads;
    renameat Some(NAMES), if has_threads;
    renameat2 Some(NAMES), if has_threads;
    mkdir Some(NAMES), if has_threads;
    mkdirat Some(NAMES), if has_threads;
    rmdir Some(NAMES), if has_threads;
    link Some(NAMES), if has_threads;
    linkat Some(NAMES), if has_threads;
    symlink Some(NAMES), if has_threads;
    symlinkat Some(NAMES), if has_threads;
    opendir Some(NAMES), if has_threads => LOOKS;
    readdir Some(NAMES), if has_threads => LOOKS;
    readdir64 Some(NAMES), if has_threads => LOOKS;
    readdir_r Some(NAMES), if has_threads => LOOKS;
    readdir64_r Some(NAMES), if has_threads => LOOKS;
    scandir Some(NAMES), if has_threads => LOOKS;
    scandir64 Some(NAMES), if has_threads => LOOKS;
    scandirat Some(NAMES), if has_threads => LOOKS;
    scandirat64 Some(NAMES), if has_threads => LOOKS;
    ftw Some(NAMES), if has_threads => LOOKS;
    ftw64 Some(NAMES), if has_threads => LOOKS;
    nftw Some(NAMES), if has_threads => LOOKS;
    nftw64 Some(NAMES), if has_threads => LOOKS;
    glob Some(NAMES), if has_threads => LOOKS;
    glob64 Some(NAMES), if has_threads => LOOKS;
    fts_open Some(NAMES), if has_threads => LOOKS;
    fts64_open Some(NAMES), if has_threads => LOOKS;
    fts_read Some(NAMES), if has_threads => LOOKS;
    fts64_read Some(NAMES), if has_threads => LOOKS;
    fts_children Some(NAMES), if has_threads => LOOKS;
    fts64_children Some(NAMES), if has_threads => LOOKS;
    getdents64 Some(NAMES), if has_threads => LOOKS;
    readlink Some(NAMES), if has_threads => LOOKS;
    readlinkat Some(NAMES), if has_threads => LOOKS;
    realpath Some(NAMES), if has_threads => LOOKS;
    canonicalize_file_name Some(NAMES), if has_threads => LOOKS;
    tmpnam Some(NAMES), if has_threads => LOOKS;
    tempnam Some(NAMES), if has_threads => LOOKS;
    mktemp Some(NAMES), if has_threads => LOOKS;
    mkstemp Some(NAMES), if has_threads => ADDS;
    mkstemp64 Some(NAMES), if has_threads => ADDS;
    mkostemp Some(NAMES), if has_threads => ADDS;
    mkostemp64 Some(NAMES), if has_threads => ADDS;
    mkstemps Some(NAMES), if has_threads => ADDS;
    mkstemps64 Some(NAMES), if has_threads => ADDS;
    mkostemps Some(NAMES), if has_threads => ADDS;
    mkostemps64 Some(NAMES), if has_threads => ADDS;
    mkdtemp Some(NAMES), if has_threads => ADDS;
    mkfifo Some(NAMES), if has_threads;
    mkfifoat Some(NAMES), if has_threads;
    mknod Some(NAMES), if has_threads;
    mknodat Some(NAMES), if has_threads;
    truncate Some(NAMES), if has_threads;
    truncate64 Some(NAMES), if has_threads;
    listen Some(LISTENING), if has_threads => ADDS;
    flockfile Some(STREAM_LOCKS);
    ftrylockfile Some(STREAM_LOCKS);
    funlockfile Some(STREAM_LOCKS);
}

interpose! {
    foretrace_unseen "rdx" => told;
}

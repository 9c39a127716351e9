//! Calls that may order threads and that nothing here models: a record says that they ran, before and after. `docs/orders.md`
//! lists them.
//!
//! Those of one object order threads among themselves; those without one may order anything.

use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::{interpose, tracked};
use crate::log;
use crate::record::Kind;
use crate::sys::{self, NEXT};
use crate::threads::{self, Thread};

/// What ran, and what it concerns.
#[derive(Clone, Copy)]
pub struct What {
    pub name: &'static CStr,
    pub object: Option<&'static CStr>,
}

impl What {
    pub const fn anything(name: &'static CStr) -> What {
        What { name, object: None }
    }

    pub const fn named(name: &'static CStr, object: &'static CStr) -> What {
        What { name, object: Some(object) }
    }
}

/// Timers, however they are set and however they are noticed.
pub const TIMERS: &CStr = c"timers";
/// Requests of input and output that go on meanwhile.
pub const ASYNCHRONOUS: &CStr = c"asynchronous input and output";
/// Other processes.
pub const PROCESSES: &CStr = c"processes";
/// Names in folders, whichever.
pub const NAMES: &CStr = c"names of files";

/// What keeps the calls of one stream of `stdio` apart.
pub const STREAM_LOCKS: &CStr = c"locks of streams";

/// Whether there is, or was, a second thread.
pub fn has_threads() -> bool {
    threads::count() > 1
}

/// Says that it runs here.
pub fn mark(thread: &'static Thread, what: What, place: usize) {
    let error = sys::errno();
    thread.begin();
    record(thread, what, place);
    thread.end();
    sys::set_errno(error);
}

/// The same inside of a hook.
pub fn record(thread: &'static Thread, what: What, place: usize) {
    let object = what.object.map_or(0, |object| object.as_ptr() as u64);
    log::sync(thread, Kind::Unseen, place, what.name.as_ptr() as u64, object);
}

/// The same for who may not be recorded.
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
    ($($name:ident $object:expr $(, if $is_so:path)?;)*) => {
        mod calls {
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
                    if is_marked { around(What { name: NAME, object: $object }, place, call) } else { call() }
                }
            )*
        }
        interpose! { $($name "r9" => calls::$name;)* }
    };
}

unseen! {
    timer_settime Some(TIMERS);
    setitimer Some(TIMERS);
    alarm Some(TIMERS);
    ualarm Some(TIMERS);
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
    access Some(NAMES), if has_threads;
    faccessat Some(NAMES), if has_threads;
    stat Some(NAMES), if has_threads;
    stat64 Some(NAMES), if has_threads;
    lstat Some(NAMES), if has_threads;
    lstat64 Some(NAMES), if has_threads;
    fstatat Some(NAMES), if has_threads;
    fstatat64 Some(NAMES), if has_threads;
    statx Some(NAMES), if has_threads;
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
    truncate Some(NAMES), if has_threads;
    truncate64 Some(NAMES), if has_threads;
    flockfile Some(STREAM_LOCKS);
    ftrylockfile Some(STREAM_LOCKS);
    funlockfile Some(STREAM_LOCKS);
}

interpose! {
    foretrace_unseen "rdx" => told;
}

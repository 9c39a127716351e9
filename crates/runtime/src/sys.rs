//! The kernel and the C library as this crate sees them: system calls that leave `errno` alone, and declarations.

use core::arch::asm;
use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::AtomicU32;

pub const EINTR: c_int = 4;
pub const EAGAIN: c_int = 11;
pub const ERANGE: c_int = 34;
pub const EBUSY: c_int = 16;
pub const EINVAL: c_int = 22;
pub const EINPROGRESS: c_int = 115;
pub const ENOSPC: c_int = 28;
pub const EOPNOTSUPP: c_int = 95;
pub const EDEADLK: c_int = 35;
pub const EDQUOT: c_int = 122;
pub const ETIMEDOUT: c_int = 110;
pub const ENOMEM: c_int = 12;
pub const ENOSYS: c_int = 38;
pub const ENOENT: c_int = 2;
pub const ESRCH: c_int = 3;

pub const SIGILL: c_int = 4;
pub const SIGABRT: c_int = 6;
pub const SIGBUS: c_int = 7;
pub const SIGKILL: c_int = 9;
pub const SIGFPE: c_int = 8;
pub const SIGSEGV: c_int = 11;

pub const CLOCK_REALTIME: c_int = 0;
pub const CLOCK_MONOTONIC: c_int = 1;
pub const CLOCK_REALTIME_COARSE: c_int = 5;

pub const PAGE: usize = 4096;

pub mod number {
    //! Numbers of system calls.
    pub const READ: usize = 0;
    pub const READV: usize = 19;
    pub const WRITE: usize = 1;
    pub const OPEN: usize = 2;
    pub const OPENAT: usize = 257;
    pub const CLOSE: usize = 3;
    pub const FSTAT: usize = 5;
    pub const FSTATAT: usize = 262;
    pub const FSTATFS: usize = 138;
    pub const POLL: usize = 7;
    pub const LSEEK: usize = 8;
    pub const MMAP: usize = 9;
    pub const MUNMAP: usize = 11;
    pub const MADVISE: usize = 28;
    pub const RT_SIGACTION: usize = 13;
    pub const RT_SIGPROCMASK: usize = 14;
    pub const RT_SIGPENDING: usize = 127;
    pub const IOCTL: usize = 16;
    pub const PWRITE: usize = 18;
    pub const SCHED_YIELD: usize = 24;
    pub const NANOSLEEP: usize = 35;
    pub const GETPID: usize = 39;
    pub const CLONE: usize = 56;
    pub const CLONE3: usize = 435;
    pub const FORK: usize = 57;
    pub const VFORK: usize = 58;
    pub const SHMCTL: usize = 31;
    pub const SEMCTL: usize = 66;
    pub const TRUNCATE: usize = 76;
    pub const GETPPID: usize = 110;
    pub const PRCTL: usize = 157;
    pub const GETITIMER: usize = 36;
    pub const GETCWD: usize = 79;
    pub const RENAME: usize = 82;
    pub const UNLINK: usize = 87;
    pub const READLINK: usize = 89;
    pub const SIGALTSTACK: usize = 131;
    pub const GETTID: usize = 186;
    pub const PREADV2: usize = 327;
    pub const SOCKET: usize = 41;
    pub const CONNECT: usize = 42;
    pub const SENDTO: usize = 44;
    pub const RECVFROM: usize = 45;
    pub const SHUTDOWN: usize = 48;
    pub const BIND: usize = 49;
    pub const LISTEN: usize = 50;
    pub const GETSOCKNAME: usize = 51;
    pub const GETPEERNAME: usize = 52;
    pub const SOCKETPAIR: usize = 53;
    pub const GETSOCKOPT: usize = 55;
    pub const ACCEPT4: usize = 288;
    pub const DUP3: usize = 292;
    pub const PIPE2: usize = 293;
    pub const FCNTL: usize = 72;
    pub const FACCESSAT: usize = 269;
    pub const FUTEX: usize = 202;
    pub const FUTEX_WAITV: usize = 449;
    pub const GETTIMEOFDAY: usize = 96;
    pub const TIME: usize = 201;
    pub const CLOCK_GETTIME: usize = 228;
    pub const GETRANDOM: usize = 318;
    pub const EXIT_GROUP: usize = 231;
    pub const KILL: usize = 62;
    pub const TKILL: usize = 200;
    pub const TGKILL: usize = 234;
    pub const RT_SIGQUEUEINFO: usize = 129;
    pub const RT_TGSIGQUEUEINFO: usize = 297;
    pub const RT_SIGTIMEDWAIT: usize = 128;
    pub const FALLOCATE: usize = 285;
    pub const PPOLL: usize = 271;
    pub const EPOLL_WAIT: usize = 232;
    pub const EPOLL_PWAIT: usize = 281;
    pub const MEMBARRIER: usize = 324;
}

/// A system call: its result, or minus the error.
///
/// # Safety
/// As the call itself.
pub unsafe fn syscall(number: usize, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    let result;
    // SAFETY: the caller's promise; the kernel clobbers rcx and r11 alone.
    unsafe {
        asm!("syscall", inlateout("rax") number => result, in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d,
            in("r8") e, in("r9") f, lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    result
}

macro_rules! call {
    ($number:ident $(, $argument:expr)*) => {{
        let mut arguments = [0usize; 6];
        let given = [$($argument as usize),*];
        arguments[..given.len()].copy_from_slice(&given);
        // SAFETY: pointers among the arguments are to live memory of the right size.
        unsafe { $crate::sys::syscall($crate::sys::number::$number, arguments) }
    }};
}

/// `cookie_io_functions_t`; each may be missing.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct CookieFunctions {
    pub read: Option<unsafe extern "C" fn(usize, *mut c_char, usize) -> isize>,
    pub write: Option<unsafe extern "C" fn(usize, *const c_char, usize) -> isize>,
    pub seek: Option<unsafe extern "C" fn(usize, *mut i64, c_int) -> c_int>,
    pub close: Option<unsafe extern "C" fn(usize) -> c_int>,
}

/// A point or span of time as the kernel has it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(C)]
pub struct Timespec {
    pub seconds: i64,
    pub nanoseconds: i64,
}

impl Timespec {
    pub fn valid(self) -> bool {
        (0..1_000_000_000).contains(&self.nanoseconds)
    }

    /// What passes between two moments.
    pub fn since(self, other: Timespec) -> Timespec {
        let nanoseconds = self.nanoseconds - other.nanoseconds;
        let borrow = i64::from(nanoseconds < 0);
        Timespec {
            seconds: self.seconds.saturating_sub(other.seconds).saturating_sub(borrow),
            nanoseconds: nanoseconds + borrow * 1_000_000_000,
        }
    }

    pub fn plus(self, span: Timespec) -> Timespec {
        let nanoseconds = self.nanoseconds + span.nanoseconds;
        let carry = i64::from(nanoseconds >= 1_000_000_000);
        Timespec {
            seconds: self.seconds.saturating_add(span.seconds).saturating_add(carry),
            nanoseconds: nanoseconds - carry * 1_000_000_000,
        }
    }
}

/// A moment at which a wait gives up.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    pub clock: c_int,
    pub at: Timespec,
}

pub fn now(clock: c_int) -> Timespec {
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    call!(CLOCK_GETTIME, clock, &raw mut time);
    time
}

/// Sleeps a while, or until a signal comes.
pub fn sleep(nanoseconds: i64) {
    let span = Timespec { seconds: nanoseconds / 1_000_000_000, nanoseconds: nanoseconds % 1_000_000_000 };
    call!(NANOSLEEP, &raw const span, 0);
}

const FUTEX_WAKE: c_int = 1;
const FUTEX_WAIT_BITSET: c_int = 9;
const FUTEX_PRIVATE: c_int = 128;
const FUTEX_CLOCK_REALTIME: c_int = 256;

/// Sleeps while the word has this value, at most until the deadline; true if that passed.
pub fn futex_wait(word: &AtomicU32, value: u32, deadline: Option<Deadline>) -> bool {
    let realtime = deadline.is_some_and(|deadline| deadline.clock == CLOCK_REALTIME);
    let operation = FUTEX_WAIT_BITSET | FUTEX_PRIVATE | if realtime { FUTEX_CLOCK_REALTIME } else { 0 };
    let at = match &deadline {
        Some(deadline) if deadline.at.seconds < 0 => return true,
        Some(deadline) => &raw const deadline.at,
        None => core::ptr::null(),
    };
    call!(FUTEX, word.as_ptr(), operation, value, at, 0, u32::MAX) == -(ETIMEDOUT as isize)
}

pub fn futex_wake(word: *const AtomicU32, how_many: c_int) {
    call!(FUTEX, word, FUTEX_WAKE | FUTEX_PRIVATE, how_many);
}

/// Sleeps for a span of time, or until a thread of any process wakes those of this word; not at all if it has another value.
pub fn futex_wait_any(word: usize, value: u32, span: Timespec) {
    const FUTEX_WAIT: c_int = 0;
    call!(FUTEX, word, FUTEX_WAIT, value, &raw const span);
}

/// Wakes threads that sleep on a word of the program: those for which it is this process's own, then those of any process; how many.
pub fn futex_wake_any(word: usize, how_many: c_int) -> isize {
    let most = how_many as isize;
    let wake = |of_whom, most: isize| if most > 0 { call!(FUTEX, word, FUTEX_WAKE | of_whom, most).max(0) } else { 0 };
    let own = wake(FUTEX_PRIVATE, most);
    own + wake(0, most - own)
}

pub const READ_ONLY: c_int = 0;
pub const CREATE: c_int = 0o100 | 0o1 | 0o1000; // O_CREAT | O_WRONLY | O_TRUNC
pub const READ_WRITE: c_int = 0o2 | 0o100; // O_RDWR | O_CREAT
pub const APPEND: c_int = 0o100 | 0o1 | 0o2000; // O_CREAT | O_WRONLY | O_APPEND
const CLOSE_ON_EXEC: c_int = 0o2_000_000;

/// Opens a file by its path, which ends with a zero byte.
pub fn open(path: &[u8], flags: c_int) -> Result<c_int, c_int> {
    debug_assert_eq!(path.last(), Some(&0));
    let result = call!(OPEN, path.as_ptr(), flags | CLOSE_ON_EXEC, 0o644);
    if result < 0 { Err(-result as c_int) } else { Ok(result as c_int) }
}

pub fn close(file: c_int) {
    call!(CLOSE, file);
}

/// Writes all of it, as far as the system takes it.
pub fn write(file: c_int, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match call!(WRITE, file, bytes.as_ptr(), bytes.len()) {
            written if written > 0 => bytes = &bytes[written as usize..],
            error if error == -(EINTR as isize) => {}
            _ => return,
        }
    }
}

pub fn read(file: c_int, into: &mut [u8]) -> usize {
    call!(READ, file, into.as_mut_ptr(), into.len()).max(0) as usize
}

/// What a file of the kernel says, as far as it fits. The path ends with a zero byte.
pub fn contents<'t, const N: usize>(path: &[u8], into: &'t mut [u8; N]) -> Option<&'t [u8]> {
    let file = open(path, READ_ONLY).ok()?;
    let length = read(file, into);
    close(file);
    Some(&into[..length])
}

/// Fresh zeroed memory, apart from where the program's own mappings go.
pub fn map(bytes: usize) -> Option<*mut u8> {
    map_file(-1, bytes, 0, ANONYMOUS)
}

/// A file, shared.
pub fn map_shared(file: c_int, bytes: usize, offset: u64) -> Option<*mut u8> {
    map_file(file, bytes, offset, SHARED)
}

/// Makes pages be there for writing, all at once; where the kernel cannot, each comes when it is touched.
pub fn touch(memory: *mut u8, bytes: usize) {
    const POPULATE_WRITE: usize = 23;
    call!(MADVISE, memory, bytes, POPULATE_WRITE);
}

/// A file to read.
pub fn map_private(file: c_int, bytes: usize) -> Option<*mut u8> {
    map_file(file, bytes, 0, PRIVATE)
}

const SHARED: usize = 1;
const PRIVATE: usize = 2;
const ANONYMOUS: usize = 0x4022; // MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE

/// Where our own mappings go: far from the program's, so that theirs stay where they are without us.
static HINT: core::sync::atomic::AtomicUsize = core::sync::atomic::AtomicUsize::new(0x3000_0000_0000);

fn map_file(file: c_int, bytes: usize, offset: u64, flags: usize) -> Option<*mut u8> {
    const READ_AND_WRITE: usize = 3;
    let bytes = bytes.next_multiple_of(PAGE);
    let hint = HINT.fetch_add(bytes + PAGE, core::sync::atomic::Ordering::Relaxed);
    let result = call!(MMAP, hint, bytes, READ_AND_WRITE, flags, file, offset);
    (!(-4095..0).contains(&result)).then_some(result as *mut u8)
}

/// Fresh zeroed memory exactly there, of which pages come into being when they are touched, and are in no core dump.
pub fn map_at(address: u64, bytes: u64) -> bool {
    const NOWHERE_ELSE: usize = 0x10_0000;
    const READ_AND_WRITE: usize = 3;
    let result = call!(MMAP, address, bytes, READ_AND_WRITE, ANONYMOUS | NOWHERE_ELSE, -1i32, 0);
    if result != address as isize {
        if result > 0 {
            call!(MUNMAP, result, bytes); // a kernel that takes the address as a hint
        }
        return false;
    }
    for advice in [NO_HUGE_PAGES, NO_DUMP] {
        call!(MADVISE, address, bytes, advice);
    }
    true
}

const NO_HUGE_PAGES: usize = 15;
const NO_DUMP: usize = 16;

/// Makes [`barrier_everywhere`] possible; whether it is.
pub fn prepare_barrier() -> bool {
    const REGISTER_PRIVATE_EXPEDITED: usize = 1 << 4;
    call!(MEMBARRIER, REGISTER_PRIVATE_EXPEDITED, 0) == 0
}

/// A full memory barrier in every thread of the process that runs now.
pub fn barrier_everywhere() {
    const PRIVATE_EXPEDITED: usize = 1 << 3;
    call!(MEMBARRIER, PRIVATE_EXPEDITED, 0);
}

pub fn unmap(memory: *mut u8, bytes: usize) {
    call!(MUNMAP, memory, bytes.next_multiple_of(PAGE));
}

/// The length of a file.
pub fn size(file: c_int) -> Option<usize> {
    const FROM_END: usize = 2;
    let end = call!(LSEEK, file, 0, FROM_END);
    usize::try_from(end).ok()
}

pub fn gettid() -> c_int {
    call!(GETTID, 0) as c_int
}

/// Has this process killed when the one that started it is: nothing may run on unattended, and logs are whole at any time.
pub fn end_with_parent(parent: u64) {
    const PARENT_DEATH_SIGNAL: usize = 1;
    call!(PRCTL, PARENT_DEATH_SIGNAL, SIGKILL);
    if call!(GETPPID, 0) as u64 != parent {
        die_by(SIGKILL); // it was killed before it could be said
    }
}

/// Whether this thread of ours has left the kernel's table.
pub fn gone(tid: c_int) -> bool {
    call!(TGKILL, call!(GETPID, 0), tid, 0) == -(ESRCH as isize)
}

/// Ends the process by this signal, whatever handlers say.
pub fn die_by(signal: c_int) -> ! {
    let default = [0_usize; 4]; // the kernel's sigaction: SIG_DFL, no flags, no restorer, an empty mask
    call!(RT_SIGACTION, signal, &raw const default, 0, 8);
    let bit: u64 = 1 << (signal - 1);
    const UNBLOCK: usize = 1;
    call!(RT_SIGPROCMASK, UNBLOCK, &raw const bit, 0, 8);
    call!(TGKILL, call!(GETPID, 0), gettid(), signal);
    loop {
        call!(EXIT_GROUP, 127);
    }
}

pub(crate) use call;

/// Compares two elements.
pub type Compare = unsafe extern "C" fn(*const c_void, *const c_void) -> c_int;

/// The same for `qsort_r`, which gives it an argument of the program's.
pub type CompareWith = unsafe extern "C" fn(*const c_void, *const c_void, *mut c_void) -> c_int;

/// The start of a thread.
pub type Start = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

unsafe extern "C" {
    pub static mut environ: *mut *mut c_char;
    pub static mut stdin: *mut c_void;
    pub fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    pub fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
    pub fn dl_iterate_phdr(
        callback: unsafe extern "C" fn(*mut DlInfo, usize, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    pub fn dladdr(address: *const c_void, information: *mut DlAddress) -> c_int;
    pub fn memmove(to: *mut c_void, from: *const c_void, bytes: usize) -> *mut c_void;
    pub fn memset(to: *mut c_void, byte: c_int, bytes: usize) -> *mut c_void;
    pub fn strlen(text: *const c_char) -> usize;
    pub fn strnlen(text: *const c_char, most: usize) -> usize;
    pub fn strcpy(to: *mut c_char, from: *const c_char) -> *mut c_char;
    pub fn stpcpy(to: *mut c_char, from: *const c_char) -> *mut c_char;
    pub fn stpncpy(to: *mut c_char, from: *const c_char, count: usize) -> *mut c_char;
    pub fn memccpy(to: *mut c_void, from: *const c_void, byte: c_int, count: usize) -> *mut c_void;
    pub fn strchrnul(text: *const c_char, byte: c_int) -> *mut c_char;
    pub fn strncpy(to: *mut c_char, from: *const c_char, bytes: usize) -> *mut c_char;
    pub fn strcat(to: *mut c_char, from: *const c_char) -> *mut c_char;
    pub fn strncat(to: *mut c_char, from: *const c_char, most: usize) -> *mut c_char;
    pub fn strdup(text: *const c_char) -> *mut c_char;
    pub fn strndup(text: *const c_char, most: usize) -> *mut c_char;
    pub fn memchr(memory: *const c_void, byte: c_int, bytes: usize) -> *mut c_void;
    pub fn strchr(text: *const c_char, byte: c_int) -> *mut c_char;
    pub fn strrchr(text: *const c_char, byte: c_int) -> *mut c_char;
    pub fn memcmp(one: *const c_void, other: *const c_void, bytes: usize) -> c_int;
    pub fn strcmp(one: *const c_char, other: *const c_char) -> c_int;
    pub fn strncmp(one: *const c_char, other: *const c_char, most: usize) -> c_int;
    pub fn strcasecmp(one: *const c_char, other: *const c_char) -> c_int;
    pub fn strncasecmp(one: *const c_char, other: *const c_char, most: usize) -> c_int;
    pub fn tolower(character: c_int) -> c_int;
    pub fn strstr(text: *const c_char, part: *const c_char) -> *mut c_char;
    pub fn strspn(text: *const c_char, set: *const c_char) -> usize;
    pub fn strcspn(text: *const c_char, set: *const c_char) -> usize;
    pub fn strtok_r(text: *mut c_char, set: *const c_char, rest: *mut *mut c_char) -> *mut c_char;
    pub fn strsep(rest: *mut *mut c_char, set: *const c_char) -> *mut c_char;
    pub fn strpbrk(text: *const c_char, set: *const c_char) -> *mut c_char;
    pub fn strtol(text: *const c_char, end: *mut *mut c_char, base: c_int) -> i64;
    pub fn strtoul(text: *const c_char, end: *mut *mut c_char, base: c_int) -> u64;
    pub fn strtod(text: *const c_char, end: *mut *mut c_char) -> f64;
    pub fn qsort(array: *mut c_void, count: usize, size: usize, compare: Compare);
    pub fn qsort_r(array: *mut c_void, count: usize, size: usize, compare: CompareWith, argument: *mut c_void);
    pub fn wcstoul(text: *const u32, end: *mut *mut u32, base: c_int) -> u64;
    pub fn wcstod(text: *const u32, end: *mut *mut u32) -> f64;
    pub fn bsearch(
        key: *const c_void,
        array: *const c_void,
        count: usize,
        size: usize,
        compare: Compare,
    ) -> *mut c_void;
    pub fn malloc_usable_size(memory: *mut c_void) -> usize;
    pub fn __libc_malloc(bytes: usize) -> *mut c_void;
    pub fn __libc_calloc(count: usize, bytes: usize) -> *mut c_void;
    pub fn __libc_realloc(memory: *mut c_void, bytes: usize) -> *mut c_void;
    pub fn __libc_memalign(alignment: usize, bytes: usize) -> *mut c_void;
    pub fn __libc_free(memory: *mut c_void);
    pub fn __errno_location() -> *mut c_int;
    pub fn pthread_self() -> usize;
    fn pthread_getattr_np(thread: usize, attributes: *mut c_void) -> c_int;
    fn pthread_attr_getstack(attributes: *const c_void, start: *mut u64, bytes: *mut u64) -> c_int;
    fn pthread_attr_init(attributes: *mut c_void) -> c_int;
    fn pthread_attr_setstack(attributes: *mut c_void, start: *mut c_void, bytes: usize) -> c_int;
    fn pthread_attr_destroy(attributes: *mut c_void) -> c_int;
    pub fn pthread_key_create(key: *mut u32, destructor: unsafe extern "C" fn(*mut c_void)) -> c_int;
    pub fn pthread_setspecific(key: u32, value: *const c_void) -> c_int;
    pub fn __register_atfork(
        before: Option<unsafe extern "C" fn()>,
        parent: Option<unsafe extern "C" fn()>,
        child: Option<unsafe extern "C" fn()>,
        library: *mut c_void,
    ) -> c_int;
}

/// What lies between the frame of the caller, the first one of a thread, and the thread's descriptor: its thread-local variables.
#[inline(never)]
pub fn own_thread_locals() -> Option<(u64, u64)> {
    const MOST: u64 = 1 << 20;
    let (frame, descriptor): (u64, u64);
    // SAFETY: the first word of the descriptor is its own address.
    unsafe {
        core::arch::asm!("mov {0}, rsp", "mov {1}, qword ptr fs:[0]", out(reg) frame, out(reg) descriptor,
            options(nostack, preserves_flags, readonly));
    }
    let bytes = descriptor.checked_sub(frame)?;
    (bytes < MOST).then_some((frame, bytes))
}

/// `pthread_attr_t`.
pub type ThreadAttributes = [u64; 7];

/// Gives a thread of ours a stack apart from those of the program's threads, which stay where they are without it.
pub fn set_stack_apart(attributes: &mut ThreadAttributes) {
    const BYTES: usize = 8 << 20; // variables of threads lie there, too
    let attributes = attributes.as_mut_ptr().cast();
    // SAFETY: room for what the library writes, and a new mapping.
    unsafe {
        pthread_attr_init(attributes);
        if let Some(stack) = map(BYTES) {
            pthread_attr_setstack(attributes, stack.cast(), BYTES);
        }
    }
}

/// Start and length of this thread's stack.
pub fn own_stack() -> Option<(u64, u64)> {
    let mut attributes: ThreadAttributes = [0; 7];
    let (mut start, mut bytes) = (0, 0);
    let attributes = attributes.as_mut_ptr().cast();
    // SAFETY: room for what the library writes.
    let found = unsafe {
        pthread_getattr_np(pthread_self(), attributes) == 0 && {
            let found = pthread_attr_getstack(attributes, &mut start, &mut bytes) == 0;
            pthread_attr_destroy(attributes);
            found
        }
    };
    (found && bytes > 0).then_some((start, bytes))
}

/// `RTLD_NEXT`.
pub const NEXT: *mut c_void = -1isize as *mut c_void;

pub fn set_errno(error: c_int) {
    // SAFETY: always a valid pointer.
    unsafe { *__errno_location() = error }
}

pub fn errno() -> c_int {
    // SAFETY: always a valid pointer.
    unsafe { *__errno_location() }
}

/// `dl_phdr_info` as far as it is used.
#[repr(C)]
pub struct DlInfo {
    pub bias: usize,
    pub name: *const c_char,
    pub headers: *const ProgramHeader,
    pub count: u16,
}

/// `Elf64_Phdr`.
#[repr(C)]
pub struct ProgramHeader {
    pub kind: u32,
    pub flags: u32,
    pub offset: u64,
    pub address: u64,
    pub physical: u64,
    pub file_size: u64,
    pub memory_size: u64,
    pub alignment: u64,
}

/// `Dl_info`.
#[repr(C)]
pub struct DlAddress {
    pub file: *const c_char,
    pub base: *mut c_void,
    pub symbol: *const c_char,
    pub address: *mut c_void,
}

//! What the program wants of signals, which are blocked, and the way up to where its handlers run.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::interpose::real;
use crate::siginfo::Information;
use crate::sys::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, call};
use crate::threads::Thread;

pub(super) const SIGNALS: usize = 65;
pub(super) const DEFAULT: usize = 0;
pub(super) const IGNORE: usize = 1;

const WITH_INFORMATION: c_int = 4;
pub(super) const ON_STACK: c_int = 0x0800_0000;
pub(super) const RESTART: c_int = 0x1000_0000;
pub(super) const NOT_DEFERRED: c_int = 0x4000_0000;
pub(super) const RESET: c_int = 0x8000_0000u32 as c_int;

/// What ends the process, and comes from what the thread itself does.
pub(super) const FATAL: [c_int; 5] = [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT];

/// `struct sigaction` of the library.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Action {
    pub(super) handler: usize,
    pub(super) mask: [u64; 16],
    pub(super) flags: c_int,
    restorer: usize,
}

impl Action {
    pub(super) const fn new(handler: usize, flags: c_int) -> Action {
        Action { handler, mask: [0; 16], flags, restorer: 0 }
    }
}

/// What the program wants of a signal.
pub(super) struct Wish {
    pub(super) handler: AtomicUsize,
    pub(super) flags: AtomicI32,
    pub(super) mask: AtomicU64,
    /// Our handler is installed for it.
    pub(super) ours: AtomicBool,
}

pub(super) static WISHES: [Wish; SIGNALS] = [const {
    Wish {
        handler: AtomicUsize::new(DEFAULT),
        flags: AtomicI32::new(0),
        mask: AtomicU64::new(0),
        ours: AtomicBool::new(false),
    }
}; SIGNALS];

/// What runs handlers of the program. Handlers call hooks, and hooks let handlers run: at their end, and in a replay where a thread waits for
/// its turn. So these functions are called from below; [`prepare`] says which they are.
pub struct Handling {
    /// The kernel calls it with each signal.
    pub arrived: unsafe extern "C" fn(c_int, *mut c_void, *mut c_void),
    /// A hook is over, and a signal waits for that.
    pub deliver: fn(&'static Thread),
    /// A signal comes where it came in the recording; false if the program has no handler for it.
    pub come_again: fn(&'static Thread, c_int) -> bool,
    /// A signal comes that arrived before, with what the kernel said of it.
    pub come_late: fn(&'static Thread, c_int, Information),
}

static HANDLING: AtomicPtr<Handling> = AtomicPtr::new(core::ptr::null_mut());

/// Before the first signal, and before the first thread is recorded.
pub fn prepare(handling: &'static Handling) {
    HANDLING.store(core::ptr::from_ref(handling).cast_mut(), Release);
}

fn handling() -> &'static Handling {
    // SAFETY: null, or what `prepare` got.
    unsafe { HANDLING.load(Acquire).as_ref() }.expect("signals are prepared before the first thread")
}

/// The hook is over: the signal that waited has its turn.
#[cold]
#[inline(never)]
pub fn deliver(thread: &'static Thread) {
    (handling().deliver)(thread);
}

/// A signal from outside comes here as in the recording. The thread is inside of a hook. False if the program has no handler for it.
pub fn come_again(thread: &'static Thread, signal: c_int) -> bool {
    (handling().come_again)(thread, signal)
}

/// A signal comes here that arrived before. The thread is inside of a hook.
pub fn come_late(thread: &'static Thread, signal: c_int, information: Information) {
    (handling().come_late)(thread, signal, information);
}

pub(super) fn install(signal: c_int, flags: c_int, mask: [u64; 16]) -> c_int {
    let ours =
        Action { mask, ..Action::new(handling().arrived as *const () as usize, flags & !RESET | WITH_INFORMATION) };
    WISHES[signal as usize].ours.store(true, Release);
    real::sigaction(signal, (&raw const ours).cast(), core::ptr::null_mut())
}

/// Installs a handler of our own, until the program installs one.
pub fn call_directly(signal: c_int, handler: usize) {
    let action = Action::new(handler, ON_STACK | RESTART);
    real::sigaction(signal, (&raw const action).cast(), core::ptr::null_mut());
}

/// From here on the signal does what it does by default.
pub fn set_default(signal: c_int) {
    let default = Action::new(DEFAULT, 0);
    WISHES[signal as usize].ours.store(false, Release);
    real::sigaction(signal, (&raw const default).cast(), core::ptr::null_mut());
}

/// A child process: what is ours goes.
pub fn abandon() {
    for signal in FATAL {
        let wish = &WISHES[signal as usize];
        if wish.ours.load(Acquire) && wish.handler.load(Acquire) == DEFAULT {
            set_default(signal);
        }
    }
}

/// Whether a handler of the program may still be called for a signal that comes from outside; those for what a thread itself does
/// wrong do not count.
pub fn may_come() -> bool {
    let is_handled = |signal: usize| WISHES[signal].handler.load(Relaxed) > IGNORE;
    (1..SIGNALS).any(|signal| !FATAL.contains(&(signal as c_int)) && is_handled(signal))
}

/// Sets which signals are blocked; which were.
pub fn set_mask(mask: u64) -> u64 {
    const SET: usize = 2;
    let mut before = 0u64;
    call!(RT_SIGPROCMASK, SET, &raw const mask, &raw mut before, size_of::<u64>());
    before
}

/// Blocks all signals but one. By that one the C library changes the identity of every thread (`setuid`, `setgroups`). The thread that asks
/// for it waits for an answer of each other thread, also of the runtime's. Gives the mask before.
pub fn block_all() -> u64 {
    const CHANGE_IDENTITY: c_int = 33;
    set_mask(!bit(CHANGE_IDENTITY))
}

/// The mask that the program knows of: while a signal is deferred more are blocked.
pub fn own_mask(thread: &Thread, mask: u64) -> u64 {
    if thread.pending.get() { thread.deferred.mask.get() } else { mask }
}

pub const fn bit(signal: c_int) -> u64 {
    1 << (signal - 1)
}

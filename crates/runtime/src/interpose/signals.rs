//! Signals. Handlers of the program are wrapped, so that the log says when they run and none runs inside of a hook;
//! those that would end the process are written down before they do.
//!
//! A signal that arrives inside of a hook is deferred to the hook's end, with all others blocked until then. A fault of the program's own
//! access there cannot wait: the access is undone (see `hooks::access`), and begun again if a handler repairs the cause.

mod deferred;
mod faults;
mod stack;

pub use deferred::Deferred;
pub use stack::{thread_ends, thread_starts};

use core::ffi::{c_int, c_void};
use core::sync::atomic::{
    AtomicBool, AtomicI32, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

use super::{notices, real};
use crate::controller;
use crate::feed;
use crate::hooks::held;
use crate::log;
use crate::mode;
use crate::record::{Kind, fail};
use crate::sys::{self, EINVAL, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, call};
use crate::threads::{self, Thread};
use deferred::CONTEXT_WORDS;

const SIGNALS: usize = 65;
const DEFAULT: usize = 0;
const IGNORE: usize = 1;
const ERROR: usize = usize::MAX;

const WITH_INFORMATION: c_int = 4;
const ON_STACK: c_int = 0x0800_0000;
const RESTART: c_int = 0x1000_0000;
const NOT_DEFERRED: c_int = 0x4000_0000;
const RESET: c_int = 0x8000_0000u32 as c_int;

/// What ends the process, and comes from what the thread itself does.
const FATAL: [c_int; 5] = [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT];

/// `struct sigaction` of the library.
#[derive(Clone, Copy)]
#[repr(C)]
struct Action {
    handler: usize,
    mask: [u64; 16],
    flags: c_int,
    restorer: usize,
}

impl Action {
    const fn new(handler: usize, flags: c_int) -> Action {
        Action { handler, mask: [0; 16], flags, restorer: 0 }
    }
}

/// What the program wants of a signal.
struct Wish {
    handler: AtomicUsize,
    flags: AtomicI32,
    mask: AtomicU64,
    /// Our handler is installed for it.
    ours: AtomicBool,
}

static WISHES: [Wish; SIGNALS] = [const {
    Wish {
        handler: AtomicUsize::new(DEFAULT),
        flags: AtomicI32::new(0),
        mask: AtomicU64::new(0),
        ours: AtomicBool::new(false),
    }
}; SIGNALS];

/// Where a `ucontext_t` has the mask of blocked signals.
const CONTEXT_MASK: usize = 296;

/// Installs what writes the end of the process down.
pub fn process_starts() {
    for signal in FATAL {
        let mut before = Action::new(DEFAULT, 0);
        real::sigaction(signal, core::ptr::null(), (&raw mut before).cast());
        if before.handler == DEFAULT {
            install(signal, ON_STACK, [0; 16]);
        }
    }
}

fn install(signal: c_int, flags: c_int, mask: [u64; 16]) -> c_int {
    let ours = Action { mask, ..Action::new(arrived as *const () as usize, flags & !RESET | WITH_INFORMATION) };
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

const fn bit(signal: c_int) -> u64 {
    1 << (signal - 1)
}

/// Whether the signal is the thread's own doing, here and now.
///
/// # Safety
/// The kernel's description of a signal.
unsafe fn synchronous(signal: c_int, information: *const c_void) -> bool {
    const CODE: usize = 2;
    // SAFETY: the caller's promise.
    let code = unsafe { *information.cast::<c_int>().add(CODE) };
    code > 0 && signal != SIGABRT && FATAL.contains(&signal)
}

/// Where a `siginfo_t` has the address of a fault, in words.
const FAULT_ADDRESS: usize = 2;

/// Our handler, of all signals. Those of the program may jump out of it.
unsafe extern "C" fn arrived(signal: c_int, information: *mut c_void, context: *mut c_void) {
    let error = sys::errno();
    let thread = threads::known().filter(|_| mode::get() != mode::OFF);
    // SAFETY: the kernel's arguments, all through.
    unsafe {
        match thread {
            None => unrecorded(signal, information, context),
            Some(thread) if comes_elsewhere(thread, signal, information) => {}
            Some(thread) if goes_to_other(thread, signal, information) => {}
            Some(thread) if !thread.occupied() && is_time(thread, signal, synchronous(signal, information)) => {
                if synchronous(signal, information) {
                    held::faulted(thread, *information.cast::<u64>().add(FAULT_ADDRESS));
                }
                handle(thread, signal, information, context);
            }
            Some(thread) if synchronous(signal, information) => faults::fault(thread, signal, information, context),
            Some(thread) => defer(thread, signal, information, context),
        }
    }
    sys::set_errno(error);
}

/// Whether the program's handler may run now: in a replay it runs where it did in the recording.
fn is_time(thread: &Thread, signal: c_int, synchronous: bool) -> bool {
    let is_handled = WISHES[signal as usize].handler.load(Acquire) > IGNORE;
    synchronous || !is_handled || !controller::replaying() || controller::is_time_for_handler(thread)
}

/// Whether a signal came from outside of the program in a replay that has such signals where the recording had them. It is over then.
///
/// # Safety
/// The kernel's description of a signal.
unsafe fn comes_elsewhere(thread: &'static Thread, signal: c_int, information: *const c_void) -> bool {
    if !controller::replaying() || !controller::following() {
        return false;
    }
    // SAFETY: the caller's promise.
    let code = unsafe { *information.cast::<c_int>().add(notices::CODE) };
    let is_handled = WISHES[signal as usize].handler.load(Acquire) > IGNORE;
    let is_prodded = code == notices::TO_THREAD && controller::due_alarm(thread) == Some(signal);
    if !is_handled || FATAL.contains(&signal) || !(notices::is_of_kernel(code) || is_prodded) {
        return false;
    }
    let comes_here = !thread.occupied() && controller::begin_alarm(thread, signal);
    if !(comes_here && again(thread, signal)) {
        controller::take_away(signal);
    }
    true
}

/// Whether another thread handles this signal to the process in the schedule that a replay follows. It gets the signal, then.
///
/// # Safety
/// The kernel's description of a signal.
unsafe fn goes_to_other(thread: &'static Thread, signal: c_int, information: *const c_void) -> bool {
    if !controller::replaying() || WISHES[signal as usize].handler.load(Acquire) <= IGNORE {
        return false;
    }
    // SAFETY: the caller's promise.
    let code = unsafe { *information.cast::<c_int>().add(notices::CODE) };
    let other = if notices::may_go_to_process(code) { controller::other_handler(thread) } else { None };
    let Some(other) = other else { return false };
    let (process, to) = (call!(GETPID, 0), other.tid.load(Relaxed));
    // The kernel lets a thread pass on what was queued; of what `kill` sent only that it came, not its `si_code`.
    call!(RT_TGSIGQUEUEINFO, process, to, signal, information) == 0 || call!(TGKILL, process, to, signal) == 0
}

/// A signal from outside, here as in the recording. The thread is inside of a hook. False if the program has no handler for it.
pub fn come_again(thread: &'static Thread, signal: c_int) -> bool {
    if WISHES[signal as usize].handler.load(Acquire) <= IGNORE {
        return false;
    }
    let error = sys::errno();
    thread.end();
    let came = again(thread, signal);
    thread.occupy();
    sys::set_errno(error);
    came
}

/// The same outside of hooks: with the information that came with it, and without a context.
fn again(thread: &'static Thread, signal: c_int) -> bool {
    let wish = &WISHES[signal as usize];
    let (mut information, mut context) = ([0u64; 16], [0u64; CONTEXT_WORDS]);
    feed::signal::give(thread, signal, &mut information);
    let itself = if wish.flags.load(Relaxed) & NOT_DEFERRED == 0 { bit(signal) } else { 0 };
    let before = block_all();
    set_mask(before | wish.mask.load(Relaxed) | itself);
    // SAFETY: of the sizes that the kernel gives.
    unsafe { handle(thread, signal, (&raw mut information).cast(), (&raw mut context).cast()) };
    set_mask(before);
    true
}

/// A thread that is not recorded: the program's handler, or what would happen without us.
unsafe fn unrecorded(signal: c_int, information: *mut c_void, context: *mut c_void) {
    if WISHES[signal as usize].handler.load(Acquire) > IGNORE {
        // SAFETY: the kernel's arguments.
        return unsafe { call_handler(signal, information, context) };
    }
    // SAFETY: as above.
    die(signal, unsafe { synchronous(signal, information) });
}

/// Calls the program's handler.
unsafe fn call_handler(signal: c_int, information: *mut c_void, context: *mut c_void) {
    let wish = &WISHES[signal as usize];
    let handler = wish.handler.load(Acquire);
    if wish.flags.load(Relaxed) & RESET != 0 {
        reset(signal);
    }
    // SAFETY: the program gave this function for signals.
    unsafe {
        let handler: unsafe extern "C" fn(c_int, *mut c_void, *mut c_void) = core::mem::transmute(handler);
        handler(signal, information, context);
    }
}

/// The program wants its handler called once.
fn reset(signal: c_int) {
    WISHES[signal as usize].handler.store(DEFAULT, Release);
    if FATAL.contains(&signal) {
        install(signal, ON_STACK, [0; 16]);
    } else {
        set_default(signal)
    }
}

/// A signal outside of hooks.
unsafe fn handle(thread: &'static Thread, signal: c_int, information: *mut c_void, context: *mut c_void) {
    let wish = &WISHES[signal as usize];
    let handler = wish.handler.load(Acquire);
    if handler <= IGNORE {
        // SAFETY: the kernel's arguments.
        return end(thread, signal, unsafe { synchronous(signal, information) });
    }
    let restarts = wish.flags.load(Relaxed) & RESTART != 0;
    thread.occupy();
    let interrupted = controller::interrupt(thread);
    controller::handles_signal(thread);
    thread.begin();
    log::sync(thread, Kind::HandlerBegin, 0, signal as u64, handler as u64);
    thread.end();
    // SAFETY: the kernel's words.
    let was_sent = notices::arrived(thread, signal, unsafe { *information.cast::<c_int>().add(notices::CODE) }, 0);
    if !was_sent && !FATAL.contains(&signal) {
        // SAFETY: as above.
        feed::signal::keep(thread, signal, unsafe { &*information.cast() });
    }
    let outer = thread.deferred.handler.get();
    if outer == 0 {
        thread.deferred.handler.set((&raw const outer) as usize);
    }
    // SAFETY: the kernel's arguments.
    unsafe { call_handler(signal, information, context) };
    thread.deferred.handler.set(outer);
    thread.begin();
    log::sync(thread, Kind::HandlerEnd, 0, signal as u64, 0);
    if !restarts {
        thread.deferred.interruptions.set(thread.deferred.interruptions.get() + 1);
    }
    if let Some(before) = interrupted {
        controller::resume(thread, before, restarts);
    }
    thread.end();
}

/// The process ends by this signal.
fn end(thread: &'static Thread, signal: c_int, synchronous: bool) {
    thread.occupy();
    if !thread.failed.replace(true) {
        match signal {
            SIGABRT => log::sync(thread, Kind::Fail, 0, fail::ABORT, 0),
            _ => log::sync(thread, Kind::Fail, 0, fail::SIGNAL, signal as u64),
        };
    }
    controller::finish();
    die(signal, synchronous);
}

/// Lets the signal do its work: what caused it happens again, or it is sent again.
fn die(signal: c_int, synchronous: bool) {
    set_default(signal);
    if !synchronous {
        call!(TGKILL, sys::call!(GETPID, 0), sys::gettid(), signal);
    }
}

/// A signal inside of a hook waits for its end; no other comes before that.
unsafe fn defer(thread: &'static Thread, signal: c_int, information: *mut c_void, context: *mut c_void) {
    let deferred = &thread.deferred;
    deferred.signal.set(signal);
    // SAFETY: what the kernel gave, of these sizes; the thread's own memory.
    unsafe {
        *deferred.information.get() = *information.cast();
        *deferred.context.get() = *context.cast();
        let mask = context.cast::<u8>().add(CONTEXT_MASK).cast::<u64>();
        deferred.mask.set(*mask);
        *mask = FATAL.iter().fold(u64::MAX, |mask, &signal| mask & !bit(signal));
    }
    thread.pending.set(true);
}

/// The hook is over: the signal that waited has its turn.
#[cold]
#[inline(never)]
pub fn deliver(thread: &'static Thread) {
    let deferred = &thread.deferred;
    let signal = deferred.signal.get();
    if !is_time(thread, signal, false) {
        return;
    }
    thread.pending.set(false);
    let wish = &WISHES[signal as usize];
    let before = deferred.mask.get();
    // SAFETY: the thread's own; the next one may come while this one is handled.
    let (mut information, mut context) = unsafe { (*deferred.information.get(), *deferred.context.get()) };
    let itself = if wish.flags.load(Relaxed) & NOT_DEFERRED == 0 { bit(signal) } else { 0 };
    let error = sys::errno();
    if wish.handler.load(Acquire) > IGNORE {
        set_mask(before | wish.mask.load(Relaxed) | itself);
    } else {
        set_mask(before);
    }
    // SAFETY: copies of what the kernel gave.
    unsafe { handle(thread, signal, (&raw mut information).cast(), (&raw mut context).cast()) };
    sys::set_errno(error);
    set_mask(before);
}

/// `sigaction`.
#[unsafe(no_mangle)]
unsafe extern "C" fn sigaction(signal: c_int, new: *const c_void, old: *mut c_void) -> c_int {
    let library = 32..34; // signals that the library keeps for itself
    if !(1..SIGNALS as c_int).contains(&signal) || library.contains(&signal) || super::tracked().is_none() {
        return real::sigaction(signal, new, old);
    }
    let before = current(signal);
    if !new.is_null() {
        // SAFETY: the program's pointer.
        let result = unsafe { set(signal, *new.cast()) };
        if result != 0 {
            return result;
        }
    }
    if !old.is_null() {
        // SAFETY: the program's pointer.
        unsafe { *old.cast() = before };
    }
    0
}

/// What the program believes to be installed.
fn current(signal: c_int) -> Action {
    let mut action = Action::new(DEFAULT, 0);
    real::sigaction(signal, core::ptr::null(), (&raw mut action).cast());
    let wish = &WISHES[signal as usize];
    if wish.ours.load(Acquire) {
        action.handler = wish.handler.load(Acquire);
        action.flags = wish.flags.load(Relaxed);
        action.mask[0] = wish.mask.load(Relaxed);
    }
    action
}

fn set(signal: c_int, new: Action) -> c_int {
    let wish = &WISHES[signal as usize];
    wish.mask.store(new.mask[0], Relaxed);
    wish.flags.store(new.flags, Relaxed);
    wish.handler.store(new.handler, Release);
    match new.handler {
        IGNORE => plain(signal, &new),
        DEFAULT if FATAL.contains(&signal) => install(signal, ON_STACK, [0; 16]),
        DEFAULT => plain(signal, &new),
        _ => install(signal, new.flags, new.mask),
    }
}

fn plain(signal: c_int, action: &Action) -> c_int {
    WISHES[signal as usize].ours.store(false, Release);
    real::sigaction(signal, core::ptr::from_ref(action).cast(), core::ptr::null_mut())
}

/// `signal`, as BSD has it.
#[unsafe(no_mangle)]
unsafe extern "C" fn signal(number: c_int, handler: usize) -> usize {
    if !(1..SIGNALS as c_int).contains(&number) {
        sys::set_errno(EINVAL);
        return ERROR;
    }
    let mut new = Action::new(handler, RESTART);
    new.mask[0] = bit(number);
    let mut old = Action::new(DEFAULT, 0);
    // SAFETY: two actions.
    if unsafe { sigaction(number, (&raw const new).cast(), (&raw mut old).cast()) } != 0 {
        return ERROR;
    }
    old.handler
}

//! Runs handlers of the program, and lets signals end the process.

use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::deferred::CONTEXT_WORDS;
use super::state::{
    DEFAULT, FATAL, IGNORE, NOT_DEFERRED, ON_STACK, RESET, RESTART, WISHES, bit, block_all, install, set_default,
    set_mask,
};
use crate::controller;
use crate::feed::signal::{give_signal, keep_signal};
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::interpose::arrivals;
use crate::log;
use crate::record::{Kind, fail};
use crate::siginfo::{CODE, Information};
use crate::sys::{self, SIGABRT, call};
use crate::threads::Thread;

/// Whether the signal is the thread's own doing, here and now.
///
/// # Safety
/// The kernel's description of a signal.
pub(super) unsafe fn synchronous(signal: c_int, information: *const c_void) -> bool {
    // SAFETY: the caller's promise.
    let code = unsafe { *information.cast::<c_int>().add(CODE) };
    code > 0 && signal != SIGABRT && FATAL.contains(&signal)
}

/// Whether the program's handler may run now: in a replay it runs where it did in the recording.
pub(super) fn is_time(thread: &Thread, signal: c_int, synchronous: bool) -> bool {
    let is_handled = WISHES[signal as usize].handler.load(Acquire) > IGNORE;
    synchronous || !is_handled || !controller::replaying() || controller::is_time_for_handler(thread, signal)
}

/// A signal from outside, here as in the recording. The thread is inside of a hook. False if the program has no handler for it.
pub(super) fn come_again(thread: &'static Thread, signal: c_int) -> bool {
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

/// A signal that arrived too early. The thread is inside of a hook.
pub(super) fn come_late(thread: &'static Thread, signal: c_int, information: Information) {
    thread.end();
    let before = block_all();
    handle_with(thread, signal, information, [0; CONTEXT_WORDS], before);
    thread.occupy();
}

/// A signal from outside that comes again, outside of hooks: with the information that came with it, and without a context.
pub(super) fn again(thread: &'static Thread, signal: c_int) -> bool {
    let mut information = [0u64; 16];
    give_signal(thread, signal, &mut information);
    let before = block_all();
    handle_with(thread, signal, information, [0; CONTEXT_WORDS], before);
    true
}

/// Handles a signal as the kernel lets it be handled where these signals are blocked.
pub(super) fn handle_with(
    thread: &'static Thread,
    signal: c_int,
    mut information: Information,
    mut context: [u64; CONTEXT_WORDS],
    before: u64,
) {
    let wish = &WISHES[signal as usize];
    let itself = if wish.flags.load(Relaxed) & NOT_DEFERRED == 0 { bit(signal) } else { 0 };
    let error = sys::errno();
    let is_handled = wish.handler.load(Acquire) > IGNORE;
    set_mask(if is_handled { before | wish.mask.load(Relaxed) | itself } else { before });
    // SAFETY: of the sizes that the kernel gives.
    unsafe { handle(thread, signal, (&raw mut information).cast(), (&raw mut context).cast()) };
    sys::set_errno(error);
    set_mask(before);
}

/// Calls the program's handler.
pub(super) unsafe fn call_handler(signal: c_int, information: *mut c_void, context: *mut c_void) {
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
pub(super) unsafe fn handle(thread: &'static Thread, signal: c_int, information: *mut c_void, context: *mut c_void) {
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
    let was_sent = arrivals::arrived(thread, signal, unsafe { *information.cast::<c_int>().add(CODE) }, 0);
    if !was_sent && !FATAL.contains(&signal) {
        // SAFETY: as above.
        keep_signal(thread, signal, unsafe { &*information.cast() });
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
    thread.deferred.handled(thread.count());
    if !restarts {
        thread.deferred.interruptions.set(thread.deferred.interruptions.get() + 1);
    }
    if let Some(before) = interrupted {
        controller::resume(thread, before, restarts);
    }
    thread.end();
}

/// The process ends by this signal.
pub(super) fn end(thread: &'static Thread, signal: c_int, synchronous: bool) {
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
pub(super) fn die(signal: c_int, synchronous: bool) {
    set_default(signal);
    if !synchronous {
        call!(TGKILL, sys::call!(GETPID, 0), sys::gettid(), signal);
    }
}

/// The hook is over: the signal that waited has its turn.
pub(super) fn deliver(thread: &'static Thread) {
    let deferred = &thread.deferred;
    let signal = deferred.signal.replace(0);
    // SAFETY: the thread's own; the next one may come while this one is handled.
    let (mut information, context) = unsafe { (*deferred.information.get(), *deferred.context.get()) };
    thread.pending.set(false);
    if is_time(thread, signal, false) {
        handle_with(thread, signal, information, context, deferred.mask.get());
    } else {
        // SAFETY: a copy of what the kernel said.
        unsafe { controller::take_away(thread.number.get(), (&raw mut information).cast()) };
        set_mask(deferred.mask.get());
    }
}

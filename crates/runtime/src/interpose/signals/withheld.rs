//! Signals that the program sent and that arrive, in a replay, before the thread handles them in the schedule. They wait in the kernel, blocked,
//! each with what the kernel said of it.

use core::ffi::c_int;
use core::sync::atomic::Ordering::Relaxed;

use super::deferred::CONTEXT_WORDS;
use super::handling::handle_with;
use super::state::{bit, block_all, set_mask};
use crate::controller;
use crate::feed::signal::Information;
use crate::sys::{Timespec, call};
use crate::threads::Thread;

/// As many of one number may wait and keep their order.
const MOST: usize = 16;

/// This one arrived too early. The caller keeps it blocked from here on.
pub(super) fn withhold(thread: &Thread, signal: c_int, information: &Information) {
    set_mask(block_all() | bit(signal));
    let mut later = [[0u64; 16]; MOST];
    let count = (0..MOST).take_while(|at| take(signal, &mut later[*at])).count();
    send(thread, signal, information);
    later[..count].iter().for_each(|later| send(thread, signal, later));
    thread.deferred.withheld.set(thread.deferred.withheld.get() | bit(signal));
    thread.pending.set(true);
}

/// Lets those come that are due; all, if the schedule says nothing more. The thread is outside of hooks.
pub(super) fn come(thread: &'static Thread) {
    let waiting = || thread.deferred.withheld.get();
    let mut information = [0u64; 16];
    while let Some(signal) = controller::due_sent(thread).filter(|due| waiting() & bit(*due) != 0) {
        let before = block_all() & !bit(signal);
        forget(thread, bit(signal));
        // More of this number arrive again.
        if take(signal, &mut information) {
            handle_with(thread, signal, information, [0; CONTEXT_WORDS], before);
        } else {
            set_mask(before);
        }
    }
    if waiting() != 0 && !controller::handles_later(thread) {
        let all = waiting();
        forget(thread, all);
        set_mask(block_all() & !all);
    }
}

fn forget(thread: &Thread, signals: u64) {
    let deferred = &thread.deferred;
    deferred.withheld.set(deferred.withheld.get() & !signals);
    thread.pending.set(deferred.signal.get() != 0 || deferred.withheld.get() != 0);
}

/// Takes one that waits in the kernel.
fn take(signal: c_int, information: &mut Information) -> bool {
    let (set, now) = (bit(signal), Timespec { seconds: 0, nanoseconds: 0 });
    call!(RT_SIGTIMEDWAIT, &raw const set, &raw mut *information, &raw const now, size_of::<u64>()) == signal as isize
}

/// Puts it last.
fn send(thread: &Thread, signal: c_int, information: &Information) {
    call!(RT_TGSIGQUEUEINFO, call!(GETPID, 0), thread.tid.load(Relaxed), signal, &raw const *information);
}

//! Signals that arrive: whether the program sent them, and what else they may order.

use core::ffi::c_int;

use super::sent::{PROCESS, down};
use super::unseen::{self, PROCESSES, TIMERS, What};
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::siginfo::{QUEUED_BY_CALL, SENT_BY_KILL, TO_THREAD};
use crate::threads::Thread;

/// Whether a signal may have been sent to the process as a whole.
pub fn may_go_to_process(code: c_int) -> bool {
    matches!(code, SENT_BY_KILL | QUEUED_BY_CALL)
}

/// Whether the kernel sent a signal that is no fault: for a timer, a child process, a queue, input.
pub fn is_of_kernel(code: c_int) -> bool {
    !matches!(code, SENT_BY_KILL | QUEUED_BY_CALL | TO_THREAD)
}

/// A signal arrived, with what the kernel says of it (`siginfo_t`, or its first words). No hook is under way. Whether it is one that the
/// program sent.
pub fn arrived(thread: &'static Thread, signal: c_int, code: c_int, place: usize) -> bool {
    const OF_TIMER: c_int = -2;
    const OF_MESSAGE_QUEUE: c_int = -3;
    const OF_ASYNCHRONOUS_IO: c_int = -4;
    const CHILD: c_int = 17;
    const ALARMS: [c_int; 3] = [14, 26, 27];
    const INPUT: c_int = 29;
    match code {
        SENT_BY_KILL | QUEUED_BY_CALL | TO_THREAD => {
            thread.begin();
            let number = signal as u64;
            let was_sent = down(thread, thread.number.get(), number, place) || down(thread, PROCESS, number, place);
            thread.end();
            return was_sent;
        }
        OF_TIMER => unseen::mark(thread, What::named(c"a timer's signal", TIMERS), place),
        OF_MESSAGE_QUEUE => unseen::mark(thread, What::anything(c"a message queue's signal"), place),
        OF_ASYNCHRONOUS_IO => {
            unseen::mark(thread, What::named(c"a signal of asynchronous input and output", unseen::ASYNCHRONOUS), place)
        }
        _ if ALARMS.contains(&signal) => unseen::mark(thread, What::named(c"a timer's signal", TIMERS), place),
        _ if signal == CHILD => unseen::mark(thread, What::named(c"a signal of a child process", PROCESSES), place),
        _ if signal == INPUT => unseen::mark(thread, What::anything(c"a signal of input"), place),
        _ => {} // what the thread itself did
    }
    false
}

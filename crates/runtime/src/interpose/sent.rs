//! Signals and cancellations that the program sent and that did not arrive yet: a semaphore for each kind and receiver.

use core::ffi::c_int;

use super::pending;
use crate::log;
use crate::record::{Kind, NOTICES, TRIED};
use crate::threads::Thread;
use crate::waiting;

/// In place of the number of a signal.
pub(super) const CANCELLATION: u64 = 0;
/// In place of the number of a thread.
pub(super) const PROCESS: u64 = 0;
/// The first signal of which each one sent arrives; of others several may arrive as one.
const QUEUED: u64 = 34;

/// Where the log has it.
pub(super) fn object(thread: u64, number: u64) -> u64 {
    NOTICES + (thread << 7 | number) * 16
}

/// Where the runtime keeps what was sent: apart from all addresses, and from channels.
pub(super) fn key(thread: u64, number: u64) -> usize {
    3 << 61 | (object(thread, number) - NOTICES) as usize
}

/// One of those sent can be taken, if any was: it is taken and put back at once. The thread is inside of a hook.
pub(super) fn seen(receiver: &'static Thread, to: u64, number: u64, place: usize) -> bool {
    let bucket = waiting::lock(key(to, number));
    let count = bucket.object(key(to, number)).map_or(0, |kept| kept.words.get()[1]);
    if let Some(left) = count.checked_sub(1) {
        let _step = log::together(receiver, 2);
        log::sync(receiver, Kind::Down, place, object(to, number), left | TRIED); // something else might have become ready
        log::sync(receiver, Kind::Post, place, object(to, number), left);
    }
    bucket.unlock();
    count > 0
}

/// One of those sent arrived, if any was. The thread is inside of a hook.
pub(super) fn down(receiver: &'static Thread, to: u64, number: u64, place: usize) -> bool {
    let bucket = waiting::lock(key(to, number));
    let kept = bucket.object(key(to, number)).filter(|kept| kept.words.get()[1] > 0);
    if let Some(kept) = kept {
        let count = kept.words.get()[1] - 1;
        let _step = log::together(receiver, 2);
        log::sync(receiver, Kind::Down, place, object(to, number), count);
        if number < QUEUED && number != CANCELLATION {
            // Any others arrived with it: what is sent from now on makes the next one. The record is always there, since in another order
            // there may be no others.
            log::sync(receiver, Kind::SemaphoreInit, place, object(to, number), 0);
            if count > 0 {
                pending::absorb(receiver, number as c_int, to != PROCESS);
            }
        }
        kept.words.set([1, if number < QUEUED { 0 } else { count }, 0]);
    }
    bucket.unlock();
    kept.is_some()
}

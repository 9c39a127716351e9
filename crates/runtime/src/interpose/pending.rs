//! Signals that wait in the kernel, blocked.

use core::ffi::c_int;
use core::sync::atomic::Ordering::Relaxed;

use super::signals::state::bit;
use crate::siginfo::{CODE, Information, SENT_BY_KILL, TO_THREAD};
use crate::sys::{Timespec, call};
use crate::threads::Thread;

/// Takes one that waits for this thread or for the process.
pub fn take(signal: c_int, information: &mut Information) -> bool {
    let (set, now) = (bit(signal), Timespec { seconds: 0, nanoseconds: 0 });
    let taken = call!(RT_SIGTIMEDWAIT, &raw const set, &raw mut *information, &raw const now, size_of::<u64>());
    taken == signal as isize
}

/// Lets one wait for this thread, after all of its number.
pub fn put(thread: &Thread, signal: c_int, information: &Information) {
    call!(RT_TGSIGQUEUEINFO, call!(GETPID, 0), thread.tid.load(Relaxed), signal, &raw const *information);
}

/// One of a number that does not queue arrived for those that wait, too: sent to the thread, or to the process.
pub fn absorb(thread: &Thread, signal: c_int, is_for_thread: bool) {
    let mut information = [0; 16];
    let code = if is_for_thread { TO_THREAD } else { SENT_BY_KILL };
    if take(signal, &mut information) && information[CODE / 2] as c_int != code {
        put(thread, signal, &information);
    }
}

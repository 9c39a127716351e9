//! Signals in a replay. A replay follows a recording only if signals come where they came there: the thread's count of records says where.
//! For signals that timers and other programs send, the schedule says which signal comes, and the feed has its information. While the
//! schedule is followed, such signals that really arrive are taken away. Signals that the program sends arrive by themselves, and wait for
//! their place.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::plan;
use crate::hooks::occupied::Occupied;
use crate::interpose::signals::state;
use crate::sys::{self, call};
use crate::threads::Thread;

/// Signals that arrived while the schedule was followed, and were not given to a thread since: a bit for each.
static TAKEN: AtomicU64 = AtomicU64::new(0);

/// The signal that came in the recording where the thread is now.
pub fn due(thread: &Thread) -> Option<c_int> {
    let (at, signal) = plan::next_alarm(thread)?;
    (at == thread.count() && thread.turn.alarmed.get() != at + 1).then_some(signal)
}

/// Up to which count the thread may go without a look.
pub fn next(thread: &Thread) -> u64 {
    let alarm = plan::next_alarm(thread).map_or(u64::MAX, |(at, _)| at);
    alarm.min(plan::next_sent(thread).unwrap_or(u64::MAX))
}

/// Whether the thread handles here a signal that the program sent, and has not begun to.
fn is_sent_due(thread: &Thread) -> bool {
    plan::next_sent(thread) == Some(thread.count()) && thread.turn.handled.get() != thread.count() + 1
}

/// Lets a signal come that the program sent and that the thread handles before what it is about to do. The kernel may need a moment to
/// deliver it. The thread is inside of a hook, has the turn, and has done nothing in the hook yet.
pub fn sent_comes(thread: &'static Thread) -> bool {
    const SPAN: i64 = 200_000;
    const TRIES: usize = 500;
    if !is_sent_due(thread) {
        return false;
    }
    for _ in 0..TRIES {
        if deferred_comes(thread) || !is_sent_due(thread) {
            return true;
        }
        sys::sleep(SPAN);
    }
    handles(thread); // it does not come
    false
}

/// Inside of a hook that has done nothing yet: the signal that waits for its end comes now. Whether there was one.
fn deferred_comes(thread: &'static Thread) -> bool {
    if !thread.pending.get() {
        return false;
    }
    thread.end();
    thread.occupy();
    true
}

/// The thread begins to handle a signal here.
pub fn handles(thread: &Thread) {
    thread.turn.handled.set(thread.count() + 1);
}

/// Lets all come that are due; the thread is inside of a hook, has the turn, and has done nothing in the hook yet.
pub fn come(thread: &'static Thread) -> bool {
    let mut came = false;
    while let Some(signal) = due(thread) {
        thread.turn.alarmed.set(thread.count() + 1); // its handler's first record asks here, too
        if !state::come_again(thread, signal) {
            break;
        }
        TAKEN.fetch_and(!(1 << (signal - 1)), Relaxed);
        came = true;
    }
    came
}

/// Whether this signal is due, which then comes.
pub fn begin(thread: &Thread, signal: c_int) -> bool {
    let is_due = due(thread) == Some(signal);
    if is_due {
        thread.turn.alarmed.set(thread.count() + 1);
    }
    is_due
}

/// A signal arrived that the schedule has elsewhere, or not at all.
pub fn take_away(signal: c_int) {
    TAKEN.fetch_or(1 << (signal - 1), Relaxed);
}

/// A thread sleeps in the kernel where a signal came in the recording, so perhaps until one comes.
pub fn prod(thread: &Thread) {
    if let Some(signal) = due(thread) {
        call!(TGKILL, call!(GETPID, 0), thread.tid.load(Relaxed), signal);
    }
}

/// The schedule is over: what was taken away comes after all.
pub fn give_back() {
    let taken = TAKEN.swap(0, Relaxed);
    for signal in (1..=64).filter(|signal| taken >> (signal - 1) & 1 != 0) {
        call!(KILL, call!(GETPID, 0), signal);
    }
}

//! Waits in the kernel that the handler of a signal may end, with `EINTR`. In the recording the handler ran in the wait, or just before it. The
//! program's path may depend on that, and a replay, whose threads have other speeds, does the same.

use core::cell::Cell;
use core::ffi::c_int;

use super::decision;
use super::key::INTERRUPTED;
use crate::controller;
use crate::hooks::occupied::Occupied;
use crate::interpose::signals::state::may_come;
use crate::program_time::nanoseconds;
use crate::sys::{self, EINTR, Timespec};
use crate::threads::Thread;

/// Nanoseconds.
const SECOND: i64 = 1_000_000_000;

/// What the recording says of a call: whether a handler ended it, and what was left to wait then, in nanoseconds: one more than that, or 0.
#[derive(Clone, Copy)]
pub struct Interruption(Option<i64>);

/// A call that waits by [`Interruption::sleep`].
pub fn interruptible(call: impl FnOnce(Interruption) -> c_int) -> c_int {
    with_rest(|_| 0, call)
}

/// The same; `rest` gets how many nanoseconds were left in the recording where a handler ended the call, and gives how many are.
fn with_rest(rest: impl Fn(Option<i64>) -> i64, call: impl FnOnce(Interruption) -> c_int) -> c_int {
    if !may_come() {
        return call(Interruption(None));
    }
    let mut result = 0;
    decision(INTERRUPTED, |recorded| {
        result = call(Interruption(recorded));
        let left = recorded.and_then(|recorded| recorded.checked_sub(1)).filter(|left| *left >= 0);
        if is_interrupted(result) { 1 + rest(left) } else { 0 }
    });
    result
}

/// A call outside of hooks that a handler may end before it did anything.
pub fn ended_as_recorded(thread: &'static Thread, call: impl Fn() -> c_int) -> c_int {
    interruptible(|interruption| interruption.end_or(thread, &call))
}

/// A sleep outside of hooks. Where a handler ends it, `left` gets what was left of it in the recording.
pub fn sleeping(thread: &'static Thread, left: &Cell<Timespec>, sleep: impl Fn() -> c_int) -> c_int {
    let rest = |recorded: Option<i64>| {
        let rest = recorded.unwrap_or_else(|| nanoseconds(left.get()));
        left.set(Timespec { seconds: rest / SECOND, nanoseconds: rest % SECOND });
        rest
    };
    with_rest(rest, |interruption| interruption.end_or(thread, &sleep))
}

fn is_interrupted(result: c_int) -> bool {
    result < 0 && sys::errno() == EINTR
}

impl Interruption {
    /// Whether the recording says that a handler ended the call.
    pub fn ends_call(self) -> bool {
        self.0.is_some_and(|recorded| recorded > 0)
    }

    /// Waits for the handler that ended the call in the recording: whether there was one. The call fails with `EINTR` then.
    pub fn ends(self, thread: &'static Thread) -> bool {
        self.ends_call() && interrupted(thread, || 0) < 0
    }

    /// Before a call that waits, in a replay: sleeps by `sleep` until the call does not wait, so that no handler ends it.
    pub fn sleep_before(self, thread: &'static Thread, sleep: impl Fn() -> c_int) {
        if self.0.is_some() {
            self.sleep(thread, sleep);
        }
    }

    fn end_or(self, thread: &'static Thread, call: impl Fn() -> c_int) -> c_int {
        if self.ends_call() { interrupted(thread, || 0) } else { self.sleep(thread, call) }
    }

    /// Sleeps in the kernel by `sleep`, whose result is negative where a handler ended it.
    pub fn sleep(self, thread: &'static Thread, sleep: impl Fn() -> c_int) -> c_int {
        let is_over = |result| controller::off_schedule() || !is_interrupted(result);
        match self.0 {
            Some(_) if self.ends_call() => interrupted(thread, sleep),
            Some(_) => core::iter::repeat_with(sleep).find(|result| is_over(*result)).unwrap_or(0),
            None => sleep(),
        }
    }
}

/// Sleeps until a handler ends it, whatever else comes.
fn interrupted(thread: &'static Thread, sleep: impl Fn() -> c_int) -> c_int {
    const SPAN: i64 = 500_000;
    thread.occupy();
    controller::outside(thread);
    thread.end();
    // More than one handler may have run in the wait.
    while !thread.deferred.has_just_handled(thread.count()) || controller::due_sent(thread).is_some() {
        let result = sleep();
        // A signal that the thread handles later ends it, too.
        if result < 0 && !is_interrupted(result) || controller::off_schedule() {
            return result;
        }
        sys::sleep(SPAN);
    }
    sys::set_errno(EINTR);
    -1
}

//! Waits in the kernel that the handler of a signal may end, with `EINTR`. In the recording the handler ran in the wait, or just before it. The
//! program's path may depend on that, and a replay, whose threads have other speeds, does the same.

use core::cell::Cell;
use core::ffi::c_int;

use super::decision;
use super::key::INTERRUPTED;
use crate::controller;
use crate::hooks::occupied::Occupied;
use crate::interpose::signals::state::may_come;
use crate::sys::{self, EINTR};
use crate::threads::Thread;

/// What the recording says of a call: whether a handler ended it.
#[derive(Clone, Copy)]
pub struct Interruption(Option<i64>);

/// A call that waits by [`Interruption::sleep`].
pub fn interruptible(call: impl Fn(Interruption) -> c_int) -> c_int {
    if !may_come() {
        return call(Interruption(None));
    }
    let result = Cell::new(0);
    decision(INTERRUPTED, |recorded| {
        result.set(call(Interruption(recorded)));
        i64::from(is_interrupted(result.get()))
    });
    result.get()
}

fn is_interrupted(result: c_int) -> bool {
    result < 0 && sys::errno() == EINTR
}

impl Interruption {
    /// Whether the recording says that a handler ended the call.
    pub fn ends_call(self) -> bool {
        self.0 == Some(1)
    }

    /// Sleeps in the kernel by `sleep`, whose result is negative where a handler ended it.
    pub fn sleep(self, thread: &'static Thread, sleep: impl Fn() -> c_int) -> c_int {
        let is_over = |result| controller::off_schedule() || !is_interrupted(result);
        match self.0 {
            Some(1) => interrupted(thread, sleep),
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
    while !thread.deferred.has_just_handled(thread.count()) {
        let result = sleep();
        if result < 0 || controller::off_schedule() {
            return result;
        }
        sys::sleep(SPAN);
    }
    sys::set_errno(EINTR);
    -1
}

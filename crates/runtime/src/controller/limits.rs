//! How far away the time limit of a wait is.

use crate::sys::{self, Timespec};

/// A time limit that is further away is no part of a schedule: the thread waits for others.
const LONGEST_WAIT: i64 = 10;

/// Whether a time limit is so far away that a thread rather waits for others.
pub fn is_far(at: Timespec) -> bool {
    is_beyond(at, LONGEST_WAIT)
}

/// Whether a moment is more than so many seconds away.
pub fn is_beyond(at: Timespec, seconds: i64) -> bool {
    at > sys::now(sys::CLOCK_MONOTONIC).plus(Timespec { seconds, nanoseconds: 0 })
}

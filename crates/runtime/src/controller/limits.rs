//! How far away the time limit of a wait is.

use crate::program_time;
use crate::sys::{self, Timespec};

/// A time limit that is further away is no part of a schedule: the thread waits for others.
const LONGEST_WAIT: Timespec = Timespec { seconds: 10, nanoseconds: 0 };
/// Where orders are explored, a wait may end at any time by a limit of a second or less, and a little more since clocks differ. A longer one
/// is there for a machine that stands still.
const LONGEST_CHOICE: Timespec = Timespec { seconds: 1, nanoseconds: 500_000_000 };

/// How often the watchdog looks, in nanoseconds.
pub const TICK: i64 = 5_000_000;

/// Whether a time limit is so far away that a thread rather waits for others.
pub fn is_far(at: Timespec) -> bool {
    is_after(at, LONGEST_WAIT)
}

/// Whether a wait to this moment may end by its limit, whatever other threads could do, where orders are explored.
pub fn is_choice(at: Timespec) -> bool {
    !is_after(at, LONGEST_CHOICE)
}

/// Whether a span, in nanoseconds, is longer than a wait that may end by its limit at any time.
pub fn is_long(nanoseconds: i64) -> bool {
    nanoseconds > program_time::nanoseconds(LONGEST_CHOICE)
}

/// Whether a wait since this moment has taken longer than one that may end at any time.
pub fn was_long(since: Timespec) -> bool {
    sys::now(sys::CLOCK_MONOTONIC) > since.plus(LONGEST_CHOICE)
}

/// Whether a moment is more than so many seconds away.
pub fn is_beyond(at: Timespec, seconds: i64) -> bool {
    is_after(at, Timespec { seconds, nanoseconds: 0 })
}

fn is_after(at: Timespec, span: Timespec) -> bool {
    at > sys::now(sys::CLOCK_MONOTONIC).plus(span)
}

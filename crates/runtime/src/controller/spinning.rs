//! What is kept of a thread that runs as the machine schedules it, for when it does the same again and again.

use core::cell::Cell;

use crate::sys;

/// Nanoseconds of a thread's first rest, which doubles; of its longest; and of all its rests.
const FIRST: i64 = 20_000;
const LONG: i64 = 1_000_000;
const MOST: i64 = 10_000_000_000;

/// The thread's own.
pub struct Spinning {
    /// Counted records between two looks.
    pub between: Cell<u64>,
    /// At which count a look ends; 0 if none is under way.
    pub ends: Cell<u64>,
    rest: Cell<i64>,
    rested: Cell<i64>,
}

impl Spinning {
    /// It does not do the same any more.
    pub fn goes_on(&self) {
        self.rest.set(0);
    }

    pub fn rest(&self) {
        let rest = (2 * self.rest.get()).clamp(FIRST, LONG);
        self.rest.set(rest);
        if self.rested.get() < MOST {
            self.rested.set(self.rested.get() + rest);
            sys::sleep(rest);
        }
    }
}

//! What a thread waits for: plain data, which lies on its stack.

use core::cell::Cell;
use core::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Release},
};

/// A wait for an object.
pub struct Wait {
    pub(super) key: usize,
    pub(super) released: AtomicU32,
    pub(super) by: Cell<u64>,
    pub(super) is_cancellable: bool,
    pub(super) may_end_early: bool,
    pub(super) comes_first: bool,
    pub(super) needs_thread: bool,
}

pub(super) const WAITING: u32 = 0;
const RELEASED: u32 = 1;
/// Not released, but to look around.
pub(super) const DISTURBED: u32 = 2;

impl Wait {
    pub(super) fn new(key: usize) -> Wait {
        let (by, released) = (Cell::new(0), AtomicU32::new(WAITING));
        let [is_cancellable, may_end_early, comes_first, needs_thread] = [false; 4];
        Wait { key, released, by, is_cancellable, may_end_early, comes_first, needs_thread }
    }

    /// Whether it does no harm if the wait ends for no reason: the thread looks again what it waits for.
    pub fn may_end_early(&self) -> bool {
        self.may_end_early
    }

    /// Whether some who come later wait until it ends.
    pub fn comes_first(&self) -> bool {
        self.comes_first
    }

    /// Whether one certain thread has to end it, which holds the lock or is waited for: a handler in another thread cannot.
    pub fn needs_thread(&self) -> bool {
        self.needs_thread
    }

    pub fn is_released(&self) -> bool {
        self.released.load(Acquire) == RELEASED
    }

    /// Order of what released it.
    pub fn by(&self) -> u64 {
        self.by.get()
    }

    pub fn key(&self) -> usize {
        self.key
    }

    /// The controller calls this, or whoever releases where there is none. The wait may be gone right after.
    pub fn set_released(&self) {
        self.released.store(RELEASED, Release);
    }
}

//! The function of a lock that a thread is in: plain data.

use core::cell::Cell;

/// The function of a lock that a thread is in; the thread's own.
pub struct InLock {
    /// How many functions of locks it is in, one called by the other. Only the outermost counts.
    pub(super) depth: Cell<u32>,
    /// The address of the frame that called the outermost.
    pub(super) frame: Cell<usize>,
    /// The outermost takes a lock that the thread holds already, or gives back one that it goes on holding.
    pub(super) nested: Cell<bool>,
    /// It has locked the lock's bucket.
    pub(super) locked: Cell<bool>,
    /// Which function of which lock.
    pub(super) what: Cell<u64>,
    pub(super) lock: Cell<usize>,
}

impl InLock {
    /// Whether it is in any.
    pub fn is_inside(&self) -> bool {
        self.depth.get() > 0
    }
}

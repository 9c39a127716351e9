//! A thread that waits.

use core::cell::Cell;
use core::ops::Deref;

use super::wait::Wait;
use crate::threads::Thread;

/// A thread that waits; it lies on that thread's stack.
pub struct Waiter {
    pub(super) next: Cell<*const Waiter>,
    pub thread: &'static Thread,
    pub wait: Wait,
}

impl Waiter {
    pub fn new(thread: &'static Thread, key: usize) -> Waiter {
        Waiter { next: Cell::new(core::ptr::null()), thread, wait: Wait::new(key) }
    }

    /// A waiter that looks again what it waits for, and so does no harm if its wait ends for no reason.
    pub fn patient(thread: &'static Thread, key: usize) -> Waiter {
        Waiter { wait: Wait { may_end_early: true, ..Wait::new(key) }, ..Waiter::new(thread, key) }
    }

    /// A waiter for a lock. If it comes first, some who come later let it go before them.
    pub fn for_lock(thread: &'static Thread, key: usize, comes_first: bool) -> Waiter {
        let wait = Wait { comes_first, needs_thread: true, ..Wait::new(key) };
        Waiter { wait, ..Waiter::new(thread, key) }
    }

    /// A waiter for the end of another thread; the wait ends also when its own thread is cancelled.
    pub fn for_end(thread: &'static Thread, other: &'static Thread) -> Waiter {
        let key = other.end_key();
        let wait = Wait { is_cancellable: true, needs_thread: true, ..Wait::new(key) };
        Waiter { wait, ..Waiter::new(thread, key) }
    }

    /// A waiter whose wait ends when its thread is cancelled.
    pub fn cancellable(thread: &'static Thread, key: usize) -> Waiter {
        Waiter { wait: Wait { is_cancellable: true, ..Wait::new(key) }, ..Waiter::new(thread, key) }
    }
}

impl Deref for Waiter {
    type Target = Wait;

    fn deref(&self) -> &Wait {
        &self.wait
    }
}

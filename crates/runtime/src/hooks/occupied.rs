//! The stretch of a hook or interposed function in which signals wait.

use core::sync::atomic::{Ordering::SeqCst, compiler_fence};

use super::held;
use crate::interpose::signals::state::deliver;
use crate::threads::Thread;

/// What signals must not interrupt.
pub trait Occupied {
    /// Its start.
    fn occupy(&'static self);

    /// Its end.
    fn end(&'static self);
}

impl Occupied for Thread {
    #[inline(always)]
    fn occupy(&'static self) {
        self.busy.set(true);
        compiler_fence(SeqCst);
        if !self.held.is_empty() {
            held::settle(self);
        }
    }

    #[inline(always)]
    fn end(&'static self) {
        compiler_fence(SeqCst);
        self.busy.set(false);
        compiler_fence(SeqCst);
        if self.pending.get() {
            deliver(self);
        }
    }
}

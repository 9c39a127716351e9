//! What a thread keeps of its cancellation: plain data.

use core::cell::Cell;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What a thread keeps of its cancellation.
pub struct Cancelled {
    /// Somebody is about to cancel it, or has.
    pub(super) sent: AtomicBool,
    /// That it unwinds was noticed.
    pub(super) noticed: Cell<bool>,
}

impl Cancelled {
    #[inline(always)]
    pub fn was_sent(&self) -> bool {
        self.sent.load(Relaxed)
    }
}

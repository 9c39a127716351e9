//! With `EPOLLET` a descriptor is reported once after each write, also if nobody has read what was written: many event loops never read the event
//! counter that wakes them.
//!
//! The writes that were not reported are a semaphore among the channels. A write posts, and a report takes all. What was there before the
//! `epoll_ctl` counts as one write. All of this is touched with the channel's bucket locked.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use super::channel::{Channel, record};
use crate::record::{Kind, TRIED};
use crate::threads::Thread;

/// `EPOLLET`.
const EDGES: u32 = 1 << 31;

/// Whether a descriptor was ever watched like this.
pub(super) static SOME: AtomicBool = AtomicBool::new(false);

/// The writes to one descriptor that one `epoll` has not reported.
pub(super) struct Edges {
    /// The semaphore's number plus one; 0 where each report says what is there.
    semaphore: AtomicU64,
    count: AtomicU64,
}

impl Edges {
    pub(super) const fn none() -> Edges {
        Edges { semaphore: AtomicU64::new(0), count: AtomicU64::new(0) }
    }

    /// Nothing is watched any more.
    pub(super) fn forget(&self) {
        self.semaphore.store(0, Relaxed);
        self.count.store(0, Relaxed);
    }

    /// A descriptor that holds something or nothing is watched for these events, as it was before or not.
    pub(super) fn ask(&self, thread: &'static Thread, events: u32, is_ready: bool, place: usize) {
        if events & EDGES == 0 {
            return self.forget();
        }
        if !self.are_kept() {
            self.semaphore.store(Channel::new(0).number() + 1, Relaxed);
            SOME.store(true, Relaxed);
        }
        if is_ready && self.count.load(Relaxed) == 0 {
            self.write(thread, place);
        }
    }

    /// Whether a write is reported once.
    pub(super) fn are_kept(&self) -> bool {
        self.semaphore.load(Relaxed) != 0
    }

    /// How many writes were not reported.
    pub(super) fn count(&self) -> u64 {
        self.count.load(Relaxed)
    }

    /// Something is written.
    pub(super) fn write(&self, thread: &'static Thread, place: usize) {
        record(thread, Kind::Post, &self.channel(), self.count.fetch_add(1, Relaxed), place);
    }

    /// The last one was not made after all.
    pub(super) fn take_back(&self, thread: &'static Thread, place: usize) {
        let left = self.count.load(Relaxed).saturating_sub(1);
        self.count.store(left, Relaxed);
        record(thread, Kind::SemaphoreInit, &self.channel(), left, place);
    }

    /// All are reported. Something else might have become ready first, and all but the first might have come later.
    pub(super) fn report(&self, thread: &'static Thread, place: usize) {
        for left in (0..self.count.swap(0, Relaxed)).rev() {
            record(thread, Kind::Down, &self.channel(), left | TRIED, place);
        }
    }

    fn channel(&self) -> Channel {
        Channel::of_number(self.semaphore.load(Relaxed) - 1)
    }
}

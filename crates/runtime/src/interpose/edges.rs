//! With `EPOLLET` the kernel reports a descriptor once after each write. Nobody has to read what was written: many event loops never read the event
//! counter that wakes them.
//!
//! The writes that were not reported are a semaphore among the channels. A write posts, and a report takes all. What was there before the
//! `epoll_ctl` counts as one write. All of this is touched with the channel's bucket locked.

use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};

use super::channel_numbers::{next, record};
use crate::record::{Kind, TRIED};
use crate::threads::Thread;

/// `EPOLLET`.
const EDGES: u32 = 1 << 31;

/// The writes to one channel that one `epoll` has not reported.
pub(super) struct Edges {
    /// The key of the channel.
    channel: AtomicUsize,
    /// The semaphore's number plus one; 0 where each report says what is there.
    semaphore: AtomicU64,
    count: AtomicU64,
}

/// So many descriptors may be watched.
pub(super) const MOST: usize = 1024;
static ALL: [Edges; MOST] = [const { Edges::none() }; MOST];
/// Whether a descriptor was ever watched like this.
static SOME: AtomicBool = AtomicBool::new(false);

/// Those of the descriptor that is kept at this place of all that may be watched.
pub(super) fn at(place: usize) -> &'static Edges {
    &ALL[place]
}

/// Those of a channel.
pub(super) fn of_channel(key: usize) -> impl Iterator<Item = &'static Edges> {
    let looked_at = if SOME.load(Relaxed) { MOST } else { 0 };
    ALL[..looked_at].iter().filter(move |edges| edges.channel.load(Relaxed) == key && edges.are_kept())
}

impl Edges {
    const fn none() -> Edges {
        Edges { channel: AtomicUsize::new(0), semaphore: AtomicU64::new(0), count: AtomicU64::new(0) }
    }

    /// Nothing is watched any more.
    pub(super) fn forget(&self) {
        self.semaphore.store(0, Relaxed);
        self.count.store(0, Relaxed);
    }

    /// A channel that holds something or nothing is watched for these events, as it was before or not.
    pub(super) fn ask(&self, thread: &'static Thread, (channel, events): (usize, u32), is_ready: bool, place: usize) {
        if events & EDGES == 0 {
            return self.forget();
        }
        if !self.are_kept() {
            self.channel.store(channel, Relaxed);
            self.semaphore.store(next() + 1, Relaxed);
            SOME.store(true, Relaxed);
        }
        if is_ready && self.count.load(Relaxed) == 0 {
            self.write(thread, place);
        }
    }

    /// Whether a write is reported once.
    pub(super) fn are_kept(&self) -> bool {
        self.number().is_some()
    }

    /// How many writes were not reported.
    pub(super) fn count(&self) -> u64 {
        self.count.load(Relaxed)
    }

    /// Something is written.
    pub(super) fn write(&self, thread: &'static Thread, place: usize) {
        if let Some(number) = self.number() {
            record(thread, Kind::Post, number, self.count.fetch_add(1, Relaxed), place);
        }
    }

    /// The last one was not made after all.
    pub(super) fn take_back(&self, thread: &'static Thread, place: usize) {
        if let Some(number) = self.number() {
            let left = self.count.load(Relaxed).saturating_sub(1);
            self.count.store(left, Relaxed);
            record(thread, Kind::SemaphoreInit, number, left, place);
        }
    }

    /// All are reported. Something else might have become ready first, and all but the first might have come later.
    pub(super) fn report(&self, thread: &'static Thread, place: usize) {
        if let Some(number) = self.number() {
            for left in (0..self.count.swap(0, Relaxed)).rev() {
                record(thread, Kind::Down, number, left | TRIED, place);
            }
        }
    }

    fn number(&self) -> Option<u64> {
        self.semaphore.load(Relaxed).checked_sub(1)
    }
}

//! The numbers of channels: in the log those of their semaphores.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::log;
use crate::record::{CHANNELS, Kind};
use crate::threads::Thread;

static NUMBERS: AtomicU64 = AtomicU64::new(0);

/// The number of a new channel.
pub(super) fn next() -> u64 {
    NUMBERS.fetch_add(1, Relaxed)
}

/// Records something of the semaphore of this number.
pub(super) fn record(thread: &'static Thread, kind: Kind, number: u64, count: u64, place: usize) {
    log::sync(thread, kind, place, CHANNELS + number * 16, count);
}

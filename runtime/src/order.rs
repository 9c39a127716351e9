//! The order of events: one counter, and locks by cache line that make an access and its number one step.

use core::sync::atomic::{AtomicU64, Ordering::SeqCst};

use crate::lock::Lock;

/// Numbers from here on belong to nothing: recording has stopped.
pub const STOPPED: u64 = 1 << 46;

static NEXT: AtomicU64 = AtomicU64::new(1);

const SHARDS: usize = 8192;
static LOCKS: [Lock; SHARDS] = [const { Lock::new() }; SHARDS];

/// The next number.
#[inline(always)]
pub fn next() -> u64 {
    NEXT.fetch_add(1, SeqCst)
}

/// Makes every number from now on one of [`STOPPED`].
pub fn stop() {
    NEXT.fetch_add(STOPPED, SeqCst);
}

#[inline(always)]
fn shard(address: u64) -> usize {
    const LINE_BITS: u32 = 6;
    let line = address >> LINE_BITS;
    (line ^ line >> 13) as usize % SHARDS
}

/// Locks of the lines that an access touches.
#[inline(always)]
fn shards(address: u64, bytes: u64) -> (usize, usize) {
    let (first, last) = (shard(address), shard(address.wrapping_add(bytes - 1)));
    (first.min(last), first.max(last))
}

/// Keeps all others from these bytes.
#[inline(always)]
pub fn lock(address: u64, bytes: u64) {
    let (first, second) = shards(address, bytes);
    LOCKS[first].lock();
    if second != first {
        LOCKS[second].lock();
    }
}

/// Ends [`lock`].
#[inline(always)]
pub fn unlock(address: u64, bytes: u64) {
    let (first, second) = shards(address, bytes);
    if second != first {
        LOCKS[second].unlock();
    }
    LOCKS[first].unlock();
}

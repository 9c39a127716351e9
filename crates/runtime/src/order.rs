//! The order of events: one counter, and locks by cache line that make an access and its number one step.

use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering::SeqCst};

use crate::lock::Lock;
use crate::record::own::LINE_BITS;

/// Numbers from here on belong to nothing: recording has stopped.
pub const STOPPED: u64 = 1 << 46;

// What follows is on cache lines of its own, so that threads which do not meet there do not wait for each other. Processors
// fetch lines in pairs.

#[repr(align(128))]
struct Counter(AtomicU64);

static NEXT: Counter = Counter(AtomicU64::new(1));

/// Lines whose addresses fall together.
#[repr(align(128))]
struct Shard {
    lock: Lock,
    /// The line that was accessed last, by which thread, and how many times it did so in a row.
    line: Cell<u64>,
    thread: Cell<u64>,
    times: Cell<u32>,
}

// SAFETY: the lock is held by whoever touches the cells.
unsafe impl Sync for Shard {}

impl Shard {
    const fn new() -> Shard {
        Shard { lock: Lock::new(), line: Cell::new(0), thread: Cell::new(0), times: Cell::new(0) }
    }
}

const COUNT: usize = 8192;
static SHARDS: [Shard; COUNT] = [const { Shard::new() }; COUNT];

/// The next number.
#[inline(always)]
pub fn next() -> u64 {
    NEXT.0.fetch_add(1, SeqCst)
}

/// The next few numbers: the first.
#[inline(always)]
pub fn next_many(count: u64) -> u64 {
    NEXT.0.fetch_add(count, SeqCst)
}

/// Makes every number from now on one of [`STOPPED`].
pub fn stop() {
    NEXT.0.fetch_add(STOPPED, SeqCst);
}

#[inline(always)]
fn index(address: u64) -> usize {
    let line = address >> LINE_BITS;
    (line ^ line >> 13) as usize % COUNT
}

/// The shards of the lines that an access touches.
#[inline(always)]
fn indices(address: u64, bytes: u64) -> (usize, usize) {
    let (first, last) = (index(address), index(address.wrapping_add(bytes - 1)));
    (first.min(last), first.max(last))
}

/// Keeps all others from these bytes.
#[inline(always)]
pub fn lock(address: u64, bytes: u64) {
    let (first, second) = indices(address, bytes);
    SHARDS[first].lock.lock();
    if second != first {
        SHARDS[second].lock.lock();
    }
}

/// Ends [`lock`].
#[inline(always)]
pub fn unlock(address: u64, bytes: u64) {
    let (first, second) = indices(address, bytes);
    if second != first {
        SHARDS[second].lock.unlock();
    }
    SHARDS[first].lock.unlock();
}

/// Under the lock of an address: how many times in a row, up to now, a thread accessed its line and no other thread did.
#[inline(always)]
pub fn times_in_a_row(address: u64, thread: u64) -> u32 {
    let shard = &SHARDS[index(address)];
    let line = address >> LINE_BITS;
    let goes_on = shard.line.get() == line && shard.thread.get() == thread;
    let times = if goes_on { shard.times.get().saturating_add(1) } else { 1 };
    shard.line.set(line);
    shard.thread.set(thread);
    shard.times.set(times);
    times
}

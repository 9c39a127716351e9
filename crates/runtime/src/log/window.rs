//! Logs that do not begin with the thread: of long runs only the last events are kept, and recording is switched off and on.
//!
//! A log that begins later starts with the locks, waits and transactions that the thread has open then. From the first such moment on,
//! every write also records what it replaced: that may be the first known value of an address.

use core::cell::{Cell, UnsafeCell};
use core::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};

use crate::open::OpenSet;
use crate::record::Kind;

/// How many events of each thread are kept; 0 for all.
static EVENTS: AtomicU64 = AtomicU64::new(0);
/// Writes record what they replace.
static PARTIAL: AtomicBool = AtomicBool::new(false);
/// How often recording was switched on again.
static TIMES: AtomicU32 = AtomicU32::new(0);
/// The number of the moment when it last was.
static SWITCHED: AtomicU64 = AtomicU64::new(0);

/// What is kept of a thread.
pub struct ThreadWindow {
    open: UnsafeCell<OpenSet>,
    /// Switches that the thread's log knows of.
    times: Cell<u32>,
    /// Counted records before the current file.
    before: Cell<u64>,
}

impl ThreadWindow {
    /// Of a thread that begins now.
    pub fn start(&self) {
        self.times.set(TIMES.load(Acquire));
    }

    /// Whether a file that reaches to this count holds enough to go on in another one.
    pub fn is_full(&self, count: u64) -> bool {
        let events = EVENTS.load(Relaxed);
        events > 0 && count - self.before.get() >= events
    }

    /// A new file begins at this count.
    pub fn begin_file(&self, count: u64) {
        self.before.set(count);
    }

    /// Keeps what the thread has open.
    #[inline(always)]
    pub fn note(&self, kind: Kind, object: u64, extra: u64) {
        // SAFETY: the thread's own, and nothing else refers to it meanwhile.
        unsafe { (*self.open.get()).note(kind, object, extra) }
    }

    /// What the thread has open.
    pub fn open(&self) -> &OpenSet {
        // SAFETY: as in `note`.
        unsafe { &*self.open.get() }
    }

    /// Whether recording was switched on again since the thread's log last began.
    #[inline(always)]
    pub fn is_behind(&self) -> bool {
        self.times.get() != TIMES.load(Relaxed)
    }

    /// The thread's log begins again.
    pub fn catch_up(&self) {
        self.times.set(TIMES.load(Acquire));
    }
}

/// Reads what was asked.
pub fn prepare(events: u64, paused: bool) {
    EVENTS.store(events, Relaxed);
    PARTIAL.store(events > 0 || paused, Relaxed);
}

/// Whether writes record what they replace.
#[inline(always)]
pub fn partial() -> bool {
    PARTIAL.load(Relaxed)
}

/// From here on they do.
pub fn become_partial() {
    PARTIAL.store(true, SeqCst);
}

/// Recording is switched on again in the moment of this number.
pub fn switched_on(order: u64) {
    SWITCHED.store(order, Release);
    TIMES.fetch_add(1, SeqCst);
}

/// That number.
pub fn when_switched_on() -> u64 {
    SWITCHED.load(Acquire)
}

/// Most bytes that a piece of a log has.
pub fn piece_bytes(largest: usize) -> usize {
    const WORDS: u64 = 4;
    match EVENTS.load(Relaxed) {
        0 => largest,
        events => (events.saturating_mul(WORDS * 8) as usize).next_multiple_of(4 << 10).min(256 << 10).min(largest),
    }
}

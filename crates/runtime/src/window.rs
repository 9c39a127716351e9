//! Logs that do not begin with the thread: of long runs only the last events are kept, and recording is switched off and on.
//!
//! A log that begins later starts with the locks, waits and transactions that the thread has open then. From the first such moment on,
//! every write also records what it replaced: that may be the first known value of an address.

use core::cell::{Cell, UnsafeCell};
use core::ffi::c_int;
use core::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};

use crate::interpose::signals;
use crate::log;
use crate::mode::{self, PAUSED, RECORDING};
use crate::open::OpenSet;
use crate::record::{Kind, cut};
use crate::threads::Thread;
use crate::{order, ownership};

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

/// Most bytes that a piece of a log has.
pub fn piece_bytes(largest: usize) -> usize {
    const WORDS: u64 = 4;
    match EVENTS.load(Relaxed) {
        0 => largest,
        events => (events.saturating_mul(WORDS * 8) as usize).next_multiple_of(4 << 10).min(256 << 10).min(largest),
    }
}

/// Whether the thread's file holds enough to go on in another one.
pub fn is_full(thread: &Thread) -> bool {
    let events = EVENTS.load(Relaxed);
    events > 0 && thread.count() - thread.part.before.get() >= events
}

/// A new file begins.
pub fn began(thread: &Thread) {
    thread.part.before.set(thread.count());
}

/// Keeps what the thread has open.
#[inline(always)]
pub fn note(thread: &Thread, kind: Kind, object: u64, extra: u64) {
    // SAFETY: the thread's own, and nothing else refers to it meanwhile.
    unsafe { (*thread.part.open.get()).note(kind, object, extra) }
}

/// Before a record: if recording was switched on again since the last one, the log begins again.
#[inline(always)]
pub fn follow(thread: &'static Thread) {
    if thread.part.times.get() != TIMES.load(Relaxed) {
        begin_anew(thread);
    }
}

#[cold]
#[inline(never)]
fn begin_anew(thread: &'static Thread) {
    let was_busy = thread.busy.get();
    thread.occupy();
    thread.part.times.set(TIMES.load(Acquire));
    log::begin_anew(thread);
    if !was_busy {
        thread.end();
    }
}

/// The first records of a log that does not begin with the thread.
pub fn write_start(thread: &'static Thread, why: u64) {
    // SAFETY: as in `note`.
    let open = unsafe { &*thread.part.open.get() };
    let order = if why == cut::SWITCH { SWITCHED.load(Acquire) } else { order::next() };
    log::write(thread, Kind::Cut, 0, [why, order, u64::from(open.known().is_none())]);
    for open in open.known().unwrap_or_default() {
        log::write(thread, Kind::Open, 0, [open.kind, open.object, open.extra, open.recursive]);
    }
    log::write(thread, Kind::Skip, 0, [thread.count()]);
}

/// Recording is switched by one at a time.
static SWITCHING: AtomicBool = AtomicBool::new(false);

/// Records from here on. A switch within a switch has no effect.
pub fn switch_on() {
    if SWITCHING.swap(true, SeqCst) {
        return;
    }
    if mode::get() == PAUSED {
        SWITCHED.store(order::next(), Release);
        TIMES.fetch_add(1, SeqCst);
        mode::change(PAUSED, RECORDING);
    }
    SWITCHING.store(false, SeqCst);
}

/// Records nothing from here on.
pub fn switch_off() {
    PARTIAL.store(true, SeqCst);
    ownership::end(); // others write meanwhile, and nobody says so
    mode::change(RECORDING, PAUSED);
}

/// From here on this signal switches recording off and on.
pub fn listen(signal: c_int) {
    signals::call_directly(signal, switch as *const () as usize);
}

extern "C" fn switch(_: c_int) {
    match mode::get() {
        PAUSED => switch_on(),
        _ => switch_off(),
    }
}

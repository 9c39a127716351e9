//! Who runs in a serial recording: chance decides, and a seed decides chance.
//!
//! `turns` lets a thread run for up to 50 records. All others decide before each record, so that the start of a thread and each
//! operation of a lock are points where another thread may go on. [`priorities`](super::priorities) has those that rank threads.

use core::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use crate::controller::{priorities, ready};
use crate::text::number;
use crate::threads::{self, Thread};

/// How the thread that goes on is chosen.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Scheduler {
    /// A random thread, for a random number of records.
    Turns = 0,
    /// A random thread before each record, with equal chances.
    Random,
    /// One after the other, each for the same number of records, which is random.
    RoundRobin,
    /// The thread of highest priority; some random moments change priorities.
    Pct,
    /// The thread whose next record has the highest priority.
    Pos,
    /// A random thread before each record, with chances as many as the records that it still has.
    Urw,
}

impl Scheduler {
    const ALL: [(&'static [u8], Scheduler); 6] = [
        (b"turns", Scheduler::Turns),
        (b"random", Scheduler::Random),
        (b"round-robin", Scheduler::RoundRobin),
        (b"pct", Scheduler::Pct),
        (b"pos", Scheduler::Pos),
        (b"urw", Scheduler::Urw),
    ];
}

/// Turns are of one to so many counted records.
static LONGEST: AtomicU64 = AtomicU64::new(50);

static RANDOM: AtomicU64 = AtomicU64::new(0);
static SCHEDULER: AtomicU8 = AtomicU8::new(Scheduler::Turns as u8);
/// Records of a turn of `round-robin`.
static SLICE: AtomicU64 = AtomicU64::new(1);

/// Turns are of so many counted records at most. Short ones part accesses that are near, long ones those that are far.
pub fn set_longest_turn(records: u64) {
    LONGEST.store(records.max(1), Relaxed);
}

/// What the environment says of the scheduler.
pub struct Settings {
    pub seed: Option<&'static [u8]>,
    pub scheduler: Option<&'static [u8]>,
    pub depth: Option<&'static [u8]>,
    /// Counted records of each thread in another run, by number, separated by commas.
    pub steps: Option<&'static [u8]>,
}

pub fn prepare(settings: &Settings) -> Result<(), &'static str> {
    const NEVER_ZERO: u64 = 0x9e37_79b9_7f4a_7c15;
    let seed = number(settings.seed.unwrap_or(b"0")).ok_or("FORETRACE_SEED is no number")?;
    let state = (seed.wrapping_add(1)).wrapping_mul(NEVER_ZERO);
    RANDOM.store(if state == 0 { NEVER_ZERO } else { state }, Relaxed);
    (0..4).for_each(|_| {
        random();
    }); // small seeds start alike
    let name = settings.scheduler.unwrap_or(b"turns");
    let (_, scheduler) = Scheduler::ALL
        .into_iter()
        .find(|(known, _)| *known == name)
        .ok_or("FORETRACE_SCHEDULER is neither turns, random, round-robin, pct, pos nor urw")?;
    SCHEDULER.store(scheduler as u8, Relaxed);
    SLICE.store(1 + below(LONGEST.load(Relaxed)), Relaxed);
    priorities::prepare(scheduler, settings)
}

/// The next number (xorshift). The controller's lock is held.
pub fn random() -> u64 {
    let mut state = RANDOM.load(Relaxed);
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    RANDOM.store(state, Relaxed);
    state
}

/// A number below `bound`, which is not 0.
pub fn below(bound: u64) -> u64 {
    (random() >> 11) % bound
}

/// A turn goes on for less than so many records that are not counted.
const BEYOND: u64 = 4;

/// One of the threads that are ready, of which there are so many, and how long it runs. `last` is the number of the one that ran.
pub fn choose(count: usize, last: u64) -> (&'static Thread, u64, u64) {
    match SCHEDULER.load(Relaxed) {
        scheduler if scheduler == Scheduler::Turns as u8 => turn(count),
        scheduler if scheduler == Scheduler::Random as u8 => (nth(below(count as u64)), 1, 0),
        scheduler if scheduler == Scheduler::RoundRobin as u8 => (after(last), SLICE.load(Relaxed), 0),
        scheduler if scheduler == Scheduler::Urw as u8 => (priorities::by_what_is_left(), 1, 0),
        _ => (priorities::highest(), 1, 0),
    }
}

fn turn(count: usize) -> (&'static Thread, u64, u64) {
    let index = below(count as u64);
    let drawn = random() >> 11;
    let longest = LONGEST.load(Relaxed);
    let (records, beyond) = (1 + drawn % longest, drawn / longest % BEYOND);
    (nth(index), records, beyond)
}

/// The threads that are ready, in the order in which they came to be.
pub fn all_ready() -> impl Iterator<Item = &'static Thread> {
    threads::all().filter(|thread| ready(thread))
}

fn nth(index: u64) -> &'static Thread {
    all_ready().nth(index as usize).expect("there are so many")
}

fn after(last: u64) -> &'static Thread {
    let next = all_ready().find(|thread| thread.number.get() > last);
    next.or_else(|| all_ready().next()).expect("one is ready")
}

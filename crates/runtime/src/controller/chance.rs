//! What all schedulers of serial recordings share: their settings, seeded chance, and the threads that are ready.

use core::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use crate::controller::turns::ready;
use crate::threads::{self, Thread};

/// What the environment says of the scheduler.
pub struct Settings {
    pub seed: Option<&'static [u8]>,
    pub scheduler: Option<&'static [u8]>,
    pub depth: Option<&'static [u8]>,
    /// Counted records of each thread in another run, by number, separated by commas.
    pub steps: Option<&'static [u8]>,
    /// Of each thread, by number, separated by commas: the headers of records, separated by `/`, after which `order` may let others go on.
    pub ends_of_turns: Option<&'static [u8]>,
}

static RANDOM: AtomicU64 = AtomicU64::new(0);

/// Begins the numbers of a seed.
pub fn sow(seed: u64) {
    const NEVER_ZERO: u64 = 0x9e37_79b9_7f4a_7c15;
    let state = (seed.wrapping_add(1)).wrapping_mul(NEVER_ZERO);
    RANDOM.store(if state == 0 { NEVER_ZERO } else { state }, Relaxed);
    (0..4).for_each(|_| {
        random();
    }); // small seeds start alike
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

/// What a run does or does not do from its start to its end: each in every other run, by the seed.
#[derive(Clone, Copy)]
#[repr(u8)]
pub enum Habit {
    /// A thread that is about to wait for a condition lets others go first: a signal that comes before the wait is lost.
    WaitsLate,
    /// Chance says which of those who wait for a condition a signal wakes, as POSIX allows; otherwise it is the one who waits longest.
    WakesAny,
    /// A thread that was woken lets others go first: what it waited for may be gone when it looks, and the signal with it.
    GoesOnLate,
}

/// The habits of this run, a bit each.
static HABITS: AtomicU8 = AtomicU8::new(0);

impl Habit {
    /// Draws those of this run, of these. Takes no number.
    pub fn draw(of: &[Habit]) {
        const BITS: u32 = 40; // of the random number that are left out
        let drawn = (RANDOM.load(Relaxed) >> BITS) as u8;
        HABITS.store(of.iter().fold(0, |habits, habit| habits | drawn & 1 << *habit as u8), Relaxed);
    }

    /// Whether this run has it.
    pub fn is_of_this_run(self) -> bool {
        HABITS.load(Relaxed) >> self as u8 & 1 == 1
    }
}

/// A number below `bound`, which is not 0.
pub fn below(bound: u64) -> u64 {
    (random() >> 11) % bound
}

/// The threads that are ready, in the order in which they came to be.
pub fn all_ready() -> impl Iterator<Item = &'static Thread> {
    threads::all().filter(|thread| ready(thread))
}

//! Who runs in a serial recording: chance decides, and a seed decides chance.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::controller::ready;
use crate::text::number;
use crate::threads::{self, Thread};

/// Turns are of one to so many counted records.
static LONGEST: AtomicU64 = AtomicU64::new(50);

static RANDOM: AtomicU64 = AtomicU64::new(0);

/// Turns are of so many counted records at most. Short ones part accesses that are near, long ones those that are far.
pub fn set_longest_turn(records: u64) {
    LONGEST.store(records.max(1), Relaxed);
}

pub fn prepare(seed: Option<&[u8]>) -> Result<(), &'static str> {
    const NEVER_ZERO: u64 = 0x9e37_79b9_7f4a_7c15;
    let seed = number(seed.unwrap_or(b"0")).ok_or("FORETRACE_SEED is no number")?;
    let state = (seed.wrapping_add(1)).wrapping_mul(NEVER_ZERO);
    RANDOM.store(if state == 0 { NEVER_ZERO } else { state }, Relaxed);
    (0..4).for_each(|_| {
        random();
    }); // small seeds start alike
    Ok(())
}

/// The next number (xorshift). The controller's lock is held.
fn random() -> u64 {
    let mut state = RANDOM.load(Relaxed);
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    RANDOM.store(state, Relaxed);
    state
}

/// A turn goes on for less than so many records that are not counted.
const BEYOND: u64 = 4;

/// One of the threads that are ready, of which there are so many, and how long it runs.
pub fn choose(count: usize) -> (&'static Thread, u64, u64) {
    let index = (random() >> 11) as usize % count;
    let drawn = random() >> 11;
    let longest = LONGEST.load(Relaxed);
    let (records, beyond) = (1 + drawn % longest, drawn / longest % BEYOND);
    let thread = threads::all().filter(|thread| ready(thread)).nth(index);
    (thread.expect("there are so many"), records, beyond)
}

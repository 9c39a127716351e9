//! Whether a thread does the same again and again, as in a loop in which it waits for what another thread is to do.
//!
//! Its log says so: the same records at the same places, with the same memory and values. Such a loop may end by itself, as one that counts
//! its turns. So this only says whom to prefer.

use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::record::Kind;

/// Records of a round of the loop at most.
const LONGEST: usize = 16;
/// A thread repeats what it does if so many records in a row are the same as those a round before. Loops that only try for a while, before
/// they sleep, have fewer turns.
pub const ENOUGH: u64 = 2000;
/// After so many others go on in its place, and after fewer if a thread has waited in that loop before. It gets so long the first time since the
/// loop may only try for a while.
const MANY: u64 = 1000;
const FEW: u64 = 64;

/// Loops in which threads have waited, by the first of their places.
static LOOPS: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];

/// What is kept of a thread. Touched under the controller's lock.
pub struct Repeating {
    /// Up to where its log was looked at.
    seen: Cell<*const u64>,
    /// Its last records, a number for each, and how many there were.
    last: [Cell<u64>; LONGEST],
    count: Cell<u64>,
    /// For each length of a round: how many records in a row are the same as those a round before.
    same: [Cell<u64>; LONGEST],
    /// Records since another thread last did what it may wait for.
    since: Cell<u64>,
    /// The kinds and places of its last records.
    places: [Cell<u64>; LONGEST],
    /// Records that were the same as those of at least two rounds before.
    all: Cell<u64>,
}

impl Repeating {
    /// Where its log went on at the last look; the next look begins where it goes on now.
    pub fn looked_up_to(&self, now: *const u64) -> *const u64 {
        self.seen.replace(now)
    }

    /// Takes what the thread has written since the last look, if that is known.
    pub fn take(&self, written: Option<&[u64]>) {
        match written {
            Some(words) => self.take_words(words),
            None => self.forget(),
        }
    }

    /// Another thread did something that this one may wait for.
    pub fn other_went_on(&self) {
        self.since.set(0);
    }

    /// Whether it repeats what it does, also after what others did.
    pub fn is_so(&self) -> bool {
        let rounds = (1..).zip(&self.same);
        rounds.filter(|(_, same)| same.get() >= ENOUGH).any(|(length, _)| self.since.get() >= 2 * length)
    }

    /// Whether it repeated what it did, as far as is known.
    pub fn was_so(&self) -> bool {
        self.was_for(ENOUGH)
    }

    /// Whether it repeated what it did in so many records.
    pub fn was_for(&self, records: u64) -> bool {
        self.same.iter().any(|same| same.get() >= records)
    }

    /// Whether others are to go on in its place.
    pub fn gives_way(&self) -> bool {
        let round = (1..).zip(&self.same).find(|(_, same)| same.get() >= FEW);
        let Some((length, same)) = round else { return false };
        let count = self.count.get();
        let place = |back: u64| self.places[(count - back) as usize % LONGEST].get();
        let first = (1..=length).map(place).min().unwrap_or(0);
        let is_known = LOOPS.iter().any(|known| known.load(Relaxed) == first);
        let gives = is_known || same.get() >= MANY;
        let free = LOOPS.iter().find(|known| known.load(Relaxed) == 0);
        if let Some(free) = free.filter(|_| gives && !is_known) {
            free.store(first, Relaxed);
        }
        gives
    }

    /// The header of the counted record that it wrote last, as far as is known.
    pub fn last_header(&self) -> Option<u64> {
        let last = self.count.get().checked_sub(1)?;
        Some(self.places[last as usize % LONGEST].get())
    }

    /// How many of its records were the same as those of at least two rounds before.
    pub fn all(&self) -> u64 {
        self.all.get()
    }

    fn forget(&self) {
        self.same.iter().for_each(|same| same.set(0));
        self.count.set(0);
    }

    fn take_words(&self, mut words: &[u64]) {
        while let Some(kind) = words.first().and_then(|header| Kind::from_header(*header)) {
            let Some((record, rest)) = words.split_at_checked(kind.words()) else { return };
            if kind.counted() {
                self.note(record[0], number_of(&record[..record.len() - 1]));
            }
            words = rest;
        }
    }

    fn note(&self, place: u64, number: u64) {
        let count = self.count.get();
        let mut repeats = false;
        for (length, same) in (1..).zip(&self.same) {
            let before = count.checked_sub(length).map(|at| self.last[at as usize % LONGEST].get());
            same.set(if before == Some(number) { same.get() + 1 } else { 0 });
            repeats |= same.get() > length;
        }
        self.all.set(self.all.get() + u64::from(repeats));
        self.last[count as usize % LONGEST].set(number);
        self.places[count as usize % LONGEST].set(place);
        self.count.set(count + 1);
        self.since.set(self.since.get() + 1);
    }
}

/// A number for a record without its order: FNV-1a by words.
fn number_of(words: &[u64]) -> u64 {
    words.iter().fold(0xcbf2_9ce4_8422_2325, |hash, word| (hash ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(29))
}

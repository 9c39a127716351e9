//! A list without repetitions: finds an item by its position, and the position by the item.

use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// The distinct items so far, in the order in which they came.
#[derive(Clone, Debug)]
pub(crate) struct Interner<T> {
    items: Vec<T>,
    positions: Positions,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { items: Vec::new(), positions: Positions::default() }
    }
}

impl<T> Interner<T> {
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// The position of the item that `is` is true of, which has this hash; it is made if it is not there.
    #[inline]
    pub fn intern(&mut self, hash: u64, is: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> usize {
        if let Some(found) = self.find(hash, is) {
            return found;
        }
        self.push(hash, make())
    }

    #[inline]
    pub fn find(&self, hash: u64, is: impl Fn(&T) -> bool) -> Option<usize> {
        self.positions.find(hash, |position| is(&self.items[position]))
    }

    /// Adds an item that is not there.
    #[inline]
    pub fn push(&mut self, hash: u64, item: T) -> usize {
        let position = self.items.len();
        self.items.push(item);
        self.positions.insert(hash, position);
        position
    }
}

/// The hash of an item that is interned.
#[inline]
pub(crate) fn hash_of(item: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = FxHasher::default();
    item.hash(&mut hasher);
    hasher.finish()
}

/// Positions by the hash of what is there.
///
/// An entry has half of the hash, so that looking for something hardly ever looks at another item, and growing at
/// none. Its place follows from the upper bits: growing then goes through memory in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Positions {
    /// Half a hash above a position plus one; 0 where nothing is. As many as a power of two, or none.
    entries: Vec<u64>,
    used: usize,
}

/// Entries of the smallest table.
const LEAST: usize = 16;

impl Positions {
    /// The position that `is` is true of, among those with this hash.
    #[inline]
    pub fn find(&self, hash: u64, is: impl Fn(usize) -> bool) -> Option<usize> {
        let half = half(hash);
        let mut at = self.place(half);
        loop {
            let entry = *self.entries.get(at)?;
            if entry == 0 {
                return None;
            }
            let position = (entry as u32 - 1) as usize;
            if entry >> 32 == half && is(position) {
                return Some(position);
            }
            at = (at + 1) & (self.entries.len() - 1);
        }
    }

    /// Adds a position that is not there.
    #[inline]
    pub fn insert(&mut self, hash: u64, position: usize) {
        if (self.used + 1) * 4 > self.entries.len() * 3 {
            self.grow();
        }
        let number = u32::try_from(position + 1).expect("fewer than 2^32 items");
        self.put(half(hash) << 32 | u64::from(number));
        self.used += 1;
    }

    fn put(&mut self, entry: u64) {
        let mut at = self.place(entry >> 32);
        while self.entries[at] != 0 {
            at = (at + 1) & (self.entries.len() - 1);
        }
        self.entries[at] = entry;
    }

    /// Where to look first for what has this half of a hash.
    #[inline]
    fn place(&self, half: u64) -> usize {
        ((half as u128 * self.entries.len() as u128) >> 32) as usize
    }

    #[cold]
    fn grow(&mut self) {
        let larger = (self.entries.len() * 2).max(LEAST);
        for entry in std::mem::replace(&mut self.entries, vec![0; larger]) {
            if entry != 0 {
                self.put(entry);
            }
        }
    }
}

/// The half of a hash that an entry has; all bits of the hash count.
#[inline]
fn half(hash: u64) -> u64 {
    hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Few distinct hashes, so that different items meet in one place.
        #[test]
        fn positions_are_those_of_first_occurrences(items in prop::collection::vec(0..300u32, 0..600), hashes in 1..50u64) {
            let mut interner = Interner::default();
            let mut expected: Vec<u32> = Vec::new();
            for item in items {
                let position = expected.iter().position(|other| *other == item);
                prop_assert_eq!(interner.find(u64::from(item) % hashes, |other| *other == item), position);
                let interned = interner.intern(u64::from(item) % hashes, |other| *other == item, || item);
                prop_assert_eq!(interned, position.unwrap_or(expected.len()));
                if position.is_none() {
                    expected.push(item);
                }
            }
            prop_assert_eq!(interner.items(), &expected[..]);
        }
    }
}

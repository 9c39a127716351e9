//! Stacks.
//!
//! A value whose push and pop overlap can be pushed and popped at one moment, and counts for nothing. Every other must be
//! on the stack from the return of its push to the call of its pop: its *stay*. Take a largest group of values whose
//! stays overlap, one after the other, in one stretch `[l, r]` of time. In each linearization their times on the stack are
//! nested or apart, and two that overlap have one value below both: so some value is below all others of the group. Its
//! push is called before `l`, where the first push of the group returned, and its pop returns after `r`.
//!
//! *Lemma.* If the group can be linearized, it can be so with any such value below all others. *Proof.* Move its push to
//! the front and its pop to the end: the calls and returns allow both, since every other operation of the group returns
//! after `l` and is called before `r`. The others stay nested without it. The moments at which the stack may be empty stay the
//! same: those outside of all stretches.
//!
//! So the check takes one such value away, and goes on with the groups that the others form. A history is linearizable if and only if no
//! group is without such a value, and each operation that found the stack empty has a moment outside of all stretches. Values are taken
//! away in O(log n) each. This is in the spirit of Lee and Mathur, "Efficient Decrease-and-Conquer Linearizability Monitoring", OOPSLA
//! 2025.

use super::container::{Life, Read, read};
use crate::model::{Act, Step};
use std::collections::BTreeSet;

/// Whether a stack's history is linearizable, where the check applies.
pub fn stack(steps: &[Step]) -> Option<bool> {
    let put = |act| if let Act::PushBack(value) = act { Some(value) } else { None };
    match read(steps, put, Act::PopBack) {
        Read::Other => None,
        Read::Bad => Some(false),
        Read::Container(container) => {
            Some(container.can_be_empty() && Groups::new(&container.lives).all_have_a_lowest())
        }
    }
}

/// The values that stay, by when their pushes returned, over the moments at which stays begin or end.
struct Groups {
    lives: Vec<Life>,
    /// Per value the first and the last gap between moments that its stay covers.
    stays: Vec<(usize, usize)>,
    moments: Vec<u64>,
    /// Per gap how many stays cover it.
    cover: Cover,
    /// Earliest call of a push among values that were not yet found to be early enough.
    pushes: Extreme,
    /// Latest return of a pop, negated, likewise.
    pops: Extreme,
    /// Which of the two were found.
    fits: Vec<(bool, bool)>,
    /// Values for which both were found: each may be below its group.
    lowest: BTreeSet<usize>,
}

impl Groups {
    fn new(all: &[Life]) -> Groups {
        let mut lives: Vec<Life> = all.iter().filter(|life| life.put.1 < life.take.0).copied().collect();
        lives.sort_unstable_by_key(|life| life.put.1);
        let mut moments: Vec<u64> = lives.iter().flat_map(|life| [life.put.1, life.take.0]).collect();
        moments.sort_unstable();
        moments.dedup();
        let place = |moment: u64| moments.partition_point(|other| *other < moment);
        let stays: Vec<(usize, usize)> = lives.iter().map(|life| (place(life.put.1), place(life.take.0) - 1)).collect();
        let mut cover = Cover::new(moments.len());
        stays.iter().for_each(|(first, last)| cover.add(*first, *last, 1));
        Groups {
            cover,
            pushes: Extreme::new(lives.iter().map(|life| life.put.0).collect()),
            pops: Extreme::new(lives.iter().map(|life| u64::MAX - life.take.1).collect()),
            fits: vec![(false, false); lives.len()],
            lowest: BTreeSet::new(),
            lives,
            stays,
            moments,
        }
    }

    /// Takes values away from below until none is left, or a group has none that can be below all others.
    fn all_have_a_lowest(mut self) -> bool {
        if self.moments.is_empty() {
            return true;
        }
        // Stretches of gaps that are left to look at; some of their gaps may be covered by nothing.
        let mut stretches = vec![(0, self.moments.len() - 1)];
        while let Some((first, last)) = stretches.pop() {
            if first >= last {
                continue; // the last moment opens no gap
            }
            if let Some(gap) = self.cover.first_free(first, last - 1) {
                self.cover.close(gap);
                stretches.push((first, gap));
                stretches.push((gap + 1, last));
                continue;
            }
            let Some(value) = self.take_lowest(first, last) else { return false };
            let (from, to) = self.stays[value];
            self.cover.add(from, to, -1);
            stretches.push((first, last));
        }
        true
    }

    /// A value that can be below all others of the group between two moments.
    fn take_lowest(&mut self, first: usize, last: usize) -> Option<usize> {
        let (start, end) = (self.moments[first], self.moments[last]);
        let range = {
            let place = |moment: u64| self.lives.partition_point(|life| life.put.1 < moment);
            (place(start), place(end))
        };
        while let Some(value) = self.pushes.take_below(range, start) {
            self.fits[value].0 = true;
            if self.fits[value].1 {
                self.lowest.insert(value);
            }
        }
        // The pop may return at the end itself only where that is never.
        let bound = (u64::MAX - end).saturating_add(u64::from(end == u64::MAX));
        while let Some(value) = self.pops.take_below(range, bound) {
            self.fits[value].1 = true;
            if self.fits[value].0 {
                self.lowest.insert(value);
            }
        }
        let value = self.lowest.range(range.0..range.1).next().copied()?;
        self.lowest.remove(&value);
        Some(value)
    }
}

/// A segment tree of the least number in each range, from which numbers below a bound can be taken.
struct Extreme {
    size: usize,
    least: Vec<u64>,
}

impl Extreme {
    fn new(numbers: Vec<u64>) -> Extreme {
        let size = numbers.len().next_power_of_two();
        let mut least = vec![u64::MAX; 2 * size];
        least[size..size + numbers.len()].copy_from_slice(&numbers);
        (1..size).rev().for_each(|node| least[node] = least[2 * node].min(least[2 * node + 1]));
        Extreme { size, least }
    }

    /// Takes out one number below the bound among those from `range.0` up to, not with, `range.1`.
    fn take_below(&mut self, range: (usize, usize), bound: u64) -> Option<usize> {
        let (mut low, mut high) = (range.0 + self.size, range.1 + self.size);
        let mut found = None;
        while low < high && found.is_none() {
            if low & 1 == 1 {
                found = found.or((self.least[low] < bound).then_some(low));
                low += 1;
            }
            if high & 1 == 1 {
                high -= 1;
                found = found.or((self.least[high] < bound).then_some(high));
            }
            (low, high) = (low / 2, high / 2);
        }
        let mut node = found?;
        while node < self.size {
            node = if self.least[2 * node] < bound { 2 * node } else { 2 * node + 1 };
        }
        let place = node - self.size;
        self.least[node] = u64::MAX;
        while node > 1 {
            node /= 2;
            self.least[node] = self.least[2 * node].min(self.least[2 * node + 1]);
        }
        Some(place)
    }
}

/// A segment tree over gaps: how many stays cover each. A node's count holds for its whole range, besides what its children say.
struct Cover {
    size: usize,
    own: Vec<i64>,
    least: Vec<i64>,
}

/// A gap that was found to be free is never found again.
const CLOSED: i64 = i64::MAX / 4;

impl Cover {
    fn new(gaps: usize) -> Cover {
        let size = gaps.max(1).next_power_of_two();
        Cover { size, own: vec![0; 2 * size], least: vec![0; 2 * size] }
    }

    fn add(&mut self, first: usize, last: usize, more: i64) {
        let (mut low, mut high) = (first + self.size, last + self.size + 1);
        let (left, right) = (low, high - 1);
        while low < high {
            if low & 1 == 1 {
                self.own[low] += more;
                self.least[low] += more;
                low += 1;
            }
            if high & 1 == 1 {
                high -= 1;
                self.own[high] += more;
                self.least[high] += more;
            }
            (low, high) = (low / 2, high / 2);
        }
        self.update(left);
        self.update(right);
    }

    fn update(&mut self, mut node: usize) {
        while node > 1 {
            node /= 2;
            self.least[node] = self.least[2 * node].min(self.least[2 * node + 1]) + self.own[node];
        }
    }

    fn close(&mut self, gap: usize) {
        self.own[gap + self.size] += CLOSED;
        self.least[gap + self.size] += CLOSED;
        self.update(gap + self.size);
    }

    /// The first gap of a range that nothing covers.
    fn first_free(&self, first: usize, last: usize) -> Option<usize> {
        // Nodes with the sum of what holds for them from above, and their ranges; left ones are looked at first.
        let mut nodes = vec![(1, 0, 0, self.size - 1)];
        while let Some((node, above, low, high)) = nodes.pop() {
            if high < first || last < low || self.least[node] + above > 0 {
                continue;
            }
            if low == high {
                return Some(low);
            }
            let above = above + self.own[node];
            let middle = low + (high - low) / 2;
            nodes.push((2 * node + 1, above, middle + 1, high));
            nodes.push((2 * node, above, low, middle));
        }
        None
    }
}

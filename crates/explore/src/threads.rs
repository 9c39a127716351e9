//! Sets of threads.

/// A set of numbers below a bound.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ThreadSet(Vec<u64>);

impl ThreadSet {
    /// The empty set.
    pub fn new(threads: usize) -> ThreadSet {
        ThreadSet(vec![0; threads.div_ceil(64)])
    }

    pub fn add(&mut self, thread: usize) {
        self.0[thread / 64] |= 1 << (thread % 64);
    }

    pub fn has(&self, thread: usize) -> bool {
        self.0[thread / 64] >> (thread % 64) & 1 == 1
    }

    pub fn meets(&self, other: &ThreadSet) -> bool {
        self.0.iter().zip(&other.0).any(|(own, theirs)| own & theirs != 0)
    }

    pub fn add_all(&mut self, other: &ThreadSet) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, theirs)| *own |= theirs);
    }

    /// Its members, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let bits = |(word, bits): (usize, &u64)| {
            let bits = *bits;
            (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word * 64 + bit)
        };
        self.0.iter().enumerate().flat_map(bits)
    }
}

//! The pseudo-random generator of runs and tests, in one place, so that a seed means the same in every version.
//!
//! Source: G. L. Steele, D. Lea, C. H. Flood, *Fast Splittable Pseudorandom Number Generators*, OOPSLA 2014 (SplitMix64).

/// Where the random choices come from.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next number; all 64 bits are as good.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is small and not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound.max(1) as u64) as usize
    }

    /// True in this many of a hundred cases.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of these, if there are any.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        choices.get(self.below(choices.len()))
    }

    /// One of these, as often as their weights say.
    pub fn weighted<T: Copy>(&mut self, choices: &[(usize, T)]) -> Option<T> {
        let mut ticket = self.below(choices.iter().map(|(weight, _)| weight).sum());
        for (weight, choice) in choices {
            match ticket.checked_sub(*weight) {
                Some(rest) => ticket = rest,
                None => return Some(*choice),
            }
        }
        None
    }
}

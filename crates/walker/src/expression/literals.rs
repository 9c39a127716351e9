//! The literals that were asked for last: most are, again and again, and the arena is large.

use foretrace_trace::TermId;

/// How many are kept, a power of two.
const KEPT: usize = 1 << 15;

/// Words and their terms, each in the place that it gives.
pub(super) struct Literals(Vec<Option<(u64, u32, TermId)>>);

impl Default for Literals {
    fn default() -> Self {
        Literals(vec![None; KEPT])
    }
}

impl Literals {
    /// The literal of this many bits, made if it is not there.
    #[inline]
    pub fn find(&mut self, width: u32, bits: u64, make: impl FnOnce() -> TermId) -> TermId {
        let mixed = (bits ^ u64::from(width) << 57).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let kept = &mut self.0[mixed as usize >> (usize::BITS - KEPT.trailing_zeros())];
        match *kept {
            Some((same, of, term)) if same == bits && of == width => term,
            _ => {
                let term = make();
                *kept = Some((bits, width, term));
                term
            }
        }
    }
}

//! What the walker knows of a value: its bits, and how they follow from what shared memory held.

use foretrace_trace::{Func, TermId};
use std::rc::Rc;

/// A scalar: an integer, a pointer or the bits of a float, of 1 to 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Word {
    /// Its bits, those above `width` zero; meaningless unless `known`.
    pub bits: u64,
    /// How it follows from what was read; nothing if it is the same in every schedule. A word of one bit has a term
    /// of sort `Bool`.
    pub term: Option<TermId>,
    /// Its width in bits.
    pub width: u32,
    /// Whether its bits are known.
    pub known: bool,
}

impl Word {
    /// A constant.
    pub fn constant(width: u32, bits: u64) -> Word {
        Word { bits: bits & mask(width), term: None, width, known: true }
    }

    /// A value that is not known.
    pub fn unknown(width: u32) -> Word {
        Word { bits: 0, term: None, width, known: false }
    }

    /// Known, and the same in every schedule.
    pub fn is_constant(self) -> bool {
        self.known && self.term.is_none()
    }

    /// Whether it is known to be these bits.
    pub fn is(self, bits: u64) -> bool {
        self.known && self.bits == bits
    }
}

/// What a register holds.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A scalar.
    Word(Word),
    /// A struct or array.
    Aggregate(Rc<[Value]>),
    /// Nothing that is tracked.
    Untracked,
}

impl Value {
    /// The scalar that it is, or an unknown one.
    pub fn word(&self, width: u32) -> Word {
        match self {
            Value::Word(word) => *word,
            _ => Word::unknown(width),
        }
    }

    /// The part at the end of a path.
    pub fn part(&self, path: &[u32]) -> Value {
        path.iter().fold(self.clone(), |value, index| match value {
            Value::Aggregate(parts) => parts.get(*index as usize).cloned().unwrap_or(Value::Untracked),
            _ => Value::Untracked,
        })
    }

    /// The same with the part at the end of a path replaced.
    pub fn with_part(&self, path: &[u32], part: Value) -> Value {
        let Some((first, rest)) = path.split_first() else { return part };
        let mut parts = match self {
            Value::Aggregate(parts) => parts.to_vec(),
            _ => Vec::new(),
        };
        let index = *first as usize;
        if parts.len() <= index {
            parts.resize(index + 1, Value::Untracked);
        }
        parts[index] = parts[index].with_part(rest, part);
        Value::Aggregate(parts.into())
    }
}

/// The low `width` bits set.
pub(crate) fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// A word read in two's complement.
pub(crate) fn signed(width: u32, bits: u64) -> i64 {
    let unused = 64 - width.clamp(1, 64);
    ((bits << unused) as i64) >> unused
}

/// The value of a function of words of `width` bits, the way that terms are evaluated ([`Func::apply`]); of comparisons 0 or 1.
///
/// This is the one place where the walker computes: the same `Func` makes the term. `None` for a function that it does not use.
pub(crate) fn apply(func: Func, width: u32, a: u64, b: u64) -> Option<u64> {
    let (sa, sb) = (signed(width, a), signed(width, b));
    let shift = (b < u64::from(width)).then_some(b as u32);
    let bits = match func {
        Func::BvAdd => a.wrapping_add(b),
        Func::BvSub => a.wrapping_sub(b),
        Func::BvMul => a.wrapping_mul(b),
        Func::BvUdiv => a.checked_div(b).unwrap_or(u64::MAX),
        Func::BvUrem => a.checked_rem(b).unwrap_or(a),
        Func::BvSdiv if b == 0 => {
            if sa < 0 {
                1
            } else {
                u64::MAX
            }
        }
        Func::BvSdiv => sa.wrapping_div(sb) as u64,
        Func::BvSrem if b == 0 => a,
        Func::BvSrem => sa.wrapping_rem(sb) as u64,
        Func::BvShl => shift.map_or(0, |n| a << n),
        Func::BvLshr => shift.map_or(0, |n| a >> n),
        Func::BvAshr => (sa >> shift.unwrap_or(63).min(63)) as u64,
        Func::BvAnd => a & b,
        Func::BvOr => a | b,
        Func::BvXor => a ^ b,
        Func::Eq => u64::from(a == b),
        Func::Distinct => u64::from(a != b),
        Func::BvUlt => u64::from(a < b),
        Func::BvUle => u64::from(a <= b),
        Func::BvUgt => u64::from(a > b),
        Func::BvUge => u64::from(a >= b),
        Func::BvSlt => u64::from(sa < sb),
        Func::BvSle => u64::from(sa <= sb),
        Func::BvSgt => u64::from(sa > sb),
        Func::BvSge => u64::from(sa >= sb),
        _ => return None,
    };
    Some(bits & mask(width))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu_int::UBig;
    use foretrace_trace as trace;
    use proptest::prelude::*;

    const FUNCTIONS: [Func; 24] = [
        Func::BvAdd,
        Func::BvSub,
        Func::BvMul,
        Func::BvUdiv,
        Func::BvUrem,
        Func::BvSdiv,
        Func::BvSrem,
        Func::BvShl,
        Func::BvLshr,
        Func::BvAshr,
        Func::BvAnd,
        Func::BvOr,
        Func::BvXor,
        Func::Eq,
        Func::Distinct,
        Func::BvUlt,
        Func::BvUle,
        Func::BvUgt,
        Func::BvUge,
        Func::BvSlt,
        Func::BvSle,
        Func::BvSgt,
        Func::BvSge,
        Func::BvAdd,
    ];

    fn interesting() -> impl Strategy<Value = u64> {
        prop_oneof![any::<u64>(), 0..70u64, Just(u64::MAX), Just(1 << 63), Just(1 << 31), Just(0x80)]
    }

    proptest! {
        #[test]
        fn computes_as_terms_do(width in prop_oneof![Just(8u32), Just(16), Just(32), Just(64), 2..64u32],
                                a in interesting(), b in interesting()) {
            let (a, b) = (a & mask(width), b & mask(width));
            let word = |bits: u64| trace::Value::BitVec { width, bits: UBig::from(bits) };
            for func in FUNCTIONS {
                let expected = match func.apply(&[&word(a), &word(b)]) {
                    trace::Value::Bool(holds) => u64::from(holds),
                    trace::Value::BitVec { bits, .. } => u64::try_from(bits).unwrap(),
                    trace::Value::Int(_) => unreachable!(),
                };
                prop_assert_eq!(apply(func, width, a, b), Some(expected), "{} {} {} {}", func, width, a, b);
            }
        }
    }
}

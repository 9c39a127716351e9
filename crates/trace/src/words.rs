//! Functions of machine words of up to 64 bits, computed in such.

use crate::function::Func;
use crate::value::Value;
use dashu_int::UBig;

/// The low `width` bits set.
#[inline]
pub fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// A word read in two's complement.
#[inline]
pub fn signed(width: u32, bits: u64) -> i64 {
    let unused = 64 - width.clamp(1, 64);
    ((bits << unused) as i64) >> unused
}

/// The value of a function of two words of `width` bits; of comparisons 0 or 1. `None` for functions that are not here.
#[inline]
pub fn apply(func: Func, width: u32, a: u64, b: u64) -> Option<u64> {
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

/// The value of a function of words, where they and the result have at most 64 bits; `None` also for functions that are not
/// here.
pub(crate) fn apply_narrow(func: Func, args: &[&Value]) -> Option<Value> {
    let (width, first) = narrow(args.first()?)?;
    match (func, args) {
        (Func::Extract { high, low }, [_]) => word(high - low + 1, first >> low),
        (Func::ZeroExtend(n), [_]) => word(width + n, first),
        (Func::SignExtend(n), [_]) => word(width + n, signed(width, first) as u64),
        (_, [_, second]) => {
            let bits = apply(func, width, first, narrow(second)?.1)?;
            if func.compares_words() { Some(Value::Bool(bits != 0)) } else { word(width, bits) }
        }
        _ => None,
    }
}

fn narrow(value: &Value) -> Option<(u32, u64)> {
    match value {
        Value::BitVec { width: width @ 1..=64, bits } => Some((*width, u64::try_from(bits).ok()?)),
        _ => None,
    }
}

fn word(width: u32, bits: u64) -> Option<Value> {
    (width <= 64).then(|| Value::BitVec { width, bits: UBig::from(bits & mask(width)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu_int::UBig;
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
        fn words_are_computed_with_as_integers_of_any_size_are(width in prop_oneof![Just(8u32), Just(16), Just(32), Just(64), 2..64u32],
                                a in interesting(), b in interesting()) {
            let (a, b) = (a & mask(width), b & mask(width));
            let word = |bits: u64| Value::BitVec { width, bits: UBig::from(bits) };
            for func in FUNCTIONS {
                let expected = func.apply_to_any(&[&word(a), &word(b)]);
                prop_assert_eq!(apply_narrow(func, &[&word(a), &word(b)]), Some(expected), "{} {} {} {}", func, width, a, b);
            }
        }

        #[test]
        fn cuts_and_extensions_are_those_of_integers_of_any_size(width in 1..=64u32, a in interesting(),
                                                                 low in 0..64u32, high in 0..64u32, more in 0..70u32) {
            let value = Value::BitVec { width, bits: UBig::from(a & mask(width)) };
            let (low, high) = (low.min(high) % width, high.max(low) % width);
            let extract = Func::Extract { high: high.max(low), low: low.min(high) };
            for func in [extract, Func::ZeroExtend(more), Func::SignExtend(more)] {
                let expected = func.apply_to_any(&[&value]);
                let wide = !matches!(func, Func::Extract { .. }) && width + more > 64;
                prop_assert_eq!(apply_narrow(func, &[&value]), Some(expected).filter(|_| !wide), "{} {}", func, width);
            }
        }
    }
}

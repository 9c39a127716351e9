//! The values of functions on arguments, as SMT-LIB defines them.
//!
//! Integer division and remainder by zero, which SMT-LIB leaves open, are 0 here, and every encoding says so explicitly.

use crate::function::Func;
use crate::value::{Value, signed, wrap};
use crate::words::apply_narrow;
use dashu_int::ops::BitTest;
use dashu_int::{IBig, UBig};

impl Func {
    /// The function's value on these arguments, which must be well-sorted for it.
    pub fn apply(self, args: &[&Value]) -> Value {
        apply_narrow(self, args).unwrap_or_else(|| self.apply_to_any(args))
    }

    /// The same, whatever the size of words.
    pub(crate) fn apply_to_any(self, args: &[&Value]) -> Value {
        use Func::*;
        match self {
            Not => Value::Bool(!args[0].is_true()),
            And => Value::Bool(args.iter().all(|a| a.is_true())),
            Or => Value::Bool(args.iter().any(|a| a.is_true())),
            Xor => Value::Bool(args.iter().filter(|a| a.is_true()).count() % 2 == 1),
            Implies => {
                let (conclusion, premises) = args.split_last().expect("sort-checked: two arguments or more");
                Value::Bool(conclusion.is_true() || premises.iter().any(|p| !p.is_true()))
            }
            Eq => Value::Bool(args.windows(2).all(|pair| pair[0] == pair[1])),
            Distinct => Value::Bool((1..args.len()).all(|i| !args[..i].contains(&args[i]))),
            Ite => if args[0].is_true() { args[1] } else { args[2] }.clone(),
            Neg | Abs | Add | Sub | Mul | Div | Mod => Value::Int(self.integer(args)),
            Le | Lt | Ge | Gt => {
                let holds = |pair: &[&Value]| match self {
                    Le => pair[0] <= pair[1],
                    Lt => pair[0] < pair[1],
                    Ge => pair[0] >= pair[1],
                    _ => pair[0] > pair[1],
                };
                Value::Bool(args.windows(2).all(holds))
            }
            Divisible(n) => Value::Bool(n != 0 && (args[0].to_integer() % IBig::from(n)).is_zero()),
            BvUlt => Value::Bool(args[0] < args[1]),
            BvUle => Value::Bool(args[0] <= args[1]),
            BvUgt => Value::Bool(args[0] > args[1]),
            BvUge => Value::Bool(args[0] >= args[1]),
            BvSlt => Value::Bool(args[0].to_signed() < args[1].to_signed()),
            BvSle => Value::Bool(args[0].to_signed() <= args[1].to_signed()),
            BvSgt => Value::Bool(args[0].to_signed() > args[1].to_signed()),
            BvSge => Value::Bool(args[0].to_signed() >= args[1].to_signed()),
            _ => self.word_result(args),
        }
    }

    /// As [`Func::apply`]; nothing where the value is, or may be, an integer of more than `most` bits.
    pub fn apply_within(self, most: usize, args: &[&Value]) -> Option<Value> {
        if self == Func::Mul {
            let bits: Vec<usize> = args.iter().map(|arg| integer_bits(arg)).collect();
            let product = bits.iter().fold(0usize, |sum, bits| sum.saturating_add(*bits));
            if product > most && !bits.contains(&0) {
                return None;
            }
        }
        Some(self.apply(args)).filter(|value| integer_bits(value) <= most)
    }

    fn integer(self, args: &[&Value]) -> IBig {
        let mut operands = args.iter().map(|a| a.to_integer());
        let first = operands.next().unwrap_or(IBig::ZERO);
        match self {
            Func::Neg => -first,
            Func::Abs => {
                if first < IBig::ZERO {
                    -first
                } else {
                    first
                }
            }
            Func::Add => operands.fold(first, |a, b| a + b),
            Func::Sub => operands.fold(first, |a, b| a - b),
            Func::Mul => operands.fold(first, |a, b| a * b),
            Func::Div => operands.fold(first, |a, b| euclid(&a, &b).0),
            _ => operands.fold(first, |a, b| euclid(&a, &b).1),
        }
    }

    fn word_result(self, args: &[&Value]) -> Value {
        use Func::*;
        let words: Vec<(u32, &UBig)> = args.iter().map(|a| as_word(a)).collect();
        let (width, a) = words[0];
        let ones = || UBig::ones(width as usize);
        let fold = |f: fn(UBig, &UBig) -> UBig| words[1..].iter().fold(a.clone(), |x, (_, y)| f(x, y));
        let bits = match self {
            Concat => {
                let total = words.iter().map(|(w, _)| w).sum();
                let joined = words[1..].iter().fold(a.clone(), |x, (w, y)| (x << *w as usize) | *y);
                return Value::word(total, joined);
            }
            Extract { high, low } => return Value::word(high - low + 1, a >> low as usize),
            ZeroExtend(n) => return Value::word(width + n, a.clone()),
            SignExtend(n) => return Value::word_from_int(width + n, &signed(width, a)),
            Repeat(n) => {
                let joined = (1..n).fold(a.clone(), |x, _| (x << width as usize) | a);
                return Value::word(width * n, joined);
            }
            BvComp => return Value::word(1, UBig::from(u8::from(args[0] == args[1]))),
            RotateLeft(n) => rotate_left(width, a, n % width),
            RotateRight(n) => rotate_left(width, a, (width - n % width) % width),
            BvNot => ones() ^ a,
            BvNeg => (UBig::ONE << width as usize) - a,
            BvAnd => fold(|x, y| x & y),
            BvOr => fold(|x, y| x | y),
            BvXor => fold(|x, y| x ^ y),
            BvNand => ones() ^ fold(|x, y| x & y),
            BvNor => ones() ^ fold(|x, y| x | y),
            BvXnor => words[1..].iter().fold(a.clone(), |x, (_, y)| ones() ^ (x ^ *y)),
            BvAdd => fold(|x, y| x + y),
            BvMul => return Value::word(width, words[1..].iter().fold(a.clone(), |x, (_, y)| low_bits(width, x * *y))),
            BvSub => a + (UBig::ONE << width as usize) - words[1].1,
            BvUdiv if words[1].1.is_zero() => ones(),
            BvUdiv => a / words[1].1,
            BvUrem if words[1].1.is_zero() => a.clone(),
            BvUrem => a % words[1].1,
            BvSdiv | BvSrem | BvSmod => wrap(width, &signed_division(self, width, a, words[1].1)),
            BvShl => shift_amount(width, words[1].1).map_or(UBig::ZERO, |n| a << n),
            BvLshr => shift_amount(width, words[1].1).map_or(UBig::ZERO, |n| a >> n),
            BvAshr => {
                let n = shift_amount(width, words[1].1).unwrap_or(width as usize);
                wrap(width, &(signed(width, a) >> n))
            }
            other => unreachable!("{other:?} makes no word"),
        };
        Value::word(width, bits)
    }
}

/// How many bits an integer has; 0 for 0, and for all that is no integer.
fn integer_bits(value: &Value) -> usize {
    match value {
        Value::Int(integer) => integer.bit_len(),
        _ => 0,
    }
}

fn as_word(value: &Value) -> (u32, &UBig) {
    match value {
        Value::BitVec { width, bits } => (*width, bits),
        other => unreachable!("sort-checked: {other} is no word"),
    }
}

fn low_bits(width: u32, mut bits: UBig) -> UBig {
    bits.clear_high_bits(width as usize);
    bits
}

/// Quotient and remainder with 0 ≤ remainder < |divisor| (SMT-LIB); both 0 for divisor 0.
fn euclid(a: &IBig, b: &IBig) -> (IBig, IBig) {
    if b.is_zero() {
        return (IBig::ZERO, IBig::ZERO);
    }
    let (quotient, remainder) = (a / b, a % b);
    if remainder >= IBig::ZERO {
        (quotient, remainder)
    } else if *b > IBig::ZERO {
        (quotient - IBig::ONE, remainder + b)
    } else {
        (quotient + IBig::ONE, remainder - b)
    }
}

/// `bvsdiv`, `bvsrem` (sign of the dividend) and `bvsmod` (sign of the divisor).
fn signed_division(func: Func, width: u32, a: &UBig, b: &UBig) -> IBig {
    let (a, b) = (signed(width, a), signed(width, b));
    if b.is_zero() {
        return match func {
            Func::BvSdiv if a < IBig::ZERO => IBig::ONE,
            Func::BvSdiv => -IBig::ONE,
            _ => a,
        };
    }
    match func {
        Func::BvSdiv => a / b, // truncates towards zero, as SMT-LIB does
        Func::BvSrem => a % b,
        _ => {
            let rest = &a % &b;
            let opposite = !rest.is_zero() && ((rest < IBig::ZERO) != (b < IBig::ZERO));
            if opposite { rest + b } else { rest }
        }
    }
}

fn rotate_left(width: u32, a: &UBig, n: u32) -> UBig {
    low_bits(width, a << n as usize) | (a >> (width - n) as usize)
}

/// The shift as a number below `width`, or nothing when it shifts everything out.
fn shift_amount(width: u32, amount: &UBig) -> Option<usize> {
    usize::try_from(amount).ok().filter(|n| *n < width as usize)
}

//! Values and their sorts: booleans, integers of any size, machine words of any width.

use dashu_int::{IBig, UBig};
use std::fmt;

/// The sort of a variable or term.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Sort {
    /// Truth values.
    Bool,
    /// Mathematical integers.
    Int,
    /// Machine words of this many bits, at least 1.
    BitVec(u32),
}

impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sort::Bool => f.write_str("Bool"),
            Sort::Int => f.write_str("Int"),
            Sort::BitVec(width) => write!(f, "(_ BitVec {width})"),
        }
    }
}

/// A value; a word is kept as its unsigned integer, below 2^width.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(IBig),
    /// A word of `width` bits.
    BitVec {
        /// Number of bits.
        width: u32,
        /// The word read as an unsigned integer.
        bits: UBig,
    },
}

impl Value {
    /// The sort of this value.
    pub fn sort(&self) -> Sort {
        match self {
            Value::Bool(_) => Sort::Bool,
            Value::Int(_) => Sort::Int,
            Value::BitVec { width, .. } => Sort::BitVec(*width),
        }
    }

    /// The word of `width` bits that is congruent to `bits` modulo 2^width.
    pub fn word(width: u32, mut bits: UBig) -> Value {
        bits.clear_high_bits(width as usize);
        Value::BitVec { width, bits }
    }

    /// The word of `width` bits that is congruent to `value` modulo 2^width.
    pub fn word_from_int(width: u32, value: &IBig) -> Value {
        Value::BitVec { width, bits: wrap(width, value) }
    }

    /// An integer value.
    pub fn int(value: impl Into<IBig>) -> Value {
        Value::Int(value.into())
    }

    /// The value of `sort` that is false or zero.
    pub fn zero(sort: Sort) -> Value {
        match sort {
            Sort::Bool => Value::Bool(false),
            Sort::Int => Value::Int(IBig::ZERO),
            Sort::BitVec(width) => Value::BitVec { width, bits: UBig::ZERO },
        }
    }

    /// Whether this is the Boolean `true`; false for every other value.
    pub fn is_true(&self) -> bool {
        matches!(self, Value::Bool(true))
    }

    /// A word read in two's complement; the integer itself for `Int`; 0 or 1 for `Bool`.
    pub fn to_signed(&self) -> IBig {
        match self {
            Value::Bool(b) => IBig::from(u8::from(*b)),
            Value::Int(i) => i.clone(),
            Value::BitVec { width, bits } => signed(*width, bits),
        }
    }

    /// The unsigned integer of a word; the integer itself for `Int`; 0 or 1 for `Bool`.
    pub fn to_integer(&self) -> IBig {
        match self {
            Value::BitVec { bits, .. } => IBig::from(bits.clone()),
            other => other.to_signed(),
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

/// As a trace's JSON shows it: `true`, `-3`, a word as its unsigned integer.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(b) => write!(f, "{b}"),
            Value::Int(i) => write!(f, "{i}"),
            Value::BitVec { bits, .. } => write!(f, "{bits}"),
        }
    }
}

/// `bits` read as a two's complement word of `width` bits.
pub(crate) fn signed(width: u32, bits: &UBig) -> IBig {
    let value = IBig::from(bits.clone());
    let negative = bits > &(UBig::ones(width as usize) >> 1usize);
    if negative { value - (IBig::ONE << width as usize) } else { value }
}

/// `value` modulo 2^width.
pub(crate) fn wrap(width: u32, value: &IBig) -> UBig {
    let modulus = IBig::ONE << width as usize;
    let rest = value % &modulus;
    let positive = if rest < IBig::ZERO { rest + modulus } else { rest };
    UBig::try_from(positive).unwrap_or(UBig::ZERO)
}

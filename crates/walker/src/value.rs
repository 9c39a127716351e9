//! What the walker knows of a value: its bits, and how they follow from what shared memory held.

pub(crate) use foretrace_trace::words::{apply, mask, signed};
use foretrace_trace::{Func, TermId};
use std::sync::Arc;

/// A scalar: an integer, a pointer or the bits of a float, of 1 to 64 bits. It has no bytes that mean nothing: those would be
/// copied apart from the others, and what was just written in parts is slow to read as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Word {
    /// Its bits, those above its width zero; meaningless unless known.
    pub bits: u64,
    /// What has to be added to the term. Most sums are addresses, of which no event mentions the whole: so they have no terms
    /// before somebody asks, which is [`Expressions::whole`](crate::expression::Expressions::whole).
    pub added: u64,
    /// How it follows from what was read, but for `added`; nothing if it is the same in every schedule. A word of one bit has a
    /// term of sort `Bool`.
    pub term: Option<TermId>,
    pub shape: Shape,
}

/// The value of a function of two words of `width` bits to such a word; nothing where it has none, as a shift by too much.
#[inline(always)]
pub(crate) fn binary(func: Func, width: u32, a: u64, b: u64) -> Option<u64> {
    let is_shift = matches!(func, Func::BvShl | Func::BvLshr | Func::BvAshr);
    if is_shift && b >= u64::from(width) { None } else { apply(func, width, a, b) }
}

/// The width of a word, and whether it is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape(u32);

impl Shape {
    const KNOWN: u32 = 1 << 31;
}

impl Word {
    /// A constant.
    pub fn constant(width: u32, bits: u64) -> Word {
        Word::new(width, bits & mask(width), None)
    }

    /// A value that is known; no bits above its width are set.
    #[inline]
    pub fn new(width: u32, bits: u64, term: Option<TermId>) -> Word {
        debug_assert!(bits & !mask(width) == 0);
        Word { bits, added: 0, term, shape: Shape(width | Shape::KNOWN) }
    }

    /// A value that is not known.
    pub fn unknown(width: u32) -> Word {
        Word { bits: 0, added: 0, term: None, shape: Shape(width) }
    }

    /// Its width in bits.
    #[inline]
    pub fn width(self) -> u32 {
        self.shape.0 & !Shape::KNOWN
    }

    /// Whether its bits are known.
    #[inline]
    pub fn is_known(self) -> bool {
        self.shape.0 & Shape::KNOWN != 0
    }

    /// The same bits, whatever they followed from.
    pub fn fixed(self) -> Word {
        Word { term: None, added: 0, ..self }
    }

    /// Its bits, if it has this width and is the same in every schedule.
    #[inline(always)]
    pub fn as_constant(&self, width: u32) -> Option<u64> {
        (self.shape.0 == width | Shape::KNOWN && self.term.is_none()).then_some(self.bits)
    }

    /// Known, and the same in every schedule.
    pub fn is_constant(self) -> bool {
        self.is_known() && self.term.is_none()
    }

    /// Whether it is known to be these bits.
    pub fn is(self, bits: u64) -> bool {
        self.is_known() && self.bits == bits
    }
}

/// What a register holds. With a tag of its own it is written field by field; one hidden in the word would have to be masked out.
#[derive(Clone, Debug)]
#[repr(u8)]
pub(crate) enum Value {
    /// A scalar.
    Word(Word),
    /// A struct or array.
    Aggregate(Arc<[Value]>),
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

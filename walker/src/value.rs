//! What the walker knows of a value: its bits, and how they follow from what shared memory held.

use foretrace_trace::TermId;
pub(crate) use foretrace_trace::words::{apply, mask, signed};
use std::rc::Rc;

/// A scalar: an integer, a pointer or the bits of a float, of 1 to 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Word {
    /// Its bits, those above `width` zero; meaningless unless `known`.
    pub bits: u64,
    /// How it follows from what was read, but for `added`; nothing if it is the same in every schedule. A word of one bit has a
    /// term of sort `Bool`.
    pub term: Option<TermId>,
    /// What has to be added to the term. Most sums are addresses, of which no event mentions the whole: so they have no terms
    /// before somebody asks, which is [`Expressions::whole`](crate::expression::Expressions::whole).
    pub added: u64,
    /// Its width in bits.
    pub width: u32,
    /// Whether its bits are known.
    pub known: bool,
}

impl Word {
    /// A constant.
    pub fn constant(width: u32, bits: u64) -> Word {
        Word { bits: bits & mask(width), term: None, added: 0, width, known: true }
    }

    /// A value that is not known.
    pub fn unknown(width: u32) -> Word {
        Word { bits: 0, term: None, added: 0, width, known: false }
    }

    /// The same bits, whatever they followed from.
    pub fn fixed(self) -> Word {
        Word { term: None, added: 0, ..self }
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

/// What a register holds. With a tag of its own it is written field by field; one hidden in the word would have to be masked out.
#[derive(Clone, Debug)]
#[repr(u8)]
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

//! What single registers hold.

use crate::value::{Value, Word};

/// The scalar of this width that a register holds.
#[inline(always)]
pub(super) fn word_at(registers: &[Value], place: usize, width: u32) -> Word {
    match registers.get(place) {
        Some(Value::Word(word)) if word.width() == width => *word,
        _ => Word::unknown(width),
    }
}

/// The bits that a register holds, if it is a constant of this width.
#[inline(always)]
pub(super) fn constant_at(registers: &[Value], place: usize, width: u32) -> Option<u64> {
    match registers.get(place) {
        Some(Value::Word(word)) => word.as_constant(width),
        _ => None,
    }
}

/// Gives a register a scalar, in place.
#[inline(always)]
pub(super) fn put(registers: &mut [Value], register: usize, word: Word) {
    match registers.get_mut(register) {
        Some(Value::Word(place)) => *place = word,
        Some(place) => *place = Value::Word(word),
        None => {}
    }
}

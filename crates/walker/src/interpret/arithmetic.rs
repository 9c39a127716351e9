//! Instructions that only compute.

use super::held::{constant_at, word_at};
use crate::expression::Expressions;
use crate::program::{By, FrameSlot, Prepared, Scalar};
use crate::value::{Value, Word, apply, binary, mask, signed};
use foretrace_trace::Func;

/// The bits that an instruction gives which only computes, if its operands are constants, as most are. A word would go through
/// memory, in other pieces than it is made of.
#[inline(always)]
pub(super) fn of_constants(frame: &[Value], scalar: &Scalar) -> Option<u64> {
    let at = |place: FrameSlot, width: u32| constant_at(frame, place as usize, width);
    let (first, second) = (|| at(scalar.first, scalar.width), || at(scalar.second, scalar.width));
    match scalar.by {
        By::Binary(func) => binary(func, scalar.width, first()?, second()?),
        By::Compare(func) => apply(func, scalar.width, first()?, second()?),
        By::Truncate if scalar.bits <= scalar.width => Some(first()? & mask(scalar.bits)),
        By::ZeroExtend if scalar.bits >= scalar.width => first(),
        By::SignExtend if scalar.bits >= scalar.width => {
            Some(signed(scalar.width, first()?) as u64 & mask(scalar.bits))
        }
        By::Offset(offset) => Some(first()?.wrapping_add(offset as u64)),
        By::Index(scale, offset) => {
            let index = signed(scalar.width, second()?).wrapping_mul(scale);
            Some(at(scalar.first, 64)?.wrapping_add(index.wrapping_add(offset) as u64))
        }
        By::Truncate | By::ZeroExtend | By::SignExtend | By::Indices(..) | By::Other => None,
    }
}

impl Expressions {
    /// The scalar that an instruction gives which only computes.
    #[inline(never)]
    pub(super) fn compute(&mut self, frame: &[Value], scalar: &Scalar, prepared: &Prepared) -> Word {
        let word = |place: FrameSlot, width: u32| word_at(frame, place as usize, width);
        let (first, second) = (|| word(scalar.first, scalar.width), || word(scalar.second, scalar.width));
        match scalar.by {
            By::Other => Word::unknown(scalar.bits),
            By::Binary(func) => self.binary(func, first(), second()),
            By::Compare(func) => self.compare(func, first(), second()),
            By::Truncate => self.truncate(first(), scalar.bits),
            By::ZeroExtend => self.zero_extend(first(), scalar.bits),
            By::SignExtend => self.sign_extend(first(), scalar.bits),
            By::Offset(offset) => self.plus_constant(first(), offset),
            By::Index(scale, offset) => {
                let sum = self.plus_scaled(word(scalar.first, 64), second(), scale);
                self.plus_constant(sum, offset)
            }
            By::Indices(start, count, offset) => {
                let mut sum = first();
                for (index, bits, scale) in &prepared.indices[start as usize..(start + count) as usize] {
                    sum = self.plus_scaled(sum, word(*index, *bits), *scale);
                }
                self.plus_constant(sum, offset)
            }
        }
    }

    fn plus_constant(&mut self, address: Word, offset: i64) -> Word {
        self.binary(Func::BvAdd, address, Word::constant(64, offset as u64))
    }

    fn plus_scaled(&mut self, address: Word, index: Word, scale: i64) -> Word {
        let wide = self.sign_extend(index, 64);
        let scaled = self.binary(Func::BvMul, wide, Word::constant(64, scale as u64));
        self.binary(Func::BvAdd, address, scaled)
    }
}

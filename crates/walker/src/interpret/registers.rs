//! What the registers of the innermost frame hold.

use super::Walk;
use super::held::{put, word_at};
use super::thread::{Pause, State, Step};
use crate::program::constant;
use crate::value::{Value, Word};
use foretrace_instrument::sidecar::Operand;

impl Walk<'_, '_> {
    /// The value of an operand of the innermost frame.
    pub(super) fn operand(&self, operand: &Operand) -> Value {
        match self.register_of(operand) {
            Some(place) => self.thread.registers.get(place).cloned().unwrap_or(Value::Untracked),
            None => constant(operand),
        }
    }

    /// Where a value is that is no constant.
    #[inline]
    fn register_of(&self, operand: &Operand) -> Option<usize> {
        let frame = self.thread.frames.last()?;
        match operand {
            Operand::Local(index) => Some(frame.registers + *index as usize),
            Operand::Parameter(index) => Some(frame.parameters + *index as usize),
            _ => None,
        }
    }

    /// The scalar that an operand is.
    #[inline]
    pub(super) fn word(&self, operand: &Operand, width: u32) -> Word {
        match operand {
            Operand::Constant(of, bits) | Operand::Float(of, bits) if *of == width && (1..=64).contains(of) => {
                Word::constant(width, *bits)
            }
            _ => {
                self.register_of(operand).map_or(Word::unknown(width), |at| word_at(&self.thread.registers, at, width))
            }
        }
    }

    /// Gives a register its value and goes on.
    #[inline]
    pub(super) fn set(&mut self, index: usize, value: Value) -> Step<()> {
        let frame = self.thread.frames.last_mut().ok_or_else(Pause::no_frame)?;
        frame.state = State::Running;
        frame.next = index + 1;
        let register = frame.registers + index;
        if let Some(place) = self.thread.registers.get_mut(register) {
            *place = value;
        }
        Ok(())
    }

    /// The same where it is a scalar, as nearly always.
    #[inline(always)]
    pub(super) fn set_word(&mut self, index: usize, word: Word) -> Step<()> {
        let frame = self.thread.frames.last_mut().ok_or_else(Pause::no_frame)?;
        frame.state = State::Running;
        frame.next = index + 1;
        put(&mut self.thread.registers, frame.registers + index, word);
        Ok(())
    }

    /// One of two values, as a condition says.
    pub(super) fn select(&mut self, condition: &Operand, yes: &Operand, no: &Operand, width: u32) -> Value {
        let condition = self.word(condition, 1);
        if width > 0 {
            let (yes, no) = (self.word(yes, width), self.word(no, width));
            return Value::Word(self.world.expressions.select(condition, yes, no));
        }
        if !condition.is_known() {
            return Value::Untracked;
        }
        self.pin(condition, "choice of an aggregate");
        self.operand(if condition.bits != 0 { yes } else { no })
    }
}

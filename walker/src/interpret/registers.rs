//! What the registers of the innermost frame hold.

use super::Walk;
use super::thread::{State, Step};
use crate::value::{Value, Word};
use foretrace_instrument::sidecar::Operand;

impl Walk<'_, '_> {
    /// The value of an operand of the innermost frame.
    pub(super) fn operand(&self, operand: &Operand) -> Value {
        match operand {
            Operand::Local(site) => self.register(*site).cloned().unwrap_or(Value::Untracked),
            Operand::Parameter(index) => self.parameter(*index).cloned().unwrap_or(Value::Untracked),
            Operand::Constant(width @ 1..=64, bits) | Operand::Float(width @ 1..=64, bits) => {
                Value::Word(Word::constant(*width, *bits))
            }
            Operand::Aggregate(parts) => Value::Aggregate(parts.iter().map(|part| self.operand(part)).collect()),
            Operand::Constant(..)
            | Operand::Float(..)
            | Operand::Address(..)
            | Operand::Undefined
            | Operand::Opaque => Value::Untracked,
        }
    }

    /// What the instruction of this site in the innermost frame's function has given.
    #[inline]
    fn register(&self, site: u32) -> Option<&Value> {
        let frame = self.thread.frames.last()?;
        self.thread.registers.get(frame.registers + frame.index(site)?)
    }

    #[inline]
    fn parameter(&self, index: u32) -> Option<&Value> {
        self.thread.frames.last()?.parameters.get(index as usize)
    }

    /// The scalar that an operand is.
    #[inline]
    pub(super) fn word(&self, operand: &Operand, width: u32) -> Word {
        let word = match operand {
            Operand::Local(site) => self.register(*site).map(|value| value.word(width)),
            Operand::Parameter(index) => self.parameter(*index).map(|value| value.word(width)),
            Operand::Constant(of @ 1..=64, bits) | Operand::Float(of @ 1..=64, bits) => {
                Some(Word::constant(*of, *bits))
            }
            _ => None,
        };
        word.filter(|word| word.width == width).unwrap_or(Word::unknown(width))
    }

    /// Gives a register its value and goes on.
    pub(super) fn set(&mut self, index: usize, value: Value) -> Step<()> {
        let frame = self.frame()?;
        frame.state = State::Running;
        frame.next = index + 1;
        let register = frame.registers + index;
        if let Some(place) = self.thread.registers.get_mut(register) {
            *place = value;
        }
        Ok(())
    }

    pub(super) fn set_word(&mut self, index: usize, word: Word) -> Step<()> {
        self.set(index, Value::Word(word))
    }
}

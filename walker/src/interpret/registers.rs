//! What the registers of the innermost frame hold.

use super::Walk;
use super::thread::{Pause, State, Step};
use crate::value::{Value, Word};
use foretrace_instrument::sidecar::Operand;

impl Walk<'_, '_> {
    /// The value of an operand of the innermost frame.
    pub(super) fn operand(&self, operand: &Operand) -> Value {
        match operand {
            Operand::Local(index) => self.register(*index).cloned().unwrap_or(Value::Untracked),
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

    /// What this instruction of the innermost frame's function has given.
    #[inline]
    fn register(&self, index: u32) -> Option<&Value> {
        self.scope().registers.get(index as usize)
    }

    #[inline]
    fn parameter(&self, index: u32) -> Option<&Value> {
        self.scope().parameters.get(index as usize)
    }

    /// The scalar that an operand is.
    #[inline]
    pub(super) fn word(&self, operand: &Operand, width: u32) -> Word {
        self.scope().word(operand, width)
    }

    #[inline(always)]
    fn scope(&self) -> Scope<'_> {
        self.thread.frames.last().map_or(Scope::default(), |frame| Scope {
            registers: self.thread.registers.get(frame.registers..).unwrap_or_default(),
            parameters: &frame.parameters,
        })
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
}

/// What operands of a frame mean.
#[derive(Clone, Copy, Default)]
pub(super) struct Scope<'v> {
    pub registers: &'v [Value],
    pub parameters: &'v [Value],
}

impl Scope<'_> {
    /// The scalar that an operand is.
    #[inline(always)]
    pub fn word(self, operand: &Operand, width: u32) -> Word {
        let value = match operand {
            Operand::Local(index) => self.registers.get(*index as usize),
            Operand::Parameter(index) => self.parameters.get(*index as usize),
            Operand::Constant(of, bits) | Operand::Float(of, bits) if *of == width && (1..=64).contains(of) => {
                return Word::constant(width, *bits);
            }
            _ => None,
        };
        match value {
            Some(Value::Word(word)) if word.width == width => *word,
            _ => Word::unknown(width),
        }
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

//! Calls that return from code that was not recorded, and their results.

use super::Walk;
use super::thread::{Frame, State, Step};
use crate::log::Record;
use crate::program::Function;
use crate::value::{Value, Word};
use foretrace_instrument::sidecar::Type;
use foretrace_runtime::record::Kind;

impl Walk<'_, '_> {
    /// A call came back: the innermost that fits, if need be over frames that it left behind.
    pub(super) fn result(&mut self, record: Record) -> Step<()> {
        let Some((number, Some(index))) = self.program.find(record.site()) else {
            return Err(self.lost(record, "a call of the program"));
        };
        let Some(position) = self.frame_of_result(number, index) else {
            if self.resume_context(number, index) {
                return Ok(());
            }
            return Err(self.lost(record, "the result of an active call"));
        };
        self.take(record);
        let function = &self.program.functions[number];
        self.unwind_to(position);
        self.leave_foreign();
        let frame = self.frame()?;
        let returned = frame.returned.take().filter(|_| frame.next == index);
        self.operation(u64::from(returned.is_none()));
        let ty = &function.instructions[index].ty;
        let returned = self.library_result(function, index).or(returned).unwrap_or(Value::Untracked);
        let value = match ty {
            Type::Aggregate(_) => self.recorded_parts(function, index, ty, returned)?,
            _ => self.recorded_value(ty, returned, record.words[0]),
        };
        self.complete(function, index, value)
    }

    /// An aggregate, of which the log has each scalar.
    pub(super) fn recorded_parts(
        &mut self,
        function: &Function,
        index: usize,
        ty: &Type,
        computed: Value,
    ) -> Step<Value> {
        match ty {
            Type::Aggregate(parts) => {
                let mut values = Vec::with_capacity(parts.len());
                for (part, ty) in parts.iter().enumerate() {
                    values.push(self.recorded_parts(function, index, ty, computed.part(&[part as u32]))?);
                }
                Ok(Value::Aggregate(values.into()))
            }
            ty if ty.bits() > 0 => {
                let record = self.expect(function, index, "a value's", |kind| kind == Kind::Value)?;
                Ok(self.recorded_value(ty, computed, record.words[0]))
            }
            _ => Ok(Value::Untracked),
        }
    }

    /// A value that is in the log, and perhaps known.
    fn recorded_value(&mut self, ty: &Type, computed: Value, recorded: u64) -> Value {
        let width = ty.bits();
        if width == 0 {
            return Value::Untracked;
        }
        let computed = computed.word(width);
        let computed = if computed.width() == width { computed } else { Word::unknown(width) };
        Value::Word(self.checked(computed, recorded, "a returned value"))
    }

    /// The frame of the innermost call that a result can be of.
    fn frame_of_result(&self, number: usize, index: usize) -> Option<usize> {
        let fits = |frame: &Frame| {
            let waits = frame.state == State::Outside && frame.next == index;
            frame.function == Some(number) && (waits || frame.setjmps.contains(&index))
        };
        self.thread.frames.iter().rposition(fits)
    }

    /// Whether some frame waits for what this record says: that a call came back, or that an exception arrived.
    pub(crate) fn belongs_to_a_frame(&self, record: Record) -> bool {
        match (record.kind, self.program.find(record.site())) {
            (Kind::Result, Some((number, Some(index)))) => self.frame_of_result(number, index).is_some(),
            (Kind::Landing, _) => self.frame_of_landing(record).is_some(),
            _ => false,
        }
    }
}

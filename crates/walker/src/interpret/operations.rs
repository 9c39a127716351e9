//! Operations on concurrent objects that the program marks: `call` and `return` events, with arguments and results.

use super::Walk;
use super::thread::Step;
use crate::log::Record;
use crate::names::Scalar;
use foretrace_runtime::record::{Kind, given};
use foretrace_trace::{NameId, Op};

/// Whether a function of this name marks operations. Arguments are fixed once the operation begins; what it gives may be
/// another value in other schedules.
pub(super) fn is_operation_mark(name: &str) -> bool {
    matches!(name, "foretrace_call" | "foretrace_return" | "foretrace_value")
}

impl Walk<'_, '_> {
    /// A record of a mark.
    pub(super) fn marked_operation(&mut self, record: Record) -> Step<()> {
        let [word, extra, ..] = record.words;
        match record.kind {
            Kind::CallValue => {
                let value = match extra {
                    given::UNKNOWN => None,
                    given::TRUTH => Some((word != 0).to_string()),
                    given::NOTHING => Some("null".to_string()),
                    _ => Some((word as i64).to_string()),
                };
                // What the program computed it from is known where the mark is called by its name.
                let passed = self.thread.passed.take().filter(|passed| passed.is_known() && passed.bits == word);
                let scalar = match extra {
                    given::TRUTH => Scalar::Truth,
                    _ => Scalar::Integer { signed: true, bytes: 8 },
                };
                self.thread.given.push((value, passed.map(|passed| (passed, scalar))));
            }
            Kind::CallBegin => self.call_begins(record, word, extra),
            _ => self.call_ends(record, word, extra),
        }
        Ok(())
    }

    fn call_begins(&mut self, record: Record, method: u64, object: u64) {
        let given = std::mem::take(&mut self.thread.given);
        let mut values = Vec::new();
        for (value, passed) in given {
            if let Some((word, _)) = passed {
                self.pin(word, "argument of an operation");
            }
            values.push(value.unwrap_or_else(|| "null".into()));
        }
        let args = (!values.is_empty()).then(|| format!("[{}]", values.join(",")));
        let args = args.map(|args| self.world.draft.assembler.name(&args));
        let (object, method) = (self.marked_object(object), self.marked_method(method));
        self.thread.operations.push((object, method));
        self.event(record, Op::Call { object, method, args });
    }

    /// The end of an operation. One that began before the trace has none.
    fn call_ends(&mut self, record: Record, method: u64, object: u64) {
        let given = std::mem::take(&mut self.thread.given);
        let value = match given.into_iter().next() {
            None => Some("null".to_string()),
            Some((value, passed)) => {
                if let Some((word, scalar)) = passed.filter(|_| value.is_some()) {
                    self.note_result(word, scalar);
                }
                value
            }
        };
        let value = value.map(|value| self.world.draft.assembler.name(&value));
        let (object, method) = (self.marked_object(object), self.marked_method(method));
        let open = &mut self.thread.operations;
        let Some(call) = open.iter().rposition(|open| *open == (object, method)) else { return };
        open.truncate(call);
        self.event(record, Op::Return { object, method, value });
    }

    fn marked_method(&mut self, text: u64) -> NameId {
        let method = self.program.text_at(text).unwrap_or_else(|| "operation".to_string());
        self.world.draft.assembler.name(&method)
    }

    /// The name of an object: its number in the order in which the trace meets them.
    pub(super) fn marked_object(&mut self, address: u64) -> Option<NameId> {
        if address == 0 {
            return None;
        }
        let object = (self.world.region(address).0, address);
        let next = self.world.marked_objects.len() + 1;
        let number = *self.world.marked_objects.entry(object).or_insert(next);
        Some(self.world.draft.assembler.name(&format!("object {number}")))
    }
}

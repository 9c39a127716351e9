//! Calls of code that foretrace did not build and that may order threads, or writes what the trace does not have. The code runs between the thread's last event before the call and
//! its next event after it. So one mark comes right after the former, and one right before the latter.

use super::Walk;
use crate::looks::{CLOCKS, LOOK, looks};
use crate::marks::{Mark, Ran};
use crate::program::Function;
use foretrace_instrument::sidecar::Callee;

impl Walk<'_, '_> {
    /// A call leaves the code that has side-cars.
    pub(super) fn enter_foreign(&mut self, function: &Function, callee: &Callee) {
        if self.is_survey() {
            return;
        }
        let found = match callee {
            Callee::Symbol(symbol) if looks(symbol) => {
                self.look();
                None
            }
            Callee::Symbol(symbol) => match self.program.writes_unseen(symbol) {
                Some(state) => {
                    if self.world.others_started {
                        self.world.statistics.unseen_writes.insert(symbol.clone());
                    }
                    Some((symbol.clone(), state))
                }
                None => {
                    let code = self.program.foreign(symbol, function.unit);
                    self.world.statistics.foreign.extend(code.map(str::to_string));
                    code.map(|code| (crate::program::demangle(symbol), code))
                }
            },
            Callee::Pointer(pointer) => {
                let pointer = self.word(pointer, 64);
                let code = self.program.foreign_at(pointer.bits).filter(|_| pointer.is_known());
                self.world.statistics.foreign.extend(code.map(str::to_string));
                code.map(|code| ("a function pointer".to_string(), code))
            }
            Callee::Assembly => None,
        };
        let ran = found.map(|(what, code)| {
            let [what, object] = [&*what, code].map(|name| self.world.draft.assembler.name(name));
            Ran { what, object, if_both: false }
        });
        if let Some(frame) = self.thread.frames.last_mut() {
            frame.foreign = ran;
        }
        let Some(ran) = ran else { return };
        // Whoever has done nothing since the last such call says nothing new.
        if !self.world.draft.is_held(self.thread.id, ran) {
            let source = self.source_beside(self.thread.now);
            self.world.push_unlogged(source, ran.op());
        }
    }

    /// A look at a clock. Those before other threads began come first in each schedule.
    pub(super) fn look(&mut self) {
        if self.is_survey() || !self.world.others_started {
            return;
        }
        let [what, object] = [LOOK, CLOCKS].map(|text| self.world.draft.assembler.name(text));
        let (loc, before) = (self.source_beside(self.thread.now).loc, self.world.draft.next().index());
        self.world.draft.looks.look(Mark {
            before,
            thread: self.thread.id,
            loc,
            ran: Ran { what, object, if_both: true },
        });
    }

    /// Such a call has come back.
    pub(super) fn leave_foreign(&mut self) {
        let ran = self.thread.frames.last_mut().and_then(|frame| frame.foreign.take());
        if let Some(ran) = ran {
            self.world.draft.hold(self.thread.id, ran);
        }
    }
}

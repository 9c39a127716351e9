//! Calls and returns of functions without side-car, and what happens inside of them.

use super::calls::Call;
use crate::interpret::Walk;
use crate::log::Record;
use crate::names::Origin;
use crate::transactions::Title;
use foretrace_trace::BlockKind;

impl Walk<'_, '_> {
    /// A function without side-car starts.
    pub(crate) fn called(&mut self, record: Record) {
        let (frames, nest) = (self.thread.frames.len(), self.thread.nest.depth());
        let is_outermost = !self.is_in_own_function();
        self.thread.calls.0.push(Call { place: record.place, caller: record.words[0], frames, nest });
        let options = self.world.options;
        if !options.wants(BlockKind::Function) {
            return;
        }
        let name = self.program.function_around(record.place);
        let is_included = options.include.as_ref().is_some_and(|pattern| pattern.fits(&name));
        let is_own = is_included || !self.is_library_place(record.place);
        if !options.functions.as_ref().map_or(is_own, |pattern| pattern.fits(&name)) {
            return;
        }
        if name == "main" {
            self.thread.nest.is_first_outermost_call();
            return;
        }
        let loc = self.concrete_location();
        let label = Some(self.world.draft.assembler.name(&name));
        self.begin_call(is_outermost, Title { kind: BlockKind::Function, label, loc, called_at: None });
    }

    fn is_in_own_function(&self) -> bool {
        let frames = || self.thread.frames.iter().filter_map(|frame| frame.function);
        frames().any(|function| !self.program.is_library(&self.program.functions[function]))
            || self.thread.calls.0.iter().any(|call| !self.is_library_place(call.place))
    }

    /// A function without side-car returns, and with it those that it called and that were left by a jump.
    pub(crate) fn returned(&mut self, record: Record) {
        let function = self.program.symbol_start(record.place);
        let is_it = |call: &Call| self.program.symbol_start(call.place) == function;
        if let Some(position) = self.thread.calls.0.iter().rposition(is_it) {
            self.leave_calls(position);
        }
    }

    /// Calls above a thread's frames are over once frames below them are.
    pub(crate) fn leave_calls_above(&mut self, frames: usize) {
        let keep = self.thread.calls.0.partition_point(|call| call.frames <= frames);
        self.leave_calls(keep);
    }

    fn leave_calls(&mut self, keep: usize) {
        while self.thread.calls.0.len() > keep {
            let Some(call) = self.thread.calls.0.pop() else { return };
            while self.thread.nest.depth() > call.nest {
                self.end_stretch(Some(self.world.draft.next().0));
            }
        }
    }

    /// Whether what happens now is done by code without side-car.
    pub(crate) fn is_concrete(&self) -> bool {
        let frames = &self.thread.frames;
        self.thread.calls.is_innermost(frames.len())
            || self.program.is_concrete() && !frames.iter().any(|frame| frame.function.is_some())
    }

    /// The position of the program's own code that leads to what happens now; of library code, if there is no other.
    pub(crate) fn concrete_location(&mut self) -> Option<foretrace_trace::NameId> {
        let callers = self.thread.calls.0.iter().rev().map(|call| call.caller);
        let places: Vec<u64> = std::iter::once(self.thread.place).chain(callers).collect();
        self.world.location_of_places(&places)
    }

    /// Where memory that is allocated now comes from.
    pub(crate) fn concrete_origin(&self, record: Record) -> Origin {
        if record.place == 0 {
            return Origin::Stack { thread: self.thread.number };
        }
        let callers = self.thread.calls.0.iter().rev().map(|call| call.caller);
        let mut places = std::iter::once(record.place).chain(callers);
        let own = places.find(|place| self.program.positions(*place).iter().any(|position| !position.is_library()));
        Origin::Place(own.unwrap_or(record.place))
    }

    fn is_library_place(&self, place: u64) -> bool {
        self.program.positions(place).last().is_none_or(|position| position.is_library())
    }

    /// The names of the innermost functions without side-car that are the program's own, innermost first.
    pub(crate) fn concrete_names(&self) -> Vec<String> {
        let own = self.thread.calls.0.iter().rev().filter(|call| !self.is_library_place(call.place));
        own.take(2).map(|call| self.program.function_around(call.place)).collect()
    }
}

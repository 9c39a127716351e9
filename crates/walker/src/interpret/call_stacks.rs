//! Through which calls of the program's own functions the walk comes to an event. The compiler may have inlined some of them: what is
//! told of those is what would be told if it had not.

use super::Walk;
use crate::program::{Function, Inlined};
use foretrace_instrument::sidecar::{BlockId, LocationId};

impl Walk<'_, '_> {
    /// Notes in which call of the program's own functions the thread is, for what has this position in its log.
    pub(super) fn note_call(&mut self, at: u64) {
        if self.is_survey() || self.world.begins_later {
            return;
        }
        let call = if self.is_concrete() || self.is_unknown() { None } else { self.innermost_call() };
        self.world.call_stacks.note(self.thread.id, at, call);
    }

    fn innermost_call(&mut self) -> Option<u32> {
        let acting = self.acting_frame()?;
        // Frames that have led to an event before have a call; those above are new.
        let mut new = Vec::new();
        let mut known = None;
        for (position, frame) in self.thread.frames[..=acting].iter().enumerate().rev() {
            if frame.calls.call.is_some() {
                known = Some(position);
                break;
            }
            if self.is_own_frame(position) {
                new.push(position);
            }
        }
        let mut caller = known.and_then(|position| self.call_within(position));
        let mut called_at = known.and_then(|position| self.own_place(position));
        for position in new.into_iter().rev() {
            let Some(function) = self.thread.frames[position].function else { continue };
            let function = &self.program.functions[function];
            let name = if function.name.is_empty() { &function.symbol } else { &function.name };
            let call = self.world.call_stacks.call(caller, name, called_at.as_deref());
            self.thread.frames[position].calls.call = Some(call);
            caller = self.call_within(position);
            called_at = self.own_place(position);
        }
        if known != Some(acting) && !self.is_own_frame(acting) {
            return self.call_within(acting); // no function of the program's own but inlined ones
        }
        caller
    }

    fn is_own_frame(&self, position: usize) -> bool {
        let function = self.thread.frames[position].function.map(|function| &self.program.functions[function]);
        function.is_some_and(|function| !self.program.is_library(function))
    }

    /// Where a frame is at the moment.
    fn location_of(&self, position: usize) -> Option<(usize, LocationId)> {
        let frame = &self.thread.frames[position];
        let function = &self.program.functions[frame.function?];
        let instruction = function.instructions.get(frame.next);
        Some((function.unit, instruction.map_or(function.location, |instruction| instruction.location)))
    }

    fn own_place(&mut self, position: usize) -> Option<String> {
        let (unit, location) = self.location_of(position)?;
        let name = self.world.location(unit, location)?;
        Some(self.world.draft.assembler.trace().names.text(name).to_string())
    }

    /// The innermost of the calls that a frame stands for where it is at the moment: that of its function, or of an inlined one.
    fn call_within(&mut self, position: usize) -> Option<u32> {
        let (unit, location) = self.location_of(position)?;
        let wanted = self.world.inlined_at.around(self.program, unit, location);
        let calls = &mut self.thread.frames[position].calls;
        let is_same = |((at, _), wanted): &(&(LocationId, u32), &Inlined)| *at == wanted.at;
        let same = calls.inlined.iter().zip(wanted.iter()).take_while(is_same).count();
        calls.inlined.truncate(same);
        for inlined in &wanted[same..] {
            let caller = calls.inlined.last().map(|(_, call)| *call).or(calls.call);
            let call = self.world.call_stacks.call(caller, &inlined.function, inlined.called_at.as_deref());
            calls.inlined.push((inlined.at, call));
        }
        calls.inlined.last().map(|(_, call)| *call).or(calls.call)
    }

    /// The innermost function goes to a block. Where a turn of a loop begins, the calls that the turn before made are over: the same call
    /// in the next turn is another one.
    pub(super) fn end_inlined_calls(&mut self, function: &Function, to: BlockId) {
        let Some(frame) = self.thread.frames.last() else { return };
        let (Some(number), false) = (frame.function, frame.calls.inlined.is_empty()) else { return };
        if function.loops().around(to).last() != Some(&to) {
            return;
        }
        let depth = self.world.inlined_at.depth_of_loop(self.program, (number, to));
        if let Some(frame) = self.thread.frames.last_mut() {
            frame.calls.inlined.truncate(depth);
        }
    }
}

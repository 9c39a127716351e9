//! Exceptions, jumps out of functions, signal handlers.

use super::Walk;
use super::thread::{Frame, Pause, State, Step};
use crate::inlined::FrameCalls;
use crate::log::Record;
use foretrace_instrument::sidecar::{BlockId, Op};

impl Walk<'_, '_> {
    /// The frames above this one are gone.
    pub(super) fn unwind_to(&mut self, position: usize) {
        self.leave_calls_above(position);
        while self.thread.frames.len() > position + 1 {
            self.operation_is_left();
            if let Some(frame) = self.thread.frames.pop() {
                self.drop_frame(&frame);
            }
        }
        if let Some(frame) = self.thread.frames.last_mut() {
            frame.crashed = None;
        }
    }

    /// An exception reached a landing pad: that of the innermost active call that has it.
    pub(super) fn landing(&mut self, record: Record) -> Step<()> {
        let Some((position, block)) = self.frame_of_landing(record) else {
            return Err(self.lost(record, "a landing pad of an active call"));
        };
        self.unwind_to(position);
        let (function, _) = self.active()?;
        let frame = self.frame()?;
        (frame.returned, frame.library) = (None, None);
        self.jump(function, block)
    }

    /// The frame whose landing pad it is, and the block that it starts.
    pub(super) fn frame_of_landing(&self, record: Record) -> Option<(usize, BlockId)> {
        let pad = self.program.find(record.site());
        let target = |frame: &Frame| {
            let number = frame.function?;
            let function = &self.program.functions[number];
            let (Op::Call { unwinds: Some((_, block)), .. } | Op::Library { unwinds: Some((_, block)), .. }) =
                function.instructions.get(frame.next)?.op
            else {
                return None;
            };
            let start = *function.blocks.get(block as usize)? as usize;
            let landing = (start..).find(|index| {
                function.instructions.get(*index).is_none_or(|i| !matches!(i.op, Op::Phi(_) | Op::Nothing))
            })?;
            (pad == Some((number, Some(landing)))).then_some(block)
        };
        self.thread.frames.iter().enumerate().rev().find_map(|(position, f)| Some((position, target(f)?)))
    }

    /// A signal handler starts: what it calls comes from outside.
    pub(super) fn begin_handler(&mut self, record: Record) -> Step<Record> {
        self.take(record);
        let registers = self.thread.registers.len();
        self.thread.frames.push(Frame {
            function: None,
            next: 0,
            block: 0,
            previous: 0,
            registers,
            parameters: registers,
            state: State::Outside,
            held: None,
            crashed: None,
            called: false,
            returned: None,
            library: None,
            variadic: Vec::new(),
            setjmps: Vec::new(),
            foreign: None,
            nest: self.thread.nest.depth(),
            loops: Vec::new(),
            has_blocks: false,
            private: self.thread.private,
            operation: None,
            calls: FrameCalls::default(),
        });
        Err(Pause::Again)
    }

    pub(super) fn end_handler(&mut self, record: Record) -> Step<()> {
        self.take(record);
        if let Some(position) = self.thread.frames.iter().rposition(|frame| frame.function.is_none()) {
            self.unwind_to(position);
            if let Some(frame) = self.thread.frames.pop() {
                self.drop_frame(&frame);
            }
        }
        // An access that did not take effect is tried again: the handler repaired what was wrong.
        if let Some(frame) = self.thread.frames.last_mut()
            && let Some(state) = frame.crashed.take()
        {
            frame.state = state;
        }
        Ok(())
    }
}

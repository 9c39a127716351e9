//! Contexts of `swapcontext`: a thread that has several stacks of frames, of which one goes on at a time.

use super::Walk;
use super::thread::{Frame, State, Step, Thread};
use crate::concrete::Calls;
use crate::log::Record;
use crate::value::Value;

/// A stack of frames that does not go on at the moment.
pub(crate) struct Context {
    /// The address of what the program keeps of it, 0 where it keeps nothing.
    address: u64,
    frames: Vec<Frame>,
    registers: Vec<Value>,
    calls: Calls,
    private: u64,
}

/// Private memory of each stack beyond the first.
const AREA: u64 = 1 << 28;

impl Thread<'_> {
    /// Puts a stack in place of the one that goes on, which is kept for this address.
    fn swap(&mut self, from: u64, to: Context) {
        let kept = Context {
            address: from,
            frames: std::mem::replace(&mut self.frames, to.frames),
            registers: std::mem::replace(&mut self.registers, to.registers),
            calls: std::mem::replace(&mut self.calls, to.calls),
            private: std::mem::replace(&mut self.private, to.private),
        };
        if !kept.frames.is_empty() {
            self.contexts.push(kept);
        }
    }
}

impl Walk<'_, '_> {
    /// The thread goes on in another context.
    pub(super) fn switch_context(&mut self, record: Record) -> Step<()> {
        self.take(record);
        let [from, to, ..] = record.words;
        let known = self.thread.contexts.iter().rposition(|context| context.address == to && to != 0);
        let to = match known {
            Some(position) => self.thread.contexts.remove(position),
            None => self.new_context(),
        };
        self.thread.swap(from, to);
        self.thread.decisions.forget();
        Ok(())
    }

    fn new_context(&mut self) -> Context {
        self.thread.areas += 1;
        let private = self.thread.first_private() + self.thread.areas * AREA;
        Context { address: 0, frames: Vec::new(), registers: Vec::new(), calls: Calls::default(), private }
    }

    /// A call came back that is of no frame of this stack: a context that ended goes on with the one that it was linked to. Whether there
    /// is one that waits for this.
    pub(super) fn resume_context(&mut self, function: usize, index: usize) -> bool {
        let waits = |frame: &Frame| {
            let here = frame.state == State::Outside && frame.next == index || frame.setjmps.contains(&index);
            frame.function == Some(function) && here
        };
        let position = self.thread.contexts.iter().rposition(|context| context.frames.iter().any(waits));
        let Some(position) = position else { return false };
        let to = self.thread.contexts.remove(position);
        self.thread.swap(0, to);
        self.thread.decisions.forget();
        true
    }
}

//! Contexts of `swapcontext`: a thread that has several stacks of frames, of which one goes on at a time.

use super::Walk;
use super::thread::{Context, Frame, State, Step};
use crate::concrete::Calls;
use crate::log::Record;

/// Private memory of each stack beyond the first.
const AREA: u64 = 1 << 28;

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

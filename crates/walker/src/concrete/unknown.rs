//! Functions that had been entered before the trace begins. The contents of their registers are unknown, so the walker follows their
//! records alone. It walks functions that are entered later as usual.

use crate::interpret::{Pause, Step, Walk};
use crate::log::Record;
use crate::names::Origin;
use crate::regions::Birth;
use foretrace_runtime::record::Kind;

impl Walk<'_, '_> {
    /// Whether what happens now is done by such a function.
    pub(crate) fn is_unknown(&self) -> bool {
        self.thread.begun_before && self.thread.frames.is_empty()
    }

    /// A record of such a function, or of one that later functions came back to by a jump or an exception; others are given back.
    pub(crate) fn unknown_record(&mut self, record: Record) -> Step<Option<Record>> {
        if !self.thread.begun_before {
            return Ok(Some(record));
        }
        let returns = matches!(record.kind, Kind::Result | Kind::Landing);
        if returns && !self.thread.frames.is_empty() {
            return self.jumped(record);
        }
        if !self.thread.frames.is_empty() {
            return Ok(Some(record));
        }
        match record.kind {
            kind if kind.size() > 0 => {
                self.take(record);
                self.access_from_outside(record);
            }
            Kind::Alloca => {
                self.take(record);
                let origin = match self.program.find(record.site()) {
                    Some((function, Some(instruction))) => {
                        Origin::Frame { function: function as u32, instruction: instruction as u32 }
                    }
                    _ => Origin::Unknown,
                };
                self.world.born(record.words[0], record.words[1], (Birth::Frame, origin));
            }
            Kind::BranchFalse | Kind::BranchTrue | Kind::Switch | Kind::Argument | Kind::Value => self.take(record),
            _ if returns => self.take(record),
            _ => return Ok(Some(record)),
        }
        Ok(None)
    }

    /// A call that came back, or an exception that arrived: if no later function waits for it, they are all over.
    fn jumped(&mut self, record: Record) -> Step<Option<Record>> {
        if self.belongs_to_a_frame(record) {
            return Ok(Some(record));
        }
        while let Some(frame) = self.thread.frames.pop() {
            self.drop_frame(&frame);
        }
        self.take(record);
        Err(Pause::Again)
    }
}

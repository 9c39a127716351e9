//! A branch that goes another way than in the recorded run.

use super::{Asked, Property, ends_at, place};
use crate::dependence::Access;
use crate::error::CheckError;
use foretrace_trace::{EventId, Op, Trace, Value, Why};

/// A thread comes to a branch with values by which it goes the other way: the schedule ends with what comes right before the branch in
/// its thread, and then the branch's condition does not hold.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OtherWay {
    /// The assume that says which way the recorded run took.
    pub branch: EventId,
}

impl OtherWay {
    /// The event right before the branch in its thread; nothing where the event is no branch, or comes first.
    pub fn last(self, trace: &Trace) -> Option<EventId> {
        let event = trace.events.get(self.branch.index())?;
        let is_branch = matches!(event.op, Op::Assume { why: Why::Branch, .. });
        let before = || trace.events[..self.branch.index()].iter().rposition(|other| other.thread == event.thread);
        is_branch.then(before).flatten().map(EventId::from_index)
    }
}

impl Property for OtherWay {
    type Shown = ();

    fn watched(&self) -> Vec<EventId> {
        Vec::new()
    }

    fn stands_in(&self, asked: &Asked<'_>, schedule: &[EventId]) -> Result<(), CheckError> {
        let last = self.last(asked.trace).ok_or(CheckError::NoBranch(self.branch))?;
        ends_at(schedule, place(schedule, last)?)
    }

    fn shown_by(&self, _: &Asked<'_>, _: &[Option<Access<Value>>]) -> Result<(), CheckError> {
        Ok(())
    }

    fn left_false(&self) -> Option<EventId> {
        Some(self.branch)
    }
}

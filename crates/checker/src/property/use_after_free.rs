//! Memory that is used after it was freed.

use super::{Asked, Property, ends_at, place};
use crate::dependence::Access;
use crate::error::CheckError;
use foretrace_trace::{EventId, Trace, Value};

/// A thread frees memory, and later another thread uses it: the schedule holds both in this order, and ends with the use.
///
/// What a use reads after the `free` is of no meaning, so no other thread may use the memory between the two.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct UseAfterFree {
    /// The event that frees the memory.
    pub free: EventId,
    /// The access of the other thread: of a variable, or of a lock or its like.
    pub access: EventId,
}

impl UseAfterFree {
    /// Whether the access is one of another thread, of a variable or an object that is in the memory.
    pub fn is_one(&self, trace: &Trace) -> bool {
        let [free, access] = [self.free, self.access].map(|event| trace.events.get(event.index()));
        let (Some(free), Some(access)) = (free, access) else { return false };
        free.thread != access.thread && access.op.uses_freed(&free.op)
    }
}

impl Property for UseAfterFree {
    type Shown = ();

    fn watched(&self) -> Vec<EventId> {
        Vec::new()
    }

    fn stands_in(&self, asked: &Asked<'_>, schedule: &[EventId]) -> Result<(), CheckError> {
        let UseAfterFree { free, access } = *self;
        if !self.is_one(asked.trace) {
            return Err(CheckError::NoUseAfterFree { free, access });
        }
        let (freed, used) = (place(schedule, free)?, place(schedule, access)?);
        if freed > used {
            return Err(CheckError::NotFreedBefore { free, access });
        }
        ends_at(schedule, used)?;
        let is_use = |event: &&EventId| UseAfterFree { free, access: **event }.is_one(asked.trace);
        let other = schedule[freed + 1..used].iter().find(is_use);
        other.map_or(Ok(()), |other| Err(CheckError::UsedBefore { access, other: *other }))
    }

    fn shown_by(&self, _: &Asked<'_>, _: &[Option<Access<Value>>]) -> Result<(), CheckError> {
        Ok(())
    }
}

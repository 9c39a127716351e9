//! What a schedule may show.
//!
//! A property is what a caller claims of a schedule: the checker runs the schedule, and the property says whether that shows it. Each is
//! part of the trusted base, so the trait is closed: its methods name a type that only this crate has.

mod other_way;
mod performed;
mod triple;
mod use_after_free;
mod violation_path;

pub use other_way::OtherWay;
pub use performed::{PerformedOperations, PerformedStep};
pub use triple::{Interruption, ShownTriple};
pub use use_after_free::UseAfterFree;
pub use violation_path::{Link, PathKind, ViolationPath};

use crate::dependence::Access;
use crate::error::CheckError;
use crate::run::context_switches;
use foretrace_trace::{EventId, Question, Trace, Transaction, Value};

/// What is claimed of a schedule.
pub trait Property {
    /// What a schedule that shows it tells besides.
    type Shown;

    /// The accesses whose values matter.
    fn watched(&self) -> Vec<EventId>;

    /// Whether the claim makes sense, its events are in the schedule in an order that shows it, and the schedule ends where it must. The
    /// schedule has not run yet.
    #[doc(hidden)]
    fn stands_in(&self, asked: &Asked<'_>, schedule: &[EventId]) -> Result<(), CheckError>;

    /// What the schedule, which is a prefix, shows with the values of the watched accesses, as far as they are known.
    #[doc(hidden)]
    fn shown_by(&self, asked: &Asked<'_>, values: &[Option<Access<Value>>]) -> Result<Self::Shown, CheckError>;

    /// The event that comes next in its thread after the schedule, and whose condition must not hold there.
    #[doc(hidden)]
    fn left_false(&self) -> Option<EventId> {
        None
    }
}

/// What is asked of a trace.
#[derive(Clone, Copy)]
pub struct Asked<'t> {
    pub trace: &'t Trace,
    pub transactions: &'t [Transaction],
    pub question: Question,
    pub most_switches: Option<u32>,
}

impl Asked<'_> {
    /// The part of a schedule from a violation's first access to its last one has few enough context switches.
    fn few_switches(&self, violation: &[EventId]) -> Result<(), CheckError> {
        let (Some(first), Some(last)) = (violation.first(), violation.last()) else { return Ok(()) };
        let found = context_switches(self.trace, violation);
        match self.most_switches.filter(|most| found > *most) {
            Some(most) => Err(CheckError::ContextSwitches { first: *first, last: *last, found, most }),
            None => Ok(()),
        }
    }
}

/// Where an event is in a schedule.
fn place(schedule: &[EventId], event: EventId) -> Result<usize, CheckError> {
    schedule.iter().position(|one| *one == event).ok_or(CheckError::Missing(event))
}

/// The schedule ends with the event at this place.
fn ends_at(schedule: &[EventId], place: usize) -> Result<(), CheckError> {
    match schedule.len() - place - 1 {
        0 => Ok(()),
        events => Err(CheckError::GoesOn { last: schedule[place], events }),
    }
}

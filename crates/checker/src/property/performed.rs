//! The operations that a schedule performs: its calls and returns in order, with what the operations give.
//!
//! The claim is about the history alone. The caller, which knows the specification, decides whether it allows that history.

use super::{Asked, Property, ends_at, place};
use crate::dependence::Access;
use crate::error::CheckError;
use foretrace_trace::{Data, EventId, Op, Results, Value};

/// The schedule holds exactly these calls and returns, in this order. It ends with the last one. Each operation gives the result of its step.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PerformedOperations {
    /// The calls and returns.
    pub steps: Vec<PerformedStep>,
}

/// A call or a return.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PerformedStep {
    /// The event.
    pub event: EventId,
    /// Of a return, what the operation gives, as JSON; `None` where the trace does not know it.
    pub result: Option<String>,
    /// Of a return, the definition whose value that is ([`Results::given_by`]).
    pub given_by: Option<EventId>,
}

impl Property for PerformedOperations {
    type Shown = ();

    /// The definitions that give results; those have their value before and after.
    fn watched(&self) -> Vec<EventId> {
        self.steps.iter().filter_map(|step| step.given_by).collect()
    }

    fn stands_in(&self, asked: &Asked<'_>, schedule: &[EventId]) -> Result<(), CheckError> {
        if !asked.question.model.knows_results() {
            return Err(CheckError::NoResults(asked.question.model));
        }
        let is_one = |event: &&EventId| {
            let op = asked.trace.events.get(event.index()).map(|event| &event.op);
            matches!(op, Some(Op::Call { .. } | Op::Return { .. }))
        };
        let mut claimed = self.steps.iter();
        for found in schedule.iter().filter(is_one) {
            if claimed.next().is_none_or(|step| step.event != *found) {
                return Err(CheckError::NotPerformed(*found));
            }
        }
        if let Some(missing) = claimed.next() {
            return Err(CheckError::NotPerformed(missing.event));
        }
        self.steps.last().map_or(Ok(()), |last| ends_at(schedule, place(schedule, last.event)?))
    }

    fn shown_by(&self, asked: &Asked<'_>, values: &[Option<Access<Value>>]) -> Result<(), CheckError> {
        let results = Results::new(asked.trace);
        let executes = asked.question.model.needs() == Data::Symbolic;
        let mut values = values.iter();
        for step in &self.steps {
            let value = step.given_by.and_then(|_| values.next()).and_then(Option::as_ref);
            let result = results.text(asked.trace, step.event, value.map(|access| &access.after));
            let is_followed = step.given_by.is_none() || value.is_some() || !executes;
            if results.given_by(step.event) != step.given_by || result != step.result || !is_followed {
                return Err(CheckError::NotPerformed(step.event));
            }
        }
        Ok(())
    }
}

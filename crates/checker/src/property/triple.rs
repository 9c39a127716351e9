//! A candidate's three accesses in their order, and the part of that up to the remote one.

use super::{Asked, Property, ends_at, place};
use crate::dependence::{Access, first_depends, second_depends};
use crate::error::CheckError;
use foretrace_trace::{EventId, Feasibility, Independence, Pattern, Triple, Value};

/// What a schedule that shows a candidate tells besides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShownTriple {
    /// The first pattern that it shows.
    pub pattern: Pattern,
    /// Whether the accesses are guarded dependent, too, in one of the patterns that fit; nothing where values are not known.
    pub guarded_dependent: Option<bool>,
}

/// The candidate's pair is interrupted: the schedule holds first and then remote, which depend on each other, ends there, and does not
/// hold second. It says nothing of what comes after remote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interruption(pub Triple);

/// The triple is a candidate.
fn is_candidate(triple: Triple, asked: &Asked<'_>) -> Result<(), CheckError> {
    let pattern = triple.candidate(asked.trace, asked.transactions);
    pattern.map(drop).map_err(|reason| CheckError::NoCandidate { triple, reason })
}

impl Property for Triple {
    type Shown = ShownTriple;

    fn watched(&self) -> Vec<EventId> {
        vec![self.first, self.remote, self.second]
    }

    fn stands_in(&self, asked: &Asked<'_>, schedule: &[EventId]) -> Result<(), CheckError> {
        is_candidate(*self, asked)?;
        let first = place(schedule, self.first)?;
        let (remote, second) = (place(schedule, self.remote)?, place(schedule, self.second)?);
        if !(first < remote && remote < second) {
            return Err(CheckError::Order(*self));
        }
        asked.few_switches(&schedule[first..=second])?;
        let (found, expected) = (schedule.len(), asked.trace.events.len());
        match asked.question.feasibility {
            Feasibility::Prefix => ends_at(schedule, second),
            Feasibility::Complete if found < expected => Err(CheckError::Incomplete { found, expected }),
            Feasibility::Complete => Ok(()),
        }
    }

    fn shown_by(&self, asked: &Asked<'_>, values: &[Option<Access<Value>>]) -> Result<ShownTriple, CheckError> {
        let guarded = guarded_pattern(*self, asked, values);
        let pattern = match asked.question.independence {
            Independence::Conflict => self.patterns(asked.trace).next(),
            Independence::Guarded => guarded.flatten(),
        };
        let pattern = pattern.ok_or(CheckError::Independent(*self))?;
        Ok(ShownTriple { pattern, guarded_dependent: guarded.map(|pattern| pattern.is_some()) })
    }
}

/// The first pattern in which the accesses are guarded dependent, if any is; nothing where values are missing.
fn guarded_pattern(triple: Triple, asked: &Asked<'_>, values: &[Option<Access<Value>>]) -> Option<Option<Pattern>> {
    let [Some(first), Some(remote), Some(second)] = values else { return None };
    let dependent = |p: &Pattern| first_depends(*p, first, remote) && second_depends(*p, remote, second);
    Some(triple.patterns(asked.trace).find(dependent))
}

impl Property for Interruption {
    type Shown = ();

    fn watched(&self) -> Vec<EventId> {
        vec![self.0.first, self.0.remote]
    }

    fn stands_in(&self, asked: &Asked<'_>, schedule: &[EventId]) -> Result<(), CheckError> {
        let triple = self.0;
        is_candidate(triple, asked)?;
        let (first, remote) = (place(schedule, triple.first)?, place(schedule, triple.remote)?);
        if schedule.contains(&triple.second) {
            return Err(CheckError::TooFar(triple.second));
        }
        if first > remote {
            return Err(CheckError::Order(triple));
        }
        ends_at(schedule, remote)
    }

    fn shown_by(&self, asked: &Asked<'_>, values: &[Option<Access<Value>>]) -> Result<(), CheckError> {
        let dependent = match values {
            [Some(first), Some(remote)] => {
                self.0.patterns(asked.trace).any(|pattern| first_depends(pattern, first, remote))
            }
            _ => false,
        };
        match asked.question.independence == Independence::Conflict || dependent {
            true => Ok(()),
            false => Err(CheckError::Independent(self.0)),
        }
    }
}

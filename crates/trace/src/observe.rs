//! The recorded order, run once: does it hold together, and what did every access read and write?

use crate::error::Problem;
use crate::interner::{Interner, hash_of};
use crate::op::Op;
use crate::schedule::RunError;
use crate::semantics::{Effect, Semantics};
use crate::term::TermId;
use crate::trace::{EventId, Trace};
use crate::value::Value;

/// What every access read and wrote in the recorded order.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    values: Interner<Value>,
    accesses: Vec<Access>,
}

/// Values by their position among the distinct ones; [`NOTHING`] where there is none.
#[derive(Clone, Copy, Debug)]
struct Access {
    read: u32,
    written: u32,
    source: u32,
}

const NOTHING: u32 = u32::MAX;

impl Observed {
    /// The value that a read or rmw read; nothing in a trace without data.
    pub fn read(&self, event: EventId) -> Option<&Value> {
        self.values.items().get(self.accesses[event.index()].read as usize)
    }

    /// The value that a write or rmw wrote; nothing in a trace without data.
    pub fn written(&self, event: EventId) -> Option<&Value> {
        self.values.items().get(self.accesses[event.index()].written as usize)
    }

    /// The write or rmw that a read or rmw read from; nothing where it read the initial value.
    pub fn source(&self, event: EventId) -> Option<EventId> {
        Some(self.accesses[event.index()].source).filter(|write| *write != NOTHING).map(EventId)
    }

    /// The same of a trace with so many more events at its end, none of them an access.
    pub fn followed_by(&self, events: usize) -> Observed {
        let mut longer = self.clone();
        let nothing = Access { read: NOTHING, written: NOTHING, source: NOTHING };
        longer.accesses.extend(std::iter::repeat_n(nothing, events));
        longer
    }

    fn id(&mut self, value: Option<&Value>) -> u32 {
        match value {
            None => NOTHING,
            Some(value) => self.values.intern(hash_of(value), |other| other == value, || value.clone()) as u32,
        }
    }
}

/// A trace whose recorded order is not an execution of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("event {event}: {problem}")]
pub struct StepError {
    /// The first event that fails.
    pub event: EventId,
    /// What was found and what was expected.
    pub problem: Problem,
}

/// Runs the events in the recorded order: each must be enabled, each guard and assume must hold, each recorded value
/// must follow, as far as the trace has them.
pub fn observe(trace: &Trace) -> Result<Observed, StepError> {
    let semantics = Semantics::of_the_run(trace);
    let mut observed = Observed::default();
    observed.accesses.reserve_exact(trace.events.len());
    let mut latest: Vec<Option<EventId>> = vec![None; trace.vars.len()];
    run(&semantics, |event, effect| {
        let access = observe_access(&semantics, &mut observed, &mut latest, event, effect);
        observed.accesses.push(access);
    })?;
    Ok(observed)
}

/// As [`observe`], for those who only want to know whether it succeeds.
pub(crate) fn check(trace: &Trace) -> Result<(), StepError> {
    run(&Semantics::of_the_run(trace), |_, _| {})
}

fn run(semantics: &Semantics<'_>, mut each: impl FnMut(EventId, &Effect)) -> Result<(), StepError> {
    let order: Vec<EventId> = semantics.trace().iter().map(|(id, _)| id).collect();
    let run = semantics.try_run(&order, |event, effect| {
        follows(semantics, event, effect).map_err(|problem| StepError { event, problem })?;
        each(event, effect);
        Ok(())
    });
    match run {
        Ok(_) => Ok(()),
        Err(RunError::Stop(error)) => Err(error),
        Err(RunError::Step(step)) => Err(StepError { event: step.event, problem: step.problem }),
    }
}

fn observe_access(
    semantics: &Semantics<'_>,
    observed: &mut Observed,
    latest: &mut [Option<EventId>],
    event: EventId,
    effect: &Effect,
) -> Access {
    let op = &semantics.trace().event(event).op;
    let Some(var) = op.var() else { return Access { read: NOTHING, written: NOTHING, source: NOTHING } };
    let read = semantics.value(var, &effect.before).filter(|_| op.reads());
    let written = semantics.value(var, &effect.after).filter(|_| op.writes());
    let access = Access {
        read: observed.id(read),
        written: observed.id(written),
        source: latest[var.index()].filter(|_| op.reads()).map_or(NOTHING, |write| write.0),
    };
    if op.writes() {
        latest[var.index()] = Some(event);
    }
    access
}

/// The values recorded for the event are those that it read and wrote.
fn follows(semantics: &Semantics<'_>, event: EventId, effect: &Effect) -> Result<(), Problem> {
    let trace = semantics.trace();
    let (read, written): (Option<TermId>, Option<TermId>) = match &trace.event(event).op {
        Op::Read { value, .. } => (*value, None),
        Op::Write { value, .. } => (None, *value),
        Op::Rmw { value, stored, .. } => (*value, *stored),
        _ => return Ok(()),
    };
    let Some(var) = trace.event(event).op.var() else { return Ok(()) };
    let name = trace.vars[var.index()].shown();
    for (recorded, cell, verb) in [(read, &effect.before, "reads"), (written, &effect.after, "writes")] {
        if let (Some(recorded), Some(value)) = (recorded, semantics.value(var, cell))
            && trace.value(recorded) != value
        {
            let found = format!("the recorded value {}", trace.value(recorded));
            return Err(Problem::new(found, format!("{value}, which it {verb} ({name}) in the recorded order")));
        }
    }
    Ok(())
}

//! The recorded order, run once: does it hold together, and what did every access read and write?

use crate::error::Problem;
use crate::observed::Observed;
use crate::op::Op;
use crate::schedule::RunError;
use crate::semantics::Semantics;
use crate::state::Effect;
use crate::term::TermId;
use crate::trace::{EventId, Trace};
use crate::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};

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
    let mut observed = Observed::with_capacity(trace.events.len());
    let mut latest: Vec<Option<EventId>> = vec![None; trace.vars.len()];
    run(&semantics, |event, effect| {
        observe_event(&semantics, &mut observed, &mut latest, event, effect);
    })?;
    Ok(observed)
}

/// As [`observe`], for those who only want to know whether it succeeds.
pub(crate) fn check(trace: &Trace) -> Result<(), StepError> {
    run(&Semantics::of_the_run(trace), |_, _| {})
}

/// The values of these `let`s in the recorded order, as far as it goes; only those that a later event uses have one.
pub(crate) fn values_of_lets(trace: &Trace, lets: &FxHashSet<EventId>) -> FxHashMap<EventId, Value> {
    let mut values = FxHashMap::default();
    let ran = run(&Semantics::of_the_run(trace), |event, effect| {
        if let Some(value) = effect.defined().filter(|_| lets.contains(&event)) {
            values.insert(event, value.clone());
        }
    });
    // A reader has run the order before; of one that fails there is nothing to know.
    if ran.is_ok() { values } else { FxHashMap::default() }
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

fn observe_event(
    semantics: &Semantics<'_>,
    observed: &mut Observed,
    latest: &mut [Option<EventId>],
    event: EventId,
    effect: &Effect,
) {
    let op = &semantics.trace().event(event).op;
    let Some(var) = op.var() else { return observed.push(None, None, None) };
    let read = semantics.value(var, &effect.before).filter(|_| op.reads());
    let written = semantics.value(var, &effect.after).filter(|_| op.writes());
    observed.push(read, written, latest[var.index()].filter(|_| op.reads()));
    if op.writes() {
        latest[var.index()] = Some(event);
    }
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

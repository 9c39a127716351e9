//! Runs a schedule by the step semantics: is it a prefix, and what do its events read and write?

use crate::error::CheckError;
use crate::unseen::{Unseen, UnseenOrders};
use foretrace_trace::{BadStep, Effect, EventId, Model, Observed, Op, Semantics, Trace, Value};

/// One event of a schedule that was run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The event.
    pub event: EventId,
    /// The value that it read, where the model and the trace know it.
    pub read: Option<Value>,
    /// The value that it wrote, likewise.
    pub written: Option<Value>,
}

/// A schedule that was run: it is a prefix.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Run {
    /// Its events with their values.
    pub steps: Vec<Step>,
    /// Whether it holds all events of the trace.
    pub complete: bool,
    /// The accesses to variables whose memory was given back before.
    pub uses_after_free: Vec<EventId>,
    /// Whether it holds a write by code that was not recorded.
    pub passes_external: bool,
    /// The first order of the observed run that it does not keep and that code which the trace does not show may ask for.
    pub unseen: Option<Unseen>,
}

/// How often a schedule goes from one thread to another; also where the first one could not go on.
pub fn context_switches(trace: &Trace, schedule: &[EventId]) -> u32 {
    schedule.windows(2).filter(|pair| trace.event(pair[0]).thread != trace.event(pair[1]).thread).count() as u32
}

/// Runs a schedule without a candidate in mind: is it a prefix in this model, and what do its events read and write?
pub fn run_schedule(trace: &Trace, observed: &Observed, model: Model, schedule: &[EventId]) -> Result<Run, CheckError> {
    Ok(run(&Semantics::new(trace, observed, model)?, &UnseenOrders::in_trace(trace), schedule, |_, _| {})?)
}

pub(crate) fn run(
    semantics: &Semantics<'_>,
    unseen: &UnseenOrders,
    schedule: &[EventId],
    mut see: impl FnMut(EventId, &Effect),
) -> Result<Run, BadStep> {
    let trace = semantics.trace();
    let mut freed = vec![false; trace.vars.len()];
    let mut run = Run { unseen: unseen.first_left_out(trace, schedule), ..Run::default() };
    let end = semantics.run(schedule, |event, effect| {
        see(event, effect);
        let op = &trace.event(event).op;
        run.passes_external |= op.is_external();
        if let Op::Free { vars } = op {
            vars.iter().for_each(|var| freed[var.index()] = true);
        }
        if op.var().is_some_and(|var| freed[var.index()]) {
            run.uses_after_free.push(event);
        }
        run.steps.push(step(semantics, event, effect));
    })?;
    run.complete = semantics.is_complete(&end);
    Ok(run)
}

fn step(semantics: &Semantics<'_>, event: EventId, effect: &Effect) -> Step {
    let op = &semantics.trace().event(event).op;
    let value = |cell, wanted: bool| op.var().filter(|_| wanted).and_then(|var| semantics.value(var, cell)).cloned();
    Step { event, read: value(&effect.before, op.reads()), written: value(&effect.after, op.writes()) }
}

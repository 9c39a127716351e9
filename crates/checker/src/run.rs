//! Runs a schedule by the step semantics: is it a prefix, and what do its events read and write?

use crate::error::CheckError;
use crate::unseen::{Unseen, UnseenOrders};
use foretrace_trace::{BadStep, Effect, EventId, Model, Observed, Op, Semantics, State, SyncId, TermId, Trace, Value};
use std::sync::Arc;

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
    schedule: Arc<[EventId]>,
    /// The steps whose values are not those that the trace says of their events, with these values. Most are the same, so a schedule
    /// of 10⁵ events takes little more than their numbers.
    other: Vec<Step>,
    /// Whether it holds all events of the trace.
    pub complete: bool,
    /// The accesses to variables whose memory was given back before.
    pub uses_after_free: Vec<EventId>,
    /// Whether it holds a write by code that was not recorded.
    pub passes_external: bool,
    /// The first order of the observed run that it does not keep and that code which the trace does not show may ask for.
    pub unseen: Option<Unseen>,
}

impl Run {
    /// The events, in order.
    pub fn schedule(&self) -> &[EventId] {
        &self.schedule
    }

    /// The events with their values; of a schedule of the trace.
    pub fn steps(&self, trace: &Trace) -> Vec<Step> {
        let mut other = self.other.iter().peekable();
        let step = |event: &EventId| match other.next_if(|step| step.event == *event) {
            Some(step) => step.clone(),
            None => as_recorded(trace, *event),
        };
        self.schedule.iter().map(step).collect()
    }
}

/// The event with the values that the trace says it has.
fn as_recorded(trace: &Trace, event: EventId) -> Step {
    let value = |term: Option<TermId>| term.map(|term| trace.value(term).clone());
    let (read, written) = recorded(&trace.event(event).op);
    Step { event, read: value(read), written: value(written) }
}

/// What the trace says that an access read and wrote.
fn recorded(op: &Op) -> (Option<TermId>, Option<TermId>) {
    match *op {
        Op::Read { value, .. } => (value, None),
        Op::Write { value, .. } => (None, value),
        Op::Rmw { value, stored, .. } => (value, stored),
        _ => (None, None),
    }
}

/// How often a schedule goes from one thread to another; also where the first one could not go on.
pub fn context_switches(trace: &Trace, schedule: &[EventId]) -> u32 {
    schedule.windows(2).filter(|pair| trace.event(pair[0]).thread != trace.event(pair[1]).thread).count() as u32
}

/// Runs a schedule without a candidate in mind: is it a prefix in this model, and what do its events read and write?
pub fn run_schedule(trace: &Trace, observed: &Observed, model: Model, schedule: &[EventId]) -> Result<Run, CheckError> {
    let semantics = Semantics::new(trace, observed, model)?;
    Ok(run(&semantics, &UnseenOrders::in_trace(trace), schedule, |_, _| {})?.0)
}

/// The same, and the state at the end.
pub(crate) fn run(
    semantics: &Semantics<'_>,
    unseen: &UnseenOrders,
    schedule: &[EventId],
    mut see: impl FnMut(EventId, &Effect),
) -> Result<(Run, State), BadStep> {
    let trace = semantics.trace();
    let mut freed = (vec![false; trace.vars.len()], vec![false; trace.syncs.len()]);
    let mut run = Run { schedule: schedule.into(), unseen: unseen.first_left_out(trace, schedule), ..Run::default() };
    let end = semantics.run(schedule, |event, effect| {
        see(event, effect);
        let op = &trace.event(event).op;
        run.passes_external |= op.is_external();
        if let Op::Free { vars, syncs, .. } = op {
            vars.iter().for_each(|var| freed.0[var.index()] = true);
            syncs.iter().for_each(|sync| freed.1[sync.index()] = true);
        }
        let is_freed = |sync: &SyncId| freed.1[sync.index()];
        if op.var().is_some_and(|var| freed.0[var.index()]) || op.used_syncs().iter().flatten().any(is_freed) {
            run.uses_after_free.push(event);
        }
        run.other.extend(other(semantics, event, effect));
    })?;
    run.complete = semantics.is_complete(&end);
    Ok((run, end))
}

/// The step where its values are not those that the trace says.
fn other(semantics: &Semantics<'_>, event: EventId, effect: &Effect) -> Option<Step> {
    let trace = semantics.trace();
    let op = &trace.event(event).op;
    let var = op.var()?;
    let read = semantics.value(var, &effect.before).filter(|_| op.reads());
    let written = semantics.value(var, &effect.after).filter(|_| op.writes());
    let said = recorded(op);
    let is_said = |value: Option<&Value>, said: Option<TermId>| value == said.map(|term| trace.value(term));
    let differs = !is_said(read, said.0) || !is_said(written, said.1);
    differs.then(|| Step { event, read: read.cloned(), written: written.cloned() })
}

//! Running a given order of events: the one thing left to choose is which waiter each signal releases.

use crate::blocked::Blocked;
use crate::error::Problem;
use crate::op::Op;
use crate::semantics::{Semantics, unreleased};
use crate::state::{Effect, State};
use crate::trace::{EventId, SyncId, ThreadId, Trace};
use rustc_hash::FxHashMap;

/// For each wait of an order, the step at which a wake needs that a signal or broadcast came before.
///
/// A signal goes to the waiter whose such step comes first. That choice loses nothing: where some choice lets every
/// wake of the order happen, exchanging it step by step for this one does, too, since a waiter that can wait longer
/// can take every later signal that the other could.
struct Deadlines(FxHashMap<EventId, usize>);

impl Deadlines {
    fn new(trace: &Trace, order: &[EventId]) -> Deadlines {
        let mut needed: FxHashMap<(ThreadId, SyncId), usize> = FxHashMap::default();
        let mut deadlines = FxHashMap::default();
        for (step, event) in order.iter().enumerate().rev() {
            let thread = trace.event(*event).thread;
            match trace.event(*event).op {
                Op::Wake { cond, cause: None, .. } => {
                    needed.insert((thread, cond), step);
                }
                Op::Wake { cond, .. } => {
                    needed.remove(&(thread, cond));
                }
                Op::Wait { cond, .. } => {
                    if let Some(step) = needed.remove(&(thread, cond)) {
                        deadlines.insert(*event, step);
                    }
                }
                _ => {}
            }
        }
        Deadlines(deadlines)
    }

    /// The waiter that a signal releases.
    fn choice(&self, trace: &Trace, state: &State, event: EventId) -> Option<ThreadId> {
        let Op::Signal { cond } = trace.event(event).op else { return None };
        let deadline = |since| self.0.get(&since).copied().unwrap_or(usize::MAX);
        unreleased(state, cond).min_by_key(|waiter| deadline(waiter.since)).map(|waiter| waiter.thread)
    }
}

/// Where an order stops being a prefix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("step {step}, event {event}: {problem}")]
pub struct BadStep {
    /// The position in the order, from 0.
    pub step: usize,
    /// The event there.
    pub event: EventId,
    /// Why it cannot come there.
    pub problem: Problem,
}

impl Semantics<'_> {
    /// Runs `order` from the start and shows each event with what it did to data; stops with an error at the first
    /// that cannot come where it stands. Returns the state at the end.
    pub fn run(&self, order: &[EventId], mut each: impl FnMut(EventId, &Effect)) -> Result<State, BadStep> {
        let attempt: Result<State, RunError<std::convert::Infallible>> = self.try_run(order, |event, effect| {
            each(event, effect);
            Ok(())
        });
        attempt.map_err(|error| match error {
            RunError::Step(step) => step,
            RunError::Stop(never) => match never {},
        })
    }

    /// As [`Semantics::run`], until `each` fails.
    pub(crate) fn try_run<E>(
        &self,
        order: &[EventId],
        mut each: impl FnMut(EventId, &Effect) -> Result<(), E>,
    ) -> Result<State, RunError<E>> {
        let events = self.trace().events.len();
        if let Some(step) = order.iter().position(|event| event.index() >= events) {
            let problem = Problem::new("an event that the trace does not have", format!("an index below {events}"));
            return Err(RunError::Step(BadStep { step, event: order[step], problem }));
        }
        let deadlines = Deadlines::new(self.trace(), order);
        let mut state = self.initial();
        for (step, event) in order.iter().copied().enumerate() {
            let released = deadlines.choice(self.trace(), &state, event);
            match &self.step(&mut state, event, released) {
                Ok(effect) => each(event, effect).map_err(RunError::Stop)?,
                Err(blocked) => return Err(RunError::Step(self.bad_step(&state, step, event, *blocked))),
            }
        }
        Ok(state)
    }

    fn bad_step(&self, state: &State, step: usize, event: EventId, blocked: Blocked) -> BadStep {
        BadStep { step, event, problem: self.explain(state, event, blocked) }
    }
}

/// Why a run ended early.
pub(crate) enum RunError<E> {
    /// An event was blocked.
    Step(BadStep),
    /// Who watched wanted to stop.
    Stop(E),
}

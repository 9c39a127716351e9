//! The states that prefixes reach, looked at between the steps that threads can race for.
//!
//! Where a data structure is under one lock, each section reads what earlier ones wrote, and few orders of the sections fit the values: a puzzle for
//! a solver, and few states. Four things keep states few.
//!
//! - A step that commutes with whatever other threads can do before it is taken at once, alone: a persistent set of one step (Godefroid,
//!   "Partial-Order Methods for the Verification of Concurrent Systems", LNCS 1032, chapter 4). Each prefix without it can be made longer by it,
//!   and in each prefix with it, it can come first. The order of accesses that conflict stays the same.
//! - Values of variables on which no condition depends are forgotten.
//! - Accesses of such variables are taken at once, too, but for those of the variable that is asked about. So is a lock that guards nothing else.
//! - A thread that takes a lock goes on at once, until it does something that others may see: whatever others do after it took the lock, they can do
//!   before (Lipton, "Reduction: A Method of Proving Properties of Parallel Programs", CACM 1975). If it cannot go on so far, it could as well
//!   have waited.
//!
//! So a candidate that some prefix shows is shown by one that is looked at. This is for the model with path conditions, prefixes, and conflict
//! independence.

use crate::filters::RegionsByThread;
use crate::options::{Options, Strategy};
use crate::verdict::Decider;
use foretrace_encodings::TraceView;
use foretrace_trace::{
    Event, EventId, Feasibility, Independence, Model, Op, Semantics, State, States, SyncId, ThreadId, Trace, Triple,
    VarId, Why,
};
use independence::{Accesses, can_wait, commutes, counts, guarded, tried};
use rustc_hash::FxHashSet;
use std::ops::Range;

mod independence;
#[cfg(test)]
mod tests;

/// States at most, where easier ways are not yet tried.
pub(crate) const FEW_STATES: usize = 50_000;

/// States at most, where a solver has seen that a question is not easy: some seconds.
pub(crate) const MANY_STATES: usize = 500_000;

/// Contents of variables and local names that are kept: some hundred megabytes.
const MOST_CONTENTS: usize = 16_000_000;

/// Steps of all ways between states: some hundred megabytes.
const MOST_STEPS: usize = 40_000_000;

/// Contents that are copied for each state that is allowed, at most: a thread that goes on from a state has a copy of all variables and local
/// names. Long traces have many, and so get fewer states.
const MOST_COPIED: usize = 400;

/// Longer traces have too many.
const MOST_EVENTS: usize = 200_000;

/// The search looks at the limits once in this many states.
const LOOK: usize = 64;

/// What is the same for each variable that is asked about.
pub(crate) struct Reachability<'t> {
    view: TraceView<'t>,
    semantics: Semantics<'t>,
    /// Of each event, whether it commutes with whatever other threads can do before it.
    commutes: Vec<bool>,
    /// Of each event, whether it commutes with whatever other threads can do after it, as long as its own thread does not go on.
    can_wait: Vec<bool>,
    /// Of each variable, whether a condition depends on its values.
    counts: Vec<bool>,
    /// Of each lock, the variables that its sections share with other threads, if accesses are all there is in them.
    guarded: Vec<Option<Vec<VarId>>>,
    has_pins: bool,
}

/// All states that prefixes reach, and the ways between them.
#[derive(Default)]
pub(crate) struct Reachable {
    /// Of each state, the ways to others.
    onward: Vec<Range<usize>>,
    ways: Vec<Way>,
    /// The steps of all ways. Those before the first way lead to the first state.
    steps: Vec<EventId>,
}

struct Way {
    steps: Range<usize>,
    /// Nothing where the thread cannot go on so far that others may see what it did.
    target: Option<usize>,
}

/// States while they are made.
struct Making<'r, 't> {
    of: &'r Reachability<'t>,
    /// The variable that is asked about.
    var: VarId,
    states: States,
    /// The steps since the state that is looked at.
    path: Vec<EventId>,
    made: Reachable,
    /// Contents of variables and local names that were copied.
    copied: usize,
}

/// How far a thread goes on by steps that can wait.
enum Reached {
    /// To one that cannot, which comes next.
    Visible(EventId),
    /// Past one that cannot, or to its end.
    State,
    /// It cannot take the next one.
    Nowhere,
}

impl<'t> Reachability<'t> {
    /// Of a trace with these critical sections.
    pub(crate) fn new(view: TraceView<'t>, semantics: Semantics<'t>, regions: &RegionsByThread) -> Reachability<'t> {
        let is_pin = |event: &Event| matches!(event.op, Op::Assume { why: Why::Pin, .. });
        let has_pins = view.trace.events.iter().any(is_pin);
        let is_tried = tried(view.trace);
        let accesses = Accesses::new(view, regions);
        let (commutes, can_wait) = (commutes(view, &accesses, &is_tried), can_wait(view, &accesses, &is_tried));
        let guarded = guarded(view, regions, &is_tried);
        Reachability { view, semantics, commutes, can_wait, counts: counts(view), guarded, has_pins }
    }

    /// Whether some value is pinned, so that what no prefix shows may rest on that.
    pub(crate) fn has_pins(&self) -> bool {
        self.has_pins
    }

    /// Whether a condition depends on a variable's values: the states for all such variables are the same.
    pub(crate) fn counts(&self, var: VarId) -> bool {
        self.counts[var.index()]
    }

    /// All states, for candidates on a variable; nothing if they are too many, or `go_on` says no.
    pub(crate) fn all(&self, var: VarId, most: usize, go_on: &dyn Fn() -> bool) -> Option<Reachable> {
        let made = Reachable::default();
        let mut making = Making { of: self, var, states: States::default(), path: Vec::new(), made, copied: 0 };
        let mut first = self.semantics.initial();
        making.take_at_once(&mut first);
        making.states.insert(&first);
        making.made.steps.clone_from(&making.path);
        while let Some(state) = making.states.get(making.made.count()) {
            let is_late = making.made.count().is_multiple_of(LOOK) && !go_on();
            if is_late || making.is_large(most) {
                return None;
            }
            making.expand(&state);
        }
        Some(making.made)
    }

    fn is_taken_at_once(&self, event: EventId, asked: VarId) -> bool {
        self.commutes[event.index()] || self.is_irrelevant(event, asked)
    }

    /// Whether nothing that is asked depends on when an event comes: an access of a variable whose values are forgotten, or a lock that guards only such.
    fn is_irrelevant(&self, event: EventId, asked: VarId) -> bool {
        let op = &self.view.trace.event(event).op;
        let is_forgotten = |var: VarId| var != asked && !self.counts[var.index()];
        let guards_nothing = |lock: SyncId| {
            self.guarded[lock.index()].as_ref().is_some_and(|vars| vars.iter().all(|var| is_forgotten(*var)))
        };
        match op {
            Op::Acquire { lock } | Op::AcquireShared { lock } => guards_nothing(*lock),
            _ if self.view.trace.event(event).part.is_some() || op.condition().is_some() => false,
            _ => op.var().is_some_and(is_forgotten),
        }
    }
}

impl Making<'_, '_> {
    fn is_large(&self, most: usize) -> bool {
        let is_much = self.copied > most.saturating_mul(MOST_COPIED);
        is_much
            || self.states.len() > most
            || self.states.contents() > MOST_CONTENTS
            || self.made.steps.len() > MOST_STEPS
    }

    fn expand(&mut self, state: &State) {
        self.copied += self.of.view.trace.threads.len() * state.contents();
        let from = self.made.ways.len();
        for thread in (0..self.of.view.trace.threads.len()).map(ThreadId::from_index) {
            self.go_on(state.clone(), thread);
        }
        self.made.onward.push(from..self.made.ways.len());
    }

    /// Has a thread go on from a state, to where others may see what it did.
    fn go_on(&mut self, mut state: State, thread: ThreadId) {
        self.path.clear();
        let event = match self.by_steps_that_can_wait(&mut state, thread) {
            Reached::Nowhere => return self.end_nowhere(),
            Reached::State if self.path.is_empty() => return,
            Reached::State => return self.end_at(&state),
            Reached::Visible(event) => event,
        };
        let before = self.path.len();
        let waiting = self.of.semantics.releasable(&state, event);
        let choices = if waiting.is_empty() { vec![None] } else { waiting.into_iter().map(Some).collect() };
        let mut is_taken = false;
        for choice in choices {
            let mut next = state.clone();
            if self.take(&mut next, event, choice) {
                is_taken = true;
                self.take_at_once(&mut next);
                self.end_at(&next);
            }
            self.path.truncate(before);
        }
        if !is_taken {
            self.end_nowhere();
        }
    }

    fn by_steps_that_can_wait(&mut self, state: &mut State, thread: ThreadId) -> Reached {
        loop {
            let Some(event) = self.of.semantics.next(state, thread) else { return Reached::State };
            if !self.of.can_wait[event.index()] {
                return Reached::Visible(event);
            }
            if !self.take(state, event, None) {
                return Reached::Nowhere;
            }
            let before = self.path.len();
            self.take_at_once(state);
            let Making { of, path, var, .. } = self;
            let is_seen = |event: &EventId| {
                of.view.trace.event(*event).thread == thread
                    && !of.can_wait[event.index()]
                    && !of.is_irrelevant(*event, *var)
            };
            if path[before..].iter().any(is_seen) {
                return Reached::State;
            }
        }
    }

    fn end_at(&mut self, state: &State) {
        let target = Some(self.states.insert(state));
        self.add_way(target);
    }

    /// Ends a way that leads nowhere. It is kept if it has accesses: the last one of a candidate may be among them.
    fn end_nowhere(&mut self) {
        if self.path.iter().any(|event| self.of.view.trace.event(*event).op.var().is_some()) {
            self.add_way(None);
        }
    }

    fn add_way(&mut self, target: Option<usize>) {
        let first = self.made.steps.len();
        self.made.steps.extend_from_slice(&self.path);
        self.made.ways.push(Way { steps: first..self.made.steps.len(), target });
    }

    /// Takes all steps that can be taken at once.
    fn take_at_once(&mut self, state: &mut State) {
        loop {
            let before = self.path.len();
            for thread in 0..self.of.view.trace.threads.len() {
                while let Some(event) = self.of.semantics.next(state, ThreadId::from_index(thread)) {
                    if !self.of.is_taken_at_once(event, self.var) || !self.take(state, event, None) {
                        break;
                    }
                }
            }
            if self.path.len() == before {
                return;
            }
        }
    }

    /// Takes a step, if it can be taken.
    fn take(&mut self, state: &mut State, event: EventId, released: Option<ThreadId>) -> bool {
        let is_taken = self.of.semantics.step(state, event, released).is_ok();
        if is_taken {
            self.path.push(event);
            let op = &self.of.view.trace.event(event).op;
            if let Some(var) = op.var().filter(|var| op.writes() && !self.of.counts[var.index()]) {
                self.of.semantics.forget(state, var);
            }
        }
        is_taken
    }
}

impl Reachable {
    /// How many states there are.
    pub(crate) fn count(&self) -> usize {
        self.onward.len()
    }

    /// A schedule that shows a candidate on the variable that was asked about; nothing if no prefix does. The states that it looks at are counted.
    pub(crate) fn schedule(&self, triple: Triple, visited: &mut usize) -> Option<Vec<EventId>> {
        self.prefix(triple, SHOWN, visited)
    }

    /// A schedule that holds first and then remote of such a candidate, and not second.
    pub(crate) fn interruption(&self, triple: Triple, visited: &mut usize) -> Option<Vec<EventId>> {
        self.prefix(triple, INTERRUPTED, visited)
    }

    /// A schedule that shows this many of the candidate's accesses in order. It ends with the last of them.
    fn prefix(&self, triple: Triple, wanted: usize, visited: &mut usize) -> Option<Vec<EventId>> {
        let last = [triple.first, triple.remote, triple.second][wanted - 1];
        let before = self.ways.first().map_or(self.steps.len(), |way| way.steps.start);
        let first = after(triple, 0, &self.steps[..before])?;
        if first >= wanted {
            return Some(self.until(last, std::slice::from_ref(&(0..before))));
        }
        let mut found = vec![Found { state: 0, progress: first, by: None }];
        let mut seen = FxHashSet::from_iter([(0, first)]);
        let mut at = 0;
        while let Some(Found { state, progress, .. }) = found.get(at).copied() {
            *visited += 1;
            for way in self.onward[state].clone() {
                let Way { steps, target } = &self.ways[way];
                let Some(next) = after(triple, progress, &self.steps[steps.clone()]) else { continue };
                if next >= wanted {
                    let taken = std::iter::successors(Some((at, way)), |(from, _)| found[*from].by);
                    let mut parts: Vec<Range<usize>> = taken.map(|(_, way)| self.ways[way].steps.clone()).collect();
                    parts.push(0..before);
                    parts.reverse();
                    return Some(self.until(last, &parts));
                }
                if let Some(target) = target.filter(|target| seen.insert((*target, next))) {
                    found.push(Found { state: target, progress: next, by: Some((at, way)) });
                }
            }
            at += 1;
        }
        None
    }

    /// These steps, up to the event.
    fn until(&self, last: EventId, parts: &[Range<usize>]) -> Vec<EventId> {
        let mut schedule: Vec<EventId> =
            parts.iter().flat_map(|part| self.steps[part.clone()].iter().copied()).collect();
        if let Some(at) = schedule.iter().position(|event| *event == last) {
            schedule.truncate(at + 1);
        }
        schedule
    }
}

/// A state that a search has come to, how many accesses of the candidate have come before, and from where and by which way it came there.
#[derive(Clone, Copy)]
struct Found {
    state: usize,
    progress: usize,
    by: Option<(usize, usize)>,
}

/// First and remote have come, or first, remote and second, in this order.
const INTERRUPTED: usize = 2;
const SHOWN: usize = 3;

/// How many of a candidate's accesses have come in order after these steps, too; nothing if they come in another order.
fn after(Triple { first, remote, second }: Triple, mut progress: usize, steps: &[EventId]) -> Option<usize> {
    let wanted = [first, remote, second];
    for step in steps.iter().filter(|step| wanted.contains(step)) {
        match wanted.get(progress) {
            Some(next) if next == step => progress += 1,
            None => return Some(progress),
            Some(_) => return None,
        }
    }
    Some(progress)
}

/// Whether states decide what is asked.
pub(crate) fn decides(options: &Options, trace: &Trace) -> bool {
    let question = options.question;
    question.model == Model::Ctp
        && question.feasibility == Feasibility::Prefix
        && question.independence == Independence::Conflict
        && options.strategy == Strategy::Demand
        && options.context_switches.is_none()
        && options.dump_smt2.is_none()
        && !options.without.contains(&Decider::States)
        && trace.events.len() <= MOST_EVENTS
}

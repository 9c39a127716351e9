//! The states that prefixes reach, looked at between the steps that threads can race for.
//!
//! Where a data structure is under one lock, each section reads what earlier ones wrote, and few orders of the sections fit the values: a puzzle for
//! a solver, and few states. Three things keep states few.
//!
//! - A step that commutes with whatever other threads can do before it is taken at once, alone: a persistent set of one step (Godefroid,
//!   "Partial-Order Methods for the Verification of Concurrent Systems", LNCS 1032, chapter 4). Each prefix without it can be made longer by it,
//!   and in each prefix with it, it can come first. The order of accesses that conflict stays the same.
//! - Values of variables on which no condition depends are forgotten.
//! - Accesses of such variables are taken at once, too, but for those of the variable that is asked about. So is a lock that guards nothing else.
//!
//! So a candidate that some prefix shows is shown by one that is looked at. This is for the model with path conditions, prefixes, and conflict
//! independence.

use crate::filters::RegionsByThread;
use crate::options::{Options, Strategy};
use crate::verdict::Decider;
use foretrace_encodings::TraceView;
use foretrace_index::Region;
use foretrace_trace::{
    Event, EventId, Feasibility, Independence, Model, Node, Op, Semantics, State, SyncId, SyncKind, TermId, ThreadId,
    Trace, Triple, VarId, Why,
};
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashSet};
use std::ops::Range;

#[cfg(test)]
mod tests;

/// States at most.
const MOST_STATES: usize = 50_000;

/// Contents of variables in all states together: some hundred megabytes.
const MOST_CONTENTS: usize = 8_000_000;

/// Steps of all ways between states.
const MOST_STEPS: usize = 10_000_000;

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
    target: usize,
}

/// States while they are made.
struct Making<'r, 't> {
    of: &'r Reachability<'t>,
    /// The variable that is asked about.
    var: VarId,
    states: IndexSet<State, FxBuildHasher>,
    made: Reachable,
}

impl<'t> Reachability<'t> {
    /// Of a trace with these critical sections.
    pub(crate) fn new(view: TraceView<'t>, semantics: Semantics<'t>, regions: &RegionsByThread) -> Reachability<'t> {
        let is_pin = |event: &Event| matches!(event.op, Op::Assume { why: Why::Pin, .. });
        let has_pins = view.trace.events.iter().any(is_pin);
        let is_tried = tried(view.trace);
        let (commutes, guarded) = (commutes(view, regions, &is_tried), guarded(view, regions, &is_tried));
        Reachability { view, semantics, commutes, counts: counts(view), guarded, has_pins }
    }

    /// Whether some value is pinned, so that what no prefix shows may rest on that.
    pub(crate) fn has_pins(&self) -> bool {
        self.has_pins
    }

    /// Whether a condition depends on a variable's values: the states for all such variables are the same.
    pub(crate) fn counts(&self, var: VarId) -> bool {
        self.counts[var.index()]
    }

    /// All states, for candidates on a variable; nothing if there are too many, or `go_on` says no.
    pub(crate) fn all(&self, var: VarId, go_on: &dyn Fn() -> bool) -> Option<Reachable> {
        let most = MOST_STATES.min(MOST_CONTENTS / self.view.trace.vars.len().max(1));
        let mut making = Making { of: self, var, states: IndexSet::default(), made: Reachable::default() };
        let mut first = self.semantics.initial();
        making.take_at_once(&mut first);
        making.states.insert(first);
        while let Some(state) = making.states.get_index(making.made.count()).cloned() {
            let is_late = making.made.count().is_multiple_of(LOOK) && !go_on();
            if is_late || making.states.len() > most || making.made.steps.len() > MOST_STEPS {
                return None;
            }
            making.expand(&state);
        }
        Some(making.made)
    }

    fn is_taken_at_once(&self, event: EventId, asked: VarId) -> bool {
        let op = &self.view.trace.event(event).op;
        let is_forgotten = |var: VarId| var != asked && !self.counts[var.index()];
        let guards_nothing = |lock: SyncId| {
            self.guarded[lock.index()].as_ref().is_some_and(|vars| vars.iter().all(|var| is_forgotten(*var)))
        };
        self.commutes[event.index()]
            || match op {
                Op::Acquire { lock } | Op::AcquireShared { lock } => guards_nothing(*lock),
                _ if self.view.trace.event(event).part.is_some() || op.condition().is_some() => false,
                _ => op.var().is_some_and(is_forgotten),
            }
    }
}

impl Making<'_, '_> {
    fn expand(&mut self, state: &State) {
        let from = self.made.ways.len();
        let semantics = &self.of.semantics;
        for event in semantics.next_events(state).collect::<Vec<_>>() {
            let waiting = semantics.releasable(state, event);
            let choices = if waiting.is_empty() { vec![None] } else { waiting.into_iter().map(Some).collect() };
            for choice in choices {
                let mut next = state.clone();
                let first = self.made.steps.len();
                if !self.take(&mut next, event, choice) {
                    continue;
                }
                self.take_at_once(&mut next);
                let target = self.states.insert_full(next).0;
                self.made.ways.push(Way { steps: first..self.made.steps.len(), target });
            }
        }
        self.made.onward.push(from..self.made.ways.len());
    }

    /// Takes all steps that can be taken at once.
    fn take_at_once(&mut self, state: &mut State) {
        loop {
            let before = self.made.steps.len();
            for thread in 0..self.of.view.trace.threads.len() {
                while let Some(event) = self.of.semantics.next(state, ThreadId::from_index(thread)) {
                    if !self.of.is_taken_at_once(event, self.var) || !self.take(state, event, None) {
                        break;
                    }
                }
            }
            if self.made.steps.len() == before {
                return;
            }
        }
    }

    /// Takes a step, if it can be taken.
    fn take(&mut self, state: &mut State, event: EventId, released: Option<ThreadId>) -> bool {
        let is_taken = self.of.semantics.step(state, event, released).is_ok();
        if is_taken {
            self.made.steps.push(event);
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
                if !seen.insert((*target, next)) {
                    continue;
                }
                found.push(Found { state: *target, progress: next, by: Some((at, way)) });
                if next >= wanted {
                    let taken = std::iter::successors(Some((at, way)), |(from, _)| found[*from].by);
                    let mut parts: Vec<Range<usize>> = taken.map(|(_, way)| self.ways[way].steps.clone()).collect();
                    parts.push(0..before);
                    parts.reverse();
                    return Some(self.until(last, &parts));
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

/// Of each event, whether it commutes with whatever other threads can do before it, and none of that keeps it from being taken.
fn commutes(view: TraceView<'_>, regions: &RegionsByThread, is_tried: &[bool]) -> Vec<bool> {
    let trace = view.trace;
    let accesses = Accesses::new(view, regions);
    let commutes = |id: EventId| match trace.event(id).op {
        _ if trace.event(id).part.is_some() => false, // between its parts no other thread goes on
        Op::Begin { .. } | Op::End { .. } | Op::Let { .. } | Op::Assume { .. } | Op::Unseen { .. } => true,
        Op::Call { .. } | Op::Return { .. } | Op::Fork { .. } | Op::Join { .. } => true,
        Op::Release { lock } | Op::ReleaseShared { lock } => !is_tried[lock.index()],
        Op::Read { .. } | Op::Write { .. } | Op::Rmw { .. } => accesses.are_apart_from(id),
        _ => false,
    };
    (0..trace.events.len()).map(|event| commutes(EventId::from_index(event))).collect()
}

/// Of each lock, whether a try found it taken, which it does only while the lock is held.
fn tried(trace: &Trace) -> Vec<bool> {
    let mut is_tried = vec![false; trace.syncs.len()];
    for event in &trace.events {
        if let Op::Busy { lock } = event.op {
            is_tried[lock.index()] = true;
        }
    }
    is_tried
}

/// Of each lock, the variables that its sections share with other threads, if accesses are all there is in them and each goes to its end: a
/// thread that comes to such a section can always go through it.
fn guarded(view: TraceView<'_>, regions: &RegionsByThread, is_tried: &[bool]) -> Vec<Option<Vec<VarId>>> {
    let TraceView { trace, trace_index, .. } = view;
    let is_shared = shared(trace);
    let is_lock = |kind: &SyncKind| matches!(kind, SyncKind::Mutex { .. } | SyncKind::Rwlock);
    let locks = trace.syncs.iter().zip(is_tried);
    let mut guarded: Vec<Option<Vec<VarId>>> =
        locks.map(|(sync, is_tried)| (is_lock(&sync.kind) && !is_tried).then(Vec::new)).collect();
    for region in regions.iter().flatten().flatten() {
        let of_lock = &mut guarded[region.lock.index()];
        let Some(vars) = of_lock else { continue };
        let mut add = |id: &EventId| {
            let event = trace.event(*id);
            vars.extend(event.op.var().filter(|var| is_shared[var.index()]));
            let is_plain =
                event.op.var().is_some() || matches!(event.op, Op::Let { .. } | Op::Begin { .. } | Op::End { .. });
            is_plain && event.part.is_none() && event.op.condition().is_none()
        };
        let end =
            region.end.filter(|end| matches!(trace.event(*end).op, Op::Release { .. } | Op::ReleaseShared { .. }));
        let inside = end.map(|end| trace_index.position(region.start) + 1..trace_index.position(end));
        let is_plain =
            inside.is_some_and(|inside| trace_index.threads[region.thread.index()][inside].iter().all(&mut add));
        if !is_plain {
            *of_lock = None;
        }
    }
    for vars in guarded.iter_mut().flatten() {
        vars.sort_unstable();
        vars.dedup();
    }
    guarded
}

/// Of each variable, whether several threads access it.
fn shared(trace: &Trace) -> Vec<bool> {
    let mut by: Vec<Option<ThreadId>> = vec![None; trace.vars.len()];
    let mut is_shared = vec![false; trace.vars.len()];
    for event in &trace.events {
        if let Some(var) = event.op.var() {
            let first = *by[var.index()].get_or_insert(event.thread);
            is_shared[var.index()] |= first != event.thread;
        }
    }
    is_shared
}

/// The accesses of each variable, those together that are alike.
struct Accesses<'t> {
    view: TraceView<'t>,
    of_var: Vec<Vec<Alike>>,
    /// Of each access, which of these it belongs to.
    group: Vec<u32>,
}

/// Accesses of one variable by one thread, which holds the same locks at each.
struct Alike {
    thread: ThreadId,
    writes: bool,
    /// Each with whether it is only shared.
    locks: Vec<(SyncId, bool)>,
    /// In program order.
    members: Vec<EventId>,
}

impl Alike {
    /// Whether a lock keeps the other thread out. Two that only share it do not.
    fn exclude(&self, other: &Alike) -> bool {
        let excludes = |(lock, shared): &(SyncId, bool)| {
            other.locks.iter().any(|(same, shared_too)| lock == same && !(*shared && *shared_too))
        };
        self.locks.iter().any(excludes)
    }
}

impl<'t> Accesses<'t> {
    fn new(view: TraceView<'t>, regions: &RegionsByThread) -> Accesses<'t> {
        let trace = view.trace;
        let mut accesses = Accesses {
            view,
            of_var: trace.vars.iter().map(|_| Vec::new()).collect(),
            group: vec![0; trace.events.len()],
        };
        for thread in 0..trace.threads.len() {
            let own = regions.iter().filter_map(|by_thread| by_thread.get(thread)).flatten();
            let mut own: Vec<Region> = own.copied().collect();
            own.sort_unstable_by_key(|region| region.start);
            let (mut next, mut held) = (0, Vec::<Region>::new());
            for id in view.trace_index.threads[thread].iter().copied() {
                while let Some(region) = own.get(next).filter(|region| region.start < id) {
                    held.push(*region);
                    next += 1;
                }
                held.retain(|region| region.end.is_none_or(|end| end > id));
                accesses.add(id, &held);
            }
        }
        accesses
    }

    fn add(&mut self, id: EventId, held: &[Region]) {
        let event = self.view.trace.event(id);
        let Some(var) = event.op.var() else { return };
        let mut locks: Vec<(SyncId, bool)> = held.iter().map(|region| (region.lock, region.shared)).collect();
        locks.sort_unstable();
        let (thread, writes) = (event.thread, event.op.writes());
        let groups = &mut self.of_var[var.index()];
        let is_alike = |group: &Alike| group.thread == thread && group.writes == writes && group.locks == locks;
        let at = groups.iter().position(is_alike).unwrap_or_else(|| {
            groups.push(Alike { thread, writes, locks, members: Vec::new() });
            groups.len() - 1
        });
        groups[at].members.push(id);
        self.group[id.index()] = at as u32;
    }

    /// Whether no access of another thread that conflicts with this one can come right before it: both hold one lock, or one always comes before
    /// the other.
    fn are_apart_from(&self, id: EventId) -> bool {
        let Some(var) = self.view.trace.event(id).op.var() else { return true };
        let groups = &self.of_var[var.index()];
        let own = &groups[self.group[id.index()] as usize];
        groups.iter().all(|other| {
            other.thread == own.thread
                || !own.writes && !other.writes
                || own.exclude(other)
                || self.is_ordered(id, other)
        })
    }

    /// Whether each of these comes before the event in all prefixes, or after it.
    fn is_ordered(&self, id: EventId, others: &Alike) -> bool {
        let TraceView { trace_index, clocks, .. } = self.view;
        let thread = others.thread.index();
        let (before, after) = (clocks.seen(id, thread) as usize, clocks.first_after(id, thread) as usize);
        let first = others.members.partition_point(|other| trace_index.position(*other) < before);
        others.members.get(first).is_none_or(|other| trace_index.position(*other) >= after)
    }
}

/// Of each variable, whether a condition depends on its values.
fn counts(view: TraceView<'_>) -> Vec<bool> {
    let trace = view.trace;
    let mut writes: Vec<Vec<EventId>> = vec![Vec::new(); trace.vars.len()];
    for (id, event) in trace.iter() {
        if let Some(var) = event.op.var().filter(|_| event.op.writes()) {
            writes[var.index()].push(id);
        }
    }
    let mut counts = vec![false; trace.vars.len()];
    let mut seen = vec![false; trace.terms.len()];
    let mut open: Vec<TermId> = trace.events.iter().filter_map(|event| event.op.condition()).collect();
    while let Some(term) = open.pop() {
        if std::mem::replace(&mut seen[term.index()], true) {
            continue;
        }
        open.extend(trace.terms.args(term));
        let Node::Leaf(local) = trace.terms.node(term) else { continue };
        let op = &trace.event(local.definition).op;
        match op.var() {
            Some(var) if !std::mem::replace(&mut counts[var.index()], true) => {
                open.extend(writes[var.index()].iter().filter_map(|write| trace.event(*write).op.computed()));
            }
            Some(_) => (),
            None => open.extend(op.computed()),
        }
    }
    counts
}

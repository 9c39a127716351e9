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
use foretrace_index::Region;
use foretrace_trace::{
    Event, EventId, Feasibility, Independence, Model, Node, Op, Semantics, State, States, SyncId, SyncKind, TermId,
    ThreadId, Trace, Triple, VarId, Why,
};
use rustc_hash::FxHashSet;
use std::ops::Range;

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
    made: Reachable,
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

    /// All states, for candidates on a variable; nothing if there are more than so many, or `go_on` says no.
    pub(crate) fn all(&self, var: VarId, most: usize, go_on: &dyn Fn() -> bool) -> Option<Reachable> {
        let mut making = Making { of: self, var, states: States::default(), made: Reachable::default() };
        let mut first = self.semantics.initial();
        making.take_at_once(&mut first);
        making.states.insert(&first);
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
        self.commutes[event.index()] || self.is_unseen(event, asked)
    }

    /// Whether nothing that is asked depends on when an event comes: an access of a variable whose values are forgotten, or a lock that guards only such.
    fn is_unseen(&self, event: EventId, asked: VarId) -> bool {
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
        self.states.len() > most || self.states.contents() > MOST_CONTENTS || self.made.steps.len() > MOST_STEPS
    }

    fn expand(&mut self, state: &State) {
        let from = self.made.ways.len();
        for thread in (0..self.of.view.trace.threads.len()).map(ThreadId::from_index) {
            self.go_on(state.clone(), thread);
        }
        self.made.onward.push(from..self.made.ways.len());
    }

    /// Has a thread go on from a state, to where others may see what it did.
    fn go_on(&mut self, mut state: State, thread: ThreadId) {
        let first = self.made.steps.len();
        let event = match self.by_steps_that_can_wait(&mut state, thread) {
            Reached::Nowhere => return self.end_nowhere(first),
            Reached::State if self.made.steps.len() == first => return,
            Reached::State => return self.end_at(first, &state),
            Reached::Visible(event) => event,
        };
        let before = first..self.made.steps.len();
        let mut is_taken = false;
        let waiting = self.of.semantics.releasable(&state, event);
        let choices = if waiting.is_empty() { vec![None] } else { waiting.into_iter().map(Some).collect() };
        for choice in choices {
            let mut next = state.clone();
            let own = if is_taken { self.made.steps.len() } else { first };
            if is_taken {
                self.made.steps.extend_from_within(before.clone());
            }
            if self.take(&mut next, event, choice) {
                is_taken = true;
                self.take_at_once(&mut next);
                self.end_at(own, &next);
            }
        }
        if !is_taken {
            self.end_nowhere(first);
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
            let before = self.made.steps.len();
            self.take_at_once(state);
            let Making { of, made, var, .. } = self;
            let is_seen = |event: &EventId| {
                of.view.trace.event(*event).thread == thread
                    && !of.can_wait[event.index()]
                    && !of.is_unseen(*event, *var)
            };
            if made.steps[before..].iter().any(is_seen) {
                return Reached::State;
            }
        }
    }

    fn end_at(&mut self, first: usize, state: &State) {
        let target = Some(self.states.insert(state));
        self.made.ways.push(Way { steps: first..self.made.steps.len(), target });
    }

    /// Ends a way that leads nowhere. It is kept if it has accesses: the last one of a candidate may be among them.
    fn end_nowhere(&mut self, first: usize) {
        let mut steps = self.made.steps[first..].iter();
        if steps.any(|event| self.of.view.trace.event(*event).op.var().is_some()) {
            self.made.ways.push(Way { steps: first..self.made.steps.len(), target: None });
        } else {
            self.made.steps.truncate(first);
        }
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

/// Of each event, whether it commutes with whatever other threads can do before it, and none of that keeps it from being taken.
fn commutes(view: TraceView<'_>, accesses: &Accesses<'_>, is_tried: &[bool]) -> Vec<bool> {
    let trace = view.trace;
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

/// Of each event, whether it commutes with whatever other threads can do after it, as long as its own thread does not go on.
fn can_wait(view: TraceView<'_>, accesses: &Accesses<'_>, is_tried: &[bool]) -> Vec<bool> {
    let trace = view.trace;
    let can_wait = |id: EventId| match trace.event(id).op {
        _ if trace.event(id).part.is_some() => false,
        Op::Begin { .. } | Op::End { .. } | Op::Let { .. } | Op::Assume { .. } => true,
        Op::Call { .. } | Op::Return { .. } => true,
        Op::Acquire { lock } | Op::AcquireShared { lock } => !is_tried[lock.index()],
        Op::Read { .. } | Op::Write { .. } | Op::Rmw { .. } => accesses.are_kept_from(id),
        _ => false,
    };
    (0..trace.events.len()).map(|event| can_wait(EventId::from_index(event))).collect()
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
        self.conflict_with(id).all(|(own, other)| own.exclude(other) || self.is_ordered(id, other))
    }

    /// Whether a lock keeps each access of another thread that conflicts with this one from it.
    fn are_kept_from(&self, id: EventId) -> bool {
        self.conflict_with(id).all(|(own, other)| own.exclude(other))
    }

    /// The accesses of other threads that conflict with this one, each time with those that are like it.
    fn conflict_with(&self, id: EventId) -> impl Iterator<Item = (&Alike, &Alike)> {
        let var = self.view.trace.event(id).op.var();
        let groups = var.map_or(&[][..], |var| &self.of_var[var.index()]);
        let own = groups.get(self.group[id.index()] as usize);
        let conflict = |(own, other): &(&Alike, &Alike)| other.thread != own.thread && (own.writes || other.writes);
        own.into_iter().flat_map(|own| groups.iter().map(move |other| (own, other))).filter(conflict)
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

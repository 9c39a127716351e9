//! Other orders of a trace's events, for the program to try: with sections kept whole, or with fewer context switches.
//!
//! Orders are made by the rules of synchronisation alone (model `cam`): with other values the program may go other ways,
//! which only running it can tell.

use crate::eliminators::Segment;
use crate::merge::{drop_covered, merged};
use crate::operations::Operations;
use crate::place::parts_of_loc;
use crate::relation::Relation;
use crate::section::{Repair, Section};
use foretrace_trace::{Atomic, EventId, Model, Observed, Op, Semantics, State, ThreadId, Trace, Unsupported};
use rustc_hash::{FxHashMap, FxHashSet};

/// A stretch of a thread that is to be kept whole, by its first and its last event.
pub type Whole = (EventId, EventId);

/// The sections of one trace: from its events to code, and from code to its events.
pub struct Sections<'t> {
    trace: &'t Trace,
    relation: Relation,
    operations: Operations,
}

impl<'t> Sections<'t> {
    /// The sections that lie within what is meant to be atomic; without a choice, within calls, marks or functions.
    pub fn new(trace: &'t Trace, atomic: Option<Atomic>) -> Sections<'t> {
        let relation = Relation::new(trace);
        let operations = Operations::chosen(trace, &relation, atomic);
        Sections { trace, relation, operations }
    }

    /// The smallest code that holds these stretches.
    pub fn around(&self, stretches: &[Whole]) -> Repair {
        let is_step = |event: EventId| self.relation.position(event).is_some();
        let known = || stretches.iter().filter(|(first, last)| is_step(*first) && is_step(*last));
        let sections = known().map(|(first, last)| {
            let segment = Segment { thread: self.trace.event(*first).thread, first: *first, last: *last };
            Section::new(self.trace, &self.relation, &self.operations, &segment)
        });
        let mut repair = merged(sections.collect());
        if self.operations.calls.is_some() && repair.len() > 1 {
            drop_covered(&mut repair, |rest| {
                let kept = self.stretches(rest);
                let thread = |event: EventId| self.trace.event(event).thread;
                known().all(|(first, last)| {
                    kept.iter().any(|(from, to)| from <= first && last <= to && thread(*from) == thread(*first))
                })
            });
        }
        repair
    }

    /// Stretches with all that the calls at their ends do, as far as calls are known: what a lock around the source's lines holds.
    pub fn with_calls_at_ends(&self, stretches: &[Whole]) -> Vec<Whole> {
        let Some(calls) = &self.operations.calls else { return stretches.to_vec() };
        stretches.iter().map(|stretch| calls.with_calls_at_ends(self.trace, *stretch)).collect()
    }

    /// The stretches of the trace's threads that a repair makes atomic, of more than one event each.
    pub fn stretches(&self, repair: &Repair) -> Vec<Whole> {
        let all = repair.iter().flat_map(|section| section.stretches(self.trace, &self.relation, &self.operations));
        let events = all.filter(|(_, first, last)| first < last).map(|(thread, first, last)| {
            let steps = self.relation.steps(ThreadId::from_index(thread));
            (steps[first as usize], steps[last as usize])
        });
        events.collect()
    }
}

/// The stretches of a trace's threads that a repair makes atomic, of more than one event each.
pub fn stretches_of(trace: &Trace, atomic: Option<Atomic>, repair: &Repair) -> Vec<Whole> {
    Sections::new(trace, atomic).stretches(repair)
}

/// Where a stretch begins for the program: with the lock that its thread took last before its first event, if all that the thread
/// accesses in between is of that line or the first event's. Else the stretch would wait for another thread that shares the lock.
fn entry(trace: &Trace, first: EventId) -> EventId {
    let thread = trace.event(first).thread;
    let line = |event: EventId| trace.loc(event).and_then(parts_of_loc).map(|(file, line, _)| (file, line));
    let mut lines = vec![line(first)];
    for event in (0..first.0).rev().map(EventId).filter(|event| trace.event(*event).thread == thread) {
        match &trace.event(event).op {
            Op::Acquire { .. } | Op::AcquireShared { .. } => {
                let own = line(event);
                return if lines.iter().all(|line| *line == own || *line == lines[0]) { event } else { first };
            }
            op if op.var().is_some() => lines.push(line(event)),
            Op::Let { .. } | Op::Assume { .. } | Op::Begin { .. } | Op::End { .. } => {}
            _ => return first,
        }
    }
    first
}

/// An order (of other events, the recorded one), but that a thread which has begun a stretch goes on to its end before others,
/// unless it waits for them.
pub fn kept_whole(
    trace: &Trace,
    observed: &Observed,
    order: &[EventId],
    stretches: &[Whole],
) -> Result<Vec<EventId>, Unsupported> {
    let mut ends: FxHashMap<EventId, EventId> = FxHashMap::default();
    for (first, last) in stretches {
        let end = ends.entry(entry(trace, *first)).or_insert(*last);
        *end = (*end).max(*last);
    }
    let mut open: Option<EventId> = None;
    run(trace, observed, order, |runner, last| {
        if let Some(last) = last {
            open = open.filter(|end| *end != last).or_else(|| ends.get(&last).copied());
        }
        open.and_then(|end| runner.next_of(trace.event(end).thread))
    })
}

/// A place at which a thread that could have gone on was interrupted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Switch {
    /// The thread's last event before.
    pub after: EventId,
    /// The event of the other thread that came next.
    pub to: EventId,
}

/// The places at which the recorded order interrupts a thread that could have gone on.
pub fn switches(trace: &Trace, observed: &Observed) -> Result<Vec<Switch>, Unsupported> {
    let mut all = Vec::new();
    run(trace, observed, &[], |runner, last| {
        let last = last?;
        let to = EventId(last.0 + 1);
        let next = trace.events.get(to.index())?;
        if next.thread != trace.event(last).thread && runner.next_of(trace.event(last).thread).is_some() {
            all.push(Switch { after: last, to });
        }
        None
    })?;
    Ok(all)
}

/// An order in which threads are interrupted at these places only. Elsewhere each thread goes on until it ends or waits. Then the thread
/// goes on that the recorded order needs first.
pub fn with_switches(
    trace: &Trace,
    observed: &Observed,
    kept: &FxHashSet<Switch>,
) -> Result<Vec<EventId>, Unsupported> {
    let to: FxHashMap<EventId, EventId> = kept.iter().map(|switch| (switch.after, switch.to)).collect();
    run(trace, observed, &[], |runner, last| {
        let last = last?;
        let switched = to.get(&last).and_then(|to| runner.next_of(trace.event(*to).thread));
        switched.or_else(|| runner.next_of(trace.event(last).thread))
    })
}

pub(crate) struct Runner<'t> {
    semantics: Semantics<'t>,
    state: State,
    /// Per event its place in the order that is asked for; those that it does not have come last.
    ranks: Vec<u32>,
}

impl Runner<'_> {
    /// A thread's next event, if it can come now.
    fn next_of(&self, thread: ThreadId) -> Option<EventId> {
        let next = self.semantics.next(&self.state, thread)?;
        self.semantics.enabled(&self.state, next).is_ok().then_some(next)
    }

    /// The event that the order has first, else the recorded one, of those that can come now.
    fn ordered(&self) -> Option<EventId> {
        let next = self.semantics.next_events(&self.state);
        let enabled = next.filter(|next| self.semantics.enabled(&self.state, *next).is_ok());
        enabled.min_by_key(|next| (self.ranks[next.index()], *next))
    }

    /// Whom a signal wakes: the thread that it woke in the run, where that waits.
    fn released(&self, trace: &Trace, event: EventId, woken: &FxHashMap<EventId, ThreadId>) -> Option<ThreadId> {
        if !matches!(trace.event(event).op, Op::Signal { .. }) {
            return None;
        }
        let waiting = self.semantics.releasable(&self.state, event);
        let recorded = woken.get(&event).copied().filter(|thread| waiting.contains(thread));
        recorded.or_else(|| waiting.first().copied())
    }
}

/// The thread that each signal of the run wakes.
pub(crate) fn woken(trace: &Trace) -> FxHashMap<EventId, ThreadId> {
    let wakes = trace.events.iter().filter_map(|event| match event.op {
        Op::Wake { by: Some(by), .. } => Some((by, event.thread)),
        _ => None,
    });
    wakes.collect()
}

/// Runs the events until none can come; `choose` says which comes after the last one, else the order does, else the recorded one.
pub(crate) fn run(
    trace: &Trace,
    observed: &Observed,
    order: &[EventId],
    mut choose: impl FnMut(&Runner<'_>, Option<EventId>) -> Option<EventId>,
) -> Result<Vec<EventId>, Unsupported> {
    let semantics = Semantics::new(trace, observed, Model::Cam)?;
    let state = semantics.initial();
    let mut ranks = vec![u32::MAX; trace.events.len()];
    for (rank, event) in (0..).zip(order) {
        ranks[event.index()] = rank;
    }
    let mut runner = Runner { semantics, state, ranks };
    let woken = woken(trace);
    let mut order: Vec<EventId> = Vec::with_capacity(trace.events.len());
    while let Some(event) = choose(&runner, order.last().copied()).or_else(|| runner.ordered()) {
        let released = runner.released(trace, event, &woken);
        if runner.semantics.step(&mut runner.state, event, released).is_err() {
            break;
        }
        order.push(event);
    }
    Ok(order)
}

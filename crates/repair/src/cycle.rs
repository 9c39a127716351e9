//! The cycle that a set of segments closes: what came between, step by step.

use crate::eliminators::Segment;
use crate::relation::{Position, Relation};
use foretrace_trace::{EventId, Op, Trace, VarId};
use rustc_hash::FxHashMap;

/// Why one event of a cycle comes before the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relates {
    /// They access this variable, and one of them writes.
    Conflict(VarId),
    /// The second waits for the first: a fork, a join, a wake, a barrier.
    Wait,
    /// The first ends an operation, the second begins one of the same object later.
    RealTime,
    /// Their thread does them in this order.
    ProgramOrder,
    /// They are the last and the first step of a segment: were it whole, nothing could come between.
    Section,
}

/// An edge of a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// The event that comes first.
    pub from: EventId,
    /// The event that comes next.
    pub to: EventId,
    /// Why.
    pub by: Relates,
}

/// The cycle of an eliminator, from the start of its first segment, with as few changes of thread as there can be.
pub fn cycle(trace: &Trace, relation: &Relation, segments: &[Segment]) -> Vec<Link> {
    let mut links = Vec::new();
    for (number, segment) in segments.iter().enumerate() {
        let next = &segments[(number + 1) % segments.len()];
        links.extend(path(trace, relation, segment.first, next.last));
        links.push(Link { from: next.last, to: next.first, by: Relates::Section });
    }
    links
}

/// A shortest way forward from one step to another, whose last link comes from another thread.
fn path(trace: &Trace, relation: &Relation, from: EventId, to: EventId) -> Vec<Link> {
    let home = trace.event(from).thread.index();
    let start = relation.position(from).unwrap_or_default();
    let is_after = |step: EventId| relation.known(step, home) > start;
    // Per thread up to where its steps were looked at; per step that a way leads on from, where that goes.
    let mut looked: Vec<Position> = vec![0; relation.threads()];
    let mut onward: FxHashMap<EventId, (EventId, EventId)> = FxHashMap::default();
    let mut layer = vec![(to, vec![to])];
    while !layer.is_empty() {
        let mut best: Vec<Option<(Position, EventId)>> = vec![None; relation.threads()];
        for (left_by, steps) in layer {
            for step in steps {
                for source in relation.sources(step).iter().copied().filter(|source| is_after(*source)) {
                    let thread = trace.event(source).thread.index();
                    let position = relation.position(source).unwrap_or_default();
                    let is_better = best[thread].is_none_or(|(best, _)| best < position);
                    if position >= looked[thread] && is_better {
                        best[thread] = Some((position, source));
                        onward.insert(source, (step, left_by));
                    }
                }
            }
        }
        if let Some((_, last)) = best[home] {
            return links(trace, (from, last, to), &onward);
        }
        layer = Vec::new();
        for (thread, found) in best.into_iter().enumerate() {
            let Some((position, source)) = found else { continue };
            let range = looked[thread] as usize..=position as usize;
            let steps = relation.steps[thread][range].iter().rev().copied().filter(|step| is_after(*step)).collect();
            looked[thread] = position + 1;
            layer.push((source, steps));
        }
    }
    Vec::new()
}

/// The way that was found, in the order of the trace: from `from` to `last` in one thread, and on from there.
fn links(
    trace: &Trace,
    (from, last, to): (EventId, EventId, EventId),
    onward: &FxHashMap<EventId, (EventId, EventId)>,
) -> Vec<Link> {
    let mut links = Vec::new();
    let (mut at, mut leave) = (from, last);
    loop {
        if at != leave {
            links.push(Link { from: at, to: leave, by: Relates::ProgramOrder });
        }
        if leave == to {
            return links;
        }
        let Some((enter, next)) = onward.get(&leave).copied() else { return links };
        links.push(Link { from: leave, to: enter, by: across(trace, leave, enter) });
        (at, leave) = (enter, next);
    }
}

/// Why an event comes before one of another thread.
fn across(trace: &Trace, from: EventId, to: EventId) -> Relates {
    let [from, to] = [from, to].map(|event| &trace.event(event).op);
    match (from, to) {
        (Op::Return { .. }, Op::Call { .. }) => Relates::RealTime,
        _ => from.var().filter(|var| to.var() == Some(*var)).map_or(Relates::Wait, Relates::Conflict),
    }
}

//! Ticket locks: `me = next++; while (serving != me) {}` takes one, and a write of `serving` gives it back.
//!
//! Two variables are such a lock if all writes of *next* add the same number to it in one step, fewer times than until a value comes
//! again, and each write of *serving* follows in its thread a condition that a read of *serving* returned what the thread found in
//! *next*, its ticket, with no other write of *serving* between the read and it. Other writes of either are one thread's, and come before all
//! this.
//!
//! Lemma: of two threads the times from such a read, if the condition is in the prefix, to the thread's next write of *serving* do not
//! overlap. Proof: let a read begin a time within another thread's, and be the first that does. *Serving* did not change since the other
//! thread's read: a write ends a time of its own thread, a third one's or, after its own read, the second one's, which would have begun
//! within the first one or the first one within it, and earlier. So both reads returned the same. But all tickets differ.
//!
//! Whatever a thread writes to *serving*, it lets in one other at most. The section starts at the condition, where it is known, and the thread owns
//! the lock from the read on.
//!
//! Source: D. P. Reed and R. K. Kanodia, "Synchronization with eventcounts and sequencers", Communications of the ACM 22 (2), 1979.

use super::inferred_locks::{InferredLocks, Section};
use foretrace_index::{MustHappenBefore, Region, TraceIndex};
use foretrace_trace::{EventId, Func, Node, Op, Sort, SyncId, TermId, ThreadId, Trace, Value, VarId, Why};
use rustc_hash::{FxHashMap, FxHashSet};

/// Ticket locks that are looked for in one trace.
const MOST_LOCKS: usize = 256;
/// Definitions that a condition may go through.
const MOST_LETS: usize = 32;

/// A condition that a read returned a ticket.
#[derive(Clone, Copy)]
struct Turn {
    /// The rmw of *next* that took the ticket.
    ticket: EventId,
    /// The read of *serving*.
    read: EventId,
    /// The condition.
    by: EventId,
}

/// Adds the ticket locks of a trace to the locks that were found, by the orders that hold in every prefix.
pub(super) fn add(found: &mut InferredLocks, (trace, trace_index): (&Trace, &TraceIndex), clocks: &MustHappenBefore) {
    let known: FxHashSet<VarId> = found.vars.iter().copied().collect();
    for ((next, serving), turns) in turns(trace) {
        if found.vars.len() >= MOST_LOCKS {
            break;
        }
        if known.contains(&serving) || next == serving {
            continue;
        }
        let lock = SyncId::from_index(trace.syncs.len() + found.vars.len());
        if tickets_differ(trace, trace_index, next, clocks) != Some(true) {
            continue;
        }
        let Some(by_thread) = sections(trace, trace_index, (lock, serving), &turns, clocks) else { continue };
        found.add(serving, by_thread);
    }
}

/// All conditions that a read returned a ticket, in order, by the two variables.
fn turns(trace: &Trace) -> Vec<((VarId, VarId), Vec<Turn>)> {
    let mut all: Vec<((VarId, VarId), Vec<Turn>)> = Vec::new();
    let mut places: FxHashMap<(VarId, VarId), usize> = FxHashMap::default();
    for (by, event) in trace.iter() {
        let Op::Assume { expr, why } = &event.op else { continue };
        if matches!(why, Why::Pin) {
            continue;
        }
        for equal in conjuncts(trace, *expr) {
            let Some((one, other)) = equal_reads(trace, equal) else { continue };
            for (ticket, read) in [(one, other), (other, one)] {
                let (Op::Rmw { var: next, .. }, Op::Read { var: serving, .. }) =
                    (&trace.event(ticket).op, &trace.event(read).op)
                else {
                    continue;
                };
                let place = *places.entry((*next, *serving)).or_insert_with(|| {
                    all.push(((*next, *serving), Vec::new()));
                    all.len() - 1
                });
                all[place].1.push(Turn { ticket, read, by });
            }
        }
    }
    all
}

/// What must all hold for the term to hold.
fn conjuncts(trace: &Trace, term: TermId) -> Vec<TermId> {
    match trace.terms.node(term) {
        Node::App(Func::And, _) => trace.terms.args(term).to_vec(),
        _ => vec![term],
    }
}

/// The two reads that a term says returned the same.
fn equal_reads(trace: &Trace, term: TermId) -> Option<(EventId, EventId)> {
    let Node::App(Func::Eq, _) = trace.terms.node(term) else { return None };
    let [mut one, mut other] = *trace.terms.args(term) else { return None };
    while let (Node::App(Func::ZeroExtend(bits), _), Node::App(Func::ZeroExtend(same), _)) =
        (trace.terms.node(one), trace.terms.node(other))
        && bits == same
    {
        (one, other) = (*trace.terms.args(one).first()?, *trace.terms.args(other).first()?);
    }
    Some((read_of(trace, one)?, read_of(trace, other)?))
}

/// The read whose value a term is.
fn read_of(trace: &Trace, mut term: TermId) -> Option<EventId> {
    for _ in 0..MOST_LETS {
        let Node::Leaf(local) = trace.terms.node(term) else { return None };
        match &trace.event(local.definition).op {
            Op::Let { expr, .. } => term = *expr,
            _ => return Some(local.definition),
        }
    }
    None
}

/// Whether all that rmw find in a variable differs; nothing where that cannot be told.
fn tickets_differ(trace: &Trace, trace_index: &TraceIndex, next: VarId, clocks: &MustHappenBefore) -> Option<bool> {
    let mut tickets: Vec<EventId> = Vec::new();
    let mut others: Vec<EventId> = Vec::new();
    let mut step = None;
    for write in &trace_index.writes[next.index()] {
        match &trace.event(*write).op {
            Op::Rmw { expr: Some(stored), guard: None, external: false, .. } => {
                let own = added(trace, *write, *stored)?;
                if *step.get_or_insert(own) != own {
                    return None;
                }
                tickets.push(*write);
            }
            Op::Write { external: false, .. } => others.push(*write),
            _ => return None,
        }
    }
    let starts = first_of_threads(trace, tickets.iter().copied());
    Some(comes_again_after(step?)? >= tickets.len() as u64 && all_before(trace, &others, &starts, clocks))
}

/// What a step adds to the value that it finds.
fn added(trace: &Trace, write: EventId, stored: TermId) -> Option<&Value> {
    let Node::App(Func::BvAdd | Func::Add, _) = trace.terms.node(stored) else { return None };
    let [one, other] = *trace.terms.args(stored) else { return None };
    let is_found = |term| matches!(trace.terms.node(term), Node::Leaf(local) if local.definition == write);
    match (is_found(one), is_found(other)) {
        (true, false) => trace.terms.as_const(other),
        (false, true) => trace.terms.as_const(one),
        _ => None,
    }
}

/// After how many steps that add this a value comes again; the largest number if it never does.
fn comes_again_after(step: &Value) -> Option<u64> {
    match step.sort() {
        Sort::Int => (*step != Value::zero(Sort::Int)).then_some(u64::MAX),
        Sort::BitVec(bits) => {
            let is_odd = u64::try_from(step.to_integer()).ok()? % 2 == 1;
            is_odd.then(|| 1_u64.checked_shl(bits).unwrap_or(u64::MAX))
        }
        Sort::Bool => None,
    }
}

/// The first of these events of each thread; they are in the order of the run.
fn first_of_threads(trace: &Trace, events: impl Iterator<Item = EventId>) -> Vec<EventId> {
    let mut seen: FxHashSet<ThreadId> = FxHashSet::default();
    events.filter(|event| seen.insert(trace.event(*event).thread)).collect()
}

/// Whether these writes are one thread's, and come before all of these events in every prefix with one of them.
fn all_before(trace: &Trace, writes: &[EventId], events: &[EventId], clocks: &MustHappenBefore) -> bool {
    let Some(last) = writes.last() else { return true };
    let is_one = writes.iter().all(|write| trace.event(*write).thread == trace.event(*last).thread);
    is_one && events.iter().all(|event| clocks.before(*last, *event))
}

/// The sections by thread, where every write of *serving* ends one or comes before all.
fn sections(
    trace: &Trace,
    trace_index: &TraceIndex,
    (lock, serving): (SyncId, VarId),
    turns: &[Turn],
    clocks: &MustHappenBefore,
) -> Option<Vec<Vec<Section>>> {
    let mut by_thread: Vec<Vec<Section>> = trace.threads.iter().map(|_| Vec::new()).collect();
    let mut others: Vec<EventId> = Vec::new();
    let mut writes: Vec<Vec<EventId>> = vec![Vec::new(); trace.threads.len()];
    for write in &trace_index.writes[serving.index()] {
        if trace.event(*write).op.is_external() {
            return None;
        }
        writes[trace.event(*write).thread.index()].push(*write);
    }
    let mut waiting: Vec<Vec<Turn>> = vec![Vec::new(); trace.threads.len()];
    turns.iter().for_each(|turn| waiting[trace.event(turn.by).thread.index()].push(*turn));
    for (thread, own) in by_thread.iter_mut().enumerate() {
        let mut writes = writes[thread].iter().copied().peekable();
        for turn in &waiting[thread] {
            while let Some(write) = writes.next_if(|write| *write < turn.by) {
                close(own, write, &mut others);
            }
            let last_write = own.last().and_then(|section| section.known.end);
            let is_open = own.last().is_some_and(|section| section.known.end.is_none());
            // What was read before the thread's last write says nothing of what is there now.
            if is_open || turn.ticket > turn.read || last_write.is_some_and(|write| write > turn.read) {
                continue;
            }
            let start = turn.by;
            let known = Region { lock, thread: ThreadId::from_index(thread), shared: false, start, end: None };
            own.push(Section { taken_at: turn.read, known });
        }
        writes.for_each(|write| close(own, write, &mut others));
    }
    let starts = first_of_threads(trace, turns.iter().map(|turn| turn.read));
    let owners = by_thread.iter().filter(|own| !own.is_empty()).count();
    (owners > 1 && all_before(trace, &others, &starts, clocks)).then_some(by_thread)
}

/// A write ends the section that is open, or is none of the lock's.
fn close(own: &mut [Section], write: EventId, others: &mut Vec<EventId>) {
    match own.last_mut().filter(|section| section.known.end.is_none()) {
        Some(open) => open.known.end = Some(write),
        None => others.push(write),
    }
}

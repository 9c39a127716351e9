//! The run as it would have been if code had held a lock: the trace with that lock in it, in an order that the lock allows.
//!
//! This turns a repair into a trace, so that all code that judges traces can judge the repair. If other threads come into a section in the
//! recorded order, the section or their events may move, as long as all accesses that depend on each other keep their order. Then every
//! value stays as it was. If there is no such order, the lock forbids the run.

use crate::enforce::{Whole, woken};
use crate::semaphores::Downs;
use foretrace_trace::{
    Event, EventId, Model, Observed, Op, Semantics, SyncId, SyncKind, SyncObject, ThreadId, Trace, Triple, VarId,
    observe, validate,
};
use rustc_hash::FxHashSet;

/// Code that is to hold a lock.
#[derive(Clone, Copy, Debug)]
pub struct Guard<'a> {
    /// A lock that the trace has; nothing for a new one.
    pub lock: Option<SyncId>,
    /// Stretches that hold it from their first event to their last.
    pub stretches: &'a [Whole],
    /// Variables each of whose accesses holds it.
    pub vars: &'a [VarId],
}

/// Why there is no trace with the lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoGuard {
    /// The recorded run itself would not have been possible.
    ForbidsRun,
    /// The lock is a condition variable's, which is waited on where it would have to be held on; or it would be held at a barrier, or
    /// where a semaphore needs another thread's post.
    Waits,
    /// The lock is shared where it would have to be taken for oneself.
    Shared,
}

/// A trace in which code holds a lock.
pub struct Guarded {
    /// The trace; its recorded order is an execution.
    pub trace: Trace,
    /// What that shows.
    pub observed: Observed,
    /// The lock.
    pub lock: SyncId,
    /// Per event of the trace that it was made of, which one it became.
    new_of: Vec<Option<EventId>>,
    /// Per event, which one it was.
    old_of: Vec<Option<EventId>>,
}

impl Guarded {
    /// What an event became; nothing for a step of the lock that fell away.
    pub fn new_of(&self, event: EventId) -> Option<EventId> {
        self.new_of[event.index()]
    }

    /// What an event was; nothing for a step of the lock that was put in.
    pub fn old_of(&self, event: EventId) -> Option<EventId> {
        self.old_of[event.index()]
    }
}

/// Makes code hold a lock.
///
/// # Errors
/// Where the trace cannot be one in which it does.
pub fn guarded(trace: &Trace, guard: Guard<'_>) -> Result<Guarded, NoGuard> {
    let lock = guard.lock.unwrap_or(SyncId::from_index(trace.syncs.len()));
    let items = items(trace, guard)?;
    let made = build(trace, &items, lock);
    let in_order = match observe(&made.0) {
        Ok(_) => items,
        Err(_) => order(&made.0, lock).into_iter().map(|event| items[event.index()]).collect(),
    };
    if in_order.len() != made.0.events.len() {
        return Err(NoGuard::ForbidsRun);
    }
    let (made, new_of) = build(trace, &in_order, lock);
    if validate(&made).is_err() {
        return Err(NoGuard::ForbidsRun);
    }
    let observed = observe(&made).map_err(|_| NoGuard::ForbidsRun)?;
    let old_of = in_order.iter().map(|item| item.event()).collect();
    Ok(Guarded { trace: made, observed, lock, new_of, old_of })
}

/// Whether a lock alone keeps a candidate from happening: its thread holds it from first to second, and remote needs it.
pub fn excludes(trace: &Trace, guard: Guard<'_>, triple: Triple) -> bool {
    let Triple { first, remote, second } = triple;
    let holds = |from: EventId, to: EventId| {
        let thread = trace.event(from).thread;
        guard
            .stretches
            .iter()
            .any(|stretch| trace.event(stretch.0).thread == thread && stretch.0 <= from && to <= stretch.1)
    };
    let is_guarded = trace.event(remote).op.var().is_some_and(|var| guard.vars.contains(&var));
    // All accesses outside of the stretches hold a lock that the trace has: else it is not offered.
    holds(first, second) && (is_guarded || guard.lock.is_some() || holds(remote, remote))
}

/// A step of the trace with the lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Item {
    /// Take the lock before this event.
    Take(EventId),
    /// An event that there was.
    Event(EventId),
    /// Give the lock back after this event.
    Give(EventId),
}

impl Item {
    fn event(self) -> Option<EventId> {
        match self {
            Item::Event(event) => Some(event),
            _ => None,
        }
    }

    /// Its place in the recorded order.
    fn key(self) -> (EventId, u8) {
        match self {
            Item::Take(event) => (event, 0),
            Item::Event(event) => (event, 1),
            Item::Give(event) => (event, 2),
        }
    }
}

/// A stretch of a thread in which the lock is held, or is to be held; by positions in the thread.
#[derive(Clone, Copy, Debug)]
struct Hold {
    from: usize,
    to: usize,
    what: What,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    /// It is to be held here; whether for a single read.
    Wanted { reads: bool },
    /// It is held in the trace.
    Held { shared: bool },
}

/// The steps of the trace with the lock, in the recorded order.
fn items(trace: &Trace, guard: Guard<'_>) -> Result<Vec<Item>, NoGuard> {
    let mut threads: Vec<Vec<EventId>> = vec![Vec::new(); trace.threads.len()];
    let mut positions = vec![0; trace.events.len()];
    for (id, event) in trace.iter() {
        let events = &mut threads[event.thread.index()];
        positions[id.index()] = events.len();
        events.push(id);
    }
    let vars: FxHashSet<VarId> = guard.vars.iter().copied().collect();
    let downs = Downs::new(trace);
    let mut items = Vec::with_capacity(trace.events.len());
    for (thread, events) in threads.iter().enumerate() {
        let mut holds = guard.lock.map_or_else(Vec::new, |lock| holds(trace, events, lock));
        let within = |event: &EventId| trace.event(*event).thread.index() == thread;
        for (first, last) in guard.stretches.iter().filter(|(first, _)| within(first)) {
            let (from, to) = (positions[first.index()], positions[last.index()]);
            holds.push(whole_steps(trace, events, from, to, false));
        }
        for (position, event) in events.iter().enumerate() {
            let op = &trace.event(*event).op;
            if op.var().is_some_and(|var| vars.contains(&var)) {
                holds.push(whole_steps(trace, events, position, position, !op.writes()));
            }
        }
        holds.sort_by_key(|hold| (hold.from, hold.to));
        items.extend(of_thread((trace, &downs), events, guard.lock, &holds)?);
    }
    items.sort_by_key(|item| item.key());
    Ok(items)
}

/// A stretch that is to hold the lock, with all of the steps of several parts that it touches.
fn whole_steps(trace: &Trace, events: &[EventId], from: usize, to: usize, reads: bool) -> Hold {
    let part = |position: usize| trace.event(events[position]).part.unwrap_or((1, 1));
    let (before, (at, parts)) = (part(from).0 as usize - 1, part(to));
    let to = (to + (parts - at) as usize).min(events.len() - 1);
    Hold { from: from.saturating_sub(before), to, what: What::Wanted { reads } }
}

/// Where a thread holds a lock in the trace.
fn holds(trace: &Trace, events: &[EventId], lock: SyncId) -> Vec<Hold> {
    let mut all = Vec::new();
    let mut open: Option<(usize, bool, usize)> = None;
    for (position, event) in events.iter().enumerate() {
        let (takes, shared) = match trace.event(*event).op {
            Op::Acquire { lock: own } | Op::Wake { lock: own, .. } if own == lock => (true, false),
            Op::AcquireShared { lock: own } if own == lock => (true, true),
            Op::Release { lock: own } | Op::ReleaseShared { lock: own } | Op::Wait { lock: own, .. } if own == lock => {
                (false, false)
            }
            _ => continue,
        };
        open = match (open, takes) {
            (None, true) => Some((position, shared, 1)),
            (Some((from, shared, depth)), true) => Some((from, shared, depth + 1)),
            (Some((from, shared, depth)), false) if depth > 1 && !is_wait(trace, *event) => {
                Some((from, shared, depth - 1))
            }
            (Some((from, shared, _)), false) => {
                all.push(Hold { from, to: position, what: What::Held { shared } });
                None
            }
            (None, false) => None,
        };
    }
    if let Some((from, shared, _)) = open {
        all.push(Hold { from, to: events.len() - 1, what: What::Held { shared } });
    }
    all
}

fn is_wait(trace: &Trace, event: EventId) -> bool {
    matches!(trace.event(event).op, Op::Wait { .. })
}

/// The steps of one thread: where stretches meet, the lock is held on from one to the next.
fn of_thread(
    (trace, downs): (&Trace, &Downs),
    events: &[EventId],
    lock: Option<SyncId>,
    holds: &[Hold],
) -> Result<Vec<Item>, NoGuard> {
    let mut takes: FxHashSet<usize> = FxHashSet::default();
    let mut gives: FxHashSet<usize> = FxHashSet::default();
    let mut dropped: FxHashSet<usize> = FxHashSet::default();
    let mut at = 0;
    while at < holds.len() {
        let start = at;
        let mut to = holds[at].to;
        while holds.get(at + 1).is_some_and(|next| next.from <= to) {
            at += 1;
            to = to.max(holds[at].to);
        }
        at += 1;
        let together = &holds[start..at];
        if together.iter().all(|hold| matches!(hold.what, What::Held { .. })) {
            continue;
        }
        if together.iter().any(|hold| hold.what == What::Held { shared: true }) {
            if together.iter().all(|hold| matches!(hold.what, What::Held { .. } | What::Wanted { reads: true })) {
                continue; // sharing the lock keeps writers out
            }
            return Err(NoGuard::Shared);
        }
        let from = together[0].from;
        let is_of_lock = |position: usize| match trace.event(events[position]).op {
            Op::Acquire { lock: own } | Op::Release { lock: own } => Some(own) == lock,
            _ => false,
        };
        let waits = |position: usize| match trace.event(events[position]).op {
            Op::Wait { lock: own, .. } | Op::Wake { lock: own, .. } => Some(own) == lock,
            _ => false,
        };
        let waits_for_others = |position: usize| downs.or_barrier(trace, events[position]);
        if (from + 1..to).any(waits) || (from == to && waits(from)) || (from..=to).any(waits_for_others) {
            return Err(NoGuard::Waits);
        }
        dropped.extend((from + 1..to).filter(|position| is_of_lock(*position)));
        let stays_held = together.iter().any(|hold| {
            hold.to == events.len() - 1
                && matches!(hold.what, What::Held { .. })
                && !is_of_lock(hold.to)
                && !waits(hold.to)
        });
        if !is_of_lock(from) && !waits(from) {
            takes.insert(from);
        }
        if !is_of_lock(to) && !waits(to) && !stays_held {
            gives.insert(to);
        }
    }
    let mut items = Vec::new();
    for (position, event) in events.iter().enumerate() {
        items.extend(takes.contains(&position).then_some(Item::Take(*event)));
        items.extend((!dropped.contains(&position)).then_some(Item::Event(*event)));
        items.extend(gives.contains(&position).then_some(Item::Give(*event)));
    }
    Ok(items)
}

/// A trace of these steps, and what each event became.
fn build(trace: &Trace, items: &[Item], lock: SyncId) -> (Trace, Vec<Option<EventId>>) {
    let mut new_of: Vec<Option<EventId>> = vec![None; trace.events.len()];
    for (position, item) in items.iter().enumerate() {
        if let Item::Event(event) = item {
            new_of[event.index()] = Some(EventId::from_index(position));
        }
    }
    let renamed = |event: EventId| new_of[event.index()].unwrap_or(event);
    let events = items.iter().map(|item| match *item {
        Item::Event(event) => {
            let mut event = trace.event(event).clone();
            if let Op::Wake { by: Some(by), .. } = &mut event.op {
                *by = renamed(*by);
            }
            event
        }
        Item::Take(event) => of_lock(trace, event, Op::Acquire { lock }),
        Item::Give(event) => of_lock(trace, event, Op::Release { lock }),
    });
    let mut made = Trace { events: events.collect(), ..trace.clone() };
    made.terms.rename_leaves(&mut |local| local.definition = renamed(local.definition));
    if lock.index() == trace.syncs.len() {
        let mut key = "the lock of the repair".to_string();
        while trace.syncs.iter().any(|sync| *sync.key == *key) {
            key.push('\'');
        }
        made.syncs.push(SyncObject { key: key.into(), kind: SyncKind::Mutex { recursive: false } });
    }
    (made, new_of)
}

/// A step of the lock beside an event.
fn of_lock(trace: &Trace, event: EventId, op: Op) -> Event {
    let Event { thread, loc, .. } = *trace.event(event);
    Event { thread, op, loc, at: None, part: None, tried: false }
}

/// An order of the events in which all accesses that depend on each other come as in the order they stand in, and one who
/// holds the lock goes on until it is given back. As much as there is of it.
fn order(trace: &Trace, lock: SyncId) -> Vec<EventId> {
    let nothing = Observed::default(); // values are the same as long as dependent accesses keep their order
    let Ok(semantics) = Semantics::new(trace, &nothing, Model::Cam) else { return Vec::new() };
    let sources = sources(trace, lock);
    let woken = woken(trace);
    let mut state = semantics.initial();
    let mut done = vec![false; trace.events.len()];
    let mut order = Vec::with_capacity(trace.events.len());
    let mut holder: Option<ThreadId> = None;
    loop {
        let may_come = |event: &EventId| {
            sources[event.index()].iter().all(|source| done[source.index()])
                && semantics.enabled(&state, *event).is_ok()
        };
        let own = holder.and_then(|thread| semantics.next(&state, thread)).filter(|event| may_come(event));
        let Some(event) = own.or_else(|| semantics.next_events(&state).filter(|event| may_come(event)).min()) else {
            return order;
        };
        let waiting = semantics.releasable(&state, event);
        let released = woken.get(&event).copied().filter(|thread| waiting.contains(thread));
        if semantics.step(&mut state, event, released.or_else(|| waiting.first().copied())).is_err() {
            return order;
        }
        match trace.event(event).op {
            Op::Acquire { lock: own } if own == lock => holder = Some(trace.event(event).thread),
            Op::Release { lock: own } if own == lock => holder = None,
            _ => {}
        }
        done[event.index()] = true;
        order.push(event);
    }
}

/// Per event what must come before it: what its access depends on, and for a step that takes the lock what others have to do
/// before what is done under it.
fn sources(trace: &Trace, lock: SyncId) -> Vec<Vec<EventId>> {
    let mut all: Vec<Vec<EventId>> = vec![Vec::new(); trace.events.len()];
    let mut written: Vec<Option<EventId>> = vec![None; trace.vars.len()];
    let mut read: Vec<Vec<EventId>> = vec![Vec::new(); trace.vars.len()];
    let mut held: Vec<Option<EventId>> = vec![None; trace.threads.len()];
    for (id, event) in trace.iter() {
        let held = &mut held[event.thread.index()];
        match event.op {
            Op::Acquire { lock: own } if own == lock => *held = Some(id),
            Op::Release { lock: own } if own == lock => *held = None,
            _ => {}
        }
        let Some(var) = event.op.var().map(VarId::index) else { continue };
        let mut sources: Vec<EventId> = written[var].into_iter().collect();
        if event.op.writes() {
            sources.append(&mut read[var]);
            written[var] = Some(id);
        } else {
            read[var].push(id);
        }
        sources.retain(|source| trace.event(*source).thread != event.thread);
        if let Some(take) = held {
            all[take.index()].extend(&sources);
        }
        all[id.index()] = sources;
    }
    all
}

//! What of a trace other threads can tell apart: steps that commute with theirs, locks that guard nothing that counts, values that count.

use crate::filters::RegionsByThread;
use foretrace_encodings::TraceView;
use foretrace_index::Region;
use foretrace_trace::{EventId, Node, Op, SyncId, SyncKind, TermId, ThreadId, Trace, VarId};

/// Of each event, whether it commutes with whatever other threads can do before it, and none of that keeps it from being taken.
pub(super) fn commutes(view: TraceView<'_>, accesses: &Accesses<'_>, is_tried: &[bool]) -> Vec<bool> {
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
pub(super) fn can_wait(view: TraceView<'_>, accesses: &Accesses<'_>, is_tried: &[bool]) -> Vec<bool> {
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
pub(super) fn tried(trace: &Trace) -> Vec<bool> {
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
pub(super) fn guarded(view: TraceView<'_>, regions: &RegionsByThread, is_tried: &[bool]) -> Vec<Option<Vec<VarId>>> {
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
pub(super) struct Accesses<'t> {
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
    pub(super) fn new(view: TraceView<'t>, regions: &RegionsByThread) -> Accesses<'t> {
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
pub(super) fn counts(view: TraceView<'_>) -> Vec<bool> {
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

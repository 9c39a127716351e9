//! Definitions and uses of shared variables, with synchronisation as guarded assignments (Fusion, section 2).
//!
//! - A lock is 0 or its holder. What the paper folds is folded here (end of section 4.2): an acquire finds 0, so that only
//!   releases and the initial value are choices of its π-function; a release finds its own acquire; a failed try finds one
//!   of another thread.
//! - An initialisation that happens once is a lock; the one that does not fail never gives it back.
//! - A semaphore is a count; `down` waits for one above zero.
//! - A condition variable is a flag for each thread that waits on it: a `wait` clears it, a `wake` waits for it and clears
//!   it, a broadcast sets all, a signal sets one of its choice. With one waiting thread this is the paper's encoding.

use super::atom::Cell;
use crate::view::TraceView;
use foretrace_index::Region;
use foretrace_trace::{EventId, Op, SyncId, SyncKind, ThreadId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// What a lock's π-function may choose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Finds {
    /// The lock is free.
    Free,
    /// Its thread holds it.
    Own,
    /// Another thread holds it.
    Taken,
}

/// The definitions of every shared variable, and the uses of locks.
#[derive(Default)]
pub(super) struct Cells {
    pub(super) definitions: BTreeMap<Cell, Vec<EventId>>,
    /// Per lock: the events that define it, and whether they take it.
    pub(super) lock_changes: FxHashMap<SyncId, BTreeMap<EventId, bool>>,
    pub(super) lock_uses: Vec<(EventId, SyncId, Finds)>,
    /// Per condition variable: the threads whose waits need a signal.
    pub(super) waiters: FxHashMap<SyncId, Vec<ThreadId>>,
}

impl Cells {
    pub(super) fn new(view: TraceView<'_>) -> Cells {
        let mut cells = Cells::default();
        cells.find_waiters(view);
        cells.find_lock_changes(view);
        for (id, event) in view.trace.iter() {
            for cell in cells.defined_by(view, id) {
                cells.definitions.entry(cell).or_default().push(id);
            }
            if let Op::Busy { lock } = event.op {
                cells.lock_uses.push((id, lock, Finds::Taken));
            }
        }
        cells
    }

    /// The shared variables that an event defines, locks aside.
    pub(super) fn defined_by(&self, view: TraceView<'_>, id: EventId) -> Vec<Cell> {
        let event = view.trace.event(id);
        match event.op {
            Op::Write { var, .. } | Op::Rmw { var, .. } => vec![Cell::Var(var)],
            Op::Post { sem } | Op::Down { sem } => vec![Cell::Count(sem)],
            Op::Wait { cond, .. } | Op::Wake { cond, .. } if self.waits(cond, event.thread) => {
                vec![Cell::Signalled(cond, event.thread)]
            }
            Op::Signal { cond } | Op::Broadcast { cond } => {
                self.waiters_of(cond).iter().map(|thread| Cell::Signalled(cond, *thread)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The shared variables whose value an event takes, locks aside.
    pub(super) fn used_by(&self, view: TraceView<'_>, id: EventId) -> Vec<Cell> {
        let event = view.trace.event(id);
        match event.op {
            Op::Read { var, .. } | Op::Rmw { var, .. } => vec![Cell::Var(var)],
            Op::Post { sem } | Op::Down { sem } => vec![Cell::Count(sem)],
            Op::Wake { cond, cause: None, .. } => vec![Cell::Signalled(cond, event.thread)],
            Op::Signal { cond } if self.has_choice(cond) => self.defined_by(view, id),
            _ => Vec::new(),
        }
    }

    pub(super) fn waiters_of(&self, cond: SyncId) -> &[ThreadId] {
        self.waiters.get(&cond).map_or(&[], Vec::as_slice)
    }

    /// Whether a signal may be for one thread or for another.
    pub(super) fn has_choice(&self, cond: SyncId) -> bool {
        self.waiters_of(cond).len() > 1
    }

    fn waits(&self, cond: SyncId, thread: ThreadId) -> bool {
        self.waiters_of(cond).contains(&thread)
    }

    fn find_waiters(&mut self, view: TraceView<'_>) {
        for waiting in view.trace_index.waitings.iter().filter(|waiting| waiting.needs_signal) {
            let waiters = self.waiters.entry(waiting.cond).or_default();
            let thread = view.trace.event(waiting.wake).thread;
            if !waiters.contains(&thread) {
                waiters.push(thread);
            }
        }
    }

    fn find_lock_changes(&mut self, view: TraceView<'_>) {
        let is_semaphore =
            |region: &Region| matches!(view.trace.syncs[region.lock.index()].kind, SyncKind::Semaphore { .. });
        let all = view.trace_index.regions.iter().flatten();
        for region in all.filter(|region| !is_semaphore(region)) {
            let changes = self.lock_changes.entry(region.lock).or_default();
            changes.insert(region.start, true);
            // What is initialised is never free again.
            changes.extend(region.end.map(|end| (end, view.trace_index.is_last(region))));
            self.lock_uses.push((region.start, region.lock, Finds::Free));
            self.lock_uses.extend(region.end.map(|end| (end, region.lock, Finds::Own)));
        }
    }
}

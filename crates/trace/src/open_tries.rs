//! A trace in which tries may come out either way.
//!
//! A lock that was tried, or a wait with a time limit, has two outcomes, and a trace has the one of its run. On another path of the
//! program the call comes back without the lock, so the order that the success gave is no order of every path. Here such events
//! do nothing: what no schedule of this trace shows, tries cannot make happen either.

use crate::ids::{SyncId, ThreadId};
use crate::op::{Op, WakeCause};
use crate::trace::{Event, Trace};
use rustc_hash::{FxHashMap, FxHashSet};

impl Trace {
    /// The same trace with each try open; nothing where it has none. Events keep their positions.
    ///
    /// Locks that were tried are never held, failed tries need no holder, and waits with a time limit end without a signal. So
    /// every prefix of the trace with free reads (`cam`) is one here, too.
    pub fn with_open_tries(&self) -> Option<Trace> {
        if !self.events.iter().any(|event| event.tried) {
            return None;
        }
        let mut opened = self.clone();
        let mut held = Held { untaken: self.tried_locks(), ..Held::default() };
        for event in &mut opened.events {
            if let Some(op) = held.opened(event) {
                event.op = op;
            }
        }
        Some(opened)
    }

    /// Locks that some thread took by a try.
    fn tried_locks(&self) -> FxHashSet<SyncId> {
        let tried = self.events.iter().filter(|event| event.tried);
        let lock = |event: &Event| match event.op {
            Op::Acquire { lock } | Op::AcquireShared { lock } => Some(lock),
            _ => None,
        };
        tried.filter_map(lock).collect()
    }
}

/// An operation that is always enabled and changes nothing.
fn nothing() -> Op {
    Op::Free { vars: Box::default(), syncs: Box::default(), external: false }
}

/// For each thread and lock, whether each of its holds was tried, innermost last.
#[derive(Default)]
struct Held {
    holds: FxHashMap<(ThreadId, SyncId), Vec<bool>>,
    /// Locks that a try took: a failed try may have found such a hold, which is none here.
    untaken: FxHashSet<SyncId>,
    /// Whether the wait of a thread gave back a lock that was tried.
    waits: FxHashMap<ThreadId, bool>,
}

impl Held {
    /// What stands in place of an event; nothing where it stays.
    fn opened(&mut self, event: &Event) -> Option<Op> {
        let (thread, tried) = (event.thread, event.tried);
        match event.op {
            Op::Acquire { lock } | Op::AcquireShared { lock } => {
                self.holds.entry((thread, lock)).or_default().push(tried);
                tried.then(nothing)
            }
            Op::Release { lock } | Op::ReleaseShared { lock } => self.give_back(thread, lock).then(nothing),
            Op::Wait { lock, .. } => {
                let was_tried = self.give_back(thread, lock);
                self.waits.insert(thread, was_tried);
                was_tried.then(nothing)
            }
            Op::Wake { cond, lock, cause, .. } => {
                let was_tried = self.waits.remove(&thread).unwrap_or(false);
                self.holds.entry((thread, lock)).or_default().push(was_tried);
                match (was_tried, tried && cause.is_none()) {
                    (true, _) => Some(nothing()),
                    (false, true) => Some(Op::Wake { cond, lock, cause: Some(WakeCause::Timeout), by: None }),
                    (false, false) => None,
                }
            }
            Op::Busy { lock } => (tried || self.untaken.contains(&lock)).then(nothing),
            Op::Down { .. } | Op::Depart { .. } | Op::Join { .. } => tried.then(nothing),
            _ => None,
        }
    }

    /// Whether the hold that is given back was tried.
    fn give_back(&mut self, thread: ThreadId, lock: SyncId) -> bool {
        self.holds.get_mut(&(thread, lock)).and_then(Vec::pop).unwrap_or(false)
    }
}

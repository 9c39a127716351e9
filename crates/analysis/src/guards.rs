//! Whether the code takes care of other threads where it accesses a variable: it holds a lock at one of the accesses, or reads and writes in one
//! step. Where it does neither, its writer most likely did not think of an interruption.

use foretrace_trace::{EventId, Op, Trace, Triple};
use rustc_hash::{FxHashMap, FxHashSet};

/// What a trace says of it.
pub struct Guards {
    /// Accesses at which a lock is held.
    locked: FxHashSet<EventId>,
    /// Variables that some step reads and writes at once.
    atomic: FxHashSet<usize>,
}

impl Guards {
    /// What a trace says.
    pub fn of(trace: &Trace) -> Guards {
        let mut guards = Guards { locked: FxHashSet::default(), atomic: FxHashSet::default() };
        let mut held: FxHashMap<usize, u32> = FxHashMap::default();
        for at in (0..trace.events.len() as u32).map(EventId) {
            let event = trace.event(at);
            let held = held.entry(event.thread.index()).or_default();
            match &event.op {
                Op::Acquire { .. } | Op::AcquireShared { .. } | Op::Wake { .. } => *held += 1,
                Op::Release { .. } | Op::ReleaseShared { .. } | Op::Wait { .. } => *held = held.saturating_sub(1),
                Op::Rmw { var, .. } => drop(guards.atomic.insert(var.index())),
                op if op.var().is_some() && *held > 0 => drop(guards.locked.insert(at)),
                _ => {}
            }
        }
        guards
    }

    /// Whether it does at one of three accesses.
    pub fn guard(&self, trace: &Trace, triple: Triple) -> bool {
        let is_atomic = trace.event(triple.first).op.var().is_some_and(|var| self.atomic.contains(&var.index()));
        is_atomic || [triple.first, triple.remote, triple.second].iter().any(|access| self.locked.contains(access))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretrace_trace::{Data, SyncKind, TraceBuilder};

    /// Of three accesses by two threads, each of which may hold a lock at its own.
    fn guarded(locks: [bool; 2], in_one_step: bool) -> bool {
        let mut trace = TraceBuilder::new(Data::None);
        trace.int_var("x", 0).sync("l", SyncKind::Mutex { recursive: false });
        let [first, remote, second] = [(1, locks[0]), (2, locks[1]), (1, locks[0])].map(|(thread, is_locked)| {
            if is_locked {
                trace.acquire(thread, "l");
            }
            let access = if in_one_step { trace.swapped(thread, "x", None) } else { trace.put(thread, "x", None) };
            let access = access.id();
            if is_locked {
                trace.release(thread, "l");
            }
            access
        });
        Guards::of(trace.trace()).guard(trace.trace(), Triple { first, remote, second })
    }

    #[test]
    fn a_lock_at_one_access_or_one_step_guards() {
        assert!(guarded([true, true], false));
        assert!(guarded([false, true], false));
        assert!(guarded([false, false], true));
    }

    #[test]
    fn a_lock_that_was_given_back_guards_nothing() {
        assert!(!guarded([false, false], false));
        let mut trace = TraceBuilder::new(Data::None);
        trace.int_var("x", 0).sync("l", SyncKind::Mutex { recursive: false });
        trace.acquire(1, "l");
        trace.release(1, "l");
        let [first, remote, second] = [1, 2, 1].map(|thread| trace.put(thread, "x", None).id());
        assert!(!Guards::of(trace.trace()).guard(trace.trace(), Triple { first, remote, second }));
    }
}

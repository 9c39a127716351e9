//! Which accesses count for serializability, and where they stand: by variable, thread and the locks held.

use foretrace_index::TraceIndex;
use foretrace_trace::{EventId, Op, SyncId, Trace, VarId};
use indexing::Interned;
use rustc_hash::FxHashMap;

/// The accesses that violation paths are made of.
pub struct Accesses {
    /// Per event, whether it is one.
    counts: Vec<bool>,
    /// Per event, the locks that its thread holds there, by their position in `locksets`.
    lockset: Vec<u32>,
    locksets: Vec<Vec<(SyncId, bool)>>,
    /// Per variable: its accesses of one thread under one set of locks.
    of_var: Vec<Vec<LocksetAccesses>>,
}

/// Accesses of one variable by one thread while it holds the same locks.
pub struct LocksetAccesses {
    /// The thread, by its index.
    pub thread: usize,
    /// The locks.
    pub lockset: u32,
    /// Positions in the thread, ascending.
    pub all: Vec<u32>,
    /// Those of them that write.
    pub writes: Vec<u32>,
}

impl LocksetAccesses {
    /// Whether it has an access in this range of positions that conflicts with one that writes, or only reads.
    pub fn conflicts(&self, writes: bool, from: u32, to: u32) -> bool {
        let positions = if writes { &self.all } else { &self.writes };
        positions.get(positions.partition_point(|position| *position < from)).is_some_and(|position| *position < to)
    }
}

impl Accesses {
    /// The accesses of the variables that are wanted. Writes by code that was not recorded and a library's own variables are
    /// left out, as everywhere.
    pub fn new(trace: &Trace, trace_index: &TraceIndex, wanted: &dyn Fn(VarId) -> bool) -> Accesses {
        let wanted: Vec<bool> = (0..trace.vars.len())
            .map(|var| !trace.vars[var].is_of_library() && wanted(VarId::from_index(var)))
            .collect();
        let mut locks = Interned::default();
        let mut held: Vec<Vec<(SyncId, bool)>> = vec![Vec::new(); trace.threads.len()];
        let mut current: Vec<u32> = vec![locks.number_of(&[]); trace.threads.len()];
        let mut accesses = Accesses {
            counts: Vec::with_capacity(trace.events.len()),
            lockset: Vec::with_capacity(trace.events.len()),
            locksets: Vec::new(),
            of_var: Vec::new(),
        };
        let mut groups: Vec<FxHashMap<(usize, u32), usize>> = vec![FxHashMap::default(); trace.vars.len()];
        accesses.of_var.resize_with(trace.vars.len(), Vec::new);
        for (id, event) in trace.iter() {
            let thread = event.thread.index();
            if let Some(change) = lock_change(&event.op) {
                let held = &mut held[thread];
                match change {
                    Change::Takes(lock, shared) => held.push((lock, shared)),
                    Change::Gives(lock, shared) => {
                        if let Some(at) = held.iter().rposition(|one| *one == (lock, shared)) {
                            held.remove(at);
                        }
                    }
                    // A wait gives back every level of a recursive lock.
                    Change::GivesAll(lock) => held.retain(|one| *one != (lock, false)),
                }
                let mut set = held.clone();
                set.sort_unstable();
                set.dedup();
                current[thread] = locks.number_of(&set);
            }
            let var = event.op.var().filter(|var| wanted[var.index()] && !event.op.is_external());
            accesses.counts.push(var.is_some());
            accesses.lockset.push(current[thread]);
            let Some(var) = var else { continue };
            let of_var = &mut accesses.of_var[var.index()];
            let group = *groups[var.index()].entry((thread, current[thread])).or_insert_with(|| {
                of_var.push(LocksetAccesses { thread, lockset: current[thread], all: Vec::new(), writes: Vec::new() });
                of_var.len() - 1
            });
            let position = trace_index.position(id) as u32;
            of_var[group].all.push(position);
            if event.op.writes() {
                of_var[group].writes.push(position);
            }
        }
        accesses.locksets = locks.into_items();
        accesses
    }

    /// Whether the event is one.
    pub fn count(&self, event: EventId) -> bool {
        self.counts[event.index()]
    }

    /// All accesses of a variable.
    pub fn groups(&self, var: VarId) -> &[LocksetAccesses] {
        &self.of_var[var.index()]
    }

    /// The locks that the event's thread holds there; whether each is only shared.
    pub fn locks_at(&self, event: EventId) -> &[(SyncId, bool)] {
        &self.locksets[self.lockset[event.index()] as usize]
    }

    /// Per set of locks, whether another thread can hold them while these are held.
    pub fn compatible(&self, with: &[(SyncId, bool)]) -> Vec<bool> {
        let excludes = |(lock, shared): &(SyncId, bool)| {
            with.iter().any(|(other, other_shared)| lock == other && !(*shared && *other_shared))
        };
        self.locksets.iter().map(|set| !set.iter().any(excludes)).collect()
    }
}

enum Change {
    Takes(SyncId, bool),
    Gives(SyncId, bool),
    GivesAll(SyncId),
}

/// What an event does to the locks that its thread holds; an initialisation that happens once excludes as a lock does.
fn lock_change(op: &Op) -> Option<Change> {
    Some(match *op {
        Op::Acquire { lock } | Op::Wake { lock, .. } | Op::OnceBegin { once: lock } => Change::Takes(lock, false),
        Op::Release { lock } => Change::Gives(lock, false),
        Op::Wait { lock, .. } => Change::GivesAll(lock),
        Op::OnceEnd { once } | Op::OnceFail { once } => Change::Gives(once, false),
        Op::AcquireShared { lock } => Change::Takes(lock, true),
        Op::ReleaseShared { lock } => Change::Gives(lock, true),
        _ => return None,
    })
}

mod indexing {
    use foretrace_trace::SyncId;
    use rustc_hash::FxHashMap;

    /// Sets of locks, each once.
    #[derive(Default)]
    pub struct Interned {
        numbers: FxHashMap<Vec<(SyncId, bool)>, u32>,
        items: Vec<Vec<(SyncId, bool)>>,
    }

    impl Interned {
        pub fn number_of(&mut self, set: &[(SyncId, bool)]) -> u32 {
            if let Some(number) = self.numbers.get(set) {
                return *number;
            }
            let number = self.items.len() as u32;
            self.items.push(set.to_vec());
            self.numbers.insert(set.to_vec(), number);
            number
        }

        pub fn into_items(self) -> Vec<Vec<(SyncId, bool)>> {
            self.items
        }
    }
}

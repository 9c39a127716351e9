//! Which locks are taken while which are held, and whether threads could wait for each other in a circle.
//!
//! After Klaus Havelund, "Using runtime analysis to guide model checking of Java programs" (SPIN 2000): a circle in the order
//! of locks is a deadlock only between different threads that hold no lock in common.

use foretrace_trace::{EventId, Op, SyncId, ThreadId, Trace};
use rustc_hash::{FxHashMap, FxHashSet};

/// Circles of more locks are not looked for.
const MOST_LOCKS: usize = 4;

/// A lock that is taken while another is held.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taken {
    /// The thread.
    pub thread: ThreadId,
    /// What it holds.
    pub holds: SyncId,
    /// What it takes.
    pub takes: SyncId,
    /// Where.
    pub event: EventId,
    /// All that it holds there.
    held: Vec<SyncId>,
}

/// A circle of up to four threads that goes through a lock, if the trace shows one. Each thread of the circle holds what the one before
/// takes, and no two hold a lock in common.
pub fn circle(trace: &Trace, through: SyncId) -> Option<Vec<Taken>> {
    let edges = edges(trace);
    let mut stack: Vec<Vec<&Taken>> = edges.get(&through).into_iter().flatten().map(|taken| vec![taken]).collect();
    while let Some(path) = stack.pop() {
        let last = path[path.len() - 1];
        if last.takes == through {
            return Some(path.into_iter().cloned().collect());
        }
        if path.len() == MOST_LOCKS {
            continue;
        }
        let fits = |next: &&Taken| {
            path.iter().all(|taken| {
                taken.thread != next.thread
                    && taken.takes != next.takes
                    && next.held.iter().all(|h| !taken.held.contains(h))
            })
        };
        for next in edges.get(&last.takes).into_iter().flatten().filter(fits) {
            stack.push(path.iter().copied().chain([next]).collect());
        }
    }
    None
}

/// By lock that is held, what is taken meanwhile; each kind once.
fn edges(trace: &Trace) -> FxHashMap<SyncId, Vec<Taken>> {
    let mut held: Vec<Vec<SyncId>> = vec![Vec::new(); trace.threads.len()];
    let mut known: FxHashSet<(ThreadId, SyncId, Vec<SyncId>)> = FxHashSet::default();
    let mut all: FxHashMap<SyncId, Vec<Taken>> = FxHashMap::default();
    for (event, step) in trace.iter() {
        let held = &mut held[step.thread.index()];
        match step.op {
            Op::Acquire { lock } | Op::AcquireShared { lock } | Op::Wake { lock, .. } => {
                if !held.contains(&lock) && !held.is_empty() && known.insert((step.thread, lock, held.clone())) {
                    for holds in held.iter().copied() {
                        let taken = Taken { thread: step.thread, holds, takes: lock, event, held: held.clone() };
                        all.entry(holds).or_default().push(taken);
                    }
                }
                held.push(lock);
            }
            Op::Release { lock } | Op::ReleaseShared { lock } | Op::Wait { lock, .. } => {
                if let Some(position) = held.iter().rposition(|own| *own == lock) {
                    held.remove(position);
                }
            }
            _ => {}
        }
    }
    all
}

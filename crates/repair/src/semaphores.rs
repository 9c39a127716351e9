//! Which downs of semaphores wait for other threads, and for which posts.
//!
//! A down *waits for others* if its count does not come from its own thread: the first count and the posts that the thread has done are fewer than its
//! downs. Then some other thread has posted before, in every order of the same steps. Where the thread gives back what it takes, as with a
//! mutex, the down waits at most until another thread leaves: that is no order, as with locks.
//!
//! *Lemma.* A down that needs k posts of others comes after the (k − n)-th post of a thread, in every order of the same steps, if all other threads
//! but its own have n < k posts. *Proof.* No more than n of the k posts are theirs, so at least k − n are this thread's, and these are its first ones.

use foretrace_trace::{EventId, Op, SyncId, SyncKind, ThreadId, Trace};
use rustc_hash::FxHashMap;

/// The downs of a trace that wait for others.
pub struct Downs {
    /// The posts that come before each, whatever the order.
    posts: FxHashMap<EventId, Vec<EventId>>,
    /// By number, the semaphores that have such downs.
    has_waits: Vec<bool>,
}

impl Downs {
    /// Reads them off a trace.
    pub fn new(trace: &Trace) -> Downs {
        let mut by_thread: FxHashMap<(usize, ThreadId), Vec<EventId>> = FxHashMap::default();
        let mut all: Vec<u64> = vec![0; trace.syncs.len()];
        let mut threads: Vec<Vec<ThreadId>> = vec![Vec::new(); trace.syncs.len()];
        for (id, event) in trace.iter() {
            let Op::Post { sem } = event.op else { continue };
            let posts = by_thread.entry((sem.index(), event.thread)).or_default();
            if posts.is_empty() {
                threads[sem.index()].push(event.thread);
            }
            posts.push(id);
            all[sem.index()] += 1;
        }
        let mut downs = Downs { posts: FxHashMap::default(), has_waits: vec![false; trace.syncs.len()] };
        let mut own: FxHashMap<(usize, ThreadId), i64> = FxHashMap::default();
        for (id, event) in trace.iter() {
            let (sem, change) = match event.op {
                Op::Post { sem } => (sem, 1),
                Op::Down { sem } => (sem, -1),
                _ => continue,
            };
            let count = own.entry((sem.index(), event.thread)).or_insert_with(|| first_count(trace, sem.index()));
            *count = count.saturating_add(change);
            if change > 0 || *count >= 0 {
                continue;
            }
            let of = |thread: ThreadId| by_thread.get(&(sem.index(), thread)).map_or(&[][..], Vec::as_slice);
            let (need, others) = (count.unsigned_abs(), all[sem.index()] - of(event.thread).len() as u64);
            let first_ones =
                threads[sem.index()].iter().filter(|thread| **thread != event.thread).filter_map(|thread| {
                    let most_by_others = others - of(*thread).len() as u64;
                    of(*thread).get(usize::try_from(need.checked_sub(most_by_others)?.checked_sub(1)?).ok()?).copied()
                });
            downs.posts.insert(id, first_ones.collect());
            downs.has_waits[sem.index()] = true;
        }
        downs
    }

    /// The posts that come before a down whatever the order, if it waits for others.
    pub fn posts(&self, down: EventId) -> Option<&[EventId]> {
        self.posts.get(&down).map(Vec::as_slice)
    }

    /// Whether an event is a barrier, or a down that waits for others: whoever holds a lock there may keep out those that are waited for.
    pub fn or_barrier(&self, trace: &Trace, event: EventId) -> bool {
        matches!(trace.event(event).op, Op::Depart { .. }) || self.posts(event).is_some()
    }

    /// Whether some down of a semaphore waits for others.
    pub(crate) fn has_waits(&self, sem: SyncId) -> bool {
        self.has_waits[sem.index()]
    }
}

fn first_count(trace: &Trace, sem: usize) -> i64 {
    match trace.syncs[sem].kind {
        SyncKind::Semaphore { init } => i64::try_from(init).unwrap_or(i64::MAX),
        _ => 0,
    }
}

//! What must come before an event that needs k of n other events before it (its suppliers).
//!
//! A read needs one of the writes that can give its value. A wake needs one signal for each wait that its thread has finished. A
//! down of a semaphore needs as many posts as downs come before it.
//!
//! If an event needs k of n suppliers, then in each thread at least the k-th smallest prefix that a supplier requires comes before it.

use foretrace_index::{MustHappenBefore, Structure};
use foretrace_trace::{EventId, Trace};

/// Edges between threads, each from an earlier event to a later one.
pub type Edges = Vec<(EventId, EventId)>;

/// `from` before `to` as an edge between threads; all parts of from's step come before what follows in another thread.
pub fn edge(trace: &Trace, structure: &Structure, from: EventId, to: EventId) -> Option<(EventId, EventId)> {
    (trace.event(from).thread != trace.event(to).thread).then(|| (structure.step(trace, from).1, to))
}

/// Adds the orders that follow where `count` of the suppliers, at least one, come before `to`: of each thread the last event that
/// comes before, or is, the `count`-th supplier in the order of how many of the thread's events they need.
pub fn before_enough(
    (trace, structure, clocks): (&Trace, &Structure, &MustHappenBefore),
    suppliers: &[EventId],
    count: usize,
    to: EventId,
    edges: &mut Edges,
) {
    if count == 0 || count > suppliers.len() {
        return;
    }
    let mut needed = Vec::with_capacity(suppliers.len());
    for (thread, own) in structure.threads.iter().enumerate() {
        let up_to = |supplier: &EventId| match trace.event(*supplier).thread.index() == thread {
            true => structure.position[supplier.index()] + 1,
            false => clocks.seen(*supplier, thread),
        };
        needed.clear();
        needed.extend(suppliers.iter().map(up_to));
        let (_, least, _) = needed.select_nth_unstable(count - 1);
        if *least > clocks.seen(to, thread) {
            edges.extend(edge(trace, structure, own[*least as usize - 1], to));
        }
    }
}

//! What must come before an event that needs k of n other events before it (its enabling set).
//!
//! A read needs one of the writes that can give its value. A wake needs one signal for each wait that its thread has finished. A
//! down of a semaphore needs as many posts as downs come before it.
//!
//! If an event needs k of the n events of an enabling set, then in each thread at least the k-th smallest prefix that one of them requires comes before it.

use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_trace::{EventId, Trace};

/// Edges between threads, each from an earlier event to a later one.
pub type Edges = Vec<(EventId, EventId)>;

/// `from` before `to` as an edge between threads; all parts of from's step come before what follows in another thread.
pub fn edge(trace: &Trace, trace_index: &TraceIndex, from: EventId, to: EventId) -> Option<(EventId, EventId)> {
    (trace.event(from).thread != trace.event(to).thread).then(|| (trace_index.step(trace, from).1, to))
}

/// Adds the orders that follow if `count` of the enabling events, at least one, come before `to`. In each thread, sort the enabling events
/// by the prefix of the thread that each requires. The last event of the `count`-th prefix then comes before `to`.
pub fn add_enabling_orders(
    (trace, trace_index, clocks): (&Trace, &TraceIndex, &MustHappenBefore),
    enabling: &[EventId],
    count: usize,
    to: EventId,
    edges: &mut Edges,
) {
    if count == 0 || count > enabling.len() {
        return;
    }
    let mut needed = Vec::with_capacity(enabling.len());
    for (thread, own) in trace_index.threads.iter().enumerate() {
        let up_to = |enabling: &EventId| match trace.event(*enabling).thread.index() == thread {
            true => trace_index.position[enabling.index()] + 1,
            false => clocks.seen(*enabling, thread),
        };
        needed.clear();
        needed.extend(enabling.iter().map(up_to));
        let (_, least, _) = needed.select_nth_unstable(count - 1);
        if *least > clocks.seen(to, thread) {
            edges.extend(edge(trace, trace_index, own[*least as usize - 1], to));
        }
    }
}

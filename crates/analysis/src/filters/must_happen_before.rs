//! Refutes candidates whose order contradicts one that holds in every prefix of every model.

use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_trace::{Trace, Triple};

/// Whether no prefix at all holds the triple in its order.
///
/// A prefix that holds first, remote and second in this order holds whatever must come before each. The orders first → remote → second are
/// added to an acyclic relation in which first comes before second. A cycle must then use remote → first or second → remote, so no other
/// combination refutes. Steps count whole. If a prefix has an event after one part of a step, it holds all parts of that step right before.
/// The steps of first and remote are such steps, since remote and second follow. So an order between any parts of two steps is an order
/// between the steps.
pub fn refutes(trace: &Trace, trace_index: &TraceIndex, clocks: &MustHappenBefore, triple: Triple) -> bool {
    let [first, remote, second] =
        [triple.first, triple.remote, triple.second].map(|event| trace_index.step(trace, event));
    first == second || clocks.before(remote.0, first.1) || clocks.before(second.0, remote.1)
}

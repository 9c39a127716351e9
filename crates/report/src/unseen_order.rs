//! What unrecorded code may do otherwise, and orders that code which the trace does not show may ask for, in words.

use super::names::Names;
use foretrace_checker::Unseen;
use foretrace_trace::{Op, Trace};

/// A schedule does not keep what unrecorded code did at its place in the run.
pub const PASSES_UNRECORDED: &str =
    "the schedule goes past a write or free by code that was not recorded, which may act otherwise";

/// What code that the trace does not show may ask for, and a schedule does not keep.
pub fn unseen_order(names: &Names<'_>, trace: &Trace, unseen: Unseen) -> String {
    let what = match trace.event(unseen.event).op {
        Op::Unseen { what, .. } => trace.names.text(what),
        _ => "",
    };
    let thread = names.thread(trace.event(unseen.after).thread);
    format!(
        "the schedule rests on `{what}` at {} not having to come after what {thread} did at {}: in the run it did",
        names.place(unseen.event),
        names.place(unseen.after)
    )
}

//! The definitions that may give the results of operations (`docs/trace-format.md`).

use crate::op::Op;
use crate::trace::{EventId, Trace};

/// How the names of locals that give results start.
const PREFIX: &str = "result";

/// Each `let` that may give the result of the `return` after it.
pub(crate) fn result_lets(trace: &Trace) -> Vec<(EventId, EventId)> {
    let mut latest: Vec<Option<EventId>> = vec![None; trace.threads.len()];
    let mut pairs = Vec::new();
    for (id, event) in trace.iter() {
        match event.op {
            Op::Let { dst, .. } if trace.names.text(dst).starts_with(PREFIX) => {
                latest[event.thread.index()] = Some(id);
                continue;
            }
            Op::Return { value: Some(_), .. } => pairs.extend(latest[event.thread.index()].map(|of| (of, id))),
            _ => {}
        }
        latest[event.thread.index()] = None;
    }
    pairs
}

//! Candidates and blocks by definition, to hold faster ways against.

use crate::op::{BlockKind, Op};
use crate::trace::{EventId, ThreadId, Trace};
use crate::transactions::Transaction;
use crate::violation::Triple;

/// All candidates of a trace, by trying every triple.
pub fn candidates(trace: &Trace, transactions: &[Transaction]) -> Vec<Triple> {
    let accesses: Vec<EventId> = trace.iter().filter(|(_, event)| event.op.var().is_some()).map(|(id, _)| id).collect();
    let mut candidates = Vec::new();
    for first in &accesses {
        for remote in &accesses {
            for second in &accesses {
                let triple = Triple { first: *first, remote: *remote, second: *second };
                if triple.candidate(trace, transactions).is_ok() {
                    candidates.push(triple);
                }
            }
        }
    }
    candidates
}

/// The blocks of `auto` in a trace that has some, each with its thread, first and last event: outer ones first.
/// One without an end goes on to its thread's last event.
pub fn blocks_by_definition(trace: &Trace) -> Vec<(ThreadId, EventId, EventId)> {
    let has_marks = trace.iter().any(|(_, event)| matches!(event.op, Op::Begin { kind: BlockKind::Mark, .. }));
    let mut blocks = Vec::new();
    for (first, begin) in trace.iter() {
        let Op::Begin { kind, .. } = begin.op else { continue };
        if has_marks && kind != BlockKind::Mark {
            continue;
        }
        let (mut depth, mut last) = (0, first);
        for (id, event) in trace.iter().filter(|(id, event)| *id >= first && event.thread == begin.thread) {
            depth += i32::from(matches!(event.op, Op::Begin { .. })) - i32::from(matches!(event.op, Op::End { .. }));
            last = id;
            if depth == 0 {
                break;
            }
        }
        blocks.push((begin.thread, first, last));
    }
    blocks
}

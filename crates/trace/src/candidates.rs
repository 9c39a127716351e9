//! Candidates by definition.

use crate::trace::{EventId, Trace};
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

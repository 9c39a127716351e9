//! A cut-point: where a transaction can stand still while another thread's access falls into it.

use crate::locks::Taken;
use foretrace_trace::{EventId, Pattern, ThreadId, Trace, Triple, VarId};
use serde::{Deserialize, Serialize};

/// What locks let happen after the remote access.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Then {
    /// The transaction's thread can go on to its second access.
    Second,
    /// It cannot: each of the two threads then waits for a lock of the other. The interruption itself can happen, and a deadlock
    /// follows.
    LockedOut,
}

/// An event `stop` of a transaction, between its accesses `first` and `second`. After it the thread can stand still while another thread
/// gets to its access `remote`. No lock keeps `remote` out of the transaction there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CutPoint {
    /// The three accesses.
    pub triple: Triple,
    /// The first pattern that they fit.
    pub pattern: Pattern,
    /// The paper's e: the last event of the transaction's thread before `remote`; `first` itself or a later one.
    pub stop: EventId,
    /// The variable.
    pub var: VarId,
    /// The transaction's thread, and that of `remote`.
    pub threads: [ThreadId; 2],
    /// The locks that the transaction's thread holds after `stop`, and those that the other holds at `remote`.
    pub held: [Vec<Taken>; 2],
    /// The innermost block that holds `first` and `second`, by its position among all.
    pub block: usize,
    /// What locks let happen then.
    pub then: Then,
    /// Cut-points of one number have the same threads, variable, places of the source and kind of block, and other locks.
    pub class: u32,
}

impl CutPoint {
    /// Whether the recorded order itself has the three accesses in this order.
    pub fn is_observed(&self) -> bool {
        self.triple.first < self.triple.remote && self.triple.remote < self.triple.second
    }

    /// What locks let happen then, by the name that reports have for it.
    pub fn then_name(&self) -> &'static str {
        match self.then {
            Then::Second => "second",
            Then::LockedOut => "locked-out",
        }
    }

    /// The source locations of first, remote and second, where the trace has them.
    pub fn places<'t>(&self, trace: &'t Trace) -> [Option<&'t str>; 3] {
        [self.triple.first, self.triple.remote, self.triple.second].map(|event| trace.loc(event))
    }
}

//! The trace atomicity segment: the part of a trace that can take part in a violation of one transaction.
//!
//! Source: A. Sinha, S. Malik, C. Wang, A. Gupta, *Predictive Analysis for Detecting Serializability Violations through Trace
//! Segmentation* (TAS), MEMOCODE 2011, section III.
//!
//! Deviation: only those read-after-write edges count that hold in every prefix of the model. In `avp` these are all; in `ctp` they are
//! those that conditions leave no choice about (`forced_reads`). An edge leads to the event after a plain read; this replaces the
//! paper's treatment of reads coupled below the upper frontier.

use super::must_happen_before;
use super::orders::Orders;
use foretrace_index::TraceIndex;
use foretrace_trace::{EventId, Trace, Triple};

/// The segment of a transaction: for each thread, the events between two frontiers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AtomicitySegment {
    /// Per thread: how many events come before the transaction's first access.
    pub upper: Vec<u32>,
    /// Per thread: the position of the first event that comes after the transaction's last access.
    pub lower: Vec<u32>,
}

impl AtomicitySegment {
    /// The segment between a transaction's first and last access.
    pub fn new(trace: &Trace, orders: &Orders, first: EventId, last: EventId) -> Self {
        let threads = 0..trace.threads.len();
        let upper = threads.clone().map(|thread| orders.clocks.seen(first, thread)).collect();
        let lower = threads.map(|thread| orders.clocks.first_after(last, thread)).collect();
        AtomicitySegment { upper, lower }
    }

    /// Whether an event lies between the frontiers.
    pub fn contains(&self, trace: &Trace, trace_index: &TraceIndex, event: EventId) -> bool {
        let thread = trace.event(event).thread.index();
        let position = trace_index.position[event.index()];
        self.upper[thread] <= position && position < self.lower[thread]
    }

    /// How many events lie between the frontiers.
    pub fn size(&self) -> u64 {
        self.upper.iter().zip(&self.lower).map(|(upper, lower)| u64::from(lower.saturating_sub(*upper))).sum()
    }
}

/// Whether remote lies outside of the segment between first and second, which are a transaction in themselves; that
/// is sharper than the segment of the whole transaction.
pub fn refutes(trace: &Trace, trace_index: &TraceIndex, orders: &Orders, triple: Triple) -> bool {
    must_happen_before::refutes(trace, trace_index, &orders.clocks, triple)
}

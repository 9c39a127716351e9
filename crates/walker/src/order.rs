//! The turns of the threads of a recording, so that their ordered records come in order.
//!
//! If the logs reached their size limit, there are no order numbers from that moment on, for any thread. The logs then hold all that
//! happened before it.

use crate::error::WalkError;
use crate::log::{Disorder, Log};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The threads that have ordered records left.
pub(crate) struct Turns {
    waiting: BinaryHeap<Reverse<(u64, usize)>>,
}

impl Turns {
    /// All threads, at their first records.
    pub fn new(logs: &[Log]) -> Turns {
        let first = |(thread, log): (usize, &Log)| log.records().next_order().map(|order| Reverse((order, thread)));
        Turns { waiting: logs.iter().enumerate().filter_map(first).collect() }
    }

    /// The thread whose turn it is, and the order at which that of another one comes.
    pub fn next(&mut self) -> Option<(usize, u64)> {
        let Reverse((_, thread)) = self.waiting.pop()?;
        let until = self.waiting.peek().map_or(u64::MAX, |Reverse((order, _))| *order);
        Some((thread, until))
    }

    /// The thread goes on when it is the turn of this order.
    pub fn wait(&mut self, thread: usize, order: u64) {
        self.waiting.push(Reverse((order, thread)));
    }
}

/// Checks that the order numbers of every thread grow.
pub(crate) fn check(log: &Log) -> Result<(), WalkError> {
    let Some(Disorder { byte, found, before }) = log.disorder() else { return Ok(()) };
    Err(WalkError::Order { path: log.path().to_path_buf(), byte, found, before })
}

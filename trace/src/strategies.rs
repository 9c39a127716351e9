//! Random valid traces of every operation, for tests: small, and such that order and values matter.
//!
//! Threads run random programs of short idioms; each event is kept if the trace is still valid with it. So it is the
//! format's rules and the step semantics that say what random traces look like.

mod expressions;
mod generator;
mod programs;
mod random;

use crate::observe::Observed;
use crate::trace::{Data, Trace};
use proptest::strategy::Strategy;

/// How large random traces are.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Most events.
    pub events: usize,
    /// Most threads, at least 2.
    pub threads: u64,
    /// What is known of values; by chance if nothing is said.
    pub data: Option<Data>,
}

/// Up to 14 events of 4 threads.
impl Default for Shape {
    fn default() -> Shape {
        Shape { events: 14, threads: 4, data: None }
    }
}

/// The trace of this seed, the same on every machine, and what its recorded order shows.
pub fn random_trace(seed: u64, shape: &Shape) -> (Trace, Observed) {
    generator::generate(seed, shape)
}

/// Random traces; one that fails a test is cut short as far as it still fails.
pub fn traces(shape: Shape) -> impl Strategy<Value = (Trace, Observed)> {
    let events = 2..=shape.events.max(2);
    (proptest::num::u64::ANY.no_shrink(), events)
        .prop_map(move |(seed, events)| random_trace(seed, &Shape { events, ..shape.clone() }))
}

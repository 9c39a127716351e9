//! Random valid traces of every operation, for tests: small, and such that order and values matter.
//!
//! Threads run random programs of short idioms; each event is kept if the trace is still valid with it. So it is the
//! format's rules and the step semantics that say what random traces look like.

mod appends;
mod applications;
mod conditions;
mod expressions;
mod generator;
mod programs;
mod synthetic;
mod waits;

pub use appends::random_appends;
pub use applications::applications;
pub use conditions::random_conditions;
pub use synthetic::Synthetic;
pub use waits::random_waits;

use crate::observed::Observed;
use crate::op::{BlockKind, Op};
use crate::trace::{Data, Trace};
use proptest::strategy::Strategy;

/// Kinds of events that a trace may have besides accesses, conditions and transactions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Topic {
    /// Critical sections of plain mutexes, nested rarely, and failed tries.
    Mutex,
    /// The same of a recursive mutex, nested often.
    Recursive,
    /// Exclusive and shared critical sections.
    Rwlock,
    /// Waits, wakes of every cause, signals and broadcasts.
    Condvar,
    /// Posts and downs.
    Semaphore,
    /// Arrives and departs.
    Barrier,
    /// Initialisations that happen once, some of which fail.
    Once,
    /// Forks and joins.
    Threads,
    /// Operations on concurrent objects.
    Operations,
    /// Several events in one step.
    Parts,
    /// Memory that is given back.
    Memory,
    /// Writes by code that was not recorded.
    External,
    /// Read-modify-writes with a guard.
    Swaps,
}

/// How large random traces are, and about what.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Most events.
    pub events: usize,
    /// Most threads, at least 2.
    pub threads: u64,
    /// What is known of values; by chance if nothing is said.
    pub data: Option<Data>,
    /// What it is about; one or two topics by chance if nothing is said.
    pub topics: Vec<Topic>,
    /// Whether blocks are often inside each other.
    pub nests: bool,
}

/// Up to 14 events of 4 threads.
impl Default for Shape {
    fn default() -> Shape {
        Shape { events: 14, threads: 4, data: None, topics: Vec::new(), nests: false }
    }
}

/// The trace of this seed, the same on every machine, and what its recorded order shows.
pub fn random_trace(seed: u64, shape: &Shape) -> (Trace, Observed) {
    generator::generate(seed, shape)
}

/// Makes tries of about half of the events of a trace that can be tried.
pub fn with_tries(seed: u64, mut trace: Trace) -> Trace {
    let mut random = crate::random::Random::new(seed);
    for event in trace.events.iter_mut().filter(|event| event.op.can_be_tried()) {
        event.tried = random.percent(50);
    }
    trace
}

/// Gives each block of a trace a kind; in one trace of four there are marks among them.
pub fn with_kinds(seed: u64, mut trace: Trace) -> Trace {
    let mut random = crate::random::Random::new(seed);
    let kinds = if random.percent(25) { &BlockKind::ALL[..] } else { &BlockKind::ALL[1..] };
    for event in &mut trace.events {
        if let Op::Begin { kind, .. } = &mut event.op {
            *kind = kinds[random.below(kinds.len())];
        }
    }
    trace
}

/// Random traces; one that fails a test is cut short as far as it still fails.
pub fn traces(shape: Shape) -> impl Strategy<Value = (Trace, Observed)> {
    let events = 2..=shape.events.max(2);
    (proptest::num::u64::ANY.no_shrink(), events)
        .prop_map(move |(seed, events)| random_trace(seed, &Shape { events, ..shape.clone() }))
}

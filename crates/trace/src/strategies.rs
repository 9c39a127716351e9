//! Random valid traces of every operation, for tests: small, and such that order and values matter.
//!
//! Threads run random programs of short idioms; each event is kept if the trace is still valid with it. So it is the
//! format's rules and the step semantics that say what random traces look like.

mod appends;
mod applications;
mod conditions;
mod expressions;
mod generator;
mod made_locks;
mod programs;
mod shape;
mod synthetic;
mod waits;

pub use appends::random_appends;
pub use applications::applications;
pub use conditions::random_conditions;
pub use made_locks::{random_flags, random_shared_words, random_ticket_locks, random_word_locks};
pub use shape::{Shape, Topic};
pub use synthetic::Synthetic;
pub use waits::random_waits;

use crate::observed::Observed;
use crate::op::{BlockKind, Op};
use crate::trace::Trace;
use proptest::strategy::Strategy;

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

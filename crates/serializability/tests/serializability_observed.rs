//! The monitoring pass against the graph of section II.D, made in full.

use foretrace_serializability::observed;
use foretrace_trace::strategies::{Shape, random_trace};
use foretrace_trace::{Atomic, Blocks, EventId, Trace};
use std::collections::BTreeSet;

/// The blocks that the recorded order violates, by the whole conflict graph.
fn naive(trace: &Trace, blocks: &Blocks) -> BTreeSet<usize> {
    let accesses: Vec<EventId> = trace
        .iter()
        .filter(|(_, event)| event.op.var().is_some() && !event.op.is_external())
        .map(|(id, _)| id)
        .collect();
    let edge = |one: EventId, other: EventId| {
        let [a, b] = [one, other].map(|id| trace.event(id));
        one < other && (a.thread == b.thread || (a.op.var() == b.op.var() && (a.op.writes() || b.op.writes())))
    };
    let mut violated = BTreeSet::new();
    for (position, block) in blocks.all().iter().enumerate() {
        let own = |id: EventId| block.holds(trace.event(id).thread, id, id);
        // What a path from the block through another thread has reached.
        let mut outside: BTreeSet<EventId> = BTreeSet::new();
        for access in &accesses {
            let reached = accesses.iter().any(|from| {
                edge(*from, *access)
                    && (outside.contains(from) || (own(*from) && trace.event(*access).thread != block.thread))
            });
            if reached && own(*access) {
                violated.insert(position);
            } else if reached {
                outside.insert(*access);
            }
        }
    }
    violated
}

#[test]
fn every_violated_block_is_found() {
    let count: u64 = std::env::var("FORETRACE_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(2_000);
    let mut found = 0;
    for seed in 0..count {
        let (trace, _) = random_trace(seed, &Shape { events: 8 + (seed % 10) as usize, ..Shape::default() });
        let atomic = [Atomic::Marked, Atomic::Auto, Atomic::Threads, Atomic::Sections][(seed % 4) as usize];
        let blocks = atomic.blocks(&trace);
        let told: BTreeSet<usize> = observed(&trace, &blocks, &|_| true).into_iter().map(|one| one.block).collect();
        assert_eq!(told, naive(&trace, &blocks), "seed {seed}");
        found += told.len();
    }
    assert!(found > 100, "{found}");
}

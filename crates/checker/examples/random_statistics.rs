//! What random traces are like and how long the oracle takes: `cargo run --release --features oracle,strategies
//! --example random_statistics -- [TRACES]`.

use foretrace_checker::oracle::{Oracle, candidates};
use foretrace_trace::strategies::{Shape, random_trace};
use foretrace_trace::{Atomic, Feasibility, Independence, Model};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

fn main() {
    let traces: u64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1000);
    let mut ops: BTreeMap<&str, u64> = BTreeMap::new();
    let mut feasible: BTreeMap<(Model, Feasibility, Independence), (u64, u64)> = BTreeMap::new();
    let (mut all, mut without, mut events, mut states, mut most) = (0, 0, 0, 0, 0);
    let (mut making, mut deciding) = (Duration::ZERO, Duration::ZERO);
    for seed in 0..traces {
        let start = Instant::now();
        let (trace, observed) = random_trace(seed, &Shape::default());
        making += start.elapsed();
        trace.events.iter().for_each(|event| *ops.entry(event.op.kind()).or_default() += 1);
        events += trace.events.len();
        let transactions = Atomic::Marked.transactions(&trace);
        let count = candidates(&trace, &transactions).len();
        all += count;
        without += u64::from(count == 0);
        let start = Instant::now();
        for model in [Model::Cam, Model::Ctp, Model::Mcm, Model::Avp] {
            let Ok(oracle) = Oracle::new(&trace, &observed, model) else { continue };
            states += oracle.states();
            most = most.max(oracle.states());
            for feasibility in [Feasibility::Prefix, Feasibility::Complete] {
                for independence in [Independence::Conflict, Independence::Guarded] {
                    if independence == Independence::Guarded && !model.has_values() {
                        continue;
                    }
                    let decided = oracle.decide(&transactions, feasibility, independence);
                    let (yes, total) = feasible.entry((model, feasibility, independence)).or_default();
                    *yes += decided.values().filter(|pattern| pattern.is_some()).count() as u64;
                    *total += decided.len() as u64;
                }
            }
        }
        deciding += start.elapsed();
    }
    println!("{traces} traces, {events} events, {all} candidates, {without} traces without");
    println!("{states} states, at most {most}; made in {making:?}, decided in {deciding:?}");
    for ((model, feasibility, independence), (yes, total)) in feasible {
        println!("{model} {feasibility} {independence}: {yes} of {total} feasible");
    }
    println!("{ops:?}");
}

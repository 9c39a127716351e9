//! What is said of other candidates in the same sections, held against all interleavings.

use super::RefutedSections;
use crate::filters::regions_by_thread;
use foretrace_checker::oracle::Oracle;
use foretrace_index::TraceIndex;
use foretrace_trace::random::Random;
use foretrace_trace::{
    Atomic, Data, Feasibility, Independence, Model, Observed, SyncKind, Trace, TraceBuilder, Triple,
};
use std::sync::Arc;

/// Two threads with up to five sections of one lock, in which they access two variables and go on as they read.
fn trace(seed: u64) -> (Trace, Observed) {
    let mut chance = Random::new(seed);
    let mut builder = TraceBuilder::new(Data::Symbolic);
    builder.sync("m", SyncKind::Mutex { recursive: false });
    let variables = ["x", "y"];
    variables.iter().for_each(|var| {
        builder.int_var(var, 0);
    });
    let mut values = [0, 0];
    let mut reads = 0;
    for _ in 0..3 + chance.below(3) {
        let thread = 1 + chance.below(2) as u64;
        builder.acquire(thread, "m");
        for _ in 0..1 + chance.below(2) {
            let at = chance.below(2);
            if chance.below(2) == 0 {
                values[at] = chance.below(3) as u64;
                builder.write(thread, variables[at], &values[at].to_string());
            } else {
                reads += 1;
                let name = format!("r{reads}");
                builder.read(thread, variables[at], &name);
                if chance.below(2) == 0 {
                    builder.assume(thread, &format!("(= {name} {})", values[at]));
                }
            }
        }
        builder.release(thread, "m");
    }
    builder.finish().expect("a valid trace")
}

#[test]
fn refutations_say_what_is_so_of_others() {
    let (mut said, mut feasible) = (0, 0);
    for seed in 0..1600 {
        let (trace, observed) = trace(seed);
        let regions = Arc::new(regions_by_thread(&trace, &TraceIndex::new(&trace)));
        let transactions = Atomic::Threads.transactions(&trace);
        for model in [Model::Cam, Model::Ctp, Model::Mcm, Model::Avp] {
            let oracle = Oracle::new(&trace, &observed, model).expect("the model fits");
            let truth = oracle.decide(&transactions, Feasibility::Prefix, Independence::Conflict);
            let is_feasible = |triple: &Triple| truth[triple].is_some();
            for one in truth.keys().filter(|triple| !is_feasible(triple)) {
                let refuted = RefutedSections::new(&trace, Arc::clone(&regions));
                refuted.add(*one, false);
                for other in truth.keys().filter(|other| *other != one && refuted.covers(**other).is_some()) {
                    assert!(!is_feasible(other), "seed {seed}, {model}: {one} is refuted, {other} is not");
                    said += 1;
                }
            }
            feasible += truth.keys().filter(|triple| is_feasible(triple)).count();
        }
    }
    assert!(said > 500 && feasible > 1_000, "{said} said, {feasible} feasible");
}

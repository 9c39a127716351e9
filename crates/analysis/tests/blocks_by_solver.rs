//! Blocks by the solver against an exhaustive search over all prefixes of random small traces, in each model.

use foretrace_analysis::serializability::{BlockJudge, Bounds, Method};
use foretrace_serializability::oracle::truths;
use foretrace_serializability::{Choices, Decision, Judge};
use foretrace_trace::strategies::{Shape, random_trace};
use foretrace_trace::{Atomic, Blocks, Data, Model, Observed, Trace};
use std::sync::atomic::AtomicBool;

/// How many random traces are tried; `FORETRACE_SEEDS` says another number.
fn count(usual: u64) -> u64 {
    std::env::var("FORETRACE_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

fn case(seed: u64) -> (Trace, Observed, Blocks) {
    let events = 7 + (seed % 7) as usize;
    let data = [None, Some(Data::Symbolic), None][(seed % 3) as usize];
    let (trace, observed) = random_trace(seed, &Shape { events, data, ..Shape::default() });
    let atomic = [Atomic::Marked, Atomic::Auto, Atomic::Sections, Atomic::Threads][(seed / 7 % 4) as usize];
    let blocks = atomic.blocks(&trace);
    (trace, observed, blocks)
}

#[test]
fn the_solver_decides_blocks_as_exhaustive_search_does() {
    let stop = AtomicBool::new(false);
    let bounds = Bounds { of_block: None, deadline: None, work: None, stop: &stop };
    let (mut violated, mut held) = ([0; 4], [0; 4]);
    for seed in 1_000_000..1_000_000 + count(400) {
        let (trace, observed, blocks) = case(seed);
        let all = [Model::Cam, Model::Ctp, Model::Mcm, Model::Avp];
        for (nth, model) in all.into_iter().enumerate().filter(|(_, model)| model.needs() <= trace.data) {
            let truths = truths(&trace, &observed, &blocks, model).expect("fits");
            for method in [Method::Solve, Method::Both] {
                let judge = Judge::new(&trace, &observed, &blocks, &|_| true, Choices::new(model)).expect("fits");
                let judge = BlockJudge::new(&trace, &observed, judge, method);
                let mut solver = judge.solver();
                for (block, truth) in truths.iter().enumerate() {
                    let judgement = judge.decide(block, &mut solver, &bounds);
                    let told = format!("seed {seed}, {model}, {method:?}, block {block}: {judgement:?}");
                    match judgement.decision {
                        Decision::Violated(violation) => {
                            assert!(truth.violated, "{told}");
                            assert_eq!(violation.claim().block, blocks.all()[block], "{told}");
                            violated[nth] += u64::from(judgement.by_solver);
                        }
                        Decision::Proved | Decision::Holds => {
                            assert!(!truth.violated, "{told}");
                            held[nth] += u64::from(judgement.by_solver);
                        }
                        Decision::NotWithin(_) | Decision::NotObserved | Decision::Limit | Decision::Refused(_) => {
                            panic!("{told}")
                        }
                    }
                }
            }
        }
    }
    println!("by the solver in cam, ctp, mcm, avp: {violated:?} violated, {held:?} not");
    assert!(violated.iter().chain(&held).all(|count| *count > 5), "{violated:?} {held:?}");
}

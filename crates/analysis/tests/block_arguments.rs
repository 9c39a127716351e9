//! Arguments why blocks cannot be violated, against exhaustive search on random small traces: there is one exactly where no prefix
//! holds a violation path.
//!
//! `FORETRACE_SEEDS` says how many random traces.

use foretrace_analysis::explain::explain_block;
use foretrace_analysis::options::Options;
use foretrace_analysis::serializability::{AskedBlocks, Bounds, Method};
use foretrace_serializability::oracle::truths;
use foretrace_serializability::{Choices, Decision};
use foretrace_trace::strategies::{Shape, random_trace};
use foretrace_trace::{Atomic, Feasibility, Independence, Model, Question};
use std::sync::atomic::AtomicBool;

#[test]
fn safe_blocks_have_arguments_and_others_have_none() {
    let stop = AtomicBool::new(false);
    let bounds = Bounds { of_block: None, deadline: None, work: None, stop: &stop };
    let traces = std::env::var("FORETRACE_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(40);
    let (mut argued, mut obvious, mut violated, mut proved) = (0, 0, 0, 0);
    for seed in 5_000_000..5_000_000 + traces {
        let (trace, observed) = random_trace(seed, &Shape { events: 7 + (seed % 6) as usize, ..Shape::default() });
        let atomic = [Atomic::Marked, Atomic::Auto, Atomic::Sections, Atomic::Threads][(seed % 4) as usize];
        let blocks = atomic.blocks(&trace);
        for model in [Model::Cam, Model::Ctp, Model::Mcm, Model::Avp] {
            if model.needs() > trace.data {
                continue;
            }
            let (feasibility, independence) = (Feasibility::Prefix, Independence::Conflict);
            let question = Question { model, feasibility, independence };
            let options = Options { question, atomic, ..Options::new(trace.data) };
            let asked = AskedBlocks {
                trace: &trace,
                observed: &observed,
                blocks: &blocks,
                wanted: &|_| true,
                choices: Choices::new(model),
                method: Method::Both,
                observed_only: false,
            };
            for (block, truth) in truths(&trace, &observed, &blocks, model).expect("fits").iter().enumerate() {
                let found = explain_block(&asked, block, &options, &bounds).expect("verdict and argument agree");
                let told = format!("seed {seed}, {model}, block {block}: {found:?}");
                assert_eq!(found.missing, None, "{told}");
                match found.judgement.decision {
                    Decision::Violated(_) => {
                        assert!(truth.violated && found.arguments.is_empty(), "{told}");
                        violated += 1;
                    }
                    Decision::Proved | Decision::Holds => {
                        assert!(!truth.violated, "{told}");
                        assert!(found.arguments.iter().all(|one| one.argument.minimal), "{told}");
                        argued += found.arguments.len();
                        obvious += usize::from(found.arguments.is_empty());
                        proved += usize::from(!found.apart.is_empty());
                    }
                    _ => panic!("{told}"),
                }
            }
        }
    }
    println!("{argued} arguments, {obvious} blocks without need of one, {proved} static proofs, {violated} violated");
    assert!(argued > 10 && obvious > 10 && proved > 10 && violated > 10, "{argued} {obvious} {proved} {violated}");
}

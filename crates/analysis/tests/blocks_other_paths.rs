//! Blocks that only the path of this run makes safe, against exhaustive searches: one of the model, one of free reads with open tries.

use foretrace_analysis::serializability::{AskedBlocks, Bounds, Method, OtherPaths, decide_blocks, on_other_paths};
use foretrace_serializability::Choices;
use foretrace_serializability::oracle::truths;
use foretrace_trace::strategies::{Shape, random_trace, with_tries};
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
    let trace = if seed.is_multiple_of(2) { trace } else { with_tries(seed, trace) };
    let atomic = [Atomic::Marked, Atomic::Auto, Atomic::Sections, Atomic::Threads][(seed / 7 % 4) as usize];
    let blocks = atomic.blocks(&trace);
    (trace, observed, blocks)
}

#[test]
fn safe_is_said_where_no_path_violates() {
    let stop = AtomicBool::new(false);
    let bounds = Bounds { of_block: None, deadline: None, work: None, stop: &stop };
    let (mut safe_count, mut off_path, mut by_tries) = (0, [0; 4], 0);
    for seed in 4_000_000..4_000_000 + count(2_000) {
        let (trace, observed, blocks) = case(seed);
        let opened = trace.with_open_tries();
        let free = truths(opened.as_ref().unwrap_or(&trace), &observed, &blocks, Model::Cam).expect("fits");
        let all = [Model::Cam, Model::Ctp, Model::Mcm, Model::Avp];
        for (nth, model) in all.into_iter().enumerate().filter(|(_, model)| model.needs() <= trace.data) {
            let truths = truths(&trace, &observed, &blocks, model).expect("fits");
            let asked = AskedBlocks {
                trace: &trace,
                observed: &observed,
                blocks: &blocks,
                wanted: &|_| true,
                choices: Choices::new(model),
                method: Method::Both,
                observed_only: false,
            };
            let mut safe = Vec::new();
            decide_blocks(&asked, &bounds, &mut |_, judgement, _| {
                safe.extend(judgement.is_safe().then_some(judgement.block));
                Ok(())
            })
            .expect("it is decided");
            let expected: Vec<usize> = (0..truths.len()).filter(|block| !truths[*block].violated).collect();
            assert_eq!(safe, expected, "seed {seed}, {model}");
            let mut answers = Vec::new();
            on_other_paths(&asked, &safe, &bounds, &mut |block, paths| answers.push((block, paths))).expect("it is");
            assert_eq!(answers.iter().map(|(block, _)| *block).collect::<Vec<_>>(), safe, "seed {seed}, {model}");
            for (block, paths) in answers {
                let told = format!("seed {seed}, {model}, block {block}: {paths:?}");
                match paths {
                    OtherPaths::Safe => {
                        assert!(!free[block].violated, "{told}");
                        safe_count += 1;
                    }
                    OtherPaths::Violated(violation) => {
                        assert!(free[block].violated, "{told}");
                        let path = violation.claim();
                        let (first, last) = (path.events[0], path.events[path.events.len() - 1]);
                        assert!(blocks.all()[block].holds(trace.event(first).thread, first, last), "{told}");
                        off_path[nth] += 1;
                        by_tries += u64::from(model == Model::Cam);
                    }
                    OtherPaths::Unknown => panic!("{told}"),
                }
            }
        }
    }
    println!("{safe_count} safe, off the path in cam, ctp, mcm, avp: {off_path:?}");
    assert!(
        safe_count > 100 && by_tries > 0 && off_path[1..].iter().all(|count| *count > 5),
        "{safe_count} {off_path:?}"
    );
}

//! Against an exhaustive search over all prefixes of random small traces, by the definition of section II.D.

use foretrace_index::TraceIndex;
use foretrace_serializability::oracle::truths;
use foretrace_serializability::{Choices, Decision, Judge, Range};
use foretrace_trace::strategies::{Shape, random_trace};
use foretrace_trace::{Atomic, Blocks, Data, EventId, Model, Observed, Trace};
use std::collections::BTreeSet;

/// How many random traces are tried; `FORETRACE_SEEDS` says another number.
fn count(usual: u64) -> u64 {
    std::env::var("FORETRACE_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// The models that a trace's data allows.
fn models(trace: &Trace) -> Vec<Model> {
    let all = [Model::Cam, Model::Ctp, Model::Mcm, Model::Avp];
    all.into_iter().filter(|model| model.needs() <= trace.data).collect()
}

/// All switches, each off once, and all off.
fn variants(model: Model) -> Vec<Choices> {
    let all = Choices::new(model);
    vec![
        all.clone(),
        Choices { hunt: false, ..all.clone() },
        Choices { hunt: false, static_check: false, ..all.clone() },
        Choices { hunt: false, segment: false, ..all.clone() },
        Choices { hunt: false, segment: false, static_check: false, ..all.clone() },
        Choices { hunt: false, context_switches: Some(64), ..all.clone() },
        Choices { hunt: false, segment: false, static_check: false, reduction: false, ..all },
    ]
}

/// The sizes and choices of blocks that traces take turns with.
fn case(seed: u64) -> (Trace, Observed, Blocks) {
    let events = 6 + (seed % 6) as usize;
    let data = [None, Some(Data::Symbolic), None][(seed % 3) as usize];
    let (trace, observed) = random_trace(seed, &Shape { events, data, ..Shape::default() });
    let atomic = [Atomic::Marked, Atomic::Auto, Atomic::Sections, Atomic::Threads][(seed / 7 % 4) as usize];
    let blocks = atomic.blocks(&trace);
    (trace, observed, blocks)
}

#[test]
fn verdicts_are_those_of_exhaustive_search() {
    let (mut violated, mut held, mut proved) = (0, 0, 0);
    for seed in 0..count(250) {
        let (trace, observed, blocks) = case(seed);
        for model in models(&trace) {
            let truths = truths(&trace, &observed, &blocks, model).expect("fits");
            for choices in variants(model) {
                let judge = Judge::new(&trace, &observed, &blocks, &|_| true, choices.clone()).expect("fits");
                for (block, truth) in truths.iter().enumerate() {
                    let judgement = judge.judge(block, &|| true);
                    let told = format!("seed {seed}, {model}, block {block}, {choices:?}: {judgement:?}");
                    match judgement.decision {
                        Decision::Violated(violation) => {
                            assert!(truth.violated, "{told}");
                            assert_eq!(violation.claim().block, blocks.all()[block], "{told}");
                            violated += 1;
                        }
                        Decision::Proved => {
                            assert!(!truth.violated, "{told}");
                            proved += 1;
                        }
                        Decision::Holds => {
                            assert!(!truth.violated, "{told}");
                            held += 1;
                        }
                        Decision::NotWithin(_) | Decision::NotObserved | Decision::Limit | Decision::Refused(_) => {
                            panic!("{told}")
                        }
                    }
                }
            }
        }
    }
    assert!(violated > 50 && held > 50 && proved > 50, "{violated} {held} {proved}");
}

#[test]
fn paths_stay_inside_the_segment() {
    let mut paths = 0;
    for seed in 0..count(250) {
        let (trace, observed, blocks) = case(seed);
        let trace_index = TraceIndex::new(&trace);
        for model in models(&trace) {
            let judge = Judge::new(&trace, &observed, &blocks, &|_| true, Choices::new(model)).expect("fits");
            for (block, truth) in truths(&trace, &observed, &blocks, model).expect("fits").iter().enumerate() {
                let segment = judge.segment(block);
                for event in (0..trace.events.len() as u32).map(EventId).filter(|id| truth.on_paths >> id.0 & 1 == 1) {
                    let thread = trace.event(event).thread.index();
                    let position = trace_index.position(event) as u32;
                    assert!(
                        segment.range.holds(thread, position),
                        "seed {seed}, {model}, block {block}, event {event}"
                    );
                    paths += 1;
                }
            }
        }
    }
    assert!(paths > 50, "{paths}");
}

#[test]
fn reduction_explores_each_class_once() {
    let mut most = 0;
    for seed in 0..count(250) {
        let (trace, observed, blocks) = case(seed);
        let trace_index = TraceIndex::new(&trace);
        // A block that is never violated: nothing stops early.
        let Some(block) = (0..blocks.all().len()).next() else { continue };
        for model in models(&trace) {
            let nothing = Judge::new(&trace, &observed, &blocks, &|_| false, Choices::new(model)).expect("fits");
            let (mut classes, mut stuck) = (BTreeSet::new(), false);
            let class = |steps: &[foretrace_explore::Step]| {
                let mut class: Vec<_> =
                    steps.iter().map(|step| (step.thread, step.number, step.choice, step.clock.clone())).collect();
                class.sort();
                class
            };
            let whole = || Range::whole(&trace_index);
            nothing
                .explore(block, whole(), false, &mut |_, steps, _| {
                    stuck |= steps.iter().any(|step| step.action.ends_all);
                    classes.insert(class(steps));
                })
                .expect("runs");
            if stuck {
                continue; // where a step of several events ends half-way, others are cut off at any place
            }
            let mut reduced = BTreeSet::new();
            let mut executions = 0;
            let tally = nothing
                .explore(block, whole(), true, &mut |_, steps, _| {
                    executions += 1;
                    reduced.insert(class(steps));
                })
                .expect("runs");
            assert_eq!(reduced, classes, "seed {seed}, {model}");
            assert_eq!(executions, classes.len(), "seed {seed}, {model}: {tally:?}");
            most = most.max(classes.len());
        }
    }
    assert!(most > 20, "{most}");
}

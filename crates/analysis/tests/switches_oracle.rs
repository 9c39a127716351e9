//! Bounds on context switches against exhaustive search: triples and blocks of random small traces, each bound from 0 to 4, in each
//! model and by each back-end.
//!
//! `FORETRACE_SEEDS` is the number of random traces.

use foretrace_analysis::options::{CandidateSet, Options, Order, Per};
use foretrace_analysis::predict::predict;
use foretrace_analysis::serializability::{BlockJudge, Bounds, Method};
use foretrace_analysis::verdict::{Decider, Decision, Limit, Verdict};
use foretrace_checker::oracle::Oracle;
use foretrace_serializability::oracle::truths_with_switches;
use foretrace_serializability::{Choices, Decision as BlockDecision, Judge};
use foretrace_trace::strategies::{Shape, random_trace};
use foretrace_trace::{
    Atomic, Data, EventId, Feasibility, Independence, Model, Observed, Question, Trace, Transaction, Triple,
};
use std::sync::atomic::AtomicBool;

fn count(usual: u64) -> u64 {
    std::env::var("FORETRACE_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

const MODELS: [Model; 4] = [Model::Cam, Model::Ctp, Model::Mcm, Model::Avp];
const ORDERS: [Order; 4] = [Order::Auto, Order::Idl, Order::Order, Order::Sat];

fn questions(model: Model) -> Vec<Question> {
    let of = |feasibility, independence| Question { model, feasibility, independence };
    let mut all =
        vec![of(Feasibility::Prefix, Independence::Conflict), of(Feasibility::Complete, Independence::Conflict)];
    if matches!(model, Model::Ctp | Model::Mcm) {
        all.push(of(Feasibility::Prefix, Independence::Guarded));
    }
    all
}

/// Changes of thread between two events of a schedule, counted without anything that is tested.
fn switches(trace: &Trace, schedule: &[EventId], first: EventId, last: EventId) -> u32 {
    let place = |event| schedule.iter().position(|other| *other == event).expect("is there");
    let between = &schedule[place(first)..=place(last)];
    (1..between.len()).filter(|at| trace.event(between[*at]).thread != trace.event(between[at - 1]).thread).count()
        as u32
}

fn decisions(
    (trace, observed): (&Trace, &Observed),
    transactions: &[Transaction],
    question: Question,
    (bound, order, filters): (u32, Order, bool),
) -> Vec<Decision> {
    let without = Decider::ALL.into_iter().filter(|decider| !filters && *decider != Decider::Smt).collect();
    let options = Options {
        question,
        candidates: CandidateSet::All,
        per: Per::Event,
        context_switches: Some(bound),
        order,
        without,
        off_path: false,
        jobs: 1,
        ..Options::new(trace.data)
    };
    let mut all = Vec::new();
    predict(trace, observed, transactions, &options, &AtomicBool::new(false), &mut all).expect("runs");
    all
}

#[test]
fn bounded_triples_are_those_of_exhaustive_search() {
    let (mut feasible, mut beyond, mut never) = ([0; 5], [0; 5], 0);
    // In the first trace the last access of a candidate is in no constraint but the bound's own.
    for seed in std::iter::once(3_006_731).chain(3_000_000..3_000_000 + count(60)) {
        let (trace, observed) = random_trace(seed, &Shape::default());
        let transactions = [Atomic::Threads, Atomic::Marked][(seed % 2) as usize].transactions(&trace);
        for model in MODELS {
            let Ok(oracle) = Oracle::new(&trace, &observed, model) else { continue };
            for question in questions(model) {
                for bound in 0..=4u32 {
                    let way = (bound, ORDERS[(seed + u64::from(bound)) as usize % 4], seed / 3 % 2 == 0);
                    for decision in decisions((&trace, &observed), &transactions, question, way) {
                        let Triple { first, second, .. } = decision.triple;
                        let Question { feasibility, independence, .. } = question;
                        let fewest = oracle.fewest_switches(decision.triple, feasibility, independence);
                        let told = format!("seed {seed}, {question:?}, {way:?}, fewest {fewest:?}: {decision:?}");
                        match &decision.verdict {
                            Verdict::Feasible(witness) => {
                                let found = switches(&trace, witness.schedule(), first, second);
                                assert!(found <= bound && fewest.is_some_and(|fewest| fewest <= found), "{told}");
                                feasible[bound as usize] += 1;
                            }
                            Verdict::Unknown(Limit::ContextSwitches(most)) => {
                                assert!(*most == bound && fewest.is_none_or(|fewest| fewest > bound), "{told}");
                                beyond[bound as usize] += u64::from(fewest.is_some());
                            }
                            Verdict::Infeasible => {
                                assert!(fewest.is_none(), "{told}");
                                never += 1;
                            }
                            Verdict::Unknown(_) => panic!("{told}"),
                        }
                    }
                }
            }
        }
    }
    println!("feasible by bound {feasible:?}, only with more {beyond:?}, refuted whatever the bound {never}");
    assert!(feasible[0] + feasible[1] == 0 && feasible[2..].iter().all(|count| *count > 5), "{feasible:?}");
    assert!(beyond[..4].iter().all(|count| *count > 5) && never > 5, "{beyond:?} {never}");
}

#[test]
fn bounded_blocks_are_those_of_exhaustive_search() {
    let stop = AtomicBool::new(false);
    let bounds = Bounds { of_block: None, deadline: None, work: None, stop: &stop };
    let (mut violated, mut beyond, mut by_solver) = ([0; 5], [0; 5], 0);
    for seed in 4_000_000..4_000_000 + count(60) {
        let events = 6 + (seed % 5) as usize;
        let data = [None, Some(Data::Symbolic), None][(seed % 3) as usize];
        let (trace, observed) = random_trace(seed, &Shape { events, data, ..Shape::default() });
        let atomic = [Atomic::Marked, Atomic::Auto, Atomic::Sections, Atomic::Threads][(seed / 7 % 4) as usize];
        let blocks = atomic.blocks(&trace);
        for model in MODELS.into_iter().filter(|model| model.needs() <= trace.data) {
            let truths = truths_with_switches(&trace, &observed, &blocks, model).expect("fits");
            for bound in 0..=4u32 {
                let all = Choices { context_switches: Some(bound), ..Choices::new(model) };
                let ways = [
                    (Method::Solve, all.clone()),
                    (Method::Both, all.clone()),
                    (Method::Explore, Choices { hunt: false, ..all.clone() }),
                    (Method::Explore, Choices { hunt: false, segment: false, static_check: false, ..all }),
                ];
                for (nth, (method, choices)) in ways.into_iter().enumerate() {
                    let judge = Judge::new(&trace, &observed, &blocks, &|_| true, choices).expect("fits");
                    let judge = BlockJudge::new(&trace, &observed, judge, method);
                    let mut solver = judge.solver().by(ORDERS[(seed as usize + nth) % 4]);
                    for (block, truth) in truths.iter().enumerate() {
                        let fewest = truth.fewest_switches;
                        let judgement = judge.decide(block, &mut solver, &bounds);
                        let told = format!(
                            "seed {seed}, {model}, way {nth}, {bound}, block {block}, {truth:?}: {judgement:?}"
                        );
                        match judgement.decision {
                            BlockDecision::Violated(violation) => {
                                let path = violation.claim();
                                let ends = (path.events[0], path.events[path.events.len() - 1]);
                                let found = switches(&trace, violation.schedule(), ends.0, ends.1);
                                assert!(found <= bound && fewest.is_some_and(|fewest| fewest <= found), "{told}");
                                assert_eq!(path.block, blocks.all()[block], "{told}");
                                violated[bound as usize] += 1;
                                by_solver += u64::from(judgement.by_solver);
                            }
                            BlockDecision::NotWithin(most) => {
                                assert!(most == bound && fewest.is_none_or(|fewest| fewest > bound), "{told}");
                                beyond[bound as usize] += u64::from(fewest.is_some());
                                by_solver += u64::from(judgement.by_solver);
                            }
                            BlockDecision::Proved | BlockDecision::Holds => assert!(!truth.violated, "{told}"),
                            BlockDecision::NotObserved | BlockDecision::Limit | BlockDecision::Refused(_) => {
                                panic!("{told}")
                            }
                        }
                    }
                }
            }
        }
    }
    println!("violated by bound {violated:?}, only with more {beyond:?}, {by_solver} by the solver");
    assert!(violated[0] + violated[1] == 0 && violated[2..].iter().all(|count| *count > 5), "{violated:?}");
    assert!(beyond[..2].iter().all(|count| *count > 5) && by_solver > 20, "{beyond:?} {by_solver}");
}

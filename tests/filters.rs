//! No filter is ever wrong: each alone, against the exhaustive oracle, in every model, feasibility and independence.
//!
//! `FORETRACE_SEEDS` says how many random traces (default 150), `FORETRACE_SEED` where to start.

use foretrace::candidates::Candidates;
use foretrace::filters::{Filters, Judgement};
use foretrace::options::{CandidateSet, Options};
use foretrace::verdict::Decider;
use foretrace_encodings::{Facts, constant_reads};
use foretrace_trace::oracle::Oracle;
use foretrace_trace::strategies::{Shape, random_trace};
use foretrace_trace::{
    Atomic, Feasibility, Independence, Model, MustHappenBefore, Observed, Question, Structure, Trace, Transaction,
};
use std::collections::BTreeMap;

/// How many questions there were and how many of them each filter decided: feasible ones, infeasible ones.
#[derive(Default)]
struct Decided {
    asked: [u64; 2],
    by: BTreeMap<Decider, [u64; 2]>,
    by_any: [u64; 2],
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn against_oracle(seed: u64, trace: &Trace, observed: &Observed, transactions: &[Transaction], decided: &mut Decided) {
    let structure = Structure::new(trace);
    let clocks = MustHappenBefore::new(trace, &structure);
    let facts = Facts { trace, structure: &structure, observed, clocks: &clocks };
    let candidates = Candidates::new(trace, &structure, transactions);
    if candidates.count(CandidateSet::All) == 0 {
        return;
    }
    for model in [Model::Cam, Model::Ctp, Model::Mcm, Model::Avp] {
        let Ok(oracle) = Oracle::new(trace, observed, model) else { continue };
        for feasibility in [Feasibility::Prefix, Feasibility::Complete] {
            for independence in [Independence::Conflict, Independence::Guarded] {
                if independence == Independence::Guarded && !matches!(model, Model::Ctp | Model::Mcm) {
                    continue;
                }
                let question = Question { model, feasibility, independence };
                let truth = oracle.decide(transactions, feasibility, independence);
                let options = |without: &dyn Fn(&Decider) -> bool| {
                    let mut options = Options::new(trace.data);
                    options.question = question;
                    options.without.extend(Decider::ALL.into_iter().filter(without));
                    options
                };
                let constants = constant_reads(facts);
                let filters = |options| Filters::new(facts, transactions, &options, &constants);
                let alone = Decider::ALL.map(|decider| (decider, filters(options(&|other| *other != decider))));
                let together = filters(options(&|_| false));
                for triple in candidates.triples(CandidateSet::All) {
                    let feasible = truth[&triple].is_some();
                    let truth = usize::from(!feasible);
                    decided.asked[truth] += 1;
                    decided.by_any[truth] += u64::from(together.judge(triple).is_some());
                    for (decider, filters) in &alone {
                        let Some(judgement) = filters.judge(triple) else { continue };
                        let says = matches!(judgement, Judgement::Feasible { .. });
                        assert!(
                            says == feasible,
                            "seed {seed}, {question:?}: {decider} is wrong on {triple}: {trace:#?}"
                        );
                        decided.by.entry(*decider).or_default()[truth] += 1;
                    }
                }
            }
        }
    }
}

#[test]
fn no_filter_contradicts_the_oracle() {
    let mut decided = Decided::default();
    let start = number("FORETRACE_SEED", 0);
    for seed in start..start + number("FORETRACE_SEEDS", 150) {
        let (trace, observed) = random_trace(seed, &Shape::default());
        for atomic in [Atomic::Threads, Atomic::Marked] {
            against_oracle(seed, &trace, &observed, &atomic.transactions(&trace), &mut decided);
        }
    }
    println!("feasible and infeasible ones: {:?}, decided together {:?}", decided.asked, decided.by_any);
    for decider in Decider::ALL.into_iter().filter(|decider| *decider != Decider::Smt) {
        let [feasible, infeasible] = decided.by.get(&decider).copied().unwrap_or_default();
        println!("{decider}: {feasible} feasible, {infeasible} infeasible");
        assert!(feasible + infeasible > 0, "{decider} decided nothing");
    }
}

#[test]
fn adjacent_candidates_are_enough_under_conflict_independence() {
    for seed in 0..number("FORETRACE_SEEDS", 150) {
        let (trace, observed) = random_trace(seed, &Shape::default());
        let structure = Structure::new(&trace);
        let transactions = Atomic::Threads.transactions(&trace);
        let candidates = Candidates::new(&trace, &structure, &transactions);
        let Ok(oracle) = Oracle::new(&trace, &observed, Model::Avp) else { continue };
        let truth = oracle.decide(&transactions, Feasibility::Prefix, Independence::Conflict);
        assert_eq!(candidates.triples(CandidateSet::All).count(), truth.len(), "seed {seed}");
        let adjacent: Vec<_> = candidates.triples(CandidateSet::Adjacent).collect();
        for (triple, pattern) in &truth {
            if pattern.is_none() {
                continue;
            }
            // Some neighbours between first and second show it with the same remote access.
            let shown = adjacent.iter().any(|near| {
                near.remote == triple.remote
                    && triple.first <= near.first
                    && near.second <= triple.second
                    && truth[near].is_some()
            });
            assert!(shown, "seed {seed}: {triple}");
        }
    }
}

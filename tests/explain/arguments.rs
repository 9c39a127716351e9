//! Arguments: there is one exactly where the oracle finds no schedule; what it names refutes, and all of it is needed.

use crate::search::satisfiable;
use crate::{MODELS, questions, seeds};
use foretrace::explain::{Argued, Argument, Explainer, explain, granted};
use foretrace::options::Options;
use foretrace::verdict::Verdict;
use foretrace_checker::oracle::Oracle;
use foretrace_encodings::{Encoder, Origin, Rules, TraceView};
use foretrace_index::TraceIndex;
use foretrace_trace::strategies::{Shape, random_trace};
use foretrace_trace::{Atomic, Independence, Pattern, Question, TermId, Triple};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

#[derive(Default, Debug)]
struct Seen {
    refuted: usize,
    possible: usize,
    by_search: usize,
    rules: BTreeMap<&'static str, usize>,
}

#[test]
fn arguments_are_there_where_the_oracle_finds_nothing() {
    let mut seen = Seen::default();
    let stop = AtomicBool::new(false);
    for seed in seeds() {
        let (trace, observed) = random_trace(seed, &Shape::default());
        let trace_index = TraceIndex::new(&trace);
        let clocks = granted(&trace, &trace_index);
        let view = TraceView { trace: &trace, trace_index: &trace_index, observed: &observed, clocks: &clocks };
        let transactions = Atomic::Threads.transactions(&trace);
        for model in MODELS {
            let Ok(oracle) = Oracle::new(&trace, &observed, model) else { continue };
            for question in questions(model) {
                let truth = oracle.decide(&transactions, question.feasibility, question.independence);
                let mut options = Options::new(trace.data);
                options.question = question;
                let explainer = Explainer::new(view, &options, None, &stop);
                for (nth, (triple, feasible)) in truth.iter().enumerate() {
                    if nth % 4 != (seed % 4) as usize {
                        continue; // a quarter of them, another one each time
                    }
                    let context = format!("seed {seed}, {question:?}, {triple}");
                    for pattern in patterns(view, *triple, question) {
                        match explainer.argue(*triple, pattern) {
                            Argued::Refuted(argument) => {
                                assert!(feasible.is_none() || pattern.is_some(), "{context}: {argument:?}");
                                assert!(argument.minimal, "{context}: {argument:?}");
                                seen.refuted += 1;
                                check(view, question, *triple, &argument, &context, &mut seen);
                            }
                            Argued::Possible => {
                                assert!(feasible.is_some(), "{context}: no argument");
                                seen.possible += 1;
                            }
                            Argued::Undecided(limit) => panic!("{context}: {limit}"),
                        }
                    }
                }
            }
        }
    }
    println!("{seen:?}");
    assert!(seen.refuted > 120 && seen.possible > 90 && seen.by_search > 48, "{seen:?}");
    // Forks, signals and counts are in the examples (`tests/cli/reasons.rs`).
    let kinds = ["program-order", "reads", "branch", "pin", "lock"];
    for kind in kinds {
        assert!(seen.rules.contains_key(kind), "no argument uses {kind}: {seen:?}");
    }
}

fn patterns(view: TraceView<'_>, triple: Triple, question: Question) -> Vec<Option<Pattern>> {
    match question.independence {
        Independence::Conflict => vec![None],
        Independence::Guarded => triple.patterns(view.trace).map(Some).collect(),
    }
}

/// What the argument names leaves nothing, and each part of it is needed: by an encoding of its own and a search that has
/// nothing of the solver, where that can be had.
fn check(view: TraceView<'_>, question: Question, triple: Triple, argument: &Argument, context: &str, seen: &mut Seen) {
    for reason in &argument.reasons {
        *seen.rules.entry(reason.statement.name()).or_default() += 1;
    }
    let constants = Default::default();
    let rules = Rules { without: argument.without.to_vec(), ..Rules::for_question(question) };
    let mut encoder = Encoder::new(view, rules, &constants);
    let query = encoder.query(triple, argument.pattern);
    let origins = argument.origins();
    let known: BTreeSet<Origin> = encoder.constraints().iter().map(|constraint| constraint.origin).collect();
    assert!(origins.is_subset(&known), "{context}: {origins:?}");
    let roots = |spared: Option<Origin>| -> Vec<TermId> {
        let named = encoder.constraints().iter().filter(|c| origins.contains(&c.origin) && Some(c.origin) != spared);
        named.map(|constraint| constraint.term).chain(query.goals.clone()).chain([query.pins]).collect()
    };
    let Some(together) = satisfiable(&encoder.build().terms, &roots(None)) else { return };
    assert!(!together, "{context}: a schedule fulfils all that is named: {argument:?}");
    for origin in &origins {
        if let Some(alone) = satisfiable(&encoder.build().terms, &roots(Some(*origin))) {
            assert!(alone, "{context}: {origin:?} is not needed: {argument:?}");
        }
    }
    seen.by_search += 1;
}

#[test]
fn explanations_say_what_the_oracle_says() {
    let stop = AtomicBool::new(false);
    for seed in seeds().take(12) {
        let (trace, observed) = random_trace(seed, &Shape::default());
        let transactions = Atomic::Threads.transactions(&trace);
        for model in MODELS {
            let Ok(oracle) = Oracle::new(&trace, &observed, model) else { continue };
            for question in questions(model) {
                let truth = oracle.decide(&transactions, question.feasibility, question.independence);
                let mut options = Options::new(trace.data);
                options.question = question;
                options.jobs = 1;
                for (triple, feasible) in truth.iter().step_by(4) {
                    let explanation = explain(&trace, &observed, &transactions, &options, *triple, &stop)
                        .expect("verdict and argument agree");
                    match explanation.decision.verdict {
                        Verdict::Feasible(_) => assert!(feasible.is_some() && explanation.arguments.is_empty()),
                        Verdict::Infeasible => {
                            assert!(feasible.is_none() && explanation.missing.is_none());
                            let asked = match question.independence {
                                Independence::Conflict => 1,
                                Independence::Guarded => triple.patterns(&trace).count(),
                            };
                            assert_eq!(explanation.arguments.len(), asked);
                        }
                        Verdict::Unknown(limit) => panic!("seed {seed}, {question:?}, {triple}: {limit}"),
                    }
                }
            }
        }
    }
}

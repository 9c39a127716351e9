//! The strategy `paper`, kept as the baseline, against the exhaustive oracle and against the default strategy.
//!
//! `FORETRACE_SEEDS` says how many random traces of each shape (default 24), `FORETRACE_SEED` where to start.

use foretrace::options::{CandidateSet, Options, Per, Strategy, not_of_paper};
use foretrace::predict::predict;
use foretrace::verdict::{Decider, Decision, RestsOn, Verdict};
use foretrace_checker::oracle::Oracle;
use foretrace_encodings::paper::supports;
use foretrace_trace::strategies::{Shape, Topic, random_trace};
use foretrace_trace::{
    Atomic, Data, Feasibility, Independence, Model, Observed, Pattern, Question, Trace, Transaction, Triple,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

const QUESTION: Question =
    Question { model: Model::Ctp, feasibility: Feasibility::Prefix, independence: Independence::Conflict };

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A trace, its transactions, and what is asked of them.
struct Case<'a> {
    trace: &'a Trace,
    observed: &'a Observed,
    transactions: &'a [Transaction],
    question: Question,
}

/// What is said of a candidate: the pattern that can happen, and whether one that cannot rests on a pin.
type Verdicts = BTreeMap<Triple, (Option<Pattern>, bool)>;

impl Case<'_> {
    fn decide(&self, strategy: Strategy) -> anyhow::Result<Vec<Decision>> {
        let options = Options {
            question: self.question,
            candidates: CandidateSet::All,
            per: Per::Event,
            strategy,
            without: not_of_paper(),
            jobs: 1,
            ..Options::new(self.trace.data)
        };
        let mut decisions = Vec::new();
        let stop = AtomicBool::new(false);
        predict(self.trace, self.observed, self.transactions, &options, &stop, &mut decisions)?;
        Ok(decisions)
    }

    fn verdicts(&self, strategy: Strategy) -> Verdicts {
        let decisions = self.decide(strategy).expect("the checker runs every schedule");
        let verdict = |decision: &Decision| match &decision.verdict {
            Verdict::Feasible(witness) => (Some(witness.pattern()), false),
            Verdict::Infeasible => (None, decision.rests_on == Some(RestsOn::Pin)),
            Verdict::Unknown(limit) => panic!("{}: unknown: {limit}", decision.triple),
        };
        decisions.iter().map(|decision| (decision.triple, verdict(decision))).collect()
    }
}

/// Calls `test` with the cases of random traces that there is a formula for; returns how many traces had one.
fn for_each(shape: &Shape, mut test: impl FnMut(u64, Case<'_>)) -> u64 {
    let start = number("FORETRACE_SEED", 0);
    let mut used = 0;
    for seed in start..start + number("FORETRACE_SEEDS", 24) {
        let (trace, observed) = random_trace(seed, shape);
        if supports(&trace, QUESTION).is_err() {
            continue;
        }
        used += 1;
        for atomic in [Atomic::Threads, Atomic::Marked] {
            let transactions = atomic.transactions(&trace);
            for independence in [Independence::Conflict, Independence::Guarded] {
                let question = Question { independence, ..QUESTION };
                test(seed, Case { trace: &trace, observed: &observed, transactions: &transactions, question });
            }
        }
    }
    used
}

fn agrees_with_the_oracle(topics: &[Topic]) {
    let shape = Shape { data: Some(Data::Symbolic), topics: topics.to_vec(), ..Shape::default() };
    let mut asked = [0u64; 2];
    let used = for_each(&shape, |seed, case| {
        let oracle = Oracle::new(case.trace, case.observed, Model::Ctp).expect("the trace has expressions");
        let truth = oracle.decide(case.transactions, Feasibility::Prefix, case.question.independence);
        let found = case.verdicts(Strategy::Paper);
        let demand = case.verdicts(Strategy::Demand);
        assert_eq!(found.len(), truth.len());
        for (triple, pattern) in truth {
            asked[usize::from(pattern.is_none())] += 1;
            let about = || format!("seed {seed}, {:?}, {triple}\n{:#?}", case.question, case.trace.events);
            assert_eq!(found[&triple].0, pattern, "the oracle: {}", about());
            assert_eq!(found[&triple], demand[&triple], "the default strategy: {}", about());
        }
    });
    assert!(used > 10 && asked[0] > 30 && asked[1] > 30, "too few to mean anything: {used} traces, {asked:?}");
}

#[test]
fn agrees_with_the_oracle_on_all_topics() {
    agrees_with_the_oracle(&[]);
}

#[test]
fn agrees_with_the_oracle_on_locks() {
    agrees_with_the_oracle(&[Topic::Mutex, Topic::Recursive]);
}

#[test]
fn agrees_with_the_oracle_on_condition_variables() {
    agrees_with_the_oracle(&[Topic::Condvar]);
}

#[test]
fn agrees_with_the_oracle_on_counts_and_barriers() {
    agrees_with_the_oracle(&[Topic::Semaphore, Topic::Barrier, Topic::Threads]);
}

/// Nothing but must-happen-before and the solver decides, whatever the options say of filters.
#[test]
fn nothing_is_decided_early() {
    let mut deciders = BTreeSet::new();
    let shape = Shape { data: Some(Data::Symbolic), ..Shape::default() };
    for_each(&shape, |_, case| {
        let options = Options {
            question: case.question,
            strategy: Strategy::Paper,
            candidates: CandidateSet::All,
            per: Per::Event,
            jobs: 1,
            ..Options::new(case.trace.data)
        };
        let mut decisions = Vec::new();
        let stop = AtomicBool::new(false);
        predict(case.trace, case.observed, case.transactions, &options, &stop, &mut decisions).expect("a formula");
        deciders.extend(decisions.iter().map(|decision| decision.decided_by));
    });
    assert_eq!(deciders, BTreeSet::from([Decider::MustHappenBefore, Decider::Smt]));
}

#[test]
fn refuses_what_it_has_no_formula_for() {
    let refusal = |text: &str, question: Question| {
        let trace = foretrace_trace::read_from(text.as_bytes(), "refused.jsonl").expect("a valid trace");
        let observed = foretrace_trace::observe(&trace).expect("a valid trace");
        let case = Case { trace: &trace, observed: &observed, transactions: &[], question };
        case.decide(Strategy::Paper).expect_err("no formula").to_string()
    };
    let header = r#"{"foretrace": 1, "data": "symbolic", "vars": {"x": {"sort": "Int", "init": 0}}, "sync": {"q": {"kind": "rwlock"}}}"#;
    let shared = format!(
        "{header}\n{{\"t\": 1, \"op\": \"begin\"}}\n{{\"t\": 1, \"op\": \"acquire_shared\", \"lock\": \"q\"}}\n"
    );
    assert_eq!(refusal(&shared, QUESTION), "the paper's method knows no shared lock, found one at event 1");
    let part =
        format!("{header}\n{{\"t\": 1, \"op\": \"write\", \"var\": \"x\", \"expr\": \"1\", \"part\": [1, 1]}}\n");
    assert_eq!(refusal(&part, QUESTION), "the paper's method knows no step of several events, found one at event 0");
    assert_eq!(
        refusal(header, Question { feasibility: Feasibility::Complete, ..QUESTION }),
        "the paper's method answers --model ctp and --feasibility prefix, found ctp and complete"
    );
}

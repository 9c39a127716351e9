//! Impossible, and off the path: what `predict` says of infeasible candidates, held against the exhaustive oracle.
//!
//! `FORETRACE_SEEDS` says how many random traces (default 40), `FORETRACE_SEED` where to start.

use foretrace::options::{CandidateSet, Options, Order, Per};
use foretrace::predict::predict;
use foretrace::verdict::{Decider, Decision, OffPath, Verdict};
use foretrace_checker::oracle::Oracle;
use foretrace_checker::{Checker, Interruption};
use foretrace_trace::strategies::{Shape, random_trace, with_kinds, with_tries};
use foretrace_trace::{
    Atomic, EventId, Feasibility, Independence, Model, Observed, Question, ThreadId, Trace, Transaction, Triple,
    blocks_by_definition,
};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// Seeds that found a mistake: a prefix that ends within a step.
const KNOWN: [u64; 1] = [7_100_479];

/// Every way to decide order.
const ORDERS: [Order; 3] = [Order::Idl, Order::Order, Order::Sat];

/// What is said of an infeasible candidate.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Said {
    Impossible,
    AfterRemote,
    BeforeRemote,
    Unasked,
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn questions() -> impl Iterator<Item = Question> {
    let models = [Model::Cam, Model::Ctp, Model::Mcm, Model::Avp].into_iter();
    let feasible = |model| [Feasibility::Prefix, Feasibility::Complete].into_iter().map(move |f| (model, f));
    models.flat_map(feasible).flat_map(|(model, feasibility)| {
        let asked = [Independence::Conflict, Independence::Guarded].into_iter();
        let asked = asked.filter(move |independence| *independence == Independence::Conflict || model.has_values());
        asked.map(move |independence| Question { model, feasibility, independence })
    })
}

fn said(decision: &Decision) -> Said {
    match &decision.off_path {
        None => Said::Impossible,
        Some(OffPath::AfterRemote(_)) => Said::AfterRemote,
        Some(OffPath::BeforeRemote(_)) => Said::BeforeRemote,
        Some(OffPath::Unasked(_)) => Said::Unasked,
    }
}

/// By the definition: with free reads, and by prefixes of the model.
fn truth(free: &Oracle<'_>, model: &Oracle<'_>, independence: Independence, triple: Triple) -> Said {
    if free.witness(triple, Feasibility::Prefix, Independence::Conflict).is_none() {
        return Said::Impossible;
    }
    match model.interruption(triple, independence) {
        Some(_) => Said::AfterRemote,
        None => Said::BeforeRemote,
    }
}

/// That the schedule of a decision shows what it is said to show, run by the checker alone.
fn check_schedule(
    (trace, on_every_path): (&Trace, &Trace),
    observed: &Observed,
    transactions: &[Transaction],
    question: Question,
    decision: &Decision,
) {
    let feasibility = Feasibility::Prefix;
    let free = Question { model: Model::Cam, feasibility, independence: Independence::Conflict };
    let asked = match &decision.off_path {
        Some(OffPath::AfterRemote(_)) => Question { feasibility, ..question },
        _ => free,
    };
    let trace = if matches!(decision.off_path, Some(OffPath::AfterRemote(_))) { trace } else { on_every_path };
    let checker = Checker::new(trace, observed, transactions, asked).expect("the question fits");
    let checked = match &decision.off_path {
        Some(OffPath::AfterRemote(shown)) => checker.check(Interruption(decision.triple), shown.schedule()).map(drop),
        Some(OffPath::BeforeRemote(shown)) => checker.check(decision.triple, shown.schedule()).map(drop),
        _ => Ok(()),
    };
    assert_eq!(checked, Ok(()), "{:?}", decision.triple);
}

/// Asks `predict` every question about all candidates of a trace. `counts` gets the infeasible ones by what `predict` says of them.
fn compare(seed: u64, trace: &Trace, observed: &Observed, choices: &[Atomic], counts: &mut BTreeMap<Said, u64>) {
    let opened = trace.with_open_tries();
    let on_every_path = opened.as_ref().unwrap_or(trace);
    let free = Oracle::new(on_every_path, observed, Model::Cam).expect("cam needs nothing");
    let as_recorded = Oracle::new(trace, observed, Model::Cam).expect("cam needs nothing");
    for question in questions() {
        let Ok(oracle) = Oracle::new(trace, observed, question.model) else { continue };
        for atomic in choices {
            let transactions = atomic.transactions(trace);
            let feasible = oracle.decide(&transactions, question.feasibility, question.independence);
            if feasible.is_empty() {
                continue;
            }
            let mut options = Options::new(trace.data);
            options.question = question;
            options.candidates = CandidateSet::All;
            options.per = Per::Event;
            options.off_path = true;
            options.order = ORDERS[(seed % 3) as usize];
            options.jobs = 1 + (seed % 2) as usize;
            let optional = [Decider::Segment, Decider::EarlyWitness, Decider::EarlyRefutation];
            let chosen = seed / 3 % 8;
            options.without = (0..3).filter(|bit| chosen >> bit & 1 == 1).map(|bit| optional[bit]).collect();
            let mut sink = Vec::new();
            let stop = AtomicBool::new(false);
            predict(trace, observed, &transactions, &options, &stop, &mut sink).expect("it can be decided");
            assert_eq!(sink.len(), feasible.len(), "seed {seed}, {question:?}, {atomic:?}: each candidate once");
            for decision in &sink {
                let is_feasible = matches!(decision.verdict, Verdict::Feasible(_));
                let at = format!("seed {seed}, {question:?}, {atomic:?}, {}", decision.triple);
                assert_eq!(is_feasible, feasible[&decision.triple].is_some(), "{at}");
                if is_feasible {
                    assert!(decision.off_path.is_none(), "{at}");
                    continue;
                }
                if as_recorded.witness(decision.triple, Feasibility::Prefix, Independence::Conflict).is_some() {
                    assert_ne!(said(decision), Said::Impossible, "{at}: open tries only add schedules");
                }
                let is_free = question.model == Model::Cam && question.feasibility == Feasibility::Prefix;
                if is_free {
                    assert_eq!(said(decision), Said::Impossible, "{at}: there is no freer question");
                    continue;
                }
                let expected = truth(&free, &oracle, question.independence, decision.triple);
                assert_eq!(said(decision), expected, "{at}, without {:?}", options.without);
                check_schedule((trace, on_every_path), observed, &transactions, question, decision);
                *counts.entry(expected).or_default() += 1;
            }
        }
    }
}

/// The traces of a test, by seed: as many as `FORETRACE_SEEDS` says.
fn seeds() -> std::ops::Range<u64> {
    let start = number("FORETRACE_SEED", 0);
    start..start + number("FORETRACE_SEEDS", 40)
}

fn all_are_met(counts: &BTreeMap<Said, u64>) {
    println!("{counts:?}");
    for wanted in [Said::Impossible, Said::AfterRemote, Said::BeforeRemote] {
        assert!(counts.get(&wanted).is_some_and(|count| *count > 100), "too few to mean anything: {counts:?}");
    }
}

#[test]
fn what_is_impossible_has_no_schedule_and_what_is_after_remote_has_its_prefix() {
    let mut counts = BTreeMap::new();
    for seed in seeds().chain(KNOWN) {
        let (trace, observed) = random_trace(seed, &Shape::default());
        let trace = if seed.is_multiple_of(3) { trace } else { with_tries(seed, trace) };
        compare(seed, &trace, &observed, &[Atomic::Threads, Atomic::Marked], &mut counts);
    }
    all_are_met(&counts);
}

#[test]
fn blocks_inside_each_other_keep_verdicts_and_hold_their_candidates() {
    let mut counts = BTreeMap::new();
    let (mut inner, mut outer) = (0, 0);
    for seed in seeds() {
        let (trace, observed) = random_trace(seed, &Shape { events: 20, threads: 3, nests: true, ..Shape::default() });
        let trace = with_kinds(seed, trace);
        compare(seed, &trace, &observed, &[Atomic::Auto], &mut counts);
        let by_definition = blocks_by_definition(&trace);
        if by_definition.is_empty() {
            continue;
        }
        let blocks = Atomic::Auto.blocks(&trace);
        let transactions = Atomic::Auto.transactions(&trace);
        for (thread, first, second) in pairs(&trace) {
            let holds =
                |block: &&(ThreadId, EventId, EventId)| block.0 == thread && block.1 <= first && second <= block.2;
            let holding: Vec<_> = by_definition.iter().filter(holds).collect();
            let expected = holding.last().map(|block| (block.1, block.2));
            let found = blocks.innermost(thread, first, second).map(|position| blocks.all()[position]);
            let at = format!("seed {seed}, {first} and {second}");
            assert_eq!(found.map(|block| (block.first, block.last)), expected, "{at}");
            let is_in_one = transactions.iter().any(|t| t.contains(thread, first) && t.contains(thread, second));
            assert_eq!(is_in_one, expected.is_some(), "{at}: only the outermost blocks say what is a candidate");
            match holding.len() {
                0 => {}
                1 => outer += 1,
                _ => inner += 1,
            }
        }
    }
    println!("{inner} pairs in several blocks, {outer} in one");
    assert!(inner > 50 && outer > 50, "too few to mean anything: {inner} and {outer}");
    all_are_met(&counts);
}

/// Two accesses of one variable by one thread, in their order.
fn pairs(trace: &Trace) -> impl Iterator<Item = (ThreadId, EventId, EventId)> {
    let accesses = || trace.iter().filter(|(_, event)| event.op.var().is_some());
    accesses().flat_map(move |(first, begin)| {
        let later = accesses().filter(move |(second, event)| {
            first < *second && event.thread == begin.thread && event.op.var() == begin.op.var()
        });
        later.map(move |(second, _)| (begin.thread, first, second))
    })
}

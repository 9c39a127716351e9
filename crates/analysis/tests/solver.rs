//! The precise model against the exhaustive oracle: every candidate of random traces, in every model, feasibility and
//! independence, decided by the solver alone, and by the whole pipeline with every choice of filters.
//!
//! `FORETRACE_SEEDS` says how many random traces (default 40), `FORETRACE_SEED` where to start.

use foretrace_analysis::candidates::Class;
use foretrace_analysis::options::{CandidateSet, Options, Order, Per};
use foretrace_analysis::predict::predict;
use foretrace_analysis::schedule_from_assignment::schedule_from_assignment;
use foretrace_analysis::verdict::{Decider, Verdict};
use foretrace_checker::Checker;
use foretrace_checker::oracle::Oracle;
use foretrace_encodings::{Reads, Rule, Rules, TraceView, constant_reads};
use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_solve::{Answer, Limits, Session};
use foretrace_trace::strategies::{Shape, Topic, random_appends, random_conditions, random_trace, random_waits};
use foretrace_trace::{
    Atomic, Data, EventId, Feasibility, Independence, Model, Observed, Pattern, Question, SyncKind, Trace,
    TraceBuilder, Transaction, Triple, Value,
};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Every way to decide order.
const ORDERS: [Order; 3] = [Order::Idl, Order::Order, Order::Sat];

type Truth = BTreeMap<Triple, Option<Pattern>>;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn questions() -> impl Iterator<Item = Question> {
    let models = [Model::Cam, Model::Ctp, Model::Mcm, Model::Avp];
    models.into_iter().flat_map(|model| {
        [Feasibility::Prefix, Feasibility::Complete].into_iter().flat_map(move |feasibility| {
            let independences = [Independence::Conflict, Independence::Guarded];
            let asked = independences.into_iter().filter(move |independence| {
                *independence == Independence::Conflict || matches!(model, Model::Ctp | Model::Mcm)
            });
            asked.map(move |independence| Question { model, feasibility, independence })
        })
    })
}

/// The random trace of a seed.
fn any(seed: u64) -> (Trace, Observed) {
    random_trace(seed, &Shape::default())
}

/// Calls `test` with every random trace, choice of transactions, and question that has candidates, and the truth.
fn for_each(
    seeds: std::ops::Range<u64>,
    make: fn(u64) -> (Trace, Observed),
    mut test: impl FnMut(u64, &Trace, &Observed, &[Transaction], Question, &Truth),
) {
    for seed in seeds {
        let (trace, observed) = make(seed);
        for model in [Model::Cam, Model::Ctp, Model::Mcm, Model::Avp] {
            let Ok(oracle) = Oracle::new(&trace, &observed, model) else { continue };
            for atomic in [Atomic::Threads, Atomic::Marked] {
                let transactions = atomic.transactions(&trace);
                for question in questions().filter(|question| question.model == model) {
                    let truth = oracle.decide(&transactions, question.feasibility, question.independence);
                    if !truth.is_empty() {
                        test(seed, &trace, &observed, &transactions, question, &truth);
                    }
                }
            }
        }
    }
}

/// The first feasible pattern that the solver finds, with the schedule run by the checker where `checked` says so.
fn by_solver(
    view: TraceView<'_>,
    transactions: &[Transaction],
    question: Question,
    rules: &Rules,
    (truth, order): (&Truth, Order),
    checked: bool,
) -> Truth {
    let values = rules.reads == Reads::Latest;
    let constants = if values { constant_reads(view) } else { Default::default() };
    let mut session = Session::new(view, rules.clone(), &constants, order, 0);
    let checker = Checker::new(view.trace, view.observed, transactions, question).expect("the question fits the trace");
    let stop = AtomicBool::new(false);
    let limits = Limits { timeout: Duration::from_secs(60), deadline: None, work: None, stop: &stop };
    let mut decide = |triple: Triple, pattern: Option<Pattern>| match session.decide(triple, pattern, limits) {
        Answer::Infeasible { .. } => None,
        Answer::Unknown(limit) => panic!("{triple} is unknown: {limit}"),
        Answer::Feasible(assignment) if checked => {
            let schedule = schedule_from_assignment(view, &assignment.order, triple.second, question.feasibility);
            match checker.check(triple, &schedule) {
                Ok(witness) => Some(witness.pattern()),
                Err(error) => panic!("{triple} in {order:?} by {schedule:?}: {error}\n{:#?}", view.trace.events),
            }
        }
        Answer::Feasible(_) => triple.patterns(view.trace).next(),
    };
    let patterns = |triple: Triple| -> Vec<Option<Pattern>> {
        match question.independence {
            Independence::Conflict => vec![None],
            Independence::Guarded => triple.patterns(view.trace).map(Some).collect(),
        }
    };
    truth
        .keys()
        .map(|triple| (*triple, patterns(*triple).into_iter().find_map(|pattern| decide(*triple, pattern))))
        .collect()
}

#[test]
fn the_solver_agrees_with_the_oracle() {
    agrees_on(any, 1);
}

#[test]
fn the_solver_agrees_with_the_oracle_on_several_conditions_of_one_value() {
    agrees_on(random_conditions, 1);
}

#[test]
fn the_solver_agrees_with_the_oracle_on_semaphores_that_are_locks() {
    agrees_on(random_appends, 4);
}

#[test]
fn the_solver_agrees_with_the_oracle_where_threads_wait_for_each_other() {
    agrees_on(random_waits, 2);
}

/// Initialisations, failed tries, shared locks, steps of several events and guarded updates, each with enough traces: of all traces that are
/// made by chance one in seven is about a topic.
fn random_initialisations_tries_and_steps(seed: u64) -> (Trace, Observed) {
    const TOPICS: [&[Topic]; 6] = [
        &[Topic::Once],
        &[Topic::Once, Topic::Mutex],
        &[Topic::Mutex],
        &[Topic::Rwlock],
        &[Topic::Parts],
        &[Topic::Swaps, Topic::Once],
    ];
    random_trace(seed, &Shape { topics: TOPICS[seed as usize % TOPICS.len()].to_vec(), ..Shape::default() })
}

#[test]
fn the_solver_agrees_with_the_oracle_on_initialisations_tries_and_steps() {
    agrees_on(random_initialisations_tries_and_steps, 1);
}

/// One condition of a read leaves it the initial value or what thread 1 wrote, the other one any but an initial 3. Before the write of thread 1 the
/// read has no source that both allow if the initial value is 3, and has one if that is 6, which is negative.
fn two_conditions_of_one_read(initial: u64) -> (Trace, Observed) {
    let mut builder = TraceBuilder::new(Data::Symbolic);
    builder.var("x", Value::word(3, initial.into()));
    builder.write(2, "x", "(_ bv0 3)");
    builder.write(1, "x", "(_ bv5 3)");
    builder.begin(3);
    builder.read(3, "x", "a");
    builder.pin(3, "(not (= a (_ bv0 3)))");
    builder.assume(3, "(bvslt a (_ bv1 3))");
    builder.write(3, "x", "(_ bv3 3)");
    builder.end(3);
    builder.write(2, "x", "(_ bv0 3)");
    builder.finish().expect("a valid trace")
}

#[test]
fn a_read_needs_a_source_that_all_its_conditions_allow() {
    let before_the_write = Triple { first: EventId(3), remote: EventId(1), second: EventId(6) };
    for initial in [3, 6] {
        for_each(initial..initial + 1, two_conditions_of_one_read, |_, _, _, _, question, truth| {
            let runs_conditions = matches!(question.model, Model::Ctp);
            assert!(
                !runs_conditions || truth[&before_the_write].is_some() == (initial == 6),
                "{initial}, {question:?}"
            );
        });
        agrees(initial..initial + 1, two_conditions_of_one_read);
    }
}

/// Thread 1 shares a lock and tries to take it alone, which fails since thread 2 shares it, too. Thread 2 writes x before it takes the lock, or after.
fn a_try_of_a_thread_that_shares(writes_after: u64) -> (Trace, Observed) {
    let mut builder = TraceBuilder::new(Data::Symbolic);
    builder.int_var("x", 0).sync("l", SyncKind::Rwlock);
    if writes_after == 0 {
        builder.write(2, "x", "2");
    }
    builder.acquire_shared(2, "l");
    builder.acquire_shared(1, "l");
    builder.begin(1);
    builder.busy(1, "l");
    builder.read(1, "x", "a");
    builder.write(1, "x", "1");
    builder.end(1);
    if writes_after == 1 {
        builder.write(2, "x", "2");
    }
    builder.finish().expect("a valid trace")
}

#[test]
fn a_try_does_not_fail_by_what_the_thread_itself_holds() {
    for (writes_after, first, remote, second) in [(0, 5, 0, 6), (1, 4, 7, 5)] {
        let interrupted = Triple { first: EventId(first), remote: EventId(remote), second: EventId(second) };
        for_each(writes_after..writes_after + 1, a_try_of_a_thread_that_shares, |_, _, _, _, question, truth| {
            let is_prefix = question.feasibility == Feasibility::Prefix;
            assert!(!is_prefix || truth[&interrupted].is_some() == (writes_after == 1), "{writes_after}, {question:?}");
        });
        agrees(writes_after..writes_after + 1, a_try_of_a_thread_that_shares);
    }
}

/// The remote access is in a step of three events. The run may end inside of that step: then nothing comes after it, in no schedule.
fn a_step_that_is_cut_off(parts: u64) -> (Trace, Observed) {
    let mut builder = TraceBuilder::new(Data::Symbolic);
    ["x", "y"].iter().for_each(|var| _ = builder.int_var(var, 0));
    builder.begin(1);
    builder.read(1, "x", "a");
    builder.write(1, "x", "1");
    builder.end(1);
    for (part, var) in (1..=parts as u32).zip(["x", "y", "y"]) {
        builder.write(2, var, "2").part(part, 3);
    }
    builder.finish().expect("a valid trace")
}

#[test]
fn nothing_comes_after_a_step_that_is_cut_off() {
    let interrupted = Triple { first: EventId(1), remote: EventId(4), second: EventId(2) };
    for parts in 1..=3 {
        for_each(parts..parts + 1, a_step_that_is_cut_off, |_, _, _, _, question, truth| {
            let is_prefix = question.feasibility == Feasibility::Prefix;
            assert!(!is_prefix || truth[&interrupted].is_some() == (parts == 3), "{parts}, {question:?}");
        });
        agrees(parts..parts + 1, a_step_that_is_cut_off);
    }
}

/// The larger the traces are, the smaller is the share of the seeds.
fn agrees_on(make: fn(u64) -> (Trace, Observed), share: u64) {
    let start = number("FORETRACE_SEED", 0);
    let asked = agrees(start..start + number("FORETRACE_SEEDS", 40) / share, make);
    println!("feasible and infeasible candidates: {asked:?}");
    assert!(asked[0] > 100 && asked[1] > 100, "too few candidates to mean anything: {asked:?}");
}

/// Every back-end says what the oracle says; how many candidates are feasible, and how many not.
fn agrees(seeds: std::ops::Range<u64>, make: fn(u64) -> (Trace, Observed)) -> [u64; 2] {
    let mut asked = [0u64; 2];
    for_each(seeds, make, |seed, trace, observed, transactions, question, truth| {
        let trace_index = TraceIndex::new(trace);
        let clocks = MustHappenBefore::new(trace, &trace_index);
        let view = TraceView { trace, trace_index: &trace_index, observed, clocks: &clocks };
        for order in ORDERS {
            let found = by_solver(view, transactions, question, &Rules::for_question(question), (truth, order), true);
            for (triple, pattern) in truth {
                asked[usize::from(pattern.is_none())] += 1;
                assert!(
                    found[triple] == *pattern,
                    "seed {seed}, {question:?}, {order:?}, {triple}: the solver says {:?}, the oracle {pattern:?}\n{:#?}",
                    found[triple],
                    trace.events
                );
            }
        }
    });
    asked
}

#[test]
fn no_switch_changes_a_verdict() {
    let start = number("FORETRACE_SEED", 0);
    let stop = AtomicBool::new(false);
    for_each(
        start..start + number("FORETRACE_SEEDS", 40) / 2,
        any,
        |seed, trace, observed, transactions, question, truth| {
            // A different choice of filters for each seed; over all seeds every one.
            let chosen = seed % 64;
            let mut options = Options::new(trace.data);
            options.question = question;
            options.candidates = CandidateSet::All;
            options.per = Per::Event;
            options.jobs = 1 + (seed % 2) as usize;
            options.order = [Order::Auto, Order::Idl, Order::Order, Order::Sat][(seed / 2 % 4) as usize];
            let filters = Decider::ALL.into_iter().filter(|decider| *decider != Decider::Smt);
            options.without = filters.enumerate().filter(|(nth, _)| chosen >> nth & 1 == 1).map(|(_, f)| f).collect();
            let mut decisions = Vec::new();
            predict(trace, observed, transactions, &options, &stop, &mut decisions).expect("no internal contradiction");
            let found: Truth = decisions
                .into_iter()
                .map(|decision| match decision.verdict {
                    Verdict::Feasible(witness) => (decision.triple, Some(witness.pattern())),
                    Verdict::Infeasible => (decision.triple, None),
                    Verdict::Unknown(limit) => panic!("seed {seed}, {}: unknown: {limit}", decision.triple),
                })
                .collect();
            if question.independence == Independence::Guarded {
                // A witness without the solver may show a later pattern than the first that is feasible.
                let verdicts =
                    |truth: &Truth| truth.iter().map(|(triple, p)| (*triple, p.is_some())).collect::<Vec<_>>();
                assert_eq!(
                    verdicts(&found),
                    verdicts(truth),
                    "seed {seed}, {question:?}, without {:?}",
                    options.without
                );
            } else {
                assert_eq!(found, *truth, "seed {seed}, {question:?}, without {:?}", options.without);
            }
        },
    );
}

/// Candidates that differ in the remote access only are asked together once one was refuted by itself, where a class is done with its first feasible
/// candidate: each verdict is the oracle's, and a class is found exactly where the oracle finds one of its candidates.
#[test]
fn what_is_asked_together_is_decided_as_by_itself() {
    let start = number("FORETRACE_SEED", 0);
    let stop = AtomicBool::new(false);
    let mut asked = [0u64; 2];
    for places in [0, 2] {
        let make = if places == 0 { any } else { at_two_places };
        for_each(
            start..start + number("FORETRACE_SEEDS", 40),
            make,
            |seed, trace, observed, transactions, question, truth| {
                let mut options = Options::new(trace.data);
                options.question = question;
                options.candidates = CandidateSet::All;
                options.without = Decider::ALL.into_iter().filter(|decider| *decider != Decider::Smt).collect();
                options.order = [Order::Auto, Order::Order][(seed % 2) as usize];
                let mut decisions = Vec::new();
                predict(trace, observed, transactions, &options, &stop, &mut decisions).expect("no contradiction");
                let class = |triple: Triple| Class::by_locations(trace, triple);
                let mut found = BTreeMap::new();
                for decision in &decisions {
                    let feasible = matches!(decision.verdict, Verdict::Feasible(_));
                    let said = format!("seed {seed}, {question:?}, {}: {:?}", decision.triple, decision.verdict);
                    assert!(!matches!(decision.verdict, Verdict::Unknown(_)), "{said}");
                    assert_eq!(feasible, truth[&decision.triple].is_some(), "{said}");
                    asked[usize::from(!feasible)] += 1;
                    *found.entry(class(decision.triple)).or_insert(false) |= feasible;
                }
                for (triple, pattern) in truth {
                    let found = found.get(&class(*triple));
                    assert!(pattern.is_none() || found == Some(&true), "seed {seed}, {question:?}: {triple} is lost");
                }
            },
        );
    }
    assert!(asked[0] > 100 && asked[1] > 100, "too few candidates to mean anything: {asked:?}");
}

/// A random trace whose events are at two places.
fn at_two_places(seed: u64) -> (Trace, Observed) {
    let (mut trace, observed) = any(seed);
    let places = ["a.c:1", "a.c:2"].map(|place| trace.names.intern(place));
    for (nth, event) in trace.events.iter_mut().enumerate() {
        event.loc = Some(places[nth % 2]);
    }
    (trace, observed)
}

/// Each rule family is needed: without it the solver calls something feasible that the oracle refutes.
#[test]
fn every_rule_is_needed() {
    let mut missed = vec![
        Rule::ProgramOrder,
        Rule::ReadsFrom,
        Rule::Guards,
        Rule::Pins,
        Rule::Locks,
        Rule::Once,
        Rule::ConditionVariables,
        Rule::Semaphores,
    ];
    for start in (0..1_500).step_by(50) {
        if missed.is_empty() {
            break;
        }
        for_each(start..start + 50, any, |_, trace, observed, transactions, question, truth| {
            let trace_index = TraceIndex::new(trace);
            let clocks = MustHappenBefore::new(trace, &trace_index);
            let view = TraceView { trace, trace_index: &trace_index, observed, clocks: &clocks };
            missed.retain(|rule| {
                let rules = Rules { without: vec![*rule], ..Rules::for_question(question) };
                let found = by_solver(view, transactions, question, &rules, (truth, Order::Auto), false);
                truth.iter().all(|(triple, pattern)| found[triple].is_some() == pattern.is_some())
            });
        });
    }
    assert_eq!(missed, [], "the oracle tests would not notice that these are left out");
}

/// A step that the run was cut off in may end a prefix, but nothing may come after it. Values bring the step in only after
/// the rest of the query is encoded.
#[test]
fn nothing_follows_a_step_that_was_cut_off() {
    let text = r#"{"foretrace": 1, "data": "symbolic", "vars": {"x": {"sort": "Int", "init": 0}}}
{"t": 2, "op": "begin"}
{"t": 2, "op": "write", "var": "x", "expr": "1"}
{"t": 2, "op": "write", "var": "x", "expr": "2"}
{"t": 1, "op": "read", "var": "x", "dst": "a", "value": 2}
{"t": 3, "op": "write", "var": "x", "expr": "1", "part": [1, 3]}
"#;
    agrees_with_the_oracle(text);
}

/// A signal lets one waiter go on, a broadcast all.
#[test]
fn two_wakes_need_a_signal_each() {
    const OBJECTS: &str = r#""m": {"kind": "mutex"}, "n": {"kind": "mutex"}, "c": {"kind": "condvar"}, "s": {"kind": "semaphore", "init": 0}"#;
    const VARS: &str = r#""vars": {"x": {"sort": "Int", "init": 0}}"#;
    let event = |text: &str| format!("{{{text}}}\n");
    let waits = [r#""t": 2, "op": "acquire", "lock": "n""#, r#""t": 2, "op": "wait", "cond": "c", "lock": "n""#]
        .map(event)
        .concat();
    let again = event(r#""t": 3, "op": "signal", "cond": "c""#);
    let header = event(&format!(r#""foretrace": 1, "data": "symbolic", {VARS}, "sync": {{{OBJECTS}}}"#));
    let trace = |first: &str, last: &str, [early, late]: [&str; 2]| {
        format!(
            r#"{header}{{"t": 1, "op": "acquire", "lock": "m"}}
{{"t": 1, "op": "wait", "cond": "c", "lock": "m"}}
{early}{{"t": 3, "op": "{first}", "cond": "c"}}
{{"t": 1, "op": "wake", "cond": "c", "lock": "m"}}
{{"t": 1, "op": "post", "sem": "s"}}
{late}{{"t": 3, "op": "begin"}}
{{"t": 3, "op": "write", "var": "x", "expr": "1"}}
{{"t": 3, "op": "write", "var": "x", "expr": "2"}}
{{"t": 3, "op": "end"}}
{last}{{"t": 2, "op": "wake", "cond": "c", "lock": "n"}}
{{"t": 2, "op": "down", "sem": "s"}}
{{"t": 2, "op": "read", "var": "x", "dst": "a"}}
"#
        )
    };
    let shown = |text: &str| agrees_with_the_oracle(text).into_iter().filter(|is_feasible| *is_feasible).count();
    // Between the writes only the first signal was given, and the read needs both threads to have been woken.
    assert_eq!(shown(&trace("signal", &again, ["", &waits])), 0);
    assert_eq!(shown(&trace("signal", &again, [&waits, ""])), 0);
    assert!(shown(&trace("broadcast", "", [&waits, ""])) > 0);
    // One thread is woken by the broadcast, the other by the signal.
    let both = [
        r#""t": 1, "op": "acquire", "lock": "m""#,
        r#""t": 1, "op": "wait", "cond": "c", "lock": "m""#,
        r#""t": 3, "op": "broadcast", "cond": "c""#,
        r#""t": 2, "op": "acquire", "lock": "n""#,
        r#""t": 2, "op": "wait", "cond": "c", "lock": "n""#,
        r#""t": 3, "op": "signal", "cond": "c""#,
        r#""t": 3, "op": "begin""#,
        r#""t": 3, "op": "write", "var": "x", "expr": "1""#,
        r#""t": 3, "op": "write", "var": "x", "expr": "2""#,
        r#""t": 3, "op": "end""#,
        r#""t": 1, "op": "wake", "cond": "c", "lock": "m""#,
        r#""t": 1, "op": "post", "sem": "s""#,
        r#""t": 2, "op": "wake", "cond": "c", "lock": "n""#,
        r#""t": 2, "op": "down", "sem": "s""#,
        r#""t": 2, "op": "read", "var": "x", "dst": "a""#,
    ];
    assert!(shown(&(header.clone() + &both.map(event).concat())) > 0);
}

/// One thread can only be woken by the broadcast, another, which waits after that, only by the signal. The rule tells what wakes take by
/// numbers: the events of this trace are as many as the first wake's and the signal's numbers together.
#[test]
fn a_wake_by_a_broadcast_takes_no_signal_from_another() {
    let text = r#"{"foretrace": 1, "data": "symbolic", "vars": {"x": {"sort": "Int", "init": 0}}, "sync": {"m": {"kind": "mutex"}, "n": {"kind": "mutex"}, "c": {"kind": "condvar"}, "s": {"kind": "semaphore", "init": 0}}}
{"t": 4, "op": "begin"}
{"t": 4, "op": "write", "var": "x", "expr": "3"}
{"t": 4, "op": "write", "var": "x", "expr": "1"}
{"t": 1, "op": "acquire", "lock": "m"}
{"t": 1, "op": "wait", "cond": "c", "lock": "m"}
{"t": 3, "op": "broadcast", "cond": "c"}
{"t": 1, "op": "wake", "cond": "c", "lock": "m"}
{"t": 1, "op": "post", "sem": "s"}
{"t": 2, "op": "down", "sem": "s"}
{"t": 2, "op": "acquire", "lock": "n"}
{"t": 2, "op": "wait", "cond": "c", "lock": "n"}
{"t": 3, "op": "signal", "cond": "c"}
{"t": 2, "op": "wake", "cond": "c", "lock": "n"}
{"t": 2, "op": "read", "var": "x", "dst": "a"}
{"t": 4, "op": "write", "var": "x", "expr": "2"}
{"t": 4, "op": "end"}
{"t": 1, "op": "release", "lock": "m"}
"#;
    let (wake, signal, events) = (6, 11, text.lines().count() - 1);
    assert_eq!(wake + signal, events);
    // The run itself shows the read between the second and the third write.
    assert!(agrees_with_the_oracle(text).into_iter().any(|is_feasible| is_feasible));
}

/// A later condition that says more of a value than an earlier one is asked, too: the write of `z` by the other thread comes between two of the
/// first only with the value that `x` has at first.
#[test]
fn a_later_condition_that_says_more_is_asked() {
    let shown = |at_first: u64, then: u64, looser: &str, tighter: &str| {
        let text = format!(
            r#"{{"foretrace": 1, "data": "symbolic", "vars": {{"x": {{"sort": "Int", "init": {at_first}}}, "y": {{"sort": "Int", "init": 0}}, "z": {{"sort": "Int", "init": 0}}}}}}
{{"t": 2, "op": "begin"}}
{{"t": 2, "op": "write", "var": "z", "expr": "5"}}
{{"t": 2, "op": "write", "var": "z", "expr": "6"}}
{{"t": 2, "op": "end"}}
{{"t": 2, "op": "write", "var": "x", "expr": "{then}"}}
{{"t": 1, "op": "read", "var": "x", "dst": "a"}}
{{"t": 1, "op": "assume", "expr": "{looser}"}}
{{"t": 1, "op": "write", "var": "y", "expr": "1"}}
{{"t": 1, "op": "assume", "expr": "{tighter}"}}
{{"t": 1, "op": "write", "var": "z", "expr": "7"}}
"#
        );
        let trace = foretrace_trace::read_from(text.as_bytes(), "made.jsonl").expect("a valid trace");
        agrees_with_the_oracle(&text);
        let observed = foretrace_trace::observe(&trace).expect("a valid trace");
        let oracle = Oracle::new(&trace, &observed, Model::Ctp).expect("the trace has values");
        let transactions = Atomic::Marked.transactions(&trace);
        oracle.decide(&transactions, Feasibility::Prefix, Independence::Conflict).values().flatten().count()
    };
    assert_eq!(shown(4, 1, "(<= a 5)", "(<= a 2)"), 0);
    assert_eq!(shown(2, 1, "(<= a 5)", "(<= a 2)"), 1);
    assert_eq!(shown(1, 4, "(>= a 0)", "(>= a 3)"), 0);
    assert_eq!(shown(3, 4, "(>= a 0)", "(>= a 3)"), 1);
    assert_eq!(shown(4, 1, "(<= a 5)", "(= a 1)"), 0);
    assert_eq!(shown(1, 1, "(<= a 5)", "(= a 1)"), 1);
}

/// What the solver says of each candidate of a trace, by every question and order, is what the oracle says: whether each is feasible.
fn agrees_with_the_oracle(text: &str) -> Vec<bool> {
    let trace =
        foretrace_trace::read_from(text.as_bytes(), "made.jsonl").unwrap_or_else(|error| panic!("{error}\n{text}"));
    let observed = foretrace_trace::observe(&trace).expect("a valid trace");
    let transactions = Atomic::Marked.transactions(&trace);
    let trace_index = TraceIndex::new(&trace);
    let clocks = MustHappenBefore::new(&trace, &trace_index);
    let view = TraceView { trace: &trace, trace_index: &trace_index, observed: &observed, clocks: &clocks };
    let mut feasible = Vec::new();
    for question in questions() {
        let oracle = Oracle::new(&trace, &observed, question.model).expect("the trace has values");
        let truth = oracle.decide(&transactions, question.feasibility, question.independence);
        assert!(!truth.is_empty());
        for order in ORDERS {
            assert_eq!(
                by_solver(view, &transactions, question, &Rules::for_question(question), (&truth, order), true),
                truth,
                "{question:?}, {order:?}"
            );
        }
        feasible.extend(truth.values().map(Option::is_some));
    }
    feasible
}

//! No filter is ever wrong: each alone, against the exhaustive oracle, in every model, feasibility and independence.
//!
//! `FORETRACE_SEEDS` says how many random traces (default 150), `FORETRACE_SEED` where to start.

use foretrace_analysis::candidates::Candidates;
use foretrace_analysis::filters::{Filters, Judgement};
use foretrace_analysis::options::{CandidateSet, Options};
use foretrace_analysis::verdict::Decider;
use foretrace_checker::oracle::Oracle;
use foretrace_encodings::{TraceView, constant_reads};
use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_trace::strategies::{Shape, Topic, random_appends, random_conditions, random_trace, random_waits};
use foretrace_trace::{
    Atomic, Data, Feasibility, Independence, Model, Observed, Question, SyncKind, Trace, TraceBuilder, Transaction,
    Triple,
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
    let trace_index = TraceIndex::new(trace);
    let clocks = MustHappenBefore::new(trace, &trace_index);
    let view = TraceView { trace, trace_index: &trace_index, observed, clocks: &clocks };
    let candidates = Candidates::new(trace, &trace_index, transactions);
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
                let constants = constant_reads(view);
                let filters = |options| Filters::new(view, transactions, &options, &constants);
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
    on_random_traces(&Shape::default());
}

#[test]
fn no_filter_contradicts_the_oracle_where_threads_wait_for_each_other() {
    on_random_traces(&Shape { events: 18, topics: vec![Topic::Condvar], ..Shape::default() });
}

fn on_random_traces(shape: &Shape) {
    let mut decided = Decided::default();
    let start = number("FORETRACE_SEED", 0);
    for seed in start..start + number("FORETRACE_SEEDS", 150) {
        let (trace, observed) = random_trace(seed, shape);
        for atomic in [Atomic::Threads, Atomic::Marked] {
            against_oracle(seed, &trace, &observed, &atomic.transactions(&trace), &mut decided);
        }
    }
    println!("feasible and infeasible ones: {:?}, decided together {:?}", decided.asked, decided.by_any);
    for decider in Decider::ALL.into_iter().filter(|decider| decider.is_filter()) {
        let [feasible, infeasible] = decided.by.get(&decider).copied().unwrap_or_default();
        println!("{decider}: {feasible} feasible, {infeasible} infeasible");
        // Where `scripts/mutants` asks for few traces, some filter may decide none of their candidates.
        let may_be_idle = number("FORETRACE_SEEDS", 150) < 150;
        assert!(feasible + infeasible > 0 || may_be_idle, "{decider} decided nothing");
    }
}

/// What each filter decided of the random traces of a kind. The larger these are, the smaller is the share of the seeds.
fn on(make: fn(u64) -> (Trace, Observed), share: u64) -> Decided {
    let mut decided = Decided::default();
    let start = number("FORETRACE_SEED", 0);
    for seed in start..start + number("FORETRACE_SEEDS", 150) / share {
        let (trace, observed) = make(seed);
        for atomic in [Atomic::Threads, Atomic::Marked] {
            against_oracle(seed, &trace, &observed, &atomic.transactions(&trace), &mut decided);
        }
    }
    println!("{:?}, {:?}", decided.asked, decided.by);
    decided
}

#[test]
fn no_filter_contradicts_the_oracle_on_appends() {
    assert!(on(random_appends, 1).by[&Decider::Segment][1] > 0, "no order of appends refuted anything");
}

#[test]
fn no_filter_contradicts_the_oracle_on_several_conditions_of_one_value() {
    assert!(on(random_conditions, 1).asked.iter().all(|asked| *asked > 100));
}

#[test]
fn no_filter_contradicts_the_oracle_where_wakes_need_different_signals() {
    assert!(on(random_waits, 3).asked.iter().all(|asked| *asked > 100));
}

/// No filter is wrong on traces made from these seeds, and early refutation refutes something.
fn refutes_on(made: impl Fn(u64) -> (Trace, Observed)) {
    let mut decided = Decided::default();
    let start = number("FORETRACE_SEED", 0);
    for seed in start..start + number("FORETRACE_SEEDS", 150) {
        let (trace, observed) = made(seed);
        against_oracle(seed, &trace, &observed, &Atomic::Threads.transactions(&trace), &mut decided);
    }
    println!("{:?}, {:?}, {:?}", decided.asked, decided.by_any, decided.by);
    assert!(decided.by[&Decider::EarlyRefutation][1] > 0, "nothing was refuted");
}

/// Picks one of so many choices each time, by a seed.
fn picker(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut left = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 4;
    move |choices| {
        let picked = left % choices;
        left = (left / choices) ^ (left.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 9);
        picked
    }
}

/// Threads that test a flag and set it, use a variable and give the flag back: right in most parts, wrong in some.
fn random_flags(seed: u64) -> (Trace, Observed) {
    let mut left = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8;
    let mut pick = |choices: u64| {
        let picked = left % choices;
        left /= choices;
        picked
    };
    let mut builder = TraceBuilder::new(Data::Symbolic);
    builder.int_var("flag", 0);
    builder.int_var("x", 0);
    for lock in ["m", "n"] {
        builder.sync(lock, SyncKind::Mutex { recursive: false });
    }
    let starts_owned = pick(3) == 0;
    if starts_owned {
        builder.write(1, "flag", "1");
        builder.write(1, "x", "7");
        builder.fork(1, 2);
        if pick(3) > 0 {
            builder.fork(1, 3);
        }
        builder.write(1, "flag", "0");
    }
    for thread in [2, 3] {
        let (locks, name) = (["m", "m", "m", "n"], format!("f{thread}"));
        let (taking, giving) = (locks[pick(4) as usize], locks[pick(4) as usize]);
        if pick(8) == 0 {
            builder.write(thread, "flag", "0");
        }
        builder.acquire(thread, taking);
        builder.read(thread, "flag", &name);
        match pick(7) {
            0 => {}
            1 => drop(builder.assume(thread, &format!("(< {name} 2)"))),
            2 => drop(builder.assume(thread, &format!("(distinct {name} 1)"))),
            3 => drop(builder.pin(thread, &format!("(= {name} 0)"))),
            _ => drop(builder.assume(thread, &format!("(= {name} 0)"))),
        }
        if pick(6) == 0 {
            builder.release(thread, taking);
            builder.acquire(thread, taking);
        }
        builder.write(thread, "flag", if pick(5) == 0 { "2" } else { "1" });
        builder.write(thread, "x", &thread.to_string());
        builder.release(thread, taking);
        builder.read(thread, "x", &format!("x{thread}"));
        let is_locked = pick(4) > 0;
        if is_locked {
            builder.acquire(thread, giving);
        }
        builder.write(thread, "flag", "0");
        builder.write(thread, "x", "5");
        if is_locked {
            builder.release(thread, giving);
        }
    }
    builder.finish().expect("a valid trace")
}

#[test]
fn no_filter_contradicts_the_oracle_on_flags() {
    refutes_on(random_flags);
}

/// Threads that take a variable as a lock by an rmw, use a variable and give the lock back: right in most parts, wrong in some.
fn random_word_locks(seed: u64) -> (Trace, Observed) {
    let mut pick = picker(seed);
    let mut builder = TraceBuilder::new(Data::Symbolic);
    let mut value = if pick(6) == 0 { 3 } else { 0 };
    builder.int_var("lock", value);
    builder.int_var("x", 0);
    if pick(8) > 0 {
        builder.write(1, "lock", "0");
        value = 0;
    }
    if pick(6) > 0 {
        builder.fork(1, 2);
        builder.fork(1, 3);
    }
    let is_exchange = pick(3) > 0;
    // What each thread does next; a step of 0 takes the lock.
    let mut steps = [0, 0];
    for number in 0..12 {
        let at = pick(2) as usize;
        let (thread, name) = (at as u64 + 2, format!("l{number}"));
        steps[at] += 1;
        match steps[at] {
            1 => {
                let found = value;
                let taken = if pick(5) == 0 { 2 } else { 1 };
                let (stored, left) = match pick(8) {
                    0 => ("0".to_string(), 0),
                    1 => (format!("(ite (= {name} 0) {taken} {name})"), if found == 0 { taken } else { found }),
                    2 => (format!("(ite (= {name} 2) 0 {taken})"), if found == 2 { 0 } else { taken }),
                    _ => (taken.to_string(), taken),
                };
                let free = format!("(= {name} 0)");
                if is_exchange {
                    value = left;
                    builder.rmw(thread, "lock", &name, &stored);
                    match pick(8) {
                        0 => {}
                        1 if found < 2 => drop(builder.assume(thread, &format!("(< {name} 2)"))),
                        _ if found == 0 => drop(builder.assume(thread, &free)),
                        _ => drop(builder.assume(thread, &format!("(not {free})"))),
                    }
                } else if found == 0 {
                    value = taken;
                    builder.rmw_if(thread, "lock", &name, &taken.to_string(), &free);
                } else {
                    builder.read_if(thread, "lock", &name, &format!("(not {free})"));
                }
                if found != 0 && pick(8) > 0 {
                    steps[at] = if pick(4) == 0 { 5 } else { 0 }; // it tries again, or gives up
                }
            }
            2 => drop(builder.write(thread, "x", &thread.to_string())),
            3 => drop(builder.read(thread, "x", &format!("x{number}"))),
            4 => {
                match pick(8) {
                    0 => {
                        builder.rmw(thread, "lock", &name, &format!("(- {name} 1)"));
                        value -= 1;
                        if value == 0 {
                            builder.assume(thread, &format!("(= {name} 1)"));
                        } else {
                            builder.assume(thread, &format!("(distinct {name} 1)"));
                            builder.write(thread, "lock", "0");
                            value = 0;
                        }
                    }
                    1 => {
                        builder.rmw(thread, "lock", &name, "0");
                        value = 0;
                    }
                    2 => {
                        builder.write(thread, "lock", "2");
                        value = 2;
                    }
                    _ => {
                        builder.write(thread, "lock", "0");
                        value = 0;
                    }
                }
                steps[at] = if pick(2) == 0 { 0 } else { 4 };
            }
            5 => drop(builder.write(thread, "x", "5")),
            _ => {}
        }
    }
    builder.finish().expect("a valid trace")
}

#[test]
fn no_filter_contradicts_the_oracle_on_locks_of_one_word() {
    refutes_on(random_word_locks);
}

/// Threads that take tickets and wait for their turns, use a variable and give the turn on: right in most parts, wrong in some.
fn random_ticket_locks(seed: u64) -> (Trace, Observed) {
    let mut pick = picker(seed);
    let mut builder = TraceBuilder::new(Data::Symbolic);
    let (mut next, mut serving) = (if pick(6) == 0 { 3 } else { 0 }, 0);
    builder.int_var("next", next);
    builder.int_var("serving", serving);
    builder.int_var("x", 0);
    if pick(4) > 0 {
        (next, serving) = (1, 1);
        builder.write(1, "next", "1");
        builder.write(1, "serving", "1");
    }
    if pick(6) > 0 {
        builder.fork(1, 2);
        builder.fork(1, 3);
    }
    let usual_step = if pick(5) == 0 { 0 } else { 1 };
    // What each thread does next; a step of 0 takes a ticket, one of 1 waits for its turn.
    let (mut steps, mut tickets) = ([0, 0], [(String::new(), 0), (String::new(), 0)]);
    for number in 0..14 {
        let at = pick(2) as usize;
        let (thread, name) = (at as u64 + 2, format!("l{number}"));
        let (ticket, own) = tickets[at].clone();
        steps[at] += 1;
        match steps[at] {
            1 => {
                tickets[at] = (name.clone(), next);
                match pick(12) {
                    0 => {
                        builder.rmw(thread, "next", &name, &format!("(+ 2 {name})"));
                        next += 2;
                    }
                    1 => {
                        builder.read(thread, "next", &name);
                    }
                    2 => {
                        builder.rmw(thread, "next", &name, "1");
                        next = 1;
                    }
                    _ => {
                        builder.rmw(thread, "next", &name, &format!("(+ {name} {usual_step})"));
                        next += usual_step;
                    }
                }
            }
            2 => {
                builder.read(thread, "serving", &name);
                let is_turn = serving == own;
                match pick(10) {
                    0 => {}
                    1 if is_turn => drop(builder.pin(thread, &format!("(= {name} {ticket})"))),
                    2 if is_turn => drop(builder.assume(thread, &format!("(>= {name} {ticket})"))),
                    3 if is_turn => drop(builder.assume(thread, &format!("(and (= {ticket} {name}) (>= {name} 0))"))),
                    _ if is_turn => drop(builder.assume(thread, &format!("(= {name} {ticket})"))),
                    _ => drop(builder.assume(thread, &format!("(distinct {name} {ticket})"))),
                }
                if !is_turn && pick(8) > 0 {
                    steps[at] = if pick(6) == 0 { 5 } else { 1 }; // it looks again, or gives up
                }
            }
            3 => drop(builder.write(thread, "x", &thread.to_string())),
            4 => drop(builder.read(thread, "x", &format!("x{number}"))),
            5 => {
                match pick(8) {
                    0 => {
                        builder.write(thread, "serving", "1");
                        serving = 1;
                    }
                    1 | 2 => {
                        builder.rmw(thread, "serving", &name, &format!("(+ {name} 1)"));
                        serving += 1;
                    }
                    _ => {
                        builder.write(thread, "serving", &format!("(+ {ticket} 1)"));
                        serving = own + 1;
                    }
                }
                steps[at] = match pick(6) {
                    0 => 1, // it waits for a ticket again that it has used
                    1 => 4, // it gives the turn on twice
                    _ => 0,
                };
            }
            _ => drop(builder.write(thread, "x", "5")),
        }
    }
    builder.finish().expect("a valid trace")
}

#[test]
fn no_filter_contradicts_the_oracle_on_ticket_locks() {
    refutes_on(random_ticket_locks);
}

/// Threads that read a word and change it by compare-and-swap, as readers and writers of a lock, or by adding: right in most parts, wrong in some.
fn random_shared_words(seed: u64) -> (Trace, Observed) {
    let mut pick = picker(seed);
    let mut builder = TraceBuilder::new(Data::Symbolic);
    let mut value: i64 = if pick(6) == 0 { 1 } else { 0 };
    builder.int_var("word", value);
    builder.int_var("x", 0);
    if pick(3) == 0 {
        value = 0;
        builder.write(1, "word", "0").at_place("init");
    }
    if pick(6) > 0 {
        for thread in [2, 3, 4] {
            builder.fork(1, thread);
        }
    }
    let most = pick(3) as i64; // how many readers there may be, from 1 on
    let is_wrong = |pick: &mut dyn FnMut(u64) -> u64| pick(9) == 0;
    // What each thread does next: a step of 0 comes in, as a reader or a writer; and as what it is inside.
    let (mut steps, mut writes) = ([0; 3], [false; 3]);
    let threads = if pick(3) == 0 { 3 } else { 2 };
    for number in 0..14 {
        let at = pick(threads) as usize;
        let (thread, name, seen) = (at as u64 + 2, format!("l{number}"), format!("s{number}"));
        steps[at] += 1;
        match steps[at] {
            1 => {
                writes[at] = pick(2) == 0;
                let may = if writes[at] { value == 0 } else { value >= 0 && value <= most };
                let is_in = match (writes[at], pick(4)) {
                    (true, 0) => {
                        // An exchange that finds somebody inside spoils the word.
                        builder.rmw(thread, "word", &name, "(- 1)").at_place("exchange");
                        let free = format!("(= {name} 0)");
                        let told = if may { free } else { format!("(not {free})") };
                        if !is_wrong(&mut pick) {
                            builder.assume(thread, &told);
                        }
                        value = -1;
                        may
                    }
                    (true, _) if value == 0 => {
                        builder.rmw_if(thread, "word", &name, "(- 1)", &format!("(= {name} 0)")).at_place("writer");
                        value = -1;
                        true
                    }
                    (false, 0) if may || is_wrong(&mut pick) => {
                        builder.rmw(thread, "word", &name, &format!("(+ {name} 1)")).at_place("adds");
                        if may {
                            builder.assume(thread, &format!("(and (>= {name} 0) (<= {name} {most}))"));
                        }
                        value += 1;
                        may
                    }
                    (false, _) if may => {
                        builder.read(thread, "word", &seen);
                        if !is_wrong(&mut pick) {
                            builder.assume(thread, &format!("(>= {seen} 0)"));
                        }
                        builder.assume(thread, &format!("(<= {seen} {most})"));
                        let same = format!("(= {name} {seen})");
                        builder.rmw_if(thread, "word", &name, &format!("(+ {seen} 1)"), &same).at_place("reader");
                        value += 1;
                        true
                    }
                    _ => {
                        builder.read(thread, "word", &seen);
                        false
                    }
                };
                if !is_in {
                    steps[at] = 0;
                }
            }
            2 => drop(builder.write(thread, "x", &thread.to_string())),
            3 => drop(builder.read(thread, "x", &format!("x{number}"))),
            4 => {
                if writes[at] != is_wrong(&mut pick) {
                    builder.write(thread, "word", "0").at_place("gives");
                    value = 0;
                } else {
                    builder.rmw(thread, "word", &name, &format!("(- {name} 1)")).at_place("leaves");
                    value -= 1;
                }
                steps[at] = if is_wrong(&mut pick) { 3 } else { 0 };
            }
            _ => {}
        }
    }
    builder.finish().expect("a valid trace")
}

#[test]
fn no_filter_contradicts_the_oracle_on_words_that_are_shared() {
    refutes_on(random_shared_words);
}

/// The last access needs two signals, of two threads that main wakes: the second of them not before main gives the lock back.
#[test]
fn who_signals_with_the_lock_held_wakes_nobody_before_it_is_given_back() {
    let mut builder = TraceBuilder::new(Data::Symbolic);
    builder.sync("m", SyncKind::Mutex { recursive: false });
    builder.int_var("x", 0);
    for (thread, cond, lock) in [(2, "c", "m"), (3, "c", "m"), (4, "d", "n")] {
        builder.acquire(thread, lock);
        builder.wait(thread, cond, lock);
    }
    builder.acquire(1, "m");
    let first = builder.read(1, "x", "").id();
    let signals = [0, 1].map(|nth| {
        if nth > 0 {
            builder.acquire(1, "m");
        }
        let signal = builder.signal(1, "c").id();
        let second = builder.write(1, "x", "1").id();
        builder.release(1, "m");
        (signal, second)
    });
    for (thread, (signal, _)) in [2, 3].into_iter().zip(signals) {
        builder.wake(thread, "c", "m", None).by(signal);
        builder.release(thread, "m");
        let signal = builder.signal(thread, "d").id();
        builder.wake(4, "d", "n", None).by(signal);
        if thread == 2 {
            builder.wait(4, "d", "n");
        }
    }
    let remote = builder.write(4, "x", "2").id();
    let (trace, observed) = builder.finish().expect("a valid trace");
    let triple = Triple { first, remote, second: signals[1].1 };
    let (trace_index, transactions) = (TraceIndex::new(&trace), Atomic::Threads.transactions(&trace));
    let clocks = MustHappenBefore::new(&trace, &trace_index);
    let view = TraceView { trace: &trace, trace_index: &trace_index, observed: &observed, clocks: &clocks };
    let oracle = Oracle::new(&trace, &observed, Model::Cam).expect("cam needs nothing");
    let truth = oracle.decide(&transactions, Feasibility::Prefix, Independence::Conflict);
    assert!(truth[&triple].is_none());
    let constants = constant_reads(view);
    let mut options = Options::new(trace.data);
    options.question.model = Model::Cam;
    let filters = Filters::new(view, &transactions, &options, &constants);
    assert!(matches!(filters.judge(triple), Some(Judgement::Infeasible { .. })));
}

#[test]
fn adjacent_candidates_are_enough_under_conflict_independence() {
    for seed in 0..number("FORETRACE_SEEDS", 150) {
        let (trace, observed) = random_trace(seed, &Shape::default());
        let trace_index = TraceIndex::new(&trace);
        let transactions = Atomic::Threads.transactions(&trace);
        let candidates = Candidates::new(&trace, &trace_index, &transactions);
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

/// A pair's interruption is the part of a violation that needs no more of the recorded path.
#[test]
fn interruptions_are_refuted_and_shown_as_the_oracle_says() {
    let [mut refuted, mut shown] = [0, 0];
    let shapes = [Shape::default(), Shape { topics: vec![Topic::Parts, Topic::Mutex], ..Shape::default() }];
    for seed in 0..60 {
        let (trace, observed) = random_trace(seed, &shapes[seed as usize % 2]);
        let (trace_index, transactions) = (TraceIndex::new(&trace), Atomic::Threads.transactions(&trace));
        let clocks = MustHappenBefore::new(&trace, &trace_index);
        let view = TraceView { trace: &trace, trace_index: &trace_index, observed: &observed, clocks: &clocks };
        let constants = constant_reads(view);
        for model in [Model::Cam, Model::Ctp, Model::Mcm, Model::Avp] {
            let Ok(oracle) = Oracle::new(&trace, &observed, model) else { continue };
            let filters = |without: &[Decider]| {
                let mut options = Options::new(trace.data);
                options.question.model = model;
                options.without.extend(without);
                Filters::new(view, &transactions, &options, &constants)
            };
            let (all, few) = (filters(&[]), filters(&[Decider::Segment, Decider::EarlyWitness]));
            for triple in Candidates::new(&trace, &trace_index, &transactions).triples(CandidateSet::All) {
                let truth = oracle.interruption(triple, Independence::Conflict).is_some();
                let (refutes, shows) = (all.refutes_interruption(triple), all.interruption(triple).is_some());
                assert!(!(refutes && truth || shows && !truth), "seed {seed}, {model}: {triple} of {trace:#?}");
                assert!(
                    !few.refutes_interruption(triple) && few.interruption(triple).is_none(),
                    "they are switched off"
                );
                refuted += usize::from(refutes);
                shown += usize::from(shows);
            }
        }
    }
    assert!(refuted > 50 && shown > 200, "{refuted} refuted, {shown} shown");
}

/// Thread 3 writes x and reads y in one step, and goes on with it if it reads what it did. An interruption may end within the step, so what the
/// rest of the step needs does not have to come first.
#[test]
fn what_the_rest_of_a_step_needs_refutes_no_interruption() {
    let answers = |remote_is_first: bool| {
        let mut b = TraceBuilder::new(Data::Symbolic);
        b.int_var("x", 0).int_var("y", 0).int_var("z", 0);
        let first = b.write(2, "x", "1").id();
        let second = b.write(2, "x", "2").id();
        b.write(2, "y", "1");
        let remote = match remote_is_first {
            true => {
                let remote = b.write(3, "x", "3").part(1, 3).id();
                b.read(3, "y", "f").part(2, 3);
                b.write(3, "z", "1").part(3, 3);
                remote
            }
            false => {
                b.read(3, "y", "f").part(1, 3);
                b.write(3, "z", "1").part(2, 3);
                b.write(3, "x", "3").part(3, 3).id()
            }
        };
        let (trace, observed) = b.finish().expect("a valid trace");
        let (trace_index, transactions) = (TraceIndex::new(&trace), Atomic::Threads.transactions(&trace));
        let clocks = MustHappenBefore::new(&trace, &trace_index);
        let view = TraceView { trace: &trace, trace_index: &trace_index, observed: &observed, clocks: &clocks };
        let triple = Triple { first, remote, second };
        let oracle = Oracle::new(&trace, &observed, Model::Avp).expect("avp needs nothing");
        let mut options = Options::new(trace.data);
        options.question.model = Model::Avp;
        let constants = constant_reads(view);
        let filters = Filters::new(view, &transactions, &options, &constants);
        (oracle.interruption(triple, Independence::Conflict).is_some(), filters.refutes_interruption(triple))
    };
    assert_eq!(answers(true), (true, false));
    assert_eq!(answers(false), (false, true));
}

//! Times linearizability checkers on the same random histories, and compares their verdicts, as a table in Markdown.
//!
//! `checkers [--ours] [--search] [--only NAME]… [HISTORIES [OPERATIONS [SECONDS]]]`: that many histories of that many operations for
//! each row, and a limit for each history (default: 100 of 1,000, one second). `--ours` leaves the other checker out, `--search` judges by
//! our plain search alone, `--only` takes the rows of this name. Half of the histories are spoiled. Each checker gets the history in its own
//! form; making that form is not timed, what it does with it is. The last columns say how many histories ours decided within 10 ms, 100 ms
//! and 1 s.

mod checkers;
#[path = "../../../crates/linearizability/tests/histories/mod.rs"]
#[allow(dead_code, reason = "the tests need more of it")]
mod histories;
mod objects;

use checkers::{Typed, for_porcupine};
use foretrace_linearizability::check::check_by_search;
use foretrace_linearizability::{History, Limits, Spec, Value, Verdict, check};
use foretrace_trace::random::Random;
use histories::{right_operations, spoil, spread, with_few_values};
use objects::{Container, Counter, Key, Object, Register, done};
use porcupine_rs::CheckResult;
use std::time::{Duration, Instant};

/// A row: the object, whether all values differ.
const ROWS: [(&str, Spec, bool); 14] = [
    ("register", Spec::Register, false),
    ("register, distinct values", Spec::Register, true),
    ("counter", Spec::Counter, false),
    ("stack", Spec::Stack, false),
    ("stack, distinct values", Spec::Stack, true),
    ("queue", Spec::Queue, false),
    ("queue without looks", Spec::Queue, true),
    ("queue, distinct values", Spec::Queue, true),
    ("deque", Spec::Deque, false),
    ("deque without looks", Spec::Deque, true),
    ("priority queue", Spec::PriorityQueue, false),
    ("priority queue, distinct values", Spec::PriorityQueue, true),
    ("set", Spec::Set, false),
    ("map", Spec::Map, false),
];

fn main() {
    let (mut only, mut numbers, mut ours, mut search) = (Vec::new(), Vec::new(), false, false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--ours" => ours = true,
            "--search" => search = true,
            "--only" => only.extend(arguments.next()),
            number => numbers.push(number.replace(',', "").parse::<u64>().expect("a number")),
        }
    }
    let number = |at: usize, default: u64| numbers.get(at).copied().unwrap_or(default);
    let (count, operations) = (number(0, 100), number(1, 1_000) as usize);
    let limit = Duration::from_secs(number(2, 1));
    println!(
        "| object | not linearizable | ours, ms | not decided | porcupine-rs, ms | not decided | 10 ms | 100 ms | 1 s |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    let how = How { limit, ours, search };
    for (name, spec, distinct) in ROWS {
        if !only.is_empty() && !only.iter().any(|only| only == name) {
            continue;
        }
        // One at a time: ten thousand histories of a thousand operations take gigabytes.
        let made = (0..count as usize).map(|number| made(number as u64 + 1, name, (spec, distinct), operations));
        let times = match spec {
            Spec::Register => times::<Register>(spec, made, how),
            Spec::Counter => times::<Counter>(spec, made, how),
            Spec::Set | Spec::Map => times::<Key>(spec, made, how),
            _ => times::<Container>(spec, made, how),
        };
        let [own, mut theirs] = times.each.map(|(time, undecided)| format!("{time:.3} | {undecided}"));
        if ours {
            theirs = "– | –".to_string();
        }
        let [ten, hundred, second] = times.within;
        println!("| {name} | {} | {own} | {theirs} | {ten} | {hundred} | {second} |", times.bad);
    }
}

/// A history of up to 8 processes; every second one is spoiled.
fn made(seed: u64, name: &str, (spec, distinct): (Spec, bool), operations: usize) -> History {
    let mut random = Random::new(seed);
    let mut operations = right_operations(&mut random, spec, distinct, 8, operations);
    if seed % 2 == 0 {
        (0..6).for_each(|_| spoil(&mut random, &mut operations, distinct));
    }
    spread(&mut operations);
    if name.ends_with("without looks") {
        with_few_values(&mut operations, 3);
    }
    History::new(operations)
}

/// How the histories are judged.
#[derive(Clone, Copy)]
struct How {
    limit: Duration,
    ours: bool,
    search: bool,
}

struct Times {
    bad: usize,
    /// How many ours decided within 10 ms, 100 ms and 1 s.
    within: [usize; 3],
    /// Milliseconds for a history, on average, and how many were not decided: ours, porcupine-rs.
    each: [(f64, usize); 2],
}

fn times<O: Object>(
    spec: Spec,
    made: impl ExactSizeIterator<Item = History>,
    How { limit, ours: only_ours, search }: How,
) -> Times {
    let count = made.len() as f64;
    let zero = Value::Int(0);
    let mut spent = [Duration::ZERO; 2];
    let mut undecided = [0; 2];
    let mut bad = 0;
    let mut within = [0; 3];
    for history in made {
        let start = Instant::now();
        let limits = Limits { go_on: &|| start.elapsed() < limit };
        let verdict = match search {
            true => check_by_search(&history, spec, Some(&zero), limits),
            false => check(&history, spec, Some(&zero), limits).map(|checked| checked.verdict),
        };
        let verdict = verdict.expect("the methods are known");
        let took = start.elapsed();
        spent[0] += took;
        let ours = (verdict != Verdict::Unknown).then_some(verdict == Verdict::Linearizable);
        for (count, limit) in within.iter_mut().zip([10, 100, 1_000]) {
            *count += usize::from(ours.is_some() && took <= Duration::from_millis(limit));
        }
        let theirs = if only_ours { None } else { by_porcupine::<O>(&typed(&history, spec), limit, &mut spent[1]) };
        assert!(ours.is_none() || theirs.is_none() || ours == theirs, "they differ on {history:#?}");
        undecided[0] += usize::from(ours.is_none());
        undecided[1] += usize::from(theirs.is_none());
        bad += usize::from(ours.or(theirs) == Some(false));
    }
    let average = |at: usize| (1e3 * spent[at].as_secs_f64() / count, undecided[at]);
    Times { bad, within, each: [average(0), average(1)] }
}

fn by_porcupine<O: Object>(history: &[Typed], limit: Duration, spent: &mut Duration) -> Option<bool> {
    let operations = for_porcupine::<O>(history);
    let start = Instant::now();
    let result = porcupine_rs::check_operations_timeout(&operations, limit);
    *spent += start.elapsed();
    (result != CheckResult::Unknown).then_some(result == CheckResult::Ok)
}

fn typed(history: &History, spec: Spec) -> Vec<Typed> {
    let one = |operation: &foretrace_linearizability::Operation| {
        let (key, done) = done(operation, spec);
        let process = operation.process.parse().expect("a number");
        Typed { process, key, done, call: operation.call as i64, ret: operation.ret as i64 }
    };
    history.operations.iter().map(one).collect()
}

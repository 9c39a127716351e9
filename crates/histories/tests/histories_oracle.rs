//! Compares the predicted histories of random small programs' traces with those of plain enumeration, and with those of the programs
//! themselves. Each predicted history must be a real one. Each real history must have no more constraints than some predicted one.
//!
//! The programs are litmus programs. So the interpreter says which histories there are: it runs the program in every interleaving, and does
//! not change the order of one run's events.

use foretrace_histories::every_history;
use foretrace_linearizability::{History, Value, read_order, read_trace};
use foretrace_litmus::{Exploring, Options, Outcome, Program, explore, parse, run};
use foretrace_trace::random::Random;
use foretrace_trace::{EventId, Model, Observed, Op, Results, Semantics, State, Trace, observe};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write;
use std::ops::ControlFlow;

/// Two or three threads that call one or two operations each.
fn random_program(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = "shared x: int = 0;\nshared y: int = 1;\nshared z: bv64 = 0;\nmutex m;\n".to_string();
    let threads = 2 + random.below(2);
    let most = if threads == 2 { 3 } else { 1 };
    let functions = 1 + random.below(3);
    let mut sorts = Vec::new();
    for number in 0..functions {
        let sort = ["int", "int", "bool", "bv64", ""][random.below(5)];
        let gives = match (sort, random.below(2)) {
            ("", _) => String::new(),
            ("int", 0) => " -> int empty 0".to_string(),
            _ => format!(" -> {sort}"),
        };
        let _ = writeln!(text, "operation fn f{number}(v: int){gives} {{");
        let locked = random.below(3) == 0;
        if locked {
            text.push_str("    lock(m);\n");
        }
        for statement in 0..1 + random.below(most) {
            let line = match random.below(8) {
                0 => "x = x + 1;".to_string(),
                1 => "y = v;".to_string(),
                2 => format!("let a{statement} = x; y = a{statement};"),
                3 => "if (x > 0) { y = y + v; }".to_string(),
                4 => format!("let b{statement} = fetch_add(x, 1);"),
                5 => format!("let c{statement} = cas(x, 0, v);"),
                6 => "z = z - 1;".to_string(),
                _ => "x = y;".to_string(),
            };
            let _ = writeln!(text, "    {line}");
        }
        if locked {
            text.push_str("    unlock(m);\n");
        }
        let result = match sort {
            "int" => ["x", "y + x", "7", "v"][random.below(4)],
            "bool" => ["x == 0", "y < x"][random.below(2)],
            "bv64" => ["z", "z - 1"][random.below(2)],
            _ => "",
        };
        if !result.is_empty() {
            let _ = writeln!(text, "    return {result};");
        }
        text.push_str("}\n");
        sorts.push(sort);
    }
    for thread in 0..threads {
        let _ = writeln!(text, "thread T{thread} {{");
        for _ in 0..1 + random.below(if threads == 2 { 2 } else { 1 }) {
            let (called, value) = (random.below(functions), random.below(3));
            let _ = writeln!(text, "    f{called}({value});");
        }
        text.push_str("}\n");
    }
    text
}

/// An operation by its thread and its number there.
type Name = (String, usize);

/// What a history says of an operation.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct SaidOf {
    called: String,
    result: Option<Value>,
    /// The operations that had ended before it began.
    before: BTreeSet<Name>,
}

type Said = BTreeMap<Name, SaidOf>;

fn said(history: &History) -> Said {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let names = history.operations.iter().map(|operation| {
        let number = numbers.entry(&operation.process).or_default();
        *number += 1;
        (operation.process.clone(), *number)
    });
    let names: Vec<Name> = names.collect();
    let one = |(place, name): (usize, &Name)| {
        let operation = &history.operations[place];
        let before = history.operations.iter().zip(&names).filter(|(other, _)| other.ret < operation.call);
        let called = format!("{}({:?})", operation.method, operation.args);
        let before = before.map(|(_, name)| name.clone()).collect();
        (name.clone(), SaidOf { called, result: operation.result.clone(), before })
    };
    names.iter().enumerate().map(one).collect()
}

/// The calls and returns that came, with what the latter gave.
type Came = Vec<(EventId, Option<String>)>;

/// The histories of all maximal prefixes, by the definition: every event that may come next is tried, nothing is left out.
fn by_enumeration(trace: &Trace, observed: &Observed) -> BTreeSet<Said> {
    let semantics = Semantics::new(trace, observed, Model::Ctp).expect("a symbolic trace");
    let results = Results::new(trace);
    let mut seen: HashSet<(State, Came)> = HashSet::new();
    let mut open = vec![(semantics.initial(), Came::new())];
    let mut found = BTreeSet::new();
    while let Some((state, came)) = open.pop() {
        if !seen.insert((state.clone(), came.clone())) {
            continue;
        }
        let before = open.len();
        let mut is_end = true;
        for event in semantics.next_events(&state).collect::<Vec<_>>() {
            let mut next = state.clone();
            if semantics.step(&mut next, event, None).is_err() {
                continue;
            }
            is_end = false;
            let mut came = came.clone();
            match trace.event(event).op {
                Op::Call { .. } => came.push((event, None)),
                Op::Return { .. } => {
                    let value = results.given_by(event).and_then(|definition| semantics.local(&state, definition));
                    came.push((event, results.text(trace, event, value)));
                }
                _ => {}
            }
            open.push((next, came));
        }
        assert_eq!(is_end, open.len() == before);
        if is_end {
            let given: BTreeMap<EventId, Option<String>> = came.iter().cloned().collect();
            let history = read_order(trace, came.iter().map(|(event, _)| *event), |event| given[&event].clone());
            found.insert(said(&history));
        }
    }
    found
}

/// The histories of all interleavings of the program.
fn by_running(program: &Program) -> BTreeSet<Said> {
    let exploring = Exploring { real_time: true, ..Exploring::all(1_000) };
    let mut found = BTreeSet::new();
    let explored = explore(program, exploring, &mut |_| true, &mut |execution| {
        assert_eq!(execution.outcome, Outcome::Finished);
        found.insert(said(&read_trace(&execution.trace)));
        ControlFlow::Continue(())
    });
    assert_eq!(explored.ended, foretrace_explore::Ended::Complete);
    found
}

/// Whether a history may go on to another: the same results, the same operations before each; what is open may end.
fn goes_on_to(part: &Said, whole: &Said) -> bool {
    part.iter().all(|(name, own)| {
        whole.get(name).is_some_and(|theirs| {
            let same_result = own.result.is_none() || own.result == theirs.result;
            own.called == theirs.called && own.before == theirs.before && same_result
        })
    })
}

/// Whether a history asks for all that another asks for: each result that the other has, and each order of two operations. If it is
/// linearizable, then so is the other, in the same order.
fn covers(strong: &Said, weak: &Said) -> bool {
    let has_result = |(name, theirs): (&Name, &SaidOf)| {
        theirs.result.is_none() || strong.get(name).is_some_and(|own| own.result == theirs.result)
    };
    let has_order = |(name, own): (&Name, &SaidOf)| {
        weak.get(name).is_some_and(|theirs| own.called == theirs.called && theirs.before.is_subset(&own.before))
    };
    weak.iter().all(has_result) && strong.iter().all(has_order)
}

/// How many programs, and of those how many whose schedules all stay on the path, and how many with more than one history.
#[derive(Default, Debug)]
struct Count {
    programs: usize,
    stay: usize,
    several: usize,
    histories: usize,
    enumerated: usize,
}

fn compare(seed: u64, count: &mut Count) {
    let source = random_program(seed);
    let program = parse(&source).unwrap_or_else(|errors| panic!("{source}\n{errors:?}"));
    let ran = run(&program, &Options::seed(seed));
    assert_eq!(ran.outcome, Outcome::Finished, "{source}");
    let trace = ran.trace;
    let observed = observe(&trace).expect("the recorded order runs");
    let every = every_history(&trace, &observed, Model::Ctp).expect("a symbolic trace");
    let as_history = |came: Vec<&foretrace_histories::Came>| {
        let given: BTreeMap<EventId, Option<String>> =
            came.iter().map(|came| (came.event, came.result.as_deref().map(str::to_string))).collect();
        said(&read_order(&trace, came.iter().map(|came| came.event), |event| given[&event].clone()))
    };
    let found: BTreeSet<Said> =
        every.histories.iter().map(|performed| as_history(performed.came().collect())).collect();
    let all = by_enumeration(&trace, &observed);
    let real = by_running(&program);
    for history in &found {
        let is_one = |all: &BTreeSet<Said>| all.iter().any(|whole| goes_on_to(history, whole));
        assert!(is_one(&all) && is_one(&real), "seed {seed}\n{source}\n{history:?}");
    }
    let are_covered = |all: &BTreeSet<Said>| all.iter().all(|weak| found.iter().any(|strong| covers(strong, weak)));
    assert!(are_covered(&all), "seed {seed}\n{source}");
    if !every.leaves_path {
        assert!(are_covered(&real), "seed {seed}\n{source}");
        count.stay += 1;
    }
    count.enumerated += all.len();
    count.programs += 1;
    count.several += usize::from(found.len() > 1);
    count.histories += found.len();
}

/// More seeds than the gate's 200 where `FORETRACE_SEEDS` says so.
#[test]
fn histories_of_random_programs_are_those_of_enumeration_and_of_the_programs() {
    let seeds = std::env::var("FORETRACE_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(200);
    let mut count = Count::default();
    (0..seeds).for_each(|seed| compare(seed, &mut count));
    println!("{count:?}");
    assert!(count.stay * 10 > count.programs && count.several * 2 > count.programs, "{count:?}");
}

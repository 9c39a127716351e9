//! The checks agree with an exhaustive search that shares nothing with them, on random histories of every object.

mod histories;

use foretrace_linearizability::check::check_by_search;
use foretrace_linearizability::{History, Limits, Operation, Spec, Value, Verdict, check, compile, ends, minimal};
use foretrace_trace::random::Random;
use histories::{Plain, random_history, right_operations, spread, with_few_values};

/// All orders, by recursion.
fn exhaustive(history: &History, spec: Spec, object: &Plain, taken: &mut Vec<bool>) -> bool {
    let left: Vec<usize> = (0..taken.len()).filter(|number| !taken[*number]).collect();
    if left.iter().all(|number| history.operations[*number].result.is_none()) {
        return true;
    }
    let earliest = left.iter().map(|number| history.operations[*number].ret).min().unwrap_or(u64::MAX);
    for number in left {
        let operation = &history.operations[number];
        if operation.call > earliest {
            continue;
        }
        let mut after = object.clone();
        let arg = |value: &Value| if let Value::Int(value) = value { *value } else { 0 };
        let args: Vec<i64> = operation.args.iter().map(arg).collect();
        let given = after.run(spec, &operation.method, &args);
        if operation.result.as_ref().is_none_or(|result| *result == given) {
            taken[number] = true;
            let fits = exhaustive(history, spec, &after, taken);
            taken[number] = false;
            if fits {
                return true;
            }
        }
    }
    false
}

fn is_linearizable(history: &History, spec: Spec) -> bool {
    exhaustive(history, spec, &Plain::default(), &mut vec![false; history.operations.len()])
}

/// `FORETRACE_HISTORIES` says how many histories each test has.
fn how_many() -> u64 {
    std::env::var("FORETRACE_HISTORIES").ok().and_then(|text| text.parse().ok()).unwrap_or(2_000)
}

fn verdict(history: &History, spec: Spec) -> bool {
    let zero = Value::Int(0);
    let checked = check(history, spec, Some(&zero), Limits::NONE).expect("the methods are known");
    let searched = check_by_search(history, spec, Some(&zero), Limits::NONE).expect("the methods are known");
    assert_eq!(checked.verdict, searched, "fast check and search differ on {history:#?}");
    assert_ne!(searched, Verdict::Unknown);
    searched == Verdict::Linearizable
}

fn agrees(distinct: bool, most: usize) {
    for (name, spec) in Spec::ALL {
        let mut bad = 0;
        for seed in 1..=how_many() / 8 {
            let history = random_history(seed, spec, distinct, most);
            let expected = is_linearizable(&history, spec);
            assert_eq!(verdict(&history, spec), expected, "{name}, seed {seed}: {history:#?}");
            bad += u64::from(!expected);
        }
        let all = how_many() / 8;
        assert!(bad > 0 && bad < all - all / 10, "{name}: {bad} of {all} are not linearizable");
    }
}

#[test]
fn checks_agree_with_all_orders_on_few_values() {
    agrees(false, 8);
}

#[test]
fn checks_agree_with_all_orders_on_distinct_values() {
    agrees(true, 9);
}

/// A queue's history of few values that only puts and takes; in every second one the takes give their values in reverse.
fn few_values(seed: u64, most: usize) -> History {
    let mut history = random_history(seed, Spec::Queue, true, most);
    with_few_values(&mut history.operations, 3);
    if seed.is_multiple_of(2) {
        let takes = history.operations.iter_mut().filter(|operation| operation.method == "dequeue");
        let mut results: Vec<&mut Option<Value>> =
            takes.map(|take| &mut take.result).filter(|one| one.is_some()).collect();
        let reversed: Vec<Option<Value>> = results.iter().rev().map(|result| (*result).clone()).collect();
        results.iter_mut().zip(reversed).for_each(|(result, other)| **result = other);
    }
    history
}

#[test]
fn the_search_for_visits_agrees_with_all_orders() {
    let mut bad = 0;
    for seed in 1..=how_many() {
        let history = few_values(seed, 9);
        let expected = is_linearizable(&history, Spec::Queue);
        assert_eq!(verdict(&history, Spec::Queue), expected, "seed {seed}: {history:#?}");
        bad += u64::from(!expected);
    }
    assert!(bad > how_many() / 20, "{bad} of {} are not linearizable", how_many());
    (1..=how_many() / 8).for_each(|seed| {
        verdict(&few_values(seed, 24), Spec::Queue);
    });
}

/// The same with looks: against all orders where that is short, else against the search.
#[test]
fn the_search_for_visits_knows_what_looks_see() {
    let mut bad = 0;
    for seed in 1..=how_many() {
        let history = random_history(seed, Spec::Queue, false, 9);
        let expected = is_linearizable(&history, Spec::Queue);
        assert_eq!(verdict(&history, Spec::Queue), expected, "seed {seed}: {history:#?}");
        bad += u64::from(!expected);
    }
    assert!(bad > how_many() / 40, "{bad} of {} are not linearizable", how_many());
    (1..=how_many() / 8).for_each(|seed| {
        verdict(&random_history(seed, Spec::Queue, false, 28), Spec::Queue);
    });
}

/// With one to three values: against all orders where that is short, else against the search. The search of deques knows stacks, too.
#[test]
fn the_searches_of_stacks_and_deques_agree_with_all_orders() {
    for (spec, few) in [Spec::Stack, Spec::Deque].into_iter().flat_map(|spec| (1..=3).map(move |few| (spec, few))) {
        let history = |seed: u64, most: usize| {
            let mut history = random_history(seed, spec, false, most);
            with_few_values(&mut history.operations, few);
            // What takes that never return took is not known: the same operations leave more values or fewer.
            if seed.is_multiple_of(2) {
                let mut random = Random::new(seed);
                let takes = history.operations.iter_mut().filter(|one| one.method.starts_with("pop"));
                for take in takes.filter(|_| random.below(2) == 0) {
                    (take.result, take.ret) = (None, u64::MAX);
                }
            }
            history
        };
        let judged = |history: &History| {
            let found = verdict(history, spec);
            let parts = compile(history, spec, None).expect("the methods are known").parts;
            let by_ends: Vec<_> = parts.iter().map(|part| ends::deque(&part.steps, Limits::NONE)).collect();
            assert_eq!(by_ends.iter().all(|one| *one == Some(true)), found, "{history:#?}");
            assert!(!by_ends.contains(&None), "{history:#?}");
            found
        };
        let mut bad = 0;
        for seed in 1..=how_many() / 2 {
            let history = history(seed, 9);
            let expected = is_linearizable(&history, spec);
            assert_eq!(judged(&history), expected, "{spec:?} of {few} values, seed {seed}: {history:#?}");
            bad += u64::from(!expected);
        }
        assert!(bad > how_many() / 1000, "{spec:?} of {few} values: {bad} are not linearizable");
        (1..=how_many() / 8).for_each(|seed| {
            judged(&history(seed, 28));
        });
    }
}

/// Histories that are linearizable as they are made: nothing that the searches remember may rule out the order that there is.
#[test]
fn what_stacks_and_deques_really_did_is_linearizable() {
    for (spec, seed) in
        [Spec::Stack, Spec::Deque].into_iter().flat_map(|spec| (1..=how_many() / 20).map(move |seed| (spec, seed)))
    {
        let mut operations = right_operations(&mut Random::new(seed), spec, false, 8, 150);
        spread(&mut operations);
        let checked = check(&History::new(operations), spec, None, Limits::NONE).expect("the methods are known");
        assert_eq!(checked.verdict, Verdict::Linearizable, "{spec:?}, seed {seed}");
    }
}

/// A take whose result is not known takes something if there is something.
#[test]
fn a_take_with_an_unknown_result_takes_what_is_there() {
    let operation =
        |(number, (method, args, result)): (usize, (&str, &[i64], Value))| foretrace_linearizability::Operation {
            process: "0".to_string(),
            object: None,
            method: method.to_string(),
            args: args.iter().copied().map(Value::Int).collect(),
            result: Some(result),
            call: 2 * number as u64,
            ret: 2 * number as u64 + 1,
        };
    for (spec, put, take) in
        [(Spec::Stack, "push", "pop"), (Spec::Deque, "push_front", "pop_front"), (Spec::Deque, "push_back", "pop_back")]
    {
        let judged = |steps: [(&str, &[i64], Value); 4]| {
            let history = History::new(steps.into_iter().enumerate().map(operation).collect());
            check(&history, spec, None, Limits::NONE).expect("the methods are known").verdict
        };
        let (one, unknown) = (|| (put, [1].as_slice(), Value::Nil), || (take, [].as_slice(), Value::Unknown));
        let takes = |result| (take, [].as_slice(), result);
        assert_eq!(judged([unknown(), one(), one(), takes(Value::Int(1))]), Verdict::Linearizable, "{spec:?}");
        assert_eq!(judged([one(), unknown(), takes(Value::Nil), one()]), Verdict::Linearizable, "{spec:?}");
        assert_eq!(judged([one(), unknown(), takes(Value::Int(1)), one()]), Verdict::NotLinearizable, "{spec:?}");
    }
}

/// Who finds a deque empty finds it so at both ends. In the wrong history a value was put at one end before the last one was taken at the other;
/// in the right one these two overlap.
#[test]
fn a_deque_is_empty_at_both_ends_at_once() {
    let operation = |method: String, arg: Option<i64>, result: Value, (call, ret): (u64, u64)| Operation {
        process: call.to_string(),
        object: None,
        method,
        args: arg.into_iter().map(Value::Int).collect(),
        result: Some(result),
        call,
        ret,
    };
    let turns = [("front", "back"), ("back", "front")];
    for (near, far, finder) in turns.into_iter().flat_map(|(near, far)| [near, far].map(|finder| (near, far, finder))) {
        for (found, is_right) in
            [(Value::Nil, false), (Value::Nil, true), (Value::Unknown, false), (Value::Unknown, true)]
        {
            let (put, taken) = if is_right { ((4, 6), (3, 5)) } else { ((3, 4), (5, 6)) };
            let history = History::new(vec![
                operation(format!("push_{far}"), Some(1), Value::Nil, (0, 1)),
                operation(format!("pop_{finder}"), None, found, (2, 7)),
                operation(format!("push_{near}"), Some(2), Value::Nil, put),
                operation(format!("pop_{far}"), None, Value::Int(1), taken),
                operation(format!("pop_{near}"), None, Value::Int(2), (8, 9)),
            ]);
            let parts = compile(&history, Spec::Deque, None).expect("the methods are known").parts;
            assert_eq!(ends::deque(&parts[0].steps, Limits::NONE), Some(is_right), "{history:#?}");
            assert_eq!(verdict(&history, Spec::Deque), is_right);
        }
    }
}

/// A thousand operations of three values: the plain search takes longer than ten seconds for each.
#[test]
fn long_histories_of_stacks_and_deques_are_decided() {
    let right = |seed: u64, spec: Spec| right_operations(&mut Random::new(seed), spec, false, 8, 1_000);
    let verdict = |mut operations: Vec<_>, spec: Spec| {
        spread(&mut operations);
        let checked = check(&History::new(operations), spec, None, Limits::NONE);
        checked.expect("the methods are known").verdict
    };
    for (seed, spec) in [(39, Spec::Stack), (41, Spec::Stack), (41, Spec::Deque), (47, Spec::Deque)] {
        assert_eq!(verdict(right(seed, spec), spec), Verdict::Linearizable, "{spec:?}, seed {seed}");
    }
    let mut spoiled = right(41, Spec::Stack);
    let take = spoiled.iter_mut().rfind(|one| one.method == "pop" && one.result != Some(Value::Nil));
    take.expect("some take").result = Some(Value::Int(7)); // which nobody puts
    assert_eq!(verdict(spoiled, Spec::Stack), Verdict::NotLinearizable);
}

/// Longer histories of distinct values: the fast checks against the search.
#[test]
fn fast_checks_agree_with_the_search_on_longer_histories() {
    for spec in [Spec::Register, Spec::Queue, Spec::Stack] {
        for seed in 1..=how_many() / 8 {
            verdict(&random_history(seed, spec, true, 40), spec);
        }
    }
}

/// What is left of a history is not linearizable.
#[test]
fn the_explanation_is_a_part_that_is_not_linearizable() {
    let mut shorter = 0;
    for (name, spec) in Spec::ALL {
        for seed in 1..=how_many() / 16 {
            let history = random_history(seed, spec, true, 9);
            let zero = Value::Int(0);
            let part = minimal(&history, spec, Some(&zero), Limits::NONE).expect("the methods are known");
            assert_eq!(part.is_none(), is_linearizable(&history, spec), "{name}, seed {seed}");
            if let Some(part) = part {
                assert!(!is_linearizable(&part, spec), "{name}, seed {seed}: {part:#?}");
                shorter += usize::from(part.operations.len() < history.operations.len());
            }
        }
    }
    assert!(shorter > 20, "{shorter}");
}

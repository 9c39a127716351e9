//! The checks agree with an exhaustive search that shares nothing with them, on random histories of every object.

mod histories;

use foretrace_linearizability::check::check_by_search;
use foretrace_linearizability::{History, Limits, Spec, Value, Verdict, check, minimal};
use histories::{Plain, random_history, with_few_values};

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

//! The examples: the runs that their comments promise.

use crate::support::{accepted, shown};
use foretrace::litmus::{Options, Outcome, Run, run_file};
use foretrace_trace::{Op, Trace, Value};
use std::path::Path;

fn example(name: &str, options: Options) -> Run {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/litmus").join(name);
    accepted(run_file(&path, &options, false).unwrap_or_else(|error| panic!("{error}")))
}

#[track_caller]
fn check(name: &str, options: Options, expected: &[&str]) {
    let run = example(name, options);
    assert_eq!(shown(&run.trace), expected);
    assert_eq!(run.outcome, Outcome::Finished);
}

/// The last value that the run wrote to a variable.
fn last_value(trace: &Trace, variable: &str) -> Value {
    let written = trace.events.iter().rev().find_map(|event| match event.op {
        Op::Write { var, value, .. } if &*trace.vars[var.index()].key == variable => value,
        _ => None,
    });
    trace.value(written.expect("the run wrote to it")).clone()
}

#[test]
fn figure_1_a_is_serial() {
    let t4 = |condition| {
        vec![
            "T1: begin",
            "T1: read x into a: 0",
            "T1: write (+ a 1) to x: 1",
            "T1: end",
            "T2: read x into b: 1",
            condition,
            "T2: write 5 to x: 5",
        ]
    };
    check("fig1a.lit", Options::serial(), &t4("T2: assume (> b 0)"));
    check("fig1a-modified.lit", Options::serial(), &t4("T2: assume (>= b 0)"));
}

#[test]
fn figure_1_b_signals_after_the_wait() {
    let expected = [
        "T2: acquire m",
        "T2: wait c m",
        "T1: begin",
        "T1: write 1 to x: 1",
        "T1: read x into x: 1",
        "T1: end",
        "T1: signal c",
        "T2: wake c m, by 6",
        "T2: release m",
        "T2: write 3 to x: 3",
    ];
    check("fig1b.lit", Options::seed(1), &expected);
}

#[test]
fn figure_1_b_loses_a_signal_that_comes_first() {
    let run = example("fig1b.lit", Options::serial());
    let Outcome::Deadlock(blocked) = &run.outcome else { panic!("{}", run.outcome) };
    assert_eq!(blocked.len(), 1);
    assert_eq!((&*blocked[0].thread, &*blocked[0].waits_for), ("T2", "a signal on `c`"));
    assert!(blocked[0].loc.ends_with("fig1b.lit:21:5"), "{}", blocked[0].loc);
}

#[test]
fn figure_1_b_without_the_signal_is_serial() {
    let expected = ["T1: begin", "T1: write 1 to x: 1", "T1: read x into x: 1", "T1: end", "T2: write 3 to x: 3"];
    check("fig1b-modified.lit", Options::serial(), &expected);
}

#[test]
fn figure_6_takes_the_branch() {
    let expected = [
        "T1: begin",
        "T1: write 0 to x: 0",
        "T1: read x into x: 0",
        "T1: end",
        "T1: assume (= (+ x 1) 1)",
        "T1: write 2 to x: 2",
        "T2: write 3 to x: 3",
        "T2: read x into b: 3",
    ];
    check("fig6.lit", Options::serial(), &expected);
}

#[test]
fn guarded_independence_sees_no_remote_write_of_another_value() {
    let expected = [
        "T1: begin increment",
        "T1: read x into a: 0",
        "T1: write (+ a 1) to x: 1",
        "T1: end increment",
        "T2: read x into b: 1",
        "T2: write (+ b 1) to x: 2",
    ];
    check("guarded.lit", Options::serial(), &expected);
}

#[test]
fn bank_passes_and_fails() {
    for options in [Options::serial(), Options::seed(3)] {
        let run = example("bank.lit", options);
        assert_eq!(run.outcome, Outcome::Finished);
        assert_eq!(last_value(&run.trace, "balance"), Value::int(130));
    }
    let Outcome::AssertionFailed(failure) = example("bank.lit", Options::seed(0)).outcome else {
        panic!("seed 0 loses a deposit");
    };
    assert_eq!((&*failure.thread, &*failure.reason), ("main", "a deposit was lost"));
}

#[test]
fn try_lock_takes_both_ways() {
    let expected = [
        "T1: acquire m",
        "T2: busy m",
        "T2: read hits into hits: 0",
        "T2: write (+ hits 1) to hits: 1",
        "T1: begin locked",
        "T1: read hits into hits: 1",
        "T1: write (+ hits 1) to hits: 2",
        "T1: end locked",
        "T1: release m",
    ];
    check("trylock.lit", Options::seed(21), &expected);
}

#[test]
fn who_is_late_passes_what_happens_once() {
    let expected = [
        "C: once_begin made",
        "C: write 1 to setting: 1",
        "C: once_fail made",
        "B: once_begin made",
        "B: write 7 to setting: 7",
        "B: once_end made",
        "A: once_pass made",
        "A: begin use",
        "A: read setting into first: 7",
        "A: read setting into second: 7",
        "A: assume (= first second)",
        "A: end use",
    ];
    check("once.lit", Options::serial(), &expected);
}

#[test]
fn serial_runs_of_the_others_end_well() {
    let last = |name, variable| {
        let run = example(name, Options::serial());
        assert_eq!(run.outcome, Outcome::Finished, "{name}");
        last_value(&run.trace, variable)
    };
    assert_eq!(last("rwlock.lit", "value"), Value::int(2));
    assert_eq!(last("semaphore.lit", "stock"), Value::int(0));
    assert_eq!(last("barrier.lit", "arrived"), Value::int(2));
    assert_eq!(last("spinlock.lit", "count"), Value::int(2));
    assert_eq!(last("flags.lit", "flags"), Value::word(8, 0x83u8.into()));
}

#[test]
fn the_spin_lock_excludes_under_every_seed() {
    for seed in 0..50 {
        let run = example("spinlock.lit", Options::seed(seed));
        assert_eq!(run.outcome, Outcome::Finished, "seed {seed}");
        assert_eq!(last_value(&run.trace, "count"), Value::int(2), "seed {seed}");
    }
}

#[test]
fn the_barrier_orders_under_every_seed() {
    for seed in 0..50 {
        assert_eq!(example("barrier.lit", Options::seed(seed)).outcome, Outcome::Finished, "seed {seed}");
    }
}

//! How runs end, and that seeds decide them.

use crate::support::{program, serial, shown};
use foretrace::litmus::{FileError, Options, Outcome, Scheduler, parse_file, run};

fn blocked(source: &str) -> Vec<String> {
    match serial(source).outcome {
        Outcome::Deadlock(blocked) => {
            blocked.iter().map(|b| format!("{} at {}: {}", b.thread, b.loc, b.waits_for)).collect()
        }
        other => panic!("{other}"),
    }
}

#[test]
fn deadlocks_say_who_waits_for_what() {
    let source = "mutex m; mutex n; semaphore s = 0;
thread T { lock(m); down(s); lock(n); }
thread U { lock(n); post(s); lock(m); }
thread V { join T; }";
    let expected = [
        "T at program.lit:2:30: `n`, held by `U`",
        "U at program.lit:3:30: `m`, held by `T`",
        "V at program.lit:4:12: the end of `T`",
    ];
    assert_eq!(blocked(source), expected);
    assert_eq!(
        blocked("mutex m; thread T { lock(m); lock(m); }"),
        ["T at program.lit:1:30: `m`, held by the thread itself"]
    );
    assert_eq!(blocked("semaphore s = 0; thread T { down(s); }"), ["T at program.lit:1:29: a post of `s`"]);
    assert_eq!(blocked("barrier b(2); thread T { await(b); }"), ["T at program.lit:1:26: more threads at `b`"]);
    assert_eq!(
        blocked("rwlock q; thread T { read_lock(q); } thread U { read_lock(q); } thread V { write_lock(q); }"),
        ["V at program.lit:1:76: `q`, held by `T`, `U`"]
    );
    assert_eq!(
        blocked("condvar c; mutex m; thread T { lock(m); wait(c, m); }"),
        ["T at program.lit:1:41: a signal on `c`"]
    );
}

#[test]
fn a_deadlock_reads_well() {
    let outcome = serial("mutex m; thread T { lock(m); lock(m); }").outcome;
    let text = "deadlock:\n  `T` at program.lit:1:30 waits for `m`, held by the thread itself";
    assert_eq!(outcome.to_string(), text);
}

fn error(source: &str) -> String {
    match serial(source).outcome {
        Outcome::Error(failure) => failure.reason,
        other => panic!("{other}"),
    }
}

#[test]
fn errors_of_a_run() {
    assert_eq!(error("mutex m; thread T { unlock(m); }"), "unlock of `m`, which the thread does not hold");
    assert_eq!(
        error("mutex m; thread T { lock(m); } thread U { unlock(m); }"),
        "unlock of `m`, which the thread does not hold"
    );
    assert_eq!(error("rwlock q; thread T { read_unlock(q); }"), "read_unlock of `q`, which the thread does not hold");
    assert_eq!(error("mutex m; condvar c; thread T { wait(c, m); }"), "wait with `m`, which the thread does not hold");
    assert_eq!(error("thread T { spawn U; spawn U; } thread U { }"), "`U` was spawned before");
    assert_eq!(error("fn f() { f(); } thread T { f(); }"), "`f` is called more than 1000 calls deep");
    let squares = "thread T { let n = 2; while (true) { n = n * n; } }";
    assert_eq!(error(squares), "an integer of more than 4096 bits");
}

#[test]
fn an_error_ends_the_run_where_it_happens() {
    let run = serial("mutex m; shared x: int; thread T { x = 1; unlock(m); x = 2; } thread U { x = 3; }");
    assert_eq!(shown(&run.trace), ["T: write 1 to x: 1", "T: fail unlock of `m`, which the thread does not hold"]);
}

#[test]
fn the_step_limit_cuts_off() {
    let program = program("shared x: int; thread T { while (true) { x = x + 1; } }");
    let run_up_to = |max_steps| run(&program, &Options { scheduler: Scheduler::Serial, max_steps });
    let run = run_up_to(5);
    assert_eq!((run.trace.events.len(), run.outcome), (5, Outcome::StepLimit));
    assert_eq!(run_up_to(0).trace.events.len(), 0);
}

#[test]
fn a_run_of_just_the_limit_finishes() {
    let program = program("shared x: int; thread T { x = 1; x = 2; }");
    let outcome = |max_steps| run(&program, &Options { scheduler: Scheduler::Serial, max_steps }).outcome;
    assert_eq!(outcome(2), Outcome::Finished);
    assert_eq!(outcome(1), Outcome::StepLimit);
}

#[test]
fn an_endless_loop_without_events_is_cut_off() {
    assert_eq!(serial("thread T { while (true) { } }").outcome, Outcome::StepLimit);
    assert_eq!(serial("thread T { spawn U; } thread U { while (true) { } }").outcome, Outcome::StepLimit);
}

#[test]
fn a_seed_decides_the_run() {
    let program = program(
        "shared x: int; thread T { x = 1; x = 2; x = 3; } thread U { x = 4; x = 5; x = 6; } thread V { x = 7; }",
    );
    let order = |seed| shown(&run(&program, &Options::seed(seed)).trace);
    let orders: std::collections::BTreeSet<_> = (0..200).map(order).collect();
    assert!((0..200).all(|seed| order(seed) == order(seed)));
    // There are 7!/(3!3!1!) = 140 orders; 200 seeds must find many of them.
    assert!(orders.len() > 70, "{}", orders.len());
}

#[test]
fn a_spinning_thread_lets_others_go_on() {
    let program = program("shared go: bool; thread T { while (!go) { } } thread U { go = true; }");
    for seed in 0..100 {
        assert_eq!(run(&program, &Options::seed(seed)).outcome, Outcome::Finished, "seed {seed}");
    }
    assert_eq!(run(&program, &Options::serial()).outcome, Outcome::StepLimit);
}

#[test]
fn files_that_cannot_be_run() {
    let missing = parse_file(std::path::Path::new("no/such.lit"), false);
    assert!(matches!(missing, Err(FileError::Read { ref path, .. }) if path.ends_with("such.lit")));
    assert!(missing.is_err_and(|error| error.to_string().starts_with("cannot read no/such.lit: ")));
}

#[test]
fn files_that_are_no_text_or_too_long() {
    let error = |name: &str, content: &[u8]| {
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&path, content).expect("a writable folder");
        parse_file(&path, false).expect_err("no program").to_string()
    };
    assert!(error("bytes.lit", b"thread T { \xff }").contains("bytes.lit: invalid utf-8"));
    assert!(error("long.lit", &vec![b' '; 5 << 20]).contains("long.lit: the program has more than 1048576 bytes"));
    assert!(error("mistake.lit", b"thread { }").contains("mistake.lit:1:8"));
}

//! All interleavings up to equivalence, against published counts of executions.
//!
//! P. Abdulla, S. Aronis, B. Jonsson and K. Sagonas, "Optimal dynamic partial order reduction", POPL 2014, table 1, has those of
//! `filesystem`, `indexer` (both of C. Flanagan and P. Godefroid, POPL 2005), `readers` and `last zero` for optimal reduction.

use crate::synchronised::Synchronised;
use foretrace::litmus::{self, Exploring, Outcome, Whole};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::ControlFlow;

/// How many interleavings a program has, and how many of them fail or come to a deadlock.
fn count(source: &str) -> (u64, u64) {
    let program = litmus::parse(source).expect("a program");
    let mut failing = 0;
    let explored = litmus::explore(&program, Exploring::all(10_000), &mut |_| true, &mut |execution| {
        failing += u64::from(execution.outcome != Outcome::Finished);
        ControlFlow::Continue(())
    });
    assert_eq!(explored.ended, foretrace_explore::Ended::Complete);
    (explored.tally.executions, failing)
}

/// One thread writes what `n` others read.
fn readers(n: usize) -> String {
    let mut source = "shared x: int = 0;\nthread W { x = 1; }\n".to_string();
    (0..n).for_each(|k| writeln!(source, "thread R{k} {{ let a = x; }}").expect("a string"));
    source
}

/// One thread looks for the last zero of an array, from the end, whose elements `n` others set from the one before.
fn last_zero(n: usize) -> String {
    let mut source = format!("shared a: int[{}] = 0;\n", n + 1);
    writeln!(source, "thread S {{ let i = {n}; let go = a[i] != 0; while (go) {{ i = i - 1; go = a[i] != 0; }} }}")
        .expect("a string");
    (1..=n).for_each(|k| writeln!(source, "thread T{k} {{ a[{k}] = a[{}] + 1; }}", k - 1).expect("a string"));
    source
}

/// Threads put four messages each into a hash table of 128 places: from twelve threads on they collide.
fn indexer(n: usize) -> String {
    let mut source = "shared table: int[128] = 0;\n".to_string();
    for thread in 0..n {
        let mut body = String::new();
        for message in 1..=4 {
            let w = message * 11 + thread;
            let h = (w * 7) % 128;
            write!(body, "let h{message} = {h}; while (!cas(table[h{message}], 0, {w})) {{ h{message} = (h{message} + 1) % 128; }} ")
                .expect("a string");
        }
        writeln!(source, "thread T{thread} {{ {body} }}").expect("a string");
    }
    source
}

/// Threads give a block to the inode that is theirs, which some share from 14 threads on.
fn filesystem(n: usize) -> String {
    let mut source = "shared inode: int[32] = 0;\nshared busy: int[26] = 0;\n".to_string();
    (0..32).for_each(|k| writeln!(source, "mutex i{k};").expect("a string"));
    (0..26).for_each(|k| writeln!(source, "mutex b{k};").expect("a string"));
    for thread in 0..n {
        let i = thread % 32;
        let mut search = String::new();
        // The search begins at a place of the thread's own and takes the first that is free.
        let start = (i * 2) % 26;
        for step in 0..13 {
            let b = (start + step) % 26;
            write!(
                search,
                "if (!done) {{ lock(b{b}); if (busy[{b}] == 0) {{ busy[{b}] = 1; inode[{i}] = {b} + 1; done = true; }} unlock(b{b}); }} "
            )
            .expect("a string");
        }
        writeln!(
            source,
            "thread T{thread} {{ lock(i{i}); if (inode[{i}] == 0) {{ let done = false; {search} }} unlock(i{i}); }}"
        )
        .expect("a string");
    }
    source
}

/// Each philosopher takes the fork on one side, then the one on the other; the last one the other way round if `careful`.
fn philosophers(n: usize, careful: bool) -> String {
    let mut source = String::new();
    (0..n).for_each(|k| writeln!(source, "mutex f{k};").expect("a string"));
    for k in 0..n {
        let (left, right) = (k, (k + 1) % n);
        let (one, other) = if careful && k + 1 == n { (right, left) } else { (left, right) };
        writeln!(source, "thread P{k} {{ lock(f{one}); lock(f{other}); unlock(f{other}); unlock(f{one}); }}")
            .expect("a string");
    }
    source
}

#[test]
fn readers_have_two_to_the_power_of_their_number() {
    for n in 1..=8 {
        assert_eq!(count(&readers(n)), (1 << n, 0), "{n} readers");
    }
}

#[test]
fn last_zero_has_the_published_number() {
    // 64 for 5 and 3328 for 10 in the table: 2^(n-2) (n + 3).
    for n in 2..=10 {
        assert_eq!(count(&last_zero(n)).0, (1 << (n - 2)) * (n as u64 + 3), "last zero of {n}");
    }
}

#[test]
fn indexer_has_the_published_number() {
    for (n, expected) in [(2, 1), (11, 1), (12, 8)] {
        assert_eq!(count(&indexer(n)), (expected, 0), "{n} threads");
    }
}

#[test]
fn filesystem_has_the_published_number() {
    for (n, expected) in [(2, 1), (13, 1), (14, 2), (16, 8)] {
        assert_eq!(count(&filesystem(n)), (expected, 0), "{n} threads");
    }
}

#[test]
fn philosophers_come_to_one_deadlock() {
    for n in 2..=8 {
        // Each fork is first used by one of its two neighbours. If each takes the same side first, one of the two ways round is
        // impossible and the other one the deadlock; else both are impossible.
        let (careless, deadlocks) = count(&philosophers(n, false));
        assert_eq!((careless, deadlocks), ((1 << n) - 1, 1), "{n} philosophers");
        let (careful, deadlocks) = count(&philosophers(n, true));
        assert_eq!(deadlocks, 0);
        assert!(careful < 1 << n, "{n} careful philosophers: {careful}");
    }
}

#[test]
fn a_failure_ends_its_trace() {
    let source = "shared x: int = 0;\nthread A { let a = x; x = a + 1; }\nthread B { x = 5; let b = x; assert(b == 5, \"lost\"); x = 7; }\n";
    let program = litmus::parse(source).expect("a program");
    let (mut failing, mut all) = (0, 0);
    litmus::explore(&program, Exploring::all(100), &mut |_| true, &mut |execution| {
        all += 1;
        let run = foretrace_trace::observe(&execution.trace);
        assert!(run.is_ok(), "{run:?}");
        if let Outcome::AssertionFailed(failure) = execution.outcome {
            failing += 1;
            assert_eq!(failure.event.index() + 1, execution.trace.events.len());
        }
        ControlFlow::Continue(())
    });
    assert!(failing > 0 && failing < all, "{failing} of {all}");
}

/// What each interleaving writes to `out`, in order, and how many interleavings finish; with lines kept whole.
fn written(source: &str, whole: &[Whole]) -> (BTreeSet<Vec<String>>, u64) {
    let program = litmus::parse(source).expect("a program");
    let mut all = BTreeSet::new();
    let mut finished = 0;
    let exploring = Exploring { whole, ..Exploring::all(10_000) };
    litmus::explore(&program, exploring, &mut |_| true, &mut |execution| {
        assert_eq!(execution.outcome, Outcome::Finished, "{source}");
        assert!(foretrace_trace::observe(&execution.trace).is_ok());
        let trace = &execution.trace;
        let value = |event: &foretrace_trace::Event| match event.op {
            foretrace_trace::Op::Write { var, value: Some(value), .. } if &*trace.vars[var.index()].key == "out" => {
                Some(format!("{} {}", event.thread.0, trace.value(value)))
            }
            _ => None,
        };
        all.insert(trace.events.iter().filter_map(value).collect());
        finished += 1;
        ControlFlow::Continue(())
    });
    (all, finished)
}

/// Code that is kept whole runs as it does under a lock that all code takes which accesses the same variables.
#[test]
fn what_is_kept_whole_runs_as_under_a_lock() {
    let bodies = [
        "let a = x;\n x = a + 1;",
        "let a = x;\n let b = y;\n x = a + b + 1;",
        "let i = 0;\n while (i < 2) { x = x + 1; i = i + 1; }",
        "let a = x;\n if (a > 0) { y = a; }\n x = a + 1;",
        "lock(n);\n let a = x;\n unlock(n);\n x = a + 2;",
    ];
    for first in bodies {
        for second in bodies {
            let (one, other) = (first.matches('\n').count() as u32, second.matches('\n').count() as u32);
            let program = |before: &str, after: &str| {
                let thread = |name: &str, body: &str| {
                    format!(
                        "thread {name} {{\n{before}{body}{after}\n{before}let o = x * 10 + y;{after}\nout = o; }}\n"
                    )
                };
                format!(
                    "shared x: int; shared y: int; shared out: int; mutex m; mutex n;\n{}{}",
                    thread("A", first),
                    thread("B", second)
                )
            };
            let lines = |first: u32, more: u32| Whole { block: None, first, last: first + more, turns: true };
            // The header is line 1, each thread begins with a line of its own.
            let last = 3 + one + 4;
            let whole = [lines(3, one), lines(3 + one + 1, 0), lines(last, other), lines(last + other + 1, 0)];
            let (kept, finished) = written(&program("", ""), &whole);
            let (locked, _) = written(&program("lock(m); ", " unlock(m);"), &[]);
            assert_eq!(kept, locked, "{first} and {second}");
            let (free, more) = written(&program("", ""), &[]);
            assert!(free.is_superset(&kept) && finished < more, "{first} and {second}: {finished} of {more}");
        }
    }
}

/// A thread comes into code that is kept whole only where it can go through.
#[test]
fn a_thread_waits_before_what_is_kept_whole() {
    let source = "shared x: int;\nmutex m;\nthread A {\n x = 1;\n lock(m);\n x = 2;\n unlock(m);\n}\nthread B {\n lock(m);\n assert(x != 1);\n unlock(m);\n}\n";
    let program = litmus::parse(source).expect("a program");
    let whole = [Whole { block: None, first: 4, last: 6, turns: false }];
    let run = |whole: &[Whole]| {
        let (mut finished, mut failed) = (0, 0);
        litmus::explore(&program, Exploring { whole, ..Exploring::all(100) }, &mut |_| true, &mut |execution| {
            match execution.outcome {
                Outcome::Finished => finished += 1,
                _ => failed += 1,
            }
            ControlFlow::Continue(())
        });
        (finished, failed)
    };
    assert!(run(&[]).1 > 0);
    assert_eq!(run(&whole), (2, 0), "A before B, or B before A");
}

/// What each thread did and read, and how the program ended: the same in equivalent interleavings.
fn by_thread(trace: &foretrace::trace::Trace, outcome: &Outcome) -> String {
    let observed = foretrace::trace::observe(trace).expect("it runs");
    let mut threads = vec![String::new(); trace.threads.len()];
    for (index, event) in trace.events.iter().enumerate() {
        let id = foretrace::trace::EventId(index as u32);
        let value = observed.read(id).map_or(String::new(), |value| format!("={value:?}"));
        let var = event.op.var().map_or(String::new(), |var| trace.vars[var.index()].shown().to_string());
        write!(threads[event.thread.index()], "{}{var}{value} ", event.op.kind()).expect("a string");
    }
    let deadlocks = matches!(outcome, Outcome::Deadlock(_));
    let mut named: Vec<(u64, String)> = trace.threads.iter().map(|thread| thread.number).zip(threads).collect();
    named.sort();
    format!("{named:?} {deadlocks}")
}

/// Exploration loses no way of ending: what equivalent interleavings have in common is that of all schedules, run one by one.
#[test]
fn random_programs_end_as_in_all_of_their_schedules() {
    let count = std::env::var("FORETRACE_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(150);
    let mut compared = 0;
    for seed in 0..count {
        let source = Synchronised::new(seed).litmus();
        let program =
            litmus::parse(&source).unwrap_or_else(|errors| panic!("{}", errors.render("p.lit", &source, false)));
        let mut all = BTreeSet::new();
        let mut left = 30_000;
        let mut go_on = || {
            left -= 1;
            left > 0
        };
        let (_, complete) = litmus::run_all(&program, 1_000, &mut go_on, &mut |run| {
            all.insert(by_thread(&run.trace, &run.outcome));
        });
        if !complete {
            continue;
        }
        compared += 1;
        let mut explored = BTreeSet::new();
        litmus::explore(&program, Exploring::all(1_000), &mut |_| true, &mut |execution| {
            explored.insert(by_thread(&execution.trace, &execution.outcome));
            ControlFlow::Continue(())
        });
        assert_eq!(explored, all, "{seed}: {source}");
    }
    assert!(compared > count / 2, "{compared} of {count}");
}

//! Traces in which code holds a lock: against exhaustive search, and by hand.

use foretrace_checker::oracle;
use foretrace_repair::{Guard, Guarded, NoGuard, circle, excludes, guarded, others};
use foretrace_trace::strategies::{Shape, random_trace};
use foretrace_trace::{
    Atomic, Data, Event, EventId, Feasibility, Independence, Model, Observed, Op, Question, SyncId, SyncKind, Trace,
    TraceBuilder, Triple,
};
use std::collections::BTreeSet;

fn feasible(trace: &Trace, observed: &Observed) -> BTreeSet<Triple> {
    let model = match trace.data {
        Data::Symbolic => Model::Ctp,
        Data::Concrete => Model::Mcm,
        Data::None => Model::Avp,
    };
    let question = Question { model, feasibility: Feasibility::Prefix, independence: Independence::Conflict };
    let transactions = Atomic::Threads.transactions(trace);
    let verdicts = oracle::decide(trace, observed, &transactions, question).expect("the model fits the data");
    verdicts.into_iter().filter(|(_, pattern)| pattern.is_some()).map(|(triple, _)| triple).collect()
}

fn old(made: &Guarded, triple: &Triple) -> Triple {
    let old = |event| made.old_of(event).expect("accesses stay");
    Triple { first: old(triple.first), remote: old(triple.remote), second: old(triple.second) }
}

/// Dependent accesses, in the order in which they come, as events of the trace that another was made of.
fn dependent(trace: &Trace, old: impl Fn(EventId) -> EventId) -> BTreeSet<(EventId, EventId)> {
    let mut all = BTreeSet::new();
    for (later, event) in trace.iter() {
        for (earlier, before) in trace.iter().take(later.index()) {
            let same = event.op.var().is_some() && event.op.var() == before.op.var();
            if same && before.thread != event.thread && (before.op.writes() || event.op.writes()) {
                all.insert((old(earlier), old(later)));
            }
        }
    }
    all
}

/// Each candidate that can happen, ruled out by a lock: with it nothing can happen that could not before, the candidate
/// cannot, and all dependent accesses are in the order in which they were.
#[test]
fn a_lock_rules_out_what_it_is_for_and_adds_nothing() {
    let (mut made, mut forbidden) = (0, 0);
    for seed in 0..1500 {
        let (trace, observed) = random_trace(seed, &Shape { events: 12, threads: 3, ..Shape::default() });
        let before = feasible(&trace, &observed);
        let Some(triple) = before.first().copied() else { continue };
        let var = trace.event(triple.first).op.var().expect("candidates are accesses");
        let guard = Guard { lock: None, stretches: &[(triple.first, triple.second)], vars: &[var] };
        match guarded(&trace, guard) {
            Ok(guarded) => {
                let after: BTreeSet<Triple> =
                    feasible(&guarded.trace, &guarded.observed).iter().map(|triple| old(&guarded, triple)).collect();
                assert!(after.is_subset(&before), "seed {seed}: {after:?} of {before:?}");
                assert!(!after.contains(&triple), "seed {seed}: {triple}");
                let now = dependent(&guarded.trace, |event| guarded.old_of(event).expect("accesses stay"));
                assert_eq!(now, dependent(&trace, |event| event), "seed {seed}");
                assert!(excludes(&trace, guard, triple), "seed {seed}");
                made += 1;
            }
            Err(why) => {
                let thread = trace.event(triple.first).thread;
                let waits = |(id, event): (EventId, &Event)| {
                    let is_within = event.thread == thread && triple.first < id && id < triple.second;
                    is_within && (event.op.kind() == "depart" || needs_a_post(&trace, id))
                };
                let expected = if trace.iter().any(waits) { NoGuard::Waits } else { NoGuard::ForbidsRun };
                assert_eq!(why, expected, "seed {seed}: the lock is new");
                forbidden += 1;
            }
        }
    }
    assert!(made > 150 && forbidden > 50, "{made} traces with a lock, {forbidden} that forbid the run");
}

/// Whether a down takes what its thread has not posted itself, and what was not there from the first.
fn needs_a_post(trace: &Trace, down: EventId) -> bool {
    let Event { thread, op: Op::Down { sem: wanted }, .. } = trace.event(down) else { return false };
    let SyncKind::Semaphore { init } = trace.syncs[wanted.index()].kind else { return false };
    let own = trace.iter().take(down.index() + 1).filter(|(_, event)| event.thread == *thread);
    let change = |(_, event): (EventId, &Event)| match event.op {
        Op::Post { sem } if sem == *wanted => 1,
        Op::Down { sem } if sem == *wanted => -1,
        _ => 0,
    };
    own.map(change).sum::<i64>() + (init as i64) < 0
}

/// A thread that updates under the lock in two holds; another that does it in one.
fn two_holds() -> (Trace, Observed) {
    let mut builder = TraceBuilder::new(Data::Symbolic);
    builder.int_var("x", 0);
    builder.sync("m", foretrace_trace::SyncKind::Mutex { recursive: false });
    builder.acquire(1, "m");
    builder.read(1, "x", "a");
    builder.release(1, "m");
    builder.acquire(1, "m");
    builder.write(1, "x", "(+ a 1)");
    builder.release(1, "m");
    builder.acquire(2, "m");
    builder.write(2, "x", "7");
    builder.release(2, "m");
    builder.finish().expect("the trace is valid")
}

#[test]
fn a_lock_that_was_given_back_between_is_held_on() {
    let (trace, observed) = two_holds();
    let triple = Triple { first: EventId(1), remote: EventId(7), second: EventId(4) };
    assert!(feasible(&trace, &observed).contains(&triple));
    let known = others(&trace, &[(EventId(1), EventId(4))], &[foretrace_trace::VarId(0)]);
    assert_eq!((known.outside, known.locks), (vec![EventId(7)], vec![SyncId(0)]));
    let guard = Guard { lock: Some(SyncId(0)), stretches: &[(EventId(1), EventId(4))], vars: &[] };
    let made = guarded(&trace, guard).expect("the lock can be held on");
    let kinds: Vec<&str> = made.trace.events.iter().map(|event| event.op.kind()).collect();
    assert_eq!(kinds, ["acquire", "read", "write", "release", "acquire", "write", "release"]);
    assert!(feasible(&made.trace, &made.observed).is_empty());
}

#[test]
fn a_lock_that_is_waited_on_cannot_be_held_on() {
    let mut builder = TraceBuilder::new(Data::None);
    builder.acquire(1, "m");
    builder.saw(1, "x", None);
    builder.wait(1, "c", "m");
    builder.acquire(2, "m");
    builder.put(2, "x", None);
    builder.signal(2, "c");
    builder.release(2, "m");
    builder.wake(1, "c", "m", None);
    builder.put(1, "x", None);
    builder.release(1, "m");
    let (trace, _) = builder.finish().expect("the trace is valid");
    let lock = trace.syncs.iter().position(|sync| &*sync.key == "m").map(SyncId::from_index);
    let guard = Guard { lock, stretches: &[(EventId(1), EventId(8))], vars: &[] };
    assert_eq!(guarded(&trace, guard).err(), Some(NoGuard::Waits));
}

/// Two locks in two orders are a deadlock, but not below a third.
#[test]
fn circles_of_locks_are_found() {
    let run = |below: bool| {
        let mut builder = TraceBuilder::new(Data::None);
        for (thread, [one, two]) in [(1, ["a", "b"]), (2, ["b", "a"])] {
            let locks: Vec<&str> = below.then_some("gate").into_iter().chain([one, two]).collect();
            for lock in &locks {
                builder.acquire(thread, lock);
            }
            for lock in locks.iter().rev() {
                builder.release(thread, lock);
            }
        }
        builder.finish().expect("the trace is valid").0
    };
    let trace = run(false);
    let found = circle(&trace, SyncId(0)).expect("there is one");
    assert_eq!(found.iter().map(|taken| (taken.holds.0, taken.takes.0)).collect::<Vec<_>>(), [(0, 1), (1, 0)]);
    assert_ne!(found[0].thread, found[1].thread);
    let trace = run(true);
    let lock = trace.syncs.iter().position(|sync| &*sync.key == "a").map(SyncId::from_index).expect("it is there");
    assert_eq!(circle(&trace, lock), None);
    assert!(trace.events.iter().any(|event| matches!(event.op, Op::Acquire { .. })));
}

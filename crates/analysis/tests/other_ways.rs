//! Other ways at branches against exhaustive search.
//!
//! `FORETRACE_SEEDS` says how many random traces (default 1200), `FORETRACE_SEED` where to start.

use foretrace_analysis::options::Options;
use foretrace_analysis::other_ways::other_ways;
use foretrace_checker::{Checker, OtherWay};
use foretrace_trace::strategies::{Shape, Topic, random_trace};
use foretrace_trace::{
    Blocked, Data, EventId, Feasibility, Independence, Model, Observed, Op, Question, Semantics, State, Trace,
    TraceBuilder, Why,
};
use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::AtomicBool;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The branches that are next in their thread after some prefix, and whose condition does not hold there.
fn truth(trace: &Trace, observed: &Observed) -> BTreeSet<EventId> {
    let semantics = Semantics::new(trace, observed, Model::Ctp).expect("the trace has expressions");
    let mut found = BTreeSet::new();
    let mut known: HashSet<State> = HashSet::from([semantics.initial()]);
    let mut pending: Vec<State> = known.iter().cloned().collect();
    while let Some(state) = pending.pop() {
        for event in semantics.next_events(&state) {
            match semantics.enabled(&state, event) {
                Ok(_) => {}
                Err(Blocked::False { .. }) => {
                    let is_branch = matches!(trace.event(event).op, Op::Assume { why: Why::Branch, .. });
                    found.extend(Some(event).filter(|_| is_branch));
                    continue;
                }
                Err(_) => continue,
            }
            let releasable = semantics.releasable(&state, event);
            let choices = releasable.iter().copied().map(Some).chain(Some(None).filter(|_| releasable.is_empty()));
            for choice in choices {
                let mut next = state.clone();
                semantics.step(&mut next, event, choice).expect("it is enabled");
                if known.insert(next.clone()) {
                    pending.push(next);
                }
            }
        }
    }
    found
}

fn found(trace: &Trace, observed: &Observed) -> (BTreeSet<EventId>, u64) {
    let (feasibility, independence) = (Feasibility::Prefix, Independence::Conflict);
    let question = Question { model: Model::Ctp, feasibility, independence };
    let checker = Checker::new(trace, observed, &[], question).expect("the model is known to fit");
    let mut branches = BTreeSet::new();
    let limits = (None, &AtomicBool::new(false));
    let undecided = other_ways(trace, observed, &Options::new(trace.data), &|_| Some(0), 1, limits, &mut |found| {
        let claim: OtherWay = *found.witness.claim();
        checker.check(claim, found.witness.schedule()).expect("its schedule shows it");
        assert!(!found.decisive(trace).is_empty(), "it hangs on a read");
        assert!(branches.insert(claim.branch), "told twice");
        Ok(())
    })
    .expect("no contradiction");
    (branches, undecided.len() as u64)
}

#[test]
fn other_ways_are_those_of_exhaustive_search() {
    let mut count = 0;
    let start = number("FORETRACE_SEED", 0);
    for seed in start..start + number("FORETRACE_SEEDS", 1200) {
        let others =
            [Topic::Mutex, Topic::Condvar, Topic::Semaphore, Topic::Threads, Topic::Parts, Topic::Swaps, Topic::Once];
        let other = others[(seed % others.len() as u64) as usize];
        let (trace, observed) = random_trace(seed, &Shape { topics: vec![other], ..Shape::default() });
        if trace.data != Data::Symbolic {
            continue;
        }
        let truth = truth(&trace, &observed);
        let (found, undecided) = found(&trace, &observed);
        assert_eq!(undecided, 0, "seed {seed}");
        assert_eq!(found, truth, "seed {seed}");
        count += truth.len();
    }
    assert!(count > 25, "{count} branches go other ways");
}

/// Two threads add each other's number to their own, so many times; a third one checks that a sum is below a number. With the number that is
/// reached when they take turns, only one interleaving makes it so large.
fn added(is_locked: bool, turns: usize, below: u32) -> (Trace, Observed) {
    let mut b = TraceBuilder::new(Data::Symbolic);
    b.sync("m", foretrace_trace::SyncKind::Mutex { recursive: false });
    b.int_var("i", 1);
    b.int_var("j", 1);
    for (thread, own, other) in [(1, "i", "j"), (2, "j", "i")] {
        if is_locked {
            b.acquire(thread, "m");
        }
        for turn in 0..turns {
            let [a, c] = ["a", "c"].map(|name| format!("{name}{turn}"));
            b.read(thread, own, &a);
            b.read(thread, other, &c);
            b.write(thread, own, &format!("(+ {a} {c})"));
        }
        if is_locked {
            b.release(thread, "m");
        }
    }
    b.read(3, "j", "seen");
    b.assume(3, &format!("(< seen {below})"));
    b.finish().expect("an execution")
}

#[test]
fn several_interruptions_together_lead_another_way() {
    let of = |is_locked| {
        let (trace, observed) = added(is_locked, 2, 8);
        found(&trace, &observed)
    };
    assert_eq!(of(false).0.len(), 1, "i = 1 + 1, j = 1 + 2, i = 2 + 3, j = 3 + 5");
    assert_eq!(of(true), (BTreeSet::new(), 0));
}

/// The solver does not decide these; the recorded order leads to better ones.
#[test]
fn a_sum_over_many_turns_leads_another_way() {
    let (trace, observed) = added(false, 11, 46_368);
    assert_eq!(found(&trace, &observed).0.len(), 1, "the 24th number of Fibonacci");
    let (trace, observed) = added(true, 11, 46_368);
    assert_eq!(found(&trace, &observed), (BTreeSet::new(), 0), "locks leave two orders");
}

//! Uses after free against the exhaustive oracle, in every model.
//!
//! `FORETRACE_SEEDS` says how many random traces (default 300), `FORETRACE_SEED` where to start.

use foretrace_analysis::options::Options;
use foretrace_analysis::use_after_free::{UsesAfterFree, uses_after_free};
use foretrace_checker::oracle::{Automaton, Oracle, Values};
use foretrace_checker::{Checker, UseAfterFree};
use foretrace_trace::strategies::{Shape, Topic, random_trace};
use foretrace_trace::{
    Data, EventId, Feasibility, Independence, Model, Observed, Op, Question, SyncKind, Trace, TraceBuilder,
};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Looks for the first use of what one event frees.
struct FirstUse<'t> {
    trace: &'t Trace,
    free: EventId,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Progress {
    Start,
    Freed,
    Used(EventId),
}

impl Automaton for FirstUse<'_> {
    type Progress = Progress;

    fn start(&self) -> Progress {
        Progress::Start
    }

    fn after(&self, progress: &Progress, event: EventId, _: Values) -> Option<Progress> {
        let by_other = self.trace.event(event).thread != self.trace.event(self.free).thread;
        let Op::Free { vars, syncs, .. } = &self.trace.event(self.free).op else { return None };
        let op = &self.trace.event(event).op;
        let is_use = match *op {
            Op::Acquire { lock } | Op::Release { lock } | Op::Signal { cond: lock } => syncs.contains(&lock),
            _ => !op.is_external() && op.var().is_some_and(|var| vars.contains(&var)),
        };
        match progress {
            Progress::Start if event == self.free => Some(Progress::Freed),
            Progress::Freed if by_other && is_use => Some(Progress::Used(event)),
            Progress::Used(_) => None,
            progress => Some(*progress),
        }
    }
}

/// All pairs of a `free` and a first use that prefixes show.
fn truth(trace: &Trace, oracle: &Oracle<'_>) -> BTreeSet<UseAfterFree> {
    let mut pairs = BTreeSet::new();
    let frees = trace.iter().filter(|(_, event)| matches!(event.op, Op::Free { .. })).map(|(free, _)| free);
    for free in frees {
        oracle.walk(&FirstUse { trace, free }, Feasibility::Prefix, |step| {
            if let Progress::Used(access) = *step.progress {
                pairs.insert(UseAfterFree { free, access });
            }
            ControlFlow::Continue(())
        });
    }
    pairs
}

/// What is found, and how many pairs were left undecided.
fn found(trace: &Trace, observed: &Observed, model: Model) -> (BTreeSet<UseAfterFree>, u64) {
    let mut options = Options::new(trace.data);
    options.question.model = model;
    let (feasibility, independence) = (Feasibility::Prefix, Independence::Conflict);
    let question = Question { model, feasibility, independence };
    let checker = Checker::new(trace, observed, &[], question).expect("the model is known to fit");
    let mut pairs = BTreeSet::new();
    let counted = uses_after_free(trace, observed, &options, None, &AtomicBool::new(false), &mut |found| {
        let claim = *found.witness.claim();
        checker.check(claim, found.witness.schedule()).expect("its schedule shows it");
        assert_eq!(found.observed, claim.free < claim.access);
        assert!(pairs.insert(claim), "told twice");
        Ok(())
    })
    .expect("no contradiction");
    assert_eq!(counted.found, pairs.len() as u64);
    (pairs, counted.undecided)
}

#[test]
fn uses_after_free_are_those_of_exhaustive_search() {
    let mut counts = [0_u64; 2];
    let start = number("FORETRACE_SEED", 0);
    for seed in start..start + number("FORETRACE_SEEDS", 300) {
        let others = [
            Topic::Mutex,
            Topic::Rwlock,
            Topic::Condvar,
            Topic::Semaphore,
            Topic::Barrier,
            Topic::Once,
            Topic::Threads,
            Topic::Parts,
            Topic::External,
            Topic::Swaps,
        ];
        let other = others[(seed % others.len() as u64) as usize];
        let shape = Shape { topics: vec![Topic::Memory, other], ..Shape::default() };
        let (trace, observed) = random_trace(seed, &shape);
        for model in [Model::Cam, Model::Ctp, Model::Mcm, Model::Avp] {
            let Ok(oracle) = Oracle::new(&trace, &observed, model) else { continue };
            let truth = truth(&trace, &oracle);
            let (found, undecided) = found(&trace, &observed, model);
            assert_eq!(undecided, 0, "seed {seed}, {model}");
            let wrong: Vec<_> = found.difference(&truth).collect();
            assert!(wrong.is_empty(), "seed {seed}, {model}: {wrong:?} are no first uses");
            // Each free that has a first use is told, though perhaps with another use.
            let frees: BTreeSet<EventId> = found.iter().map(|pair| pair.free).collect();
            let missing: Vec<_> = truth.iter().filter(|pair| !frees.contains(&pair.free)).collect();
            assert!(missing.is_empty(), "seed {seed}, {model}: {missing:?} are missing");
            counts[0] += truth.len() as u64;
            counts[1] += truth.intersection(&found).count() as u64;
        }
    }
    // The rest may come first, too, but the schedule that was found has another use before them.
    assert!(counts[1] * 2 > counts[0], "{} of {} first uses are told", counts[1], counts[0]);
}

/// A reader takes a pointer with the lock held and uses what it points to without; another thread takes it away and frees that. Whether
/// the reader's lock is held over the use is what makes the difference.
fn session(keeps_lock: bool) -> (Trace, Observed) {
    let mut b = TraceBuilder::new(Data::Symbolic);
    b.sync("lock", SyncKind::Mutex { recursive: false });
    b.int_var("table", 1);
    b.int_var("owner", 7);
    b.acquire(1, "lock");
    b.read(1, "table", "p");
    b.assume(1, "(= p 1)");
    if !keeps_lock {
        b.release(1, "lock");
    }
    b.read(1, "owner", "o");
    if keeps_lock {
        b.release(1, "lock");
    }
    b.acquire(2, "lock");
    b.write(2, "table", "0");
    b.release(2, "lock");
    b.free(2, &["owner"]);
    b.finish().expect("an execution")
}

#[test]
fn a_use_under_the_lock_that_takes_the_pointer_away_is_none_after_free() {
    let (trace, observed) = session(false);
    let (pairs, undecided) = found(&trace, &observed, Model::Ctp);
    assert_eq!((pairs.len(), undecided), (1, 0));
    let (trace, observed) = session(true);
    assert_eq!(found(&trace, &observed, Model::Ctp), (BTreeSet::new(), 0));
    assert_eq!(found(&trace, &observed, Model::Cam).0.len(), 1, "the value of the pointer is what forbids it");
}

/// What the solver cannot decide counts as undecided, not as impossible.
#[test]
fn what_is_too_large_for_the_solver_is_undecided() {
    let (trace, observed) = session(false);
    let mut options = Options::new(trace.data);
    options.most_terms = 0;
    let told = &mut |_| panic!("it has no schedule");
    let counted = uses_after_free(&trace, &observed, &options, None, &AtomicBool::new(false), told).expect("no error");
    assert_eq!((counted.places, counted.found, counted.undecided), (1, 0, 1));
    // What the orders of locks and of reads with one source decide needs no solver.
    let (locked, observed) = session(true);
    let counted = uses_after_free(&locked, &observed, &options, None, &AtomicBool::new(false), told).expect("no error");
    assert_eq!((counted.places, counted.found, counted.undecided), (1, 0, 0));
}

/// The thread that signals gives the lock back first; the waiter frees the lock, or the condition, too, once it is awake.
#[test]
fn a_signal_after_the_lock_was_given_back_may_come_after_the_free() {
    let trace = |signals_late: bool| {
        let mut b = TraceBuilder::new(Data::Symbolic);
        b.sync("lock", SyncKind::Mutex { recursive: false });
        b.sync("ready", SyncKind::Condvar);
        b.int_var("done", 0);
        b.acquire(1, "lock");
        b.write(1, "done", "1");
        if !signals_late {
            b.signal(1, "ready");
        }
        b.release(1, "lock");
        if signals_late {
            b.signal(1, "ready");
        }
        b.acquire(2, "lock");
        b.read(2, "done", "d");
        b.assume(2, "(= d 1)");
        b.release(2, "lock");
        b.free_syncs(2, &["lock", "ready"]);
        b.finish().expect("an execution")
    };
    let (late, observed) = trace(true);
    let (pairs, undecided) = found(&late, &observed, Model::Ctp);
    assert_eq!((pairs.len(), undecided), (1, 0), "{pairs:?}");
    let (early, observed) = trace(false);
    assert_eq!(found(&early, &observed, Model::Ctp), (BTreeSet::new(), 0));
}

/// A reader uses an object `times` times at one place, each time as long as the table has it and under the lock; the first time without the lock
/// if it is hasty. Another thread takes the object out of the table and frees it. With two variables that say together whether the table has
/// it, only the solver can tell.
fn repeated(times: u32, is_hasty: bool, by_two: bool) -> (Trace, Observed) {
    let mut b = TraceBuilder::new(Data::Symbolic);
    b.sync("lock", SyncKind::Mutex { recursive: false });
    b.int_var("table", 1);
    b.int_var("place", 0);
    b.int_var("owner", 7);
    for time in 0..times {
        let is_locked = time > 0 || !is_hasty;
        if is_locked {
            b.acquire(1, "lock");
            let name = format!("p{time}");
            b.read(1, "table", &name);
            if by_two {
                b.read(1, "place", &format!("q{time}"));
                b.assume(1, &format!("(= (+ {name} q{time}) 1)"));
            } else {
                b.assume(1, &format!("(= {name} 1)"));
            }
        }
        b.read(1, "owner", &format!("o{time}")).at("use.c:1");
        if is_locked {
            b.release(1, "lock");
        }
    }
    b.acquire(2, "lock");
    b.write(2, "table", "0");
    b.write(2, "place", "2");
    b.release(2, "lock");
    b.free(2, &["owner"]).at("free.c:1");
    b.finish().expect("an execution")
}

/// Of all uses at a place the earliest alone may come after the `free`.
#[test]
fn no_use_at_a_place_hides_another_one() {
    for times in [2, 4, 5, 6, 40] {
        let (trace, observed) = repeated(times, true, false);
        let (pairs, undecided) = found(&trace, &observed, Model::Ctp);
        assert_eq!((pairs.len(), undecided), (1, 0), "{times} times");
        let first = trace.iter().find(|(_, event)| event.op.var().is_some()).map(|(id, _)| id);
        assert_eq!(pairs.first().map(|pair| pair.access), first, "{times} times");
        let (trace, observed) = repeated(times, false, false);
        assert_eq!(found(&trace, &observed, Model::Ctp), (BTreeSet::new(), 0), "{times} times under the lock");
    }
}

/// Too many of a place to ask about all: then it is not said that none can happen.
#[test]
fn places_with_uses_that_were_not_asked_about_are_undecided() {
    let (trace, observed) = repeated(500, true, true);
    assert_eq!(found(&trace, &observed, Model::Ctp), (BTreeSet::new(), 1));
    // Those that early refutation leaves out do not count.
    let (trace, observed) = repeated(500, true, false);
    let (pairs, undecided) = found(&trace, &observed, Model::Ctp);
    assert_eq!((pairs.len(), undecided), (1, 0));
}

/// One thread uses so many objects, each at a place of its own. Another thread frees them; with `waits`, after the uses.
fn places(places: u32, waits: bool) -> (Trace, Observed) {
    let mut b = TraceBuilder::new(Data::Symbolic);
    let object = |place: u32| format!("object{place}");
    for place in 0..places {
        b.int_var(&object(place), 7);
    }
    b.fork(1, 2);
    for place in 0..places {
        b.read(2, &object(place), &format!("o{place}")).at(&format!("use.c:{}", place + 1));
    }
    if waits {
        b.join(1, 2);
    }
    for place in 0..places {
        b.free(1, &[&object(place)]).at("free.c:1");
    }
    b.finish().expect("an execution")
}

fn counted(trace: &Trace, observed: &Observed, deadline: Option<Instant>) -> UsesAfterFree {
    let options = Options::new(trace.data);
    uses_after_free(trace, observed, &options, deadline, &AtomicBool::new(false), &mut |_| Ok(()))
        .expect("no contradiction")
}

#[test]
fn places_beyond_the_most_and_beyond_the_limit_are_undecided() {
    let (trace, observed) = places(402, false);
    assert_eq!(counted(&trace, &observed, None), UsesAfterFree { places: 402, found: 400, undecided: 2 });
    let (trace, observed) = places(3, false);
    assert_eq!(counted(&trace, &observed, None), UsesAfterFree { places: 3, found: 3, undecided: 0 });
    let late = counted(&trace, &observed, Some(Instant::now()));
    assert_eq!(late, UsesAfterFree { places: 3, found: 0, undecided: 3 });
    let (trace, observed) = places(3, true);
    assert_eq!(counted(&trace, &observed, None), UsesAfterFree::default(), "the thread is waited for");
}

/// The access of the user before the `free` is what the report says was interrupted; other threads' accesses and steps that are none are not.
#[test]
fn the_last_access_of_the_user_before_the_free_is_interrupted() {
    let mut b = TraceBuilder::new(Data::Symbolic);
    b.sync("lock", SyncKind::Mutex { recursive: false });
    for name in ["table", "owner", "other"] {
        b.int_var(name, 1);
    }
    b.read(1, "other", "x");
    let looks = b.read(1, "table", "p").id();
    b.assume(1, "(= p 1)");
    b.acquire(1, "lock");
    b.release(1, "lock");
    let uses = b.read(1, "owner", "o").id();
    b.read(1, "other", "y");
    b.write(2, "table", "0");
    b.free(2, &["owner"]);
    let (trace, observed) = b.finish().expect("an execution");
    let mut told = Vec::new();
    let options = Options::new(trace.data);
    uses_after_free(&trace, &observed, &options, None, &AtomicBool::new(false), &mut |found| {
        let schedule = found.witness.schedule();
        let freed = schedule.iter().position(|event| *event == found.witness.claim().free).expect("it is there");
        assert!(schedule[..freed].contains(&looks), "{schedule:?}");
        told.push((found.witness.claim().access, found.interrupted(&trace)));
        Ok(())
    })
    .expect("no contradiction");
    assert_eq!(told, [(uses, Some(looks))]);
}

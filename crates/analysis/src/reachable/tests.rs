//! What is said of reachable states, held against all interleavings.
//!
//! `FORETRACE_SEEDS` says how many random traces of each kind (default 150, and eight times as many small ones), `FORETRACE_SEED` where to start.

use super::{FEW_STATES, Reachability, decides};
use crate::filters::regions_by_thread;
use crate::options::{Options, Strategy};
use crate::verdict::Decider;
use foretrace_checker::oracle::Oracle;
use foretrace_checker::{Checker, Interruption};
use foretrace_encodings::TraceView;
use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_trace::random::Random;
use foretrace_trace::strategies::{Shape, Topic, random_appends, random_conditions, random_trace, random_waits};
use foretrace_trace::{
    Atomic, Data, Feasibility, Independence, Model, Observed, Question, Semantics, SyncKind, Trace, TraceBuilder, VarId,
};
use rustc_hash::FxHashMap;

fn seeds(times: u64) -> std::ops::Range<u64> {
    let number =
        |name: &str, default: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let start = number("FORETRACE_SEED", 0);
    start..start + times * number("FORETRACE_SEEDS", 150)
}

/// How much was compared: feasible and infeasible candidates, states of the search and of all interleavings.
#[derive(Default, Debug)]
struct Compared {
    feasible: usize,
    infeasible: usize,
    states: usize,
    all_states: usize,
}

fn compare(seed: u64, (trace, observed): &(Trace, Observed), compared: &mut Compared) {
    let question =
        Question { model: Model::Ctp, feasibility: Feasibility::Prefix, independence: Independence::Conflict };
    let Ok(oracle) = Oracle::new(trace, observed, question.model) else { return };
    let trace_index = TraceIndex::new(trace);
    let clocks = MustHappenBefore::new(trace, &trace_index);
    let view = TraceView { trace, trace_index: &trace_index, observed, clocks: &clocks };
    let semantics = Semantics::new(trace, observed, question.model).expect("the model fits");
    let reachability = Reachability::new(view, semantics, &regions_by_thread(trace, &trace_index));
    let mut by_var = FxHashMap::default();
    for atomic in [Atomic::Threads, Atomic::Marked] {
        let transactions = atomic.transactions(trace);
        let checker = Checker::new(trace, observed, &transactions, question).expect("the question fits");
        for (triple, pattern) in oracle.decide(&transactions, question.feasibility, question.independence) {
            let var = trace.event(triple.first).op.var().expect("an access");
            let reachable = by_var.entry(var).or_insert_with(|| {
                let reachable = reachability.all(var, FEW_STATES, &|| true).expect("few states");
                compared.states += reachable.count();
                compared.all_states += oracle.states();
                reachable
            });
            let schedule = reachable.schedule(triple, &mut 0);
            let said = format!("seed {seed}, {triple}: {schedule:?}, the oracle {pattern:?}\n{:#?}", trace.events);
            assert_eq!(schedule.is_some(), pattern.is_some(), "{said}");
            match schedule {
                Some(schedule) => drop(checker.check(triple, &schedule).expect(&said)),
                None => compared.infeasible += 1,
            }
            compared.feasible += usize::from(pattern.is_some());
            let interruption = reachable.interruption(triple, &mut 0);
            let is_interrupted = oracle.interruption(triple, question.independence).is_some();
            assert_eq!(interruption.is_some(), is_interrupted, "seed {seed}, {triple}: {interruption:?}\n{trace:#?}");
            if let Some(schedule) = interruption {
                checker.check(Interruption(triple), &schedule).expect(&said);
            }
        }
    }
}

#[test]
fn states_tell_what_all_interleavings_tell() {
    let mut compared = Compared::default();
    for seed in seeds(1) {
        compare(seed, &random_trace(seed, &Shape::default()), &mut compared);
        for topic in [Topic::Mutex, Topic::Rwlock, Topic::Parts] {
            let shape = Shape { topics: vec![topic], ..Shape::default() };
            compare(seed, &random_trace(seed, &shape), &mut compared);
        }
        for make in [random_conditions, random_appends, random_waits] {
            compare(seed, &make(seed), &mut compared);
        }
    }
    println!("{compared:?}");
    assert!(compared.feasible > 800 && compared.infeasible > 800, "{compared:?}");
    assert!(compared.states * 2 < compared.all_states, "it spares little: {compared:?}");
}

/// Two threads that change variables under one of two locks or none, the second of which they may share, and go on as they read.
fn sections(seed: u64) -> (Trace, Observed) {
    let mut chance = Random::new(seed);
    let mut builder = TraceBuilder::new(Data::Symbolic);
    let locks = ["m", "n"];
    builder.sync("m", SyncKind::Mutex { recursive: false }).sync("n", SyncKind::Rwlock);
    let variables = ["x", "y", "z"];
    variables.iter().for_each(|var| {
        builder.int_var(var, 0);
    });
    let mut values = [0, 0, 0];
    let mut reads = 0;
    for _ in 0..3 + chance.below(3) {
        let thread = 1 + chance.below(2) as u64;
        let lock = locks.get(chance.below(5) / 2);
        let is_shared = lock == Some(&"n") && chance.below(2) == 0;
        match lock {
            Some(lock) if is_shared => _ = builder.acquire_shared(thread, lock),
            Some(lock) => _ = builder.acquire(thread, lock),
            None => {}
        }
        if chance.below(4) == 0 {
            builder.unseen(thread, "code", "object");
        }
        for _ in 0..1 + chance.below(3) {
            let at = chance.below(3);
            match chance.below(3) {
                0 => {
                    values[at] = chance.below(3) as u64;
                    builder.write(thread, variables[at], &values[at].to_string());
                }
                way => {
                    reads += 1;
                    let name = format!("r{reads}");
                    builder.read(thread, variables[at], &name);
                    if way == 1 {
                        builder.assume(thread, &format!("(= {name} {})", values[at]));
                    } else {
                        let to = chance.below(3);
                        values[to] = values[at] + 1;
                        builder.write(thread, variables[to], &format!("(+ {name} 1)"));
                    }
                }
            }
        }
        match lock {
            Some(lock) if is_shared => _ = builder.release_shared(thread, lock),
            Some(lock) => _ = builder.release(thread, lock),
            None => {}
        }
    }
    builder.finish().expect("a valid trace")
}

#[test]
fn states_tell_what_all_interleavings_of_sections_tell() {
    let mut compared = Compared::default();
    seeds(8).for_each(|seed| compare(seed, &sections(seed), &mut compared));
    println!("{compared:?}");
    assert!(compared.feasible > 800 && compared.infeasible > 800, "{compared:?}");
    assert!(compared.states * 2 < compared.all_states, "it spares little: {compared:?}");
}

/// What the search takes for granted of a trace: of each event, whether it commutes with what others can do before it, and whether it can wait while
/// others go on; of each variable, whether a condition depends on it; and of each lock, which variables it guards where nothing in its sections keeps
/// a thread there.
struct Granted {
    commutes: Vec<bool>,
    can_wait: Vec<bool>,
    guarded: Vec<Option<Vec<VarId>>>,
}

/// Has what the search knows of a trace before it begins.
fn with_reachability<R>(builder: TraceBuilder, look: impl FnOnce(&Reachability<'_>) -> R) -> R {
    let (trace, observed) = builder.finish().expect("a valid trace");
    let trace_index = TraceIndex::new(&trace);
    let clocks = MustHappenBefore::new(&trace, &trace_index);
    let view = TraceView { trace: &trace, trace_index: &trace_index, observed: &observed, clocks: &clocks };
    let semantics = Semantics::new(&trace, &observed, Model::Ctp).expect("the model fits");
    look(&Reachability::new(view, semantics, &regions_by_thread(&trace, &trace_index)))
}

fn granted(builder: TraceBuilder) -> Granted {
    with_reachability(builder, |Reachability { commutes, can_wait, guarded, .. }| Granted {
        commutes: commutes.clone(),
        can_wait: can_wait.clone(),
        guarded: guarded.clone(),
    })
}

/// Two threads, each of which takes two locks so often and writes what it read, if that has some value.
fn nested(times: usize) -> TraceBuilder {
    let mut builder = TraceBuilder::new(Data::Symbolic);
    builder.sync("m", SyncKind::Mutex { recursive: false }).sync("n", SyncKind::Mutex { recursive: false });
    builder.int_var("x", 0);
    for thread in [1, 2] {
        for time in 0..times {
            let name = format!("r{thread}_{time}");
            builder.acquire(thread, "m");
            builder.acquire(thread, "n");
            builder.read(thread, "x", &name);
            builder.assume(thread, &format!("(= {name} 0)"));
            builder.write(thread, "x", &name);
            builder.release(thread, "n");
            builder.release(thread, "m");
        }
    }
    builder
}

/// A thread that has the first lock takes the second one and goes through the section: others see it before or after that.
#[test]
fn sections_under_several_locks_are_one_step() {
    let x = VarId::from_index(0);
    let count = |reachability: &Reachability<'_>| reachability.all(x, FEW_STATES, &|| true).map(|all| all.count());
    assert_eq!(with_reachability(nested(4), count), Some(25), "five places of each thread");
    let is_in_vain = |most: usize, may_go_on: bool| {
        with_reachability(nested(4), |reachability| reachability.all(x, most, &|| may_go_on).is_none())
    };
    assert!(is_in_vain(24, true), "there are more than 24");
    assert!(!is_in_vain(25, true));
    assert!(is_in_vain(25, false), "the time is over");
    let is_too_much = |variables: usize| {
        let mut builder = nested(4);
        for number in 0..variables {
            builder.int_var(&format!("v{number}"), 0);
        }
        with_reachability(builder, |reachability| reachability.all(x, 25, &|| true).is_none())
    };
    assert!(!is_too_much(100));
    assert!(is_too_much(400), "each thread has a copy of all variables in each state");
}

#[test]
fn a_pin_among_conditions_is_known() {
    let with = |pins: bool| {
        let mut builder = TraceBuilder::new(Data::Symbolic);
        builder.int_var("x", 0);
        builder.read(1, "x", "a");
        builder.assume(1, "(= a 0)");
        if pins {
            builder.pin(1, "(= a 0)");
        }
        with_reachability(builder, |reachability| reachability.has_pins())
    };
    assert!(with(true) && !with(false));
}

#[test]
fn locks_and_what_they_guard_can_wait() {
    assert_eq!(granted(nested(1)).can_wait[..7], [true, true, true, true, true, false, false]);
    let mut builder = TraceBuilder::new(Data::Symbolic);
    builder.sync("m", SyncKind::Mutex { recursive: false });
    builder.int_var("x", 0);
    builder.acquire(1, "m");
    builder.busy(2, "m");
    builder.write(1, "x", "1");
    builder.release(1, "m");
    builder.read(2, "x", "a");
    assert_eq!(granted(builder).can_wait, [false; 5], "another thread sees the lock taken, and reads without it");
}

/// Two threads count under a lock, and the second one may do one thing more there.
#[test]
fn a_lock_guards_what_threads_share_in_sections_that_they_go_through() {
    let with = |more: &dyn Fn(&mut TraceBuilder)| {
        let mut builder = TraceBuilder::new(Data::Symbolic);
        builder.sync("m", SyncKind::Mutex { recursive: false }).sync("n", SyncKind::Mutex { recursive: false });
        builder.int_var("x", 0).int_var("own", 0);
        for thread in [1, 2] {
            builder.acquire(thread, "m");
            builder.read(thread, "x", &format!("r{thread}"));
            builder.write(thread, "x", &format!("(+ r{thread} 1)"));
            if thread == 2 {
                builder.write(2, "own", "1");
                more(&mut builder);
            }
            builder.release(thread, "m");
        }
        granted(builder).guarded
    };
    let x = VarId::from_index(0);
    assert_eq!(with(&|_| ()), [Some(vec![x]), Some(Vec::new())], "the second lock is not taken");
    assert_eq!(with(&|builder| _ = builder.assume(2, "(= r2 1)"))[0], None, "it may stay there");
    assert_eq!(with(&|builder| _ = builder.acquire(2, "n"))[0], None, "it may wait there");
}

/// A thread writes under a lock that another one has for reading, or for writing, too, or tries in vain.
#[test]
fn accesses_commute_under_locks_that_exclude_each_other() {
    let with = |shared: bool| {
        let mut builder = TraceBuilder::new(Data::Symbolic);
        builder.sync("m", SyncKind::Rwlock);
        builder.int_var("x", 0);
        for thread in [1, 2] {
            let _ = if shared { builder.acquire_shared(thread, "m") } else { builder.acquire(thread, "m") };
            builder.write(thread, "x", "1");
            let _ = if shared { builder.release_shared(thread, "m") } else { builder.release(thread, "m") };
        }
        granted(builder).commutes
    };
    assert_eq!(with(false), [false, true, true, false, true, true]);
    assert!(!with(true)[1], "both may write at a time");
    let mut builder = TraceBuilder::new(Data::Symbolic);
    builder.sync("m", SyncKind::Mutex { recursive: false });
    builder.acquire(1, "m");
    builder.busy(2, "m");
    builder.release(1, "m");
    assert_eq!(granted(builder).commutes, [false; 3], "the try fails only before the release");
}

#[test]
fn values_count_where_a_condition_depends_on_them() {
    let mut builder = TraceBuilder::new(Data::Symbolic);
    ["x", "y", "z"].iter().for_each(|var| {
        builder.int_var(var, 0);
    });
    builder.read(1, "x", "a");
    builder.set(1, "b", "(+ a 1)");
    builder.write(1, "y", "b");
    builder.read(2, "y", "c");
    builder.set(2, "d", "(+ c 1)");
    builder.assume(2, "(= d 2)");
    builder.write(2, "z", "d");
    let counts = |reachability: &Reachability<'_>| [0, 1, 2].map(|var| reachability.counts(VarId::from_index(var)));
    assert_eq!(with_reachability(builder, counts), [true, true, false]);
}

/// A thread that starts another one, does what it alone has to do with, and waits for the other one's end. Then it changes what that wrote.
fn apart() -> TraceBuilder {
    let mut builder = TraceBuilder::new(Data::Symbolic);
    ["own", "before", "after", "read"].iter().for_each(|var| {
        builder.int_var(var, 0);
    });
    builder.write(1, "before", "1"); // 0
    builder.fork(1, 2);
    builder.call(1, "push");
    builder.begin(1);
    builder.set(1, "a", "1");
    builder.assume(1, "(= a 1)"); // 5
    builder.unseen(1, "code", "object");
    builder.write(1, "own", "a");
    builder.read(1, "own", "b");
    builder.read(1, "read", "c");
    builder.end(1); // 10
    builder.ret(1, "push");
    builder.read(2, "before", "d");
    builder.read(2, "read", "e");
    builder.write(2, "after", "1");
    builder.join(1, 2);
    builder.rmw(1, "after", "f", "(+ f 1)");
    builder
}

/// No thread sees in which order the others take such steps.
#[test]
fn steps_that_no_other_thread_sees_commute() {
    assert_eq!(granted(apart()).commutes, [true; 17]);
    let x = VarId::from_index(0);
    let count = |reachability: &Reachability<'_>| reachability.all(x, FEW_STATES, &|| true).map(|all| all.count());
    assert_eq!(with_reachability(apart(), count), Some(1));
    let can_wait = granted(apart()).can_wait;
    let waits = |event: usize| can_wait[event];
    assert!([2, 3, 4, 5, 7, 8, 9, 10, 11, 13].into_iter().all(waits), "{can_wait:?}: others cannot see it");
    assert!(![0, 1, 6, 12, 14, 15, 16].into_iter().any(waits), "{can_wait:?}: others may see it");
}

/// A reader and a writer of a lock for both; the writer takes another lock before that it has in a section of its own.
#[test]
fn accesses_commute_and_wait_under_locks_for_readers_and_writers() {
    let mut builder = TraceBuilder::new(Data::Symbolic);
    builder.sync("m", SyncKind::Mutex { recursive: false }).sync("n", SyncKind::Rwlock);
    builder.int_var("x", 0);
    builder.acquire_shared(1, "n");
    builder.read(1, "x", "a");
    builder.release_shared(1, "n");
    builder.acquire(2, "n");
    builder.rmw(2, "x", "b", "(+ b 1)");
    builder.acquire(2, "m");
    builder.release(2, "m");
    builder.release(2, "n");
    let Granted { commutes, can_wait, .. } = granted(builder);
    assert_eq!(commutes, [false, true, true, false, true, false, true, true]);
    assert_eq!(can_wait, [true, true, false, true, true, true, false, false]);
}

#[test]
fn a_lock_guards_nothing_where_a_section_may_stop() {
    let with = |inside: &dyn Fn(&mut TraceBuilder)| {
        let mut builder = TraceBuilder::new(Data::Symbolic);
        builder.sync("m", SyncKind::Rwlock).sync("s", SyncKind::Semaphore { init: 1 });
        ["x", "y", "own"].iter().for_each(|var| {
            builder.int_var(var, 0);
        });
        builder.acquire_shared(1, "m");
        builder.read(1, "y", "a");
        builder.read(1, "x", "b");
        builder.read(1, "y", "c");
        builder.release_shared(1, "m");
        builder.acquire(2, "m");
        builder.write(2, "x", "1");
        builder.write(2, "y", "1");
        inside(&mut builder);
        builder.release(2, "m");
        granted(builder).guarded
    };
    let [x, y] = [0, 1].map(VarId::from_index);
    let plain = |builder: &mut TraceBuilder| {
        builder.begin(2);
        builder.set(2, "d", "1");
        builder.end(2);
    };
    assert_eq!(with(&plain), [Some(vec![x, y]), None], "a semaphore is no lock");
    let guarded = |builder: &mut TraceBuilder| {
        builder.set(2, "d", "1");
        builder.read_if(2, "own", "e", "(= d 1)");
    };
    assert_eq!(with(&guarded)[0], None, "it reads only on one path");
    let parts = |builder: &mut TraceBuilder| {
        builder.write(2, "own", "1").part(1, 2);
        builder.write(2, "own", "2").part(2, 2);
    };
    assert_eq!(with(&parts)[0], None, "no other thread goes on between the parts");
}

/// A section that a wait for a condition ends has to wait for another thread.
#[test]
fn a_lock_guards_nothing_where_a_section_ends_in_a_wait() {
    let mut builder = TraceBuilder::new(Data::Symbolic);
    builder.sync("m", SyncKind::Mutex { recursive: false }).sync("c", SyncKind::Condvar);
    builder.acquire(1, "m");
    let wait = builder.wait(1, "c", "m").id();
    builder.acquire(2, "m");
    builder.release(2, "m");
    let signal = builder.signal(2, "c").id();
    assert!(wait < signal);
    builder.wake(1, "c", "m", None).by(signal);
    builder.release(1, "m");
    assert_eq!(granted(builder).guarded[0], None);
}

/// Two threads write a variable on which nothing depends, under no lock, or one that only one holds, or both. States differ by how far the threads
/// are, if that variable is asked about, or not at all.
#[test]
fn values_on_which_nothing_depends_are_forgotten() {
    let with = |lock: Option<bool>| {
        let mut builder = TraceBuilder::new(Data::Symbolic);
        builder.sync("m", SyncKind::Rwlock);
        builder.int_var("x", 0).int_var("other", 0);
        for thread in [1, 2] {
            match lock {
                Some(true) => _ = builder.acquire_shared(thread, "m"),
                Some(false) => _ = builder.acquire(thread, "m"),
                None => {}
            }
            builder.write(thread, "x", &thread.to_string());
            match lock {
                Some(true) => _ = builder.release_shared(thread, "m"),
                Some(false) => _ = builder.release(thread, "m"),
                None => {}
            }
        }
        let count = |var: usize| {
            move |reachability: &Reachability<'_>| {
                reachability.all(VarId::from_index(var), FEW_STATES, &|| true).map(|all| all.count())
            }
        };
        with_reachability(builder, |reachability| [count(0)(reachability), count(1)(reachability)])
    };
    assert_eq!(with(None), [Some(4), Some(1)]);
    assert_eq!(with(Some(false)), [Some(4), Some(1)], "the lock guards nothing else");
    assert_eq!(with(Some(true)), [Some(4), Some(1)]);
}

/// Traces that random ones hardly ever are like.
#[test]
fn states_tell_what_interleavings_tell_of_traces_made_by_hand() {
    let mut compared = Compared::default();
    let mut at = 0;
    let mut hold = |builder: TraceBuilder, feasible: usize| {
        let before = compared.feasible;
        compare(at, &builder.finish().expect("a valid trace"), &mut compared);
        assert!(compared.feasible - before >= feasible, "trace {at} shows too little: {compared:?}");
        at += 1;
    };
    let two_locks = || {
        let mut builder = TraceBuilder::new(Data::Symbolic);
        builder.sync("m", SyncKind::Mutex { recursive: false }).sync("n", SyncKind::Mutex { recursive: false });
        builder.int_var("x", 0);
        builder
    };

    // All of a candidate comes before threads can race.
    let mut builder = two_locks();
    builder.read(1, "x", "a");
    builder.fork(1, 2);
    builder.write(2, "x", "1");
    builder.join(1, 2);
    builder.read(1, "x", "b");
    hold(builder, 1);

    // After the last access of a candidate the thread comes to a try that cannot fail any more.
    let mut builder = two_locks();
    builder.acquire(1, "m");
    builder.read(1, "x", "a");
    builder.release(1, "m");
    builder.acquire(2, "n");
    builder.acquire(1, "m");
    builder.read(1, "x", "b");
    builder.busy(1, "n");
    builder.release(1, "m");
    builder.release(2, "n");
    builder.acquire(2, "m");
    builder.write(2, "x", "5");
    builder.release(2, "m");
    hold(builder, 1);

    // A signal may wake either of two threads, each of which then does something else.
    let mut builder = two_locks();
    builder.sync("c", SyncKind::Condvar);
    for thread in [1, 2] {
        builder.acquire(thread, "m");
        builder.read(thread, "x", &format!("a{thread}"));
        builder.wait(thread, "c", "m");
    }
    for thread in [1, 2] {
        builder.acquire(3, "m");
        builder.write(3, "x", &thread.to_string());
        let signal = builder.signal(3, "c").id();
        builder.release(3, "m");
        builder.wake(thread, "c", "m", None).by(signal);
        builder.read(thread, "x", &format!("b{thread}"));
        builder.write(thread, "x", &format!("(+ b{thread} 1)"));
        builder.release(thread, "m");
    }
    hold(builder, 4);
}

/// Other questions have other prefixes, or other paths.
#[test]
fn states_decide_questions_of_one_kind_alone() {
    let question =
        Question { model: Model::Ctp, feasibility: Feasibility::Prefix, independence: Independence::Conflict };
    let (trace, _) = apart().finish().expect("a valid trace");
    let plain = Options { question, ..Options::new(Data::Symbolic) };
    let asks = |options: Options| decides(&options, &trace);
    assert!(asks(plain.clone()));
    let of = |change: &dyn Fn(&mut Options)| {
        let mut options = plain.clone();
        change(&mut options);
        asks(options)
    };
    assert!(!of(&|options| options.question.model = Model::Cam));
    assert!(!of(&|options| options.question.feasibility = Feasibility::Complete));
    assert!(!of(&|options| options.question.independence = Independence::Guarded));
    assert!(!of(&|options| options.strategy = Strategy::Paper));
    assert!(!of(&|options| options.context_switches = Some(2)));
    assert!(!of(&|options| options.dump_smt2 = Some("folder".into())));
    assert!(!of(&|options| _ = options.without.insert(Decider::States)));
}

//! When each operation is enabled, and what a message says where it is not.

use crate::{Data, EventId, SyncKind, ThreadId, Trace, TraceBuilder, Value, WakeCause, observe};

/// The recorded order of what `make` adds is an execution.
fn runs(make: impl FnOnce(&mut TraceBuilder)) {
    let mut builder = TraceBuilder::new(Data::Symbolic);
    make(&mut builder);
    builder.finish().expect("the recorded order is an execution");
}

/// The recorded order fails at this event with this message.
fn fails(event: u32, message: &str, make: impl FnOnce(&mut TraceBuilder)) {
    let mut builder = TraceBuilder::new(Data::Symbolic);
    make(&mut builder);
    let error = observe(&builder.build().expect("names and sorts are right")).expect_err("a step that fails");
    assert_eq!((error.event, error.problem.to_string().as_str()), (EventId(event), message));
}

#[test]
fn a_mutex_has_one_holder() {
    fails(1, "found mutex m held by thread 1, expected it free", |b| {
        b.acquire(1, "m");
        b.acquire(2, "m");
    });
    fails(1, "found mutex m held by this thread itself, expected it free", |b| {
        b.acquire(1, "m");
        b.acquire(1, "m");
    });
    fails(1, "found mutex m not held by thread 2, expected it held by thread 2", |b| {
        b.acquire(1, "m");
        b.release(2, "m");
    });
    runs(|b| {
        b.acquire(1, "m");
        b.release(1, "m");
        b.acquire(2, "m");
    });
}

#[test]
fn only_the_outermost_acquire_and_release_of_a_recursive_mutex_count() {
    let nest = |b: &mut TraceBuilder| {
        b.sync("m", SyncKind::Mutex { recursive: true });
        b.acquire(1, "m");
        b.acquire(1, "m");
        b.release(1, "m");
    };
    fails(3, "found mutex m held by thread 1, expected it free", |b| {
        nest(b);
        b.acquire(2, "m");
    });
    runs(|b| {
        nest(b);
        b.release(1, "m");
        b.acquire(2, "m");
    });
}

#[test]
fn a_rwlock_has_one_holder_or_sharers() {
    let rwlock = |b: &mut TraceBuilder| {
        b.sync("l", SyncKind::Rwlock);
    };
    runs(|b| {
        rwlock(b);
        b.acquire_shared(1, "l");
        b.acquire_shared(2, "l");
        b.acquire_shared(1, "l");
        b.release_shared(1, "l");
        b.release_shared(1, "l");
        b.release_shared(2, "l");
        b.acquire(2, "l");
    });
    fails(3, "found rwlock l shared by thread 1, expected it free", |b| {
        rwlock(b);
        b.acquire_shared(1, "l");
        b.acquire_shared(1, "l");
        b.release_shared(1, "l");
        b.acquire(2, "l");
    });
    fails(1, "found rwlock l shared by this thread itself, expected it free", |b| {
        rwlock(b);
        b.acquire_shared(1, "l");
        b.acquire(1, "l");
    });
    fails(1, "found rwlock l held by thread 1, expected it free", |b| {
        rwlock(b);
        b.acquire(1, "l");
        b.acquire_shared(2, "l");
    });
    fails(0, "found rwlock l not shared by thread 1, expected it shared by thread 1", |b| {
        rwlock(b);
        b.release_shared(1, "l");
    });
    fails(1, "found rwlock l not shared by thread 2, expected it shared by thread 2", |b| {
        rwlock(b);
        b.acquire_shared(1, "l");
        b.release_shared(2, "l");
    });
}

#[test]
fn busy_needs_another_holder_or_sharer() {
    fails(1, "found mutex m held by no other thread, expected another thread to hold it", |b| {
        b.acquire(1, "m");
        b.busy(1, "m");
    });
    runs(|b| {
        b.acquire(1, "m");
        b.busy(2, "m");
        b.acquire_shared(1, "l");
        b.busy(2, "l");
    });
}

#[test]
fn a_wake_needs_a_signal_and_the_lock() {
    let waits = |b: &mut TraceBuilder| {
        b.acquire(1, "m");
        b.wait(1, "c", "m");
    };
    let unsignalled = "found no signal or broadcast of condition variable c that released thread 1 since its wait, \
                       expected one, or a wake with a cause";
    fails(2, unsignalled, |b| {
        waits(b);
        b.wake(1, "c", "m", None);
    });
    fails(3, unsignalled, |b| {
        b.signal(2, "c");
        waits(b);
        b.wake(1, "c", "m", None);
    });
    runs(|b| {
        waits(b);
        b.wake(1, "c", "m", Some(WakeCause::Timeout));
    });
    runs(|b| {
        waits(b);
        b.signal(2, "c");
        b.wake(1, "c", "m", None);
        b.release(1, "m");
    });
    fails(4, "found mutex m held by thread 2, expected it free", |b| {
        waits(b);
        b.broadcast(2, "c");
        b.acquire(2, "m");
        b.wake(1, "c", "m", None);
    });
    fails(0, "found that thread 1 does not wait on condition variable c, expected a wait before", |b| {
        b.wake(1, "c", "m", None);
    });
    fails(0, "found mutex m not held by thread 1, expected it held by thread 1", |b| {
        b.wait(1, "c", "m");
    });
}

#[test]
fn a_signal_releases_one_waiter_the_one_that_wakes_first() {
    let two_wait = |b: &mut TraceBuilder| {
        for thread in [1, 2] {
            b.acquire(thread, "m");
            b.wait(thread, "c", "m");
        }
        b.signal(3, "c");
    };
    for (first, second) in [(1, 2), (2, 1)] {
        runs(|b| {
            two_wait(b);
            b.wake(first, "c", "m", None);
            b.release(first, "m");
            b.signal(3, "c");
            b.wake(second, "c", "m", None);
        });
    }
    // The second signal is not for the thread that the first one released.
    runs(|b| {
        two_wait(b);
        b.signal(3, "c");
        for thread in [1, 2] {
            b.wake(thread, "c", "m", None);
            b.release(thread, "m");
        }
    });
    let message = "found no signal or broadcast of condition variable c that released thread 2 since its wait, \
                   expected one, or a wake with a cause";
    fails(7, message, |b| {
        two_wait(b);
        b.wake(1, "c", "m", None);
        b.release(1, "m");
        b.wake(2, "c", "m", None);
    });
    runs(|b| {
        two_wait(b);
        b.wake(1, "c", "m", Some(WakeCause::Spurious)); // the signal is for thread 2
        b.release(1, "m");
        b.wake(2, "c", "m", None);
    });
}

#[test]
fn waiting_gives_all_levels_back_and_waking_restores_them() {
    let nested = |b: &mut TraceBuilder| {
        b.sync("m", SyncKind::Mutex { recursive: true });
        b.acquire(1, "m");
        b.acquire(1, "m");
        b.wait(1, "c", "m");
        b.acquire(2, "m");
        b.signal(2, "c");
        b.release(2, "m");
        b.wake(1, "c", "m", None);
        b.release(1, "m");
    };
    fails(8, "found mutex m held by thread 1, expected it free", |b| {
        nested(b);
        b.acquire(2, "m");
    });
    runs(|b| {
        nested(b);
        b.release(1, "m");
        b.acquire(2, "m");
    });
}

/// Thread 1 has two levels, thread 2 one. Thread 2 is woken first, though it has waited less long.
#[test]
fn waking_restores_the_levels_of_the_thread_itself() {
    let other_first = |b: &mut TraceBuilder| {
        b.sync("m", SyncKind::Mutex { recursive: true });
        b.acquire(1, "m");
        b.acquire(1, "m");
        b.wait(1, "c", "m");
        b.acquire(2, "m");
        b.wait(2, "c", "m");
        b.wake(2, "c", "m", Some(WakeCause::Timeout));
        b.release(2, "m");
        b.wake(1, "c", "m", Some(WakeCause::Timeout));
        b.release(1, "m");
    };
    runs(|b| {
        other_first(b);
        b.release(1, "m");
        b.acquire(2, "m");
    });
    fails(9, "found mutex m held by thread 1, expected it free", |b| {
        other_first(b);
        b.acquire(2, "m");
    });
}

#[test]
fn a_semaphore_counts() {
    runs(|b| {
        b.sync("s", SyncKind::Semaphore { init: 1 });
        b.down(1, "s");
        b.post(2, "s");
        b.down(1, "s");
    });
    fails(1, "found semaphore s at 0, expected a count above 0", |b| {
        b.sync("s", SyncKind::Semaphore { init: 1 });
        b.down(1, "s");
        b.down(2, "s");
    });
}

#[test]
fn what_happens_once_is_begun_by_one_and_passed_after_its_end() {
    runs(|b| {
        b.sync("o", SyncKind::Once);
        b.once_begin(1, "o");
        b.once_fail(1, "o");
        b.once_begin(2, "o");
        b.once_end(2, "o");
        b.once_pass(1, "o");
        b.once_pass(2, "o");
    });
    fails(1, "found once o held by thread 1, expected it free", |b| {
        b.once_begin(1, "o");
        b.once_begin(2, "o");
    });
    fails(1, "found once o held by this thread itself, expected it free", |b| {
        b.once_begin(1, "o");
        b.once_begin(1, "o");
    });
    fails(1, "found once o not held by thread 2, expected it held by thread 2", |b| {
        b.once_begin(1, "o");
        b.once_end(2, "o");
    });
    fails(1, "found once o not done, expected the end of its initialisation before", |b| {
        b.once_begin(1, "o");
        b.once_pass(2, "o");
    });
    fails(2, "found once o not done, expected the end of its initialisation before", |b| {
        b.once_begin(1, "o");
        b.once_fail(1, "o");
        b.once_pass(1, "o");
    });
    fails(2, "found once o done already, expected it not done", |b| {
        b.once_begin(1, "o");
        b.once_end(1, "o");
        b.once_begin(2, "o");
    });
}

#[test]
fn a_depart_needs_all_recorded_arrives_of_its_round() {
    fails(1, "found 1 arrives at barrier b in this round, expected all 2 that were recorded", |b| {
        b.arrive(1, "b", 0);
        b.depart(1, "b", 0);
        b.arrive(2, "b", 0);
    });
    runs(|b| {
        b.arrive(1, "b", 0);
        b.arrive(2, "b", 0);
        b.depart(1, "b", 0);
        b.arrive(1, "b", 1);
        b.depart(1, "b", 1);
        b.depart(2, "b", 0);
    });
}

#[test]
fn a_forked_thread_starts_after_its_fork_and_a_join_waits_for_its_end() {
    fails(0, "found that thread 2 has not started, expected its fork (event 1) before", |b| {
        b.begin(2);
        b.fork(1, 2);
    });
    fails(2, "found that thread 2 has not done event 3, expected all its recorded events done", |b| {
        b.fork(1, 2);
        b.begin(2);
        b.join(1, 2);
        b.end(2);
    });
    runs(|b| {
        b.begin(3);
        b.fork(1, 2);
        b.begin(2);
        b.end(2);
        b.join(1, 2);
    });
}

#[test]
fn nothing_comes_between_the_parts_of_one_step() {
    fails(1, "found that thread 1 is inside a step of several parts, expected its next part, event 2", |b| {
        b.int_var("x", 0).int_var("y", 0);
        b.write(1, "x", "1").part(1, 2);
        b.read(2, "x", "r");
        b.write(1, "y", "1").part(2, 2);
    });
    runs(|b| {
        b.int_var("x", 0).int_var("y", 0);
        b.write(1, "x", "1").part(1, 2);
        b.write(1, "y", "1").part(2, 2);
        b.read(2, "x", "r");
    });
}

#[test]
fn conditions_hold_with_the_values_of_the_run() {
    fails(1, "found the assumption `(> r 1)` false with r = 1, expected it true", |b| {
        b.int_var("x", 1);
        b.read(1, "x", "r");
        b.assume(1, "(> r 1)");
    });
    fails(1, "found the guard `(= s (+ r 1))` false with r = 1, s = 1, expected it true", |b| {
        b.int_var("x", 1);
        b.read(1, "x", "r");
        b.rmw_if(1, "x", "s", "5", "(= s (+ r 1))");
    });
    runs(|b| {
        b.int_var("x", 1);
        b.read(1, "x", "r");
        b.set(1, "s", "(+ r 1)");
        b.pin(1, "(= s 2)");
        b.rmw_if(1, "x", "r", "(+ r 3)", "(= r 1)").value(Value::int(1)).stored(Value::int(4));
        b.read_if(2, "x", "q", "(= q 4)");
        b.write_if(2, "x", "q", "(< q 5)").value(Value::int(4));
    });
}

#[test]
fn recorded_values_follow() {
    fails(1, "found the recorded value 3, expected 2, which it reads (x) in the recorded order", |b| {
        b.int_var("x", 1);
        b.write(1, "x", "2");
        b.read(2, "x", "").value(Value::int(3));
    });
    fails(0, "found the recorded value 3, expected 2, which it writes (x) in the recorded order", |b| {
        b.int_var("x", 1);
        b.write(1, "x", "2").value(Value::int(3));
    });
    fails(0, "found the recorded value 3, expected 2, which it writes (x) in the recorded order", |b| {
        b.int_var("x", 1);
        b.rmw(1, "x", "r", "(+ r 1)").value(Value::int(1)).stored(Value::int(3));
    });
}

#[test]
fn operations_on_objects_of_another_kind_are_refused() {
    fails(0, "found semaphore m, expected an object that `acquire` works on", |b| {
        b.sync("m", SyncKind::Semaphore { init: 0 });
        b.acquire(1, "m");
    });
    fails(0, "found mutex m, expected an object that `signal` works on", |b| {
        b.sync("m", SyncKind::Mutex { recursive: false });
        b.signal(1, "m");
    });
    fails(0, "found mutex m, expected an object that `broadcast` works on", |b| {
        b.sync("m", SyncKind::Mutex { recursive: false });
        b.broadcast(1, "m");
    });
    fails(0, "found mutex m, expected an object that `post` works on", |b| {
        b.sync("m", SyncKind::Mutex { recursive: false });
        b.post(1, "m");
    });
    fails(0, "found mutex m, expected an object that `once_fail` works on", |b| {
        b.sync("m", SyncKind::Mutex { recursive: false });
        b.once_fail(1, "m");
    });
    fails(1, "found semaphore c, expected an object that `wait` works on", |b| {
        b.sync("c", SyncKind::Semaphore { init: 0 });
        b.acquire(1, "m");
        b.wait(1, "c", "m");
    });
}

/// Two threads that wait, the first with a time limit, and a signal.
fn a_waiter_and_a_signal() -> Trace {
    let mut b = TraceBuilder::new(Data::None);
    for thread in [1, 2] {
        b.acquire(thread, "m");
        b.wait(thread, "c", "m");
    }
    b.wake(1, "c", "m", Some(WakeCause::Timeout));
    b.signal(3, "c");
    b.build().expect("names and sorts are right")
}

#[test]
fn a_signal_releases_one_that_waits_and_no_other() {
    let (trace, observed) = (a_waiter_and_a_signal(), crate::Observed::default());
    let semantics = crate::Semantics::new(&trace, &observed, crate::Model::Cam).expect("it needs no data");
    let [one, two, three] = [0, 1, 2].map(ThreadId::from_index);
    let mut state = semantics.initial();
    let events = [0, 1, 2, 3].map(EventId);
    assert!(matches!(semantics.enabled(&state, events[1]), Err(crate::Blocked::NotNext)));
    for event in events {
        semantics.step(&mut state, event, None).expect("it is enabled");
    }
    let signal = EventId(5);
    assert_eq!(semantics.releasable(&state, signal), [one, two]);
    for nobody in [None, Some(three)] {
        let refused = semantics.step(&mut state.clone(), signal, nobody);
        assert!(matches!(refused, Err(crate::Blocked::NotReleasable { .. })), "{nobody:?}: {refused:?}");
    }
    let mut released = state.clone();
    semantics.step(&mut released, signal, Some(two)).expect("thread 2 waits");
    assert_eq!(semantics.releasable(&released, signal), [one]);
    // The first thread does not wait any more after its time limit.
    semantics.step(&mut state, EventId(4), None).expect("its time is over");
    assert_eq!(semantics.releasable(&state, signal), [two]);
}

#[test]
fn an_order_with_an_event_too_many_is_refused() {
    let (trace, observed) = (a_waiter_and_a_signal(), crate::Observed::default());
    let semantics = crate::Semantics::new(&trace, &observed, crate::Model::Cam).expect("it needs no data");
    let error = semantics.run(&[EventId(0), EventId(6)], |_, _| {}).expect_err("there are 6 events").to_string();
    assert_eq!(error, "step 1, event 6: found an event that the trace does not have, expected an index below 6");
}

#[test]
fn a_wait_is_not_enabled_without_its_lock() {
    let mut b = TraceBuilder::new(Data::None);
    b.wait(1, "c", "m");
    let (trace, observed) = (b.build().expect("names and sorts are right"), crate::Observed::default());
    let semantics = crate::Semantics::new(&trace, &observed, crate::Model::Cam).expect("it needs no data");
    let enabled = semantics.enabled(&semantics.initial(), EventId(0));
    assert!(matches!(enabled, Err(crate::Blocked::NotHeld { .. })), "{enabled:?}");
}

#[test]
fn a_name_has_the_value_that_was_read() {
    let mut b = TraceBuilder::new(Data::Symbolic);
    b.int_var("x", 7);
    b.read(1, "x", "r");
    b.assume(1, "(= r 7)");
    let (trace, observed) = b.finish().expect("an execution");
    let semantics = crate::Semantics::new(&trace, &observed, crate::Model::Ctp).expect("a symbolic trace");
    let mut state = semantics.initial();
    semantics.step(&mut state, EventId(0), None).expect("a read");
    assert_eq!(semantics.local(&state, EventId(0)), Some(&Value::int(7)));
}

#[test]
fn events_without_conditions_are_always_enabled() {
    runs(|b| {
        b.int_var("x", 1);
        b.call(1, "push");
        b.begin(1);
        b.write(1, "x", "7").external();
        b.end(1);
        b.ret(1, "push");
        b.free(1, &["x"]);
        b.signal(1, "c");
        b.broadcast(1, "c");
        b.fail(1);
    });
}

#[test]
fn a_builder_refuses_unknown_names_and_wrong_sorts() {
    let message = |make: &dyn Fn(&mut TraceBuilder)| {
        let mut b = TraceBuilder::new(Data::Symbolic);
        b.int_var("x", 0);
        make(&mut b);
        b.build().expect_err("a mistake").to_string()
    };
    let unknown = message(&|b| {
        b.write(1, "x", "r");
    });
    assert!(unknown.starts_with("event 0: in `r` at column 1: found"), "{unknown}");
    let sort = message(&|b| {
        b.begin(1);
        b.assume(1, "(+ 1 true)");
    });
    assert_eq!(sort, "event 1: in `(+ 1 true)` at column 1: found argument 2 of `+` of sort Bool, expected sort Int");
    let var = message(&|b| {
        b.read(1, "y", "");
    });
    assert_eq!(var, "event 0: found unknown variable `y`, expected a variable that the header declares");
}

#[test]
fn the_place_of_a_local_that_is_no_longer_used_is_used_again() {
    let mut b = TraceBuilder::new(Data::Symbolic);
    b.int_var("x", 0);
    for _ in 0..1000 {
        b.read(1, "x", "r");
        b.assume(1, "(< r 1000000)");
        b.write(1, "x", "(+ r 1)");
    }
    let trace = b.build().expect("names and sorts are right");
    let observed = observe(&trace).expect("an execution");
    assert_eq!(observed.written(EventId(2999)), Some(&Value::int(1000)));
    let semantics = crate::Semantics::new(&trace, &observed, crate::Model::Ctp).expect("a symbolic trace");
    assert_eq!(semantics.initial().locals.len(), 1);
}

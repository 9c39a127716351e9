//! Locks that a program makes of one variable.

use super::Case;
use crate::verdict::Decider::EarlyRefutation;
use foretrace_trace::{Data, Model, TraceBuilder, Value};

/// Three threads that each take the lock y as `take` does, write x twice, and give the lock back as `give` does, and all this twice. The triple
/// is of second turns: it has the second thread's first write between those of the first.
fn exclude_each_other(
    take: impl Fn(&mut TraceBuilder, u64),
    give: impl Fn(&mut TraceBuilder, u64),
) -> (Case, [u32; 3]) {
    let mut writes = Vec::new();
    let case = Case::new(|b| {
        for thread in [2, 3, 4, 2, 3, 4] {
            take(b, thread);
            writes.push(b.write(thread, "x", "1").id().0);
            writes.push(b.write(thread, "x", "2").id().0);
            give(b, thread);
        }
    });
    (case, [writes[6], writes[8], writes[7]])
}

fn refutes(take: impl Fn(&mut TraceBuilder, u64), give: impl Fn(&mut TraceBuilder, u64)) -> bool {
    let (case, triple) = exclude_each_other(take, give);
    case.refutes(EarlyRefutation, triple)
}

/// Takes y by an rmw that stores `stored`, and finds it free.
fn takes(stored: &'static str) -> impl Fn(&mut TraceBuilder, u64) {
    move |b, thread| {
        b.rmw(thread, "y", "f", stored);
        b.assume(thread, "(= f 0)");
    }
}

fn gives(b: &mut TraceBuilder, thread: u64) {
    b.write(thread, "y", "0");
}

#[test]
fn who_finds_the_value_free_owns_the_lock() {
    for stored in ["1", "(ite (= f 0) 1 f)", "(ite (= f 0) 1 2)", "(ite (> f 0) f 1)"] {
        assert!(refutes(takes(stored), gives), "{stored}");
    }
    let by_guard = |b: &mut TraceBuilder, thread| {
        b.rmw_if(thread, "y", "f", "1", "(= f 0)");
    };
    assert!(refutes(by_guard, gives));
    let in_two_steps = |b: &mut TraceBuilder, thread| {
        b.rmw(thread, "y", "f", "1");
        b.assume(thread, "(>= f 0)");
        b.assume(thread, "(< f 1)");
    };
    assert!(refutes(in_two_steps, gives));
    let says_nothing = |b: &mut TraceBuilder, thread| {
        b.rmw(thread, "y", "f", "1");
        b.assume(thread, "(>= f 0)");
    };
    assert!(!refutes(says_nothing, gives));
}

/// An rmw that stores the free value where it finds another one lets two threads in.
#[test]
fn who_finds_the_lock_taken_must_leave_it_so() {
    for stored in ["(ite (= f 0) 1 0)", "(ite (= f 1) 0 1)"] {
        assert!(!refutes(takes(stored), gives), "{stored}");
    }
}

#[test]
fn an_owner_may_store_other_values_and_give_the_lock_back_by_an_rmw() {
    let twice = |b: &mut TraceBuilder, thread: u64| {
        b.write(thread, "y", "2");
        b.rmw(thread, "y", "g", "0");
    };
    assert!(refutes(takes("1"), twice));
    let counts_down = |b: &mut TraceBuilder, thread: u64| {
        b.rmw(thread, "y", "g", "(- g 1)");
    };
    assert!(refutes(takes("1"), counts_down), "who gives it back finds 1");
    let counts_down = |b: &mut TraceBuilder, thread: u64| {
        b.rmw(thread, "y", "g", "(ite (= g 1) 0 1)");
    };
    assert!(refutes(takes("1"), counts_down));
}

/// Drepper's lock: 2 says that somebody waits. Who gives it back stores one less, and 0 if that was 1.
#[test]
fn who_may_have_given_the_lock_back_is_known_by_conditions() {
    let give = |tells: bool| {
        move |b: &mut TraceBuilder, thread: u64| {
            b.rmw(thread, "y", "g", "(ite (= g 2) 1 0)");
            if tells {
                b.assume(thread, "(= g 1)");
            }
            b.write(thread, "z", "1");
        }
    };
    let take = |b: &mut TraceBuilder, thread: u64| {
        b.rmw(thread, "y", "f", "(ite (= f 0) 1 2)");
        b.assume(thread, "(= f 0)");
    };
    assert!(refutes(take, give(true)));
    assert!(refutes(take, give(false)), "the thread writes nothing more");
    let and_again = |tells: bool| {
        move |b: &mut TraceBuilder, thread: u64| {
            give(tells)(b, thread);
            b.rmw(thread, "y", "h", "(ite (= h 0) 1 2)");
            b.assume(thread, "(= h 0)");
            b.write(thread, "y", "0");
        }
    };
    assert!(refutes(take, and_again(true)));
    assert!(refutes(take, and_again(false)), "who owns it still does not find it free");
}

/// A prefix may end before such a condition, with x written by two threads that both took the lock.
#[test]
fn a_condition_after_all_is_known_too_late() {
    let take = |b: &mut TraceBuilder, thread: u64| {
        b.rmw(thread, "y", "f", "1");
    };
    let give = |b: &mut TraceBuilder, thread: u64| {
        b.assume(thread, "(= f 0)");
        gives(b, thread);
    };
    assert!(!refutes(take, give));
}

#[test]
fn a_thread_that_gives_back_what_it_does_not_own_lets_others_in() {
    let give = |b: &mut TraceBuilder, thread: u64| {
        gives(b, thread);
        b.write(thread, "y", "0");
    };
    assert!(!refutes(takes("1"), give));
    // The other thread writes nothing but x.
    let mut writes = Vec::new();
    let case = Case::new(|b| {
        for thread in [2, 3] {
            if thread == 2 {
                takes("1")(b, thread);
            }
            writes.push(b.write(thread, "x", "1").id().0);
            writes.push(b.write(thread, "x", "2").id().0);
        }
    });
    assert!(!case.refutes(EarlyRefutation, [writes[0], writes[2], writes[1]]));
}

/// The lock is free before any thread takes it: at first, or by one thread's writes.
#[test]
fn the_lock_begins_free() {
    let begins = |writes: &[(u64, &str)], forked: &[u64]| {
        let mut own = Vec::new();
        let case = Case::new(|b| {
            for (thread, value) in writes {
                b.write(*thread, "y", value);
            }
            for thread in forked {
                b.fork(1, *thread);
            }
            for thread in [2, 3] {
                takes("1")(b, thread);
                own.push(b.write(thread, "x", "1").id().0);
                own.push(b.write(thread, "x", "2").id().0);
                gives(b, thread);
            }
        });
        case.refutes(EarlyRefutation, [own[0], own[2], own[1]])
    };
    assert!(begins(&[(1, "7"), (1, "0")], &[2, 3]));
    for forked in [&[][..], &[2], &[3]] {
        assert!(!begins(&[(1, "7"), (1, "0")], forked), "a thread may own it before it is free");
    }
    assert!(!begins(&[(1, "0"), (4, "0")], &[]));
    assert!(!begins(&[(4, "0"), (1, "0")], &[2, 3]), "a thread that nobody waits for may free it late");
}

/// Threads 2 and 4 take one lock, 3 and 5 another.
#[test]
fn each_variable_is_a_lock_of_its_own() {
    let mut own = Vec::new();
    let case = Case::new(|b| {
        for (thread, lock) in [(2, "y"), (3, "z"), (4, "y"), (5, "z")] {
            b.rmw(thread, lock, "f", "1");
            b.assume(thread, "(= f 0)");
            own.push([b.write(thread, "x", "1").id().0, b.write(thread, "x", "2").id().0]);
            b.write(thread, lock, "0");
        }
    });
    let refutes = |one: usize, other: usize| {
        let [[first, second], [remote, _]] = [own[one], own[other]];
        case.refutes(EarlyRefutation, [first, remote, second])
    };
    assert!(refutes(0, 2) && refutes(2, 0) && refutes(1, 3) && refutes(3, 1));
    assert!(!refutes(0, 1) && !refutes(1, 0) && !refutes(2, 3) && !refutes(3, 2));
}

/// `while (l) {}` before the exchange: what a thread only looks at is no lock's matter.
#[test]
fn a_thread_may_look_before_it_takes_the_lock() {
    let looks = |b: &mut TraceBuilder, thread: u64| {
        b.read(thread, "y", "s");
        b.assume(thread, "(= s 0)");
        takes("1")(b, thread);
    };
    assert!(refutes(looks, gives));
}

/// It stays the owner's: what it stores is not the free value.
#[test]
fn an_owner_that_stores_another_value_keeps_the_lock() {
    let takes_and_stores = |b: &mut TraceBuilder, thread: u64| {
        takes("1")(b, thread);
        b.write(thread, "y", "2");
    };
    assert!(refutes(takes_and_stores, gives));
    let gives_too_early = |b: &mut TraceBuilder, thread: u64| {
        takes("1")(b, thread);
        b.write(thread, "y", "0");
    };
    assert!(!refutes(gives_too_early, |_, _| {}));
}

/// Thread 2 stores 1 if somebody waits, else 0, and a condition says later that somebody did: before it the lock may be free. Thread 4 waits,
/// thread 3 takes the lock.
#[test]
fn who_may_have_given_the_lock_back_owns_it_no_more() {
    let mut own = Vec::new();
    let case = Case::new(|b| {
        let take = |b: &mut TraceBuilder, thread: u64| {
            b.rmw(thread, "y", "f", "(ite (= f 0) 1 2)");
            b.assume(thread, "(= f 0)");
        };
        take(b, 2);
        own.push(b.write(2, "x", "1").id().0);
        b.rmw(4, "y", "w", "(ite (= w 0) 1 2)");
        b.assume(4, "(distinct w 0)");
        own.push(b.write(2, "x", "2").id().0);
        b.rmw(2, "y", "g", "(ite (= g 2) 1 0)");
        own.push(b.write(2, "x", "3").id().0);
        b.assume(2, "(= g 2)");
        own.push(b.write(2, "x", "4").id().0);
        b.write(2, "y", "0");
        take(b, 3);
        own.push(b.write(3, "x", "5").id().0);
        b.write(3, "y", "0");
    });
    let [first, second, late, latest, other] = own[..] else { panic!("five writes") };
    assert!(case.refutes(EarlyRefutation, [first, other, second]), "it owns the lock");
    assert!(!case.refutes(EarlyRefutation, [first, other, late]), "it may have given it back");
    assert!(!case.refutes(EarlyRefutation, [late, other, latest]));
}

/// A third thread writes the free value where it is not yet known that it had taken the lock: then two threads may own it.
#[test]
fn a_thread_that_may_give_back_what_it_did_not_take_lets_two_in() {
    let excluded = |third: Option<&str>| {
        let mut own = Vec::new();
        let case = Case::new(|b| {
            if let Some(known_in_time) = third {
                b.rmw(4, "y", "f", "1");
                b.assume(4, known_in_time);
                gives(b, 4);
                b.assume(4, "(= f 0)");
            }
            for (thread, stored) in [(2, "1"), (3, "2")] {
                takes(stored)(b, thread);
                own.push(b.write(thread, "x", "1").id().0);
                own.push(b.write(thread, "x", "2").id().0);
                gives(b, thread);
            }
        });
        case.refutes(EarlyRefutation, [own[0], own[2], own[1]])
    };
    assert!(excluded(None) && excluded(Some("(= f 0)")) && excluded(Some("(< f 1)")));
    for known_in_time in ["(>= f 0)", "(< f 2)", "(distinct f 1)"] {
        assert!(!excluded(Some(known_in_time)), "{known_in_time}");
    }
}

/// The first condition that leaves the free value alone is enough.
#[test]
fn a_section_starts_at_the_first_condition_that_says_enough() {
    let twice = |b: &mut TraceBuilder, thread: u64| {
        takes("1")(b, thread);
        b.write(thread, "z", "1");
    };
    let give = |b: &mut TraceBuilder, thread: u64| {
        b.assume(thread, "(< f 1)");
        gives(b, thread);
    };
    assert!(refutes(twice, give));
}

/// What an rmw read is known by conditions before the next write of its thread: a prefix may end between that and later ones.
#[test]
fn a_condition_after_the_next_write_is_known_too_late() {
    let take = |b: &mut TraceBuilder, thread: u64| {
        b.rmw(thread, "y", "f", "1");
    };
    let give = |b: &mut TraceBuilder, thread: u64| {
        gives(b, thread);
        b.assume(thread, "(= f 0)");
    };
    assert!(!refutes(take, give));
}

/// Both threads write to x between the rmw and its condition, and after it.
#[test]
fn the_lock_is_taken_at_the_rmw_where_the_condition_is_in_the_prefix() {
    let mut events = Vec::new();
    let case = Case::new(|b| {
        for thread in [2, 3] {
            events.push(b.rmw(thread, "y", "f", "1").id().0);
            events.push(b.write(thread, "x", "1").id().0);
            b.assume(thread, "(= f 0)");
            events.push(b.write(thread, "x", "2").id().0);
            gives(b, thread);
        }
    });
    let [_, early, late, _, other_early, other_late] = events[..] else { panic!("six events") };
    assert!(case.refutes(EarlyRefutation, [early, other_late, late]), "both conditions are in the prefix");
    assert!(!case.refutes(EarlyRefutation, [early, other_early, late]), "the other thread's is not");
}

/// A thread that finds the lock taken gives up; what it writes then is not kept apart.
#[test]
fn a_try_in_vain_owns_nothing() {
    let mut writes = Vec::new();
    let case = Case::new(|b| {
        b.rmw(2, "y", "f", "1");
        b.assume(2, "(= f 0)");
        writes.push(b.write(2, "x", "1").id().0);
        b.rmw(3, "y", "g", "1");
        b.assume(3, "(distinct g 0)");
        writes.push(b.write(3, "x", "5").id().0);
        writes.push(b.write(2, "x", "2").id().0);
        gives(b, 2);
        b.rmw(3, "y", "h", "1");
        b.assume(3, "(= h 0)");
        writes.push(b.write(3, "x", "6").id().0);
        gives(b, 3);
    });
    let [first, other, second, inside] = writes[..] else { panic!("four writes") };
    assert!(!case.refutes(EarlyRefutation, [first, other, second]));
    assert!(case.refutes(EarlyRefutation, [first, inside, second]));
}

#[test]
fn a_test_that_is_a_pin_makes_no_lock() {
    let take = |b: &mut TraceBuilder, thread: u64| {
        b.rmw(thread, "y", "f", "1");
        b.pin(thread, "(= f 0)");
    };
    assert!(!refutes(take, gives));
}

/// In mcm each rmw returns what it did.
#[test]
fn recorded_values_take_locks_in_mcm() {
    let refutes = |found: i64| {
        let mut writes = Vec::new();
        let case = Case::with_data(Data::Concrete, |b| {
            for thread in [2, 3] {
                let before = if thread == 2 { 0 } else { found };
                b.swapped(thread, "y", Some((Value::int(before), Value::int(1))));
                writes.push(b.put(thread, "x", Some(Value::int(1))).id().0);
                writes.push(b.put(thread, "x", Some(Value::int(2))).id().0);
                if found == 0 {
                    b.put(thread, "y", Some(Value::int(0)));
                }
            }
        });
        case.model(Model::Mcm).refutes(EarlyRefutation, [writes[0], writes[2], writes[1]])
    };
    assert!(refutes(0));
    assert!(!refutes(1));
}

/// Four threads take the lock 20 times each: no access of one turn comes between two of another thread's turn, nor does its `l = 0`.
#[test]
fn all_turns_exclude_each_other() {
    let mut turns: Vec<(u64, [u32; 4])> = Vec::new();
    let case = Case::new(|b| {
        for turn in 0..80 {
            let thread = 2 + turn % 4;
            let taken = b.rmw(thread, "y", &format!("f{turn}"), "1").id().0;
            b.assume(thread, &format!("(= f{turn} 0)"));
            let read = b.read(thread, "x", &format!("x{turn}")).id().0;
            let written = b.write(thread, "x", &format!("(+ x{turn} 1)")).id().0;
            turns.push((thread, [taken, read, written, b.write(thread, "y", "0").id().0]));
        }
    });
    for (thread, [taken, read, written, given]) in turns.iter().step_by(23) {
        for (_, [_, _, other_written, other_given]) in turns.iter().filter(|(other, _)| other != thread).step_by(9) {
            for triple in [[*read, *other_written, *written], [*taken, *other_given, *given]] {
                assert!(case.refutes(EarlyRefutation, triple), "{triple:?}");
            }
        }
    }
}

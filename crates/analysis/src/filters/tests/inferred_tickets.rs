//! Ticket locks that a program makes of two variables.

use super::Case;
use crate::verdict::Decider::EarlyRefutation;
use foretrace_trace::{Sort, TraceBuilder, Value};

/// Two threads that each take the lock as `take` does, write x twice, and give the lock back as `give` does. Whether it is refuted that the
/// second thread's first write comes between those of the first. Tickets are taken from y, and z says whose turn it is.
fn refutes(take: impl Fn(&mut TraceBuilder, u64), give: impl Fn(&mut TraceBuilder, u64)) -> bool {
    let mut writes = Vec::new();
    let case = Case::new(|b| {
        for thread in [2, 3] {
            take(b, thread);
            writes.push(b.write(thread, "x", "1").id().0);
            writes.push(b.write(thread, "x", "2").id().0);
            give(b, thread);
        }
    });
    case.refutes(EarlyRefutation, [writes[0], writes[2], writes[1]])
}

/// Takes a ticket, and finds that it is its turn.
fn takes(stored: &'static str, condition: &'static str) -> impl Fn(&mut TraceBuilder, u64) {
    move |b, thread| {
        b.rmw(thread, "y", "me", stored);
        b.read(thread, "z", "now");
        b.assume(thread, condition);
    }
}

fn gives(b: &mut TraceBuilder, thread: u64) {
    b.write(thread, "z", "(+ me 1)");
}

#[test]
fn who_has_the_ticket_whose_turn_it_is_owns_the_lock() {
    for condition in ["(= now me)", "(= me now)", "(and (>= now 0) (= now me))"] {
        for stored in ["(+ me 1)", "(+ 1 me)"] {
            assert!(refutes(takes(stored, condition), gives), "{stored}, {condition}");
        }
    }
    let counts = |b: &mut TraceBuilder, thread: u64| {
        b.rmw(thread, "z", "now", "(+ now 1)");
    };
    assert!(refutes(takes("(+ me 1)", "(= now me)"), counts));
}

#[test]
fn a_turn_is_known_by_a_condition_on_the_ticket() {
    for condition in ["(>= now me)", "(= now now)", "(>= me 0)"] {
        assert!(!refutes(takes("(+ me 1)", condition), gives), "{condition}");
    }
    let pinned = |b: &mut TraceBuilder, thread: u64| {
        b.rmw(thread, "y", "me", "(+ me 1)");
        b.read(thread, "z", "now");
        b.pin(thread, "(= now me)");
    };
    assert!(!refutes(pinned, gives));
}

/// Two threads have the same ticket where one looks and then stores, or puts the first one back.
#[test]
fn tickets_that_may_be_the_same_order_nothing() {
    let looks = |b: &mut TraceBuilder, thread: u64| {
        b.read(thread, "y", "me");
        b.write(thread, "y", "(+ me 1)");
        b.read(thread, "z", "now");
        b.assume(thread, "(= now me)");
    };
    assert!(!refutes(looks, gives));
    let puts_back = |b: &mut TraceBuilder, thread: u64| {
        gives(b, thread);
        b.write(thread, "y", "0");
        b.write(thread, "z", "0");
    };
    assert!(!refutes(takes("(+ me 1)", "(= now me)"), puts_back));
}

#[test]
fn who_gives_the_turn_on_without_having_it_lets_others_in() {
    let twice = |b: &mut TraceBuilder, thread: u64| {
        gives(b, thread);
        b.write(thread, "z", "(+ me 2)");
    };
    let take = |b: &mut TraceBuilder, thread: u64| {
        b.rmw(thread, "y", "me", "(+ me 2)");
        b.read(thread, "z", "now");
        b.assume(thread, "(= now me)");
    };
    assert!(!refutes(take, twice));
    // What was read before the thread's own write says nothing of what is there after it.
    let looks_once = |b: &mut TraceBuilder, thread: u64| {
        b.rmw(thread, "y", "me", "(+ me 1)");
        b.read(thread, "z", "now");
        b.write(thread, "z", "now");
        b.assume(thread, "(= now me)");
    };
    assert!(!refutes(looks_once, gives));
}

/// With words of two bits the fifth ticket is the first one again.
#[test]
fn tickets_that_come_again_order_nothing() {
    let refutes = |turns: u64, step: u32| {
        let mut writes = Vec::new();
        let case = Case::new(|b| {
            b.var("next", Value::zero(Sort::BitVec(2)));
            b.var("serving", Value::zero(Sort::BitVec(2)));
            for turn in 0..turns {
                let (thread, me, now) = (2 + turn % 2, format!("me{turn}"), format!("now{turn}"));
                b.rmw(thread, "next", &me, &format!("(bvadd {me} (_ bv{step} 2))"));
                b.read(thread, "serving", &now);
                b.assume(thread, &format!("(= {now} {me})"));
                writes.push(b.write(thread, "x", "1").id().0);
                writes.push(b.write(thread, "x", "2").id().0);
                b.write(thread, "serving", &format!("(bvadd {me} (_ bv{step} 2))"));
            }
        });
        case.refutes(EarlyRefutation, [writes[0], writes[2], writes[1]])
    };
    assert!(refutes(4, 1) && refutes(4, 3));
    assert!(!refutes(5, 1), "the fifth is the first one again");
    assert!(!refutes(3, 2), "the third is the first one again");
}

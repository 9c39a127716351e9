//! Small programs whose violations are known from the papers or by hand.

use crate::check;
use crate::oracle::{Oracle, decide};
use Feasibility::{Complete, Prefix};
use Independence::{Conflict, Guarded};
use Model::{Avp, Cam, Ctp, Mcm};
use foretrace_trace::{
    Atomic, Data, EventId, Feasibility, Independence, Model, Observed, Pattern, Question, Trace, TraceBuilder, Triple,
    Value,
};

/// Every question that can be asked.
const QUESTIONS: [(Model, Feasibility, Independence); 12] = [
    (Cam, Prefix, Conflict),
    (Cam, Complete, Conflict),
    (Ctp, Prefix, Conflict),
    (Ctp, Complete, Conflict),
    (Ctp, Prefix, Guarded),
    (Ctp, Complete, Guarded),
    (Mcm, Prefix, Conflict),
    (Mcm, Complete, Conflict),
    (Mcm, Prefix, Guarded),
    (Mcm, Complete, Guarded),
    (Avp, Prefix, Conflict),
    (Avp, Complete, Conflict),
];

fn built(make: impl FnOnce(&mut TraceBuilder)) -> (Trace, Observed) {
    let mut builder = TraceBuilder::new(Data::Symbolic);
    builder.int_var("x", 0);
    make(&mut builder);
    builder.finish().expect("an execution")
}

/// The feasible candidates as text, `first-remote-second PATTERN`; each has a schedule that the checker accepts.
fn feasible(
    case: &(Trace, Observed),
    (model, feasibility, independence): (Model, Feasibility, Independence),
) -> Vec<String> {
    let (trace, observed) = case;
    let question = Question { model, feasibility, independence };
    let transactions = Atomic::Marked.transactions(trace);
    let oracle = Oracle::new(trace, observed, model).expect("the data suffices");
    let decided = decide(trace, observed, &transactions, question).expect("the data suffices");
    let mut shown = Vec::new();
    for (triple, pattern) in decided {
        let witness = oracle.witness(triple, feasibility, independence);
        assert_eq!(witness.as_ref().map(|(pattern, _)| *pattern), pattern);
        if let Some((pattern, schedule)) = witness {
            let witness = check(trace, observed, &transactions, question, triple, &schedule).expect("a prefix");
            assert_eq!(witness.pattern(), pattern);
            shown.push(format!("{}-{}-{} {pattern}", triple.first, triple.remote, triple.second));
        }
    }
    shown
}

/// The same set of feasible candidates for all these questions, none for the others.
fn expect(case: &(Trace, Observed), candidates: &[&str], yes: &dyn Fn(Model, Feasibility, Independence) -> bool) {
    for (model, feasibility, independence) in QUESTIONS {
        let expected = if yes(model, feasibility, independence) { candidates } else { &[] };
        let found = feasible(case, (model, feasibility, independence));
        assert_eq!(found, expected, "{model} {feasibility} {independence}");
    }
}

/// Fig. 1 (a) of the Fusion paper, with this condition at t4.
fn figure_1a(condition: &str) -> (Trace, Observed) {
    built(|b| {
        b.begin(1);
        b.read(1, "x", "a"); // t1
        b.write(1, "x", "(+ a 1)"); // t2
        b.end(1);
        b.read(2, "x", "b"); // t3
        b.assume(2, condition); // t4
        b.write(2, "x", "5"); // t5
    })
}

#[test]
fn figure_1a_is_serializable() {
    expect(&figure_1a("(> b 0)"), &["1-6-2 R-W-W"], &|model, _, _| model == Cam);
}

#[test]
fn figure_1a_modified_is_not() {
    // Only ctp sees it: mcm and avp have t3 read t2's 1.
    expect(&figure_1a("(>= b 0)"), &["1-6-2 R-W-W"], &|model, _, _| model == Cam || model == Ctp);
}

/// Fig. 1 (b): t5 waits for a signal that comes after the transaction.
fn figure_1b(signalled: bool) -> (Trace, Observed) {
    built(|b| {
        if signalled {
            b.acquire(2, "m");
            b.wait(2, "c", "m");
        }
        b.begin(1);
        b.write(1, "x", "1"); // t1
        b.read(1, "x", "a"); // t2
        b.end(1);
        if signalled {
            b.signal(1, "c"); // t3
            b.wake(2, "c", "m", None); // t4
        }
        b.write(2, "x", "3"); // t5
    })
}

#[test]
fn figure_1b_is_serializable_in_every_model() {
    expect(&figure_1b(true), &[], &|_, _, _| false);
}

#[test]
fn figure_1b_modified_is_not() {
    // t2 is the last access of its thread but `end` follows: complete, it must read t1 in mcm and avp.
    expect(&figure_1b(false), &["1-4-2 W-W-R"], &|model, feasibility, _| {
        matches!(model, Cam | Ctp) || feasibility == Prefix
    });
}

#[test]
fn figure_2_with_the_values_of_figure_1a() {
    let mut b = TraceBuilder::new(Data::Concrete);
    b.int_var("x", 0);
    b.begin(1);
    b.saw(1, "x", Some(Value::int(0)));
    b.put(1, "x", Some(Value::int(1)));
    b.end(1);
    b.saw(2, "x", Some(Value::int(1)));
    b.put(2, "x", Some(Value::int(5)));
    let case = b.finish().expect("an execution");
    for feasibility in [Prefix, Complete] {
        assert_eq!(feasible(&case, (Cam, feasibility, Conflict)), ["1-5-2 R-W-W"]);
        for model in [Mcm, Avp] {
            assert_eq!(feasible(&case, (model, feasibility, Conflict)), [""; 0]);
        }
    }
}

/// Fig. 6: the violation leads to a branch that the run did not take.
fn figure_6() -> (Trace, Observed) {
    built(|b| {
        b.begin(1);
        b.write(1, "x", "0"); // t1
        b.read(1, "x", "q"); // t2
        b.set(1, "a", "(+ q 1)");
        b.end(1);
        b.assume(1, "(= a 1)"); // t3
        b.write(1, "x", "2"); // t4
        b.write(2, "x", "3"); // t5
        b.read(2, "x", "b"); // t6
    })
}

#[test]
fn figure_6_is_feasible_as_a_prefix_only() {
    let case = figure_6();
    for (model, feasibility, independence) in QUESTIONS {
        let found = feasible(&case, (model, feasibility, independence));
        // t1 writes what is there already: guarded, only W-W-R with 0 ≠ 3 counts, and it does.
        let expected = if feasibility == Prefix || model == Cam { vec!["1-7-2 W-W-R"] } else { vec![] };
        assert_eq!(found, expected, "{model} {feasibility} {independence}");
    }
}

#[test]
fn the_plainest_lost_update_is_guarded_independent() {
    let case = built(|b| {
        for thread in [1, 2] {
            b.begin(thread);
            b.read(thread, "x", "r");
            b.write(thread, "x", "(+ r 1)");
            b.end(thread);
        }
    });
    // Guarded, 0 read and 1 written differ, but both threads write 1.
    let conflict = ["1-6-2 R-W-W", "5-2-6 R-W-W"];
    for (model, feasibility, independence) in QUESTIONS {
        let found = feasible(&case, (model, feasibility, independence));
        let expected: &[&str] = match (model, independence) {
            (Cam | Ctp, Conflict) => &conflict,
            // mcm, avp: thread 2 read thread 1's 1 when recorded, and must again before it writes.
            _ => &[],
        };
        assert_eq!(found, expected, "{model} {feasibility} {independence}");
    }
}

#[test]
fn an_rmw_counts_as_a_read_and_as_a_write() {
    let case = built(|b| {
        b.begin(1);
        b.rmw(1, "x", "r", "(+ r 1)");
        b.read(1, "x", "s");
        b.end(1);
        b.rmw(2, "x", "q", "(+ q 0)");
    });
    assert_eq!(feasible(&case, (Ctp, Prefix, Conflict)), ["1-4-2 R-W-R"]);
    // r = 0 ≠ 1 = what thread 2 writes; but 1 is also what was there: its write changes nothing.
    assert_eq!(feasible(&case, (Ctp, Prefix, Guarded)), [""; 0]);
    let case = built(|b| {
        b.begin(1);
        b.rmw(1, "x", "r", "(+ r 1)");
        b.write(1, "x", "7");
        b.end(1);
        b.rmw(2, "x", "q", "q");
    });
    // R-W-W: 0 ≠ 1 and 1 ≠ 7.
    assert_eq!(feasible(&case, (Ctp, Prefix, Guarded)), ["1-4-2 R-W-W"]);
    let case = built(|b| {
        b.begin(1);
        b.rmw(1, "x", "r", "(+ r 1)");
        b.write(1, "x", "7");
        b.end(1);
        b.rmw(2, "x", "q", "0");
    });
    // R-W-W fits first but 0 = 0; W-W-W has 1 ≠ 0 and 0 ≠ 7.
    assert_eq!(feasible(&case, (Ctp, Prefix, Conflict)), ["1-4-2 R-W-W"]);
    assert_eq!(feasible(&case, (Ctp, Prefix, Guarded)), ["1-4-2 W-W-W"]);
}

#[test]
fn a_signal_may_release_another_waiter_than_in_the_run() {
    let case = built(|b| {
        b.acquire(1, "m");
        b.wait(1, "c", "m");
        b.acquire(2, "m");
        b.wait(2, "c", "m");
        b.signal(3, "c");
        b.wake(1, "c", "m", None);
        b.begin(1);
        b.write(1, "x", "1");
        b.release(1, "m");
        b.write(1, "x", "2");
        b.end(1);
        b.signal(1, "c");
        b.wake(2, "c", "m", None);
        b.read(2, "x", "r");
    });
    // Only thread 2's own signal, the second, can come in between if thread 3's went to thread 1, and it comes after
    // the transaction: two signals, two waiters, the first one needed for thread 1.
    assert_eq!(feasible(&case, (Ctp, Prefix, Conflict)), [""; 0]);
    let case = built(|b| {
        b.acquire(1, "m");
        b.wait(1, "c", "m");
        b.acquire(2, "m");
        b.wait(2, "c", "m");
        b.signal(3, "c");
        b.wake(1, "c", "m", None);
        b.release(1, "m");
        b.signal(3, "c");
        b.wake(2, "c", "m", None);
        b.read(2, "x", "r");
        b.begin(4);
        b.write(4, "x", "1");
        b.acquire(4, "n");
        b.release(4, "n");
        b.write(4, "x", "2");
    });
    assert_eq!(feasible(&case, (Ctp, Complete, Conflict)), ["11-9-14 W-R-W"]);
    let triple = Triple { first: EventId(11), remote: EventId(9), second: EventId(14) };
    assert_eq!(triple.patterns(&case.0).collect::<Vec<_>>(), [Pattern::Wrw]);
}

#[test]
fn locks_keep_a_transaction_whole() {
    let case = built(|b| {
        b.begin(1);
        b.acquire(1, "m");
        b.read(1, "x", "r");
        b.write(1, "x", "(+ r 1)");
        b.release(1, "m");
        b.read(1, "x", "s");
        b.end(1);
        b.acquire(2, "m");
        b.write(2, "x", "5");
        b.release(2, "m");
    });
    for model in [Cam, Ctp] {
        // Not between 2 and 3; between those and 5.
        assert_eq!(feasible(&case, (model, Prefix, Conflict)), ["2-8-5 R-W-R", "3-8-5 W-W-R"]);
    }
}

#[test]
fn only_the_last_plain_read_of_a_thread_may_return_something_else_in_mcm_and_avp() {
    let case = built(|b| {
        b.begin(1);
        b.write(1, "x", "1");
        b.read(1, "x", "r");
        b.read(1, "x", "s");
        b.end(1);
        b.write(2, "x", "1"); // the same value
        b.write(2, "x", "2"); // another
    });
    let all = ["1-5-2 W-W-R", "1-5-3 W-W-R", "1-6-2 W-W-R", "1-6-3 W-W-R", "2-5-3 R-W-R", "2-6-3 R-W-R"];
    assert_eq!(feasible(&case, (Ctp, Prefix, Conflict)), all);
    // mcm: read 2 may be passed when it returns 1, be it from thread 2.
    assert_eq!(feasible(&case, (Mcm, Prefix, Conflict)), all);
    // avp: read 2 may only be passed while it reads event 1, which leaves room after it.
    assert_eq!(feasible(&case, (Avp, Prefix, Conflict)), all);
    // Complete, mcm: both reads return 1 since `end` follows: event 6 may come in none of them.
    assert_eq!(feasible(&case, (Mcm, Complete, Conflict)), ["1-5-2 W-W-R", "1-5-3 W-W-R", "2-5-3 R-W-R"]);
    assert_eq!(feasible(&case, (Avp, Complete, Conflict)), [""; 0]);
    // A guard must hold wherever the read stands.
    let case = built(|b| {
        b.begin(1);
        b.write(1, "x", "1");
        b.read_if(1, "x", "r", "(= r 1)");
        b.write(2, "x", "2");
    });
    for model in [Ctp, Mcm, Avp] {
        assert_eq!(feasible(&case, (model, Prefix, Conflict)), [""; 0]);
    }
    assert_eq!(feasible(&case, (Cam, Prefix, Conflict)), ["1-3-2 W-W-R"]);
}

/// Two threads with one access each, to different variables: the prefixes are the four sets of these.
#[test]
fn the_oracle_has_one_state_for_each_set_of_independent_accesses() {
    let mut b = TraceBuilder::new(Data::None);
    b.put(1, "x", None);
    b.put(2, "y", None);
    let (trace, observed) = b.finish().expect("an execution");
    assert_eq!(Oracle::new(&trace, &observed, Cam).expect("cam needs nothing").states(), 4);
}

/// Thread 1 writes x twice; thread 2 does so in between, started by thread 1 or by thread 3, which thread 1 started.
#[test]
fn switches_are_those_between_first_and_second() {
    let fewest = |through_another: bool| {
        let case = built(|b| {
            b.int_var("y", 0);
            b.write(4, "y", "1"); // 0: a switch before first is none
            b.begin(1);
            b.write(1, "x", "1"); // 2
            b.fork(1, 3);
            b.write(3, "y", "2");
            if through_another {
                b.fork(3, 2);
            }
            b.write(2, "x", "2"); // 5 or 6
            b.write(1, "x", "3");
        });
        let remote = if through_another { 6 } else { 5 };
        let triple = Triple { first: EventId(2), remote: EventId(remote), second: EventId(remote + 1) };
        let oracle = Oracle::new(&case.0, &case.1, Ctp).expect("the data suffices");
        [Prefix, Complete].map(|feasibility| oracle.fewest_switches(triple, feasibility, Conflict))
    };
    assert_eq!(fewest(false), [Some(2), Some(2)]);
    assert_eq!(fewest(true), [Some(3), Some(3)]);
}

/// Thread 2 waits for thread 1's end and then wants to read its own value: no whole run has thread 1's second write in between.
#[test]
fn a_violation_after_which_the_run_cannot_end_has_no_switches_in_whole_runs() {
    let case = built(|b| {
        b.begin(1);
        b.write(1, "x", "1"); // 1
        b.write(1, "x", "2");
        b.end(1);
        b.write(2, "x", "3"); // 4
        b.join(2, 1);
        b.read(2, "x", "r");
        b.assume(2, "(= r 3)");
    });
    let triple = Triple { first: EventId(1), remote: EventId(4), second: EventId(2) };
    let oracle = Oracle::new(&case.0, &case.1, Ctp).expect("the data suffices");
    assert_eq!(oracle.fewest_switches(triple, Prefix, Conflict), Some(2));
    assert_eq!(oracle.fewest_switches(triple, Complete, Conflict), None);
}

/// Thread 2 waits for y. Thread 3 can set it with several events before first, which costs no switch, and thread 4 with one event after it, which
/// costs one.
#[test]
fn few_switches_count_more_than_few_events() {
    let case = built(|b| {
        b.int_var("y", 0).int_var("z", 0);
        b.begin(1);
        b.write(1, "x", "1"); // 1
        b.fork(1, 4);
        b.write(4, "y", "1");
        for _ in 0..4 {
            b.write(3, "z", "1");
        }
        b.write(3, "y", "1"); // 8
        b.read_if(2, "y", "f", "(= f 1)");
        b.write(2, "x", "2"); // 10
        b.write(1, "x", "3");
    });
    let triple = Triple { first: EventId(1), remote: EventId(10), second: EventId(11) };
    let oracle = Oracle::new(&case.0, &case.1, Ctp).expect("the data suffices");
    assert_eq!(oracle.fewest_switches(triple, Prefix, Conflict), Some(2));
}

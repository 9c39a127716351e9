//! The segment: orders that reads force in each model.

use super::Case;
use crate::filters::{Orders, ReadRule, Reads};
use crate::verdict::Decider::{CutPoints, MustHappenBefore, Segment};
use foretrace_index::TraceIndex;
use foretrace_trace::{Data, EventId, Feasibility, Model, TraceBuilder, Value};

/// Thread 2 sets a flag after its two writes; thread 3 reads the flag, goes on if `test` holds, and writes x.
fn flag(b: &mut TraceBuilder, test: Option<&str>) {
    b.write(2, "x", "1"); // 0
    b.write(2, "x", "2"); // 1
    b.write(2, "y", "1"); // 2
    b.read(3, "y", "f"); // 3
    if let Some(test) = test {
        b.assume(3, test); // 4
    }
    b.write(3, "x", "3"); // 4 or 5
}

#[test]
fn in_ctp_a_read_forces_an_order_only_by_a_condition() {
    assert!(!Case::new(|b| flag(b, None)).refutes(Segment, [0, 4, 1]));
    assert!(!Case::new(|b| flag(b, Some("(>= f 0)"))).refutes(Segment, [0, 5, 1]));
    assert!(Case::new(|b| flag(b, Some("(= f 1)"))).refutes(Segment, [0, 5, 1]));
}

#[test]
fn in_avp_and_mcm_a_read_forces_an_order_when_its_thread_goes_on() {
    for model in [Model::Avp, Model::Mcm] {
        assert!(Case::new(|b| flag(b, None)).model(model).refutes(Segment, [0, 4, 1]));
    }
    assert!(!Case::new(|b| flag(b, None)).model(Model::Cam).refutes(Segment, [0, 4, 1]));
}

/// The last read of a thread may return anything.
#[test]
fn a_last_plain_read_forces_nothing() {
    let case = |guard: Option<&str>| {
        Case::new(|b| {
            b.write(2, "x", "1"); // 0
            b.write(2, "x", "2"); // 1
            match guard {
                None => b.read(3, "x", "f"), // 2
                Some(guard) => b.read_if(3, "x", "f", guard),
            };
        })
    };
    for model in [Model::Avp, Model::Mcm, Model::Ctp] {
        assert!(!case(None).model(model).refutes(Segment, [0, 2, 1]));
        assert!(case(Some("(= f 2)")).model(model).refutes(Segment, [0, 2, 1]));
    }
}

#[test]
fn a_second_writer_of_the_value_defeats_the_order_but_in_avp() {
    let case = || {
        Case::new(|b| {
            b.write(4, "y", "1"); // 0
            b.write(2, "x", "1"); // 1
            b.write(2, "x", "2"); // 2
            b.write(2, "y", "1"); // 3
            b.read(3, "y", "f"); // 4
            b.assume(3, "(= f 1)"); // 5
            b.write(3, "x", "3"); // 6
        })
    };
    assert!(!case().refutes(Segment, [1, 6, 2]));
    assert!(!case().model(Model::Mcm).refutes(Segment, [1, 6, 2]));
    assert!(case().model(Model::Avp).refutes(Segment, [1, 6, 2]));
}

#[test]
fn a_writer_whose_value_is_not_known_defeats_the_order() {
    let case = Case::new(|b| {
        b.write(2, "x", "1"); // 0
        b.write(2, "x", "2"); // 1
        b.write(2, "y", "1"); // 2
        b.read(4, "z", "a"); // 3
        b.read(3, "y", "f"); // 4
        b.assume(3, "(= f 1)"); // 5
        b.write(3, "x", "3"); // 6
        b.write(4, "y", "a"); // 7
        b.write(2, "z", "1"); // 8, so that thread 4 may read 1
    });
    assert!(!case.refutes(Segment, [0, 6, 1]));
}

/// Several writers of one thread: whichever is read from, the earliest comes before.
#[test]
fn the_earliest_of_one_threads_writers_comes_first() {
    let case = Case::new(|b| {
        b.write(2, "x", "1"); // 0
        b.write(2, "x", "2"); // 1
        b.write(2, "y", "1"); // 2
        b.write(2, "x", "3"); // 3
        b.write(2, "y", "1"); // 4
        b.read(3, "y", "f"); // 5
        b.assume(3, "(= f 1)"); // 6
        b.write(3, "x", "4"); // 7
    });
    assert!(case.refutes(Segment, [0, 7, 1]));
    assert!(!case.refutes(Segment, [1, 7, 3]));
}

#[test]
fn conditions_reach_through_definitions() {
    let case = Case::new(|b| {
        b.write(2, "x", "1"); // 0
        b.write(2, "x", "2"); // 1
        b.write(2, "y", "1"); // 2
        b.read(3, "y", "f"); // 3
        b.set(3, "g", "(+ f f)"); // 4
        b.set(3, "h", "(- g 1)"); // 5
        b.assume(3, "(= h f)"); // 6
        b.write(3, "x", "3"); // 7
    });
    assert!(case.refutes(Segment, [0, 7, 1])); // f + f - 1 = f only for 1
}

#[test]
fn a_condition_over_two_reads_forces_nothing() {
    let case = Case::new(|b| {
        b.write(2, "x", "1"); // 0
        b.write(2, "x", "2"); // 1
        b.write(2, "y", "1"); // 2
        b.read(3, "y", "f"); // 3
        b.read(3, "z", "g"); // 4
        b.assume(3, "(distinct f g)"); // 5
        b.write(3, "x", "3"); // 6
        b.write(4, "z", "1"); // 7
    });
    assert!(!case.refutes(Segment, [0, 6, 1]));
}

#[test]
fn what_only_a_pin_refutes_says_so() {
    let case = Case::new(|b| {
        b.write(2, "x", "1"); // 0
        b.write(2, "x", "2"); // 1
        b.write(2, "y", "1"); // 2
        b.read(3, "y", "f"); // 3
        b.pin(3, "(= f 1)"); // 4
        b.write(3, "x", "3"); // 5
    });
    assert!(case.rests_on_pin(Segment, [0, 5, 1]));
    let branch = Case::new(|b| flag(b, Some("(= f 1)")));
    assert!(branch.refutes(Segment, [0, 5, 1]) && !branch.rests_on_pin(Segment, [0, 5, 1]));
}

/// Remote's thread learns that thread 2 took m before it did itself, so thread 2 gave it back.
#[test]
fn locks_turn_an_order_of_starts_into_one_of_regions() {
    let case = Case::new(|b| {
        b.acquire(2, "m"); // 0
        b.write(2, "y", "1"); // 1
        b.write(2, "x", "1"); // 2
        b.write(2, "x", "2"); // 3
        b.release(2, "m"); // 4
        b.read(3, "y", "f"); // 5
        b.assume(3, "(= f 1)"); // 6
        b.acquire(3, "m"); // 7
        b.release(3, "m"); // 8
        b.write(3, "x", "3"); // 9
    });
    assert!(case.refutes(Segment, [2, 9, 3]));
    assert!(!case.refutes(CutPoints, [2, 9, 3]) && !case.refutes(MustHappenBefore, [2, 9, 3]));
}

#[test]
fn a_down_waits_for_every_post_when_it_needs_all() {
    let case = Case::with_data(Data::None, |b| {
        b.put(2, "x", None); // 0
        b.put(2, "x", None); // 1
        b.post(2, "s"); // 2
        b.down(3, "s"); // 3
        b.put(3, "x", None); // 4
    });
    assert!(case.model(Model::Cam).refutes(Segment, [0, 4, 1]));
}

#[test]
fn concrete_traces_force_by_value() {
    let value = |n: i64| Some(Value::int(n));
    let case = Case::with_data(Data::Concrete, |b| {
        b.put(2, "x", value(1)); // 0
        b.put(2, "x", value(2)); // 1
        b.put(2, "y", value(1)); // 2
        b.saw(3, "y", value(1)); // 3
        b.put(3, "x", value(3)); // 4
    });
    assert!(case.model(Model::Mcm).refutes(Segment, [0, 4, 1]));
}

/// Threads 4 and 2 append to an array: `a[n++] = v`, each under the lock. x stands for n, y for the second element. Thread 3 reads y
/// where n shows two elements. `index` says whether the recorder pinned the index, as it does for an address.
fn appends(index: bool, locked: bool) -> Case {
    Case::new(|b| {
        for (count, thread, element) in [(0, 4, "z"), (1, 2, "y")] {
            b.acquire(thread, "m"); // 0, 6 (5 without a pin)
            b.read(thread, "x", "n");
            b.write(thread, "x", "(+ n 1)");
            if index {
                b.pin(thread, &format!("(= n {count})"));
            }
            b.write(thread, element, "7");
            b.release(thread, "m");
        }
        if locked {
            b.acquire(3, "m"); // 12
        }
        b.read(3, "x", "c");
        b.assume(3, "(> c 1)");
        b.read(3, "y", "v");
        b.read(3, "y", "w");
        if locked {
            b.release(3, "m");
        }
        b.read(3, "y", "u"); // 17, or 16 without the release
    })
}

/// Thread 3 has seen two elements, so the second append has ended: it does not write between two reads of its element.
#[test]
fn pinned_indices_order_appends() {
    let case = appends(true, true);
    assert!(case.rests_on_pin(Segment, [15, 10, 18]), "15 and 18 read y, 10 writes it");
}

/// Without pins the count is open; without the lock thread 3 may read it before the pin.
#[test]
fn counts_that_no_pin_fixes_order_nothing() {
    assert!(!appends(false, true).refutes(Segment, [13, 8, 16]));
    assert!(!appends(true, false).refutes(Segment, [14, 10, 16]));
}

/// Thread 3 goes on when it has read y within these bounds; threads 2, 4 and 5 write 2, 1 and 3.
fn between(conditions: &[&str]) -> Case {
    Case::new(|b| {
        b.write(2, "x", "1"); // 0
        b.write(2, "x", "2"); // 1
        b.write(4, "y", "1"); // 2
        b.write(5, "y", "3"); // 3
        b.write(2, "y", "2"); // 4
        b.read(3, "y", "f"); // 5
        for condition in conditions {
            b.assume(3, condition); // from 6 on
        }
        b.write(3, "x", "3");
    })
}

#[test]
fn several_conditions_together_leave_one_writer() {
    assert!(between(&["(> f 1)", "(< f 3)"]).refutes(Segment, [0, 8, 1]));
    assert!(!between(&["(> f 1)"]).refutes(Segment, [0, 7, 1]));
    assert!(!between(&["(< f 3)"]).refutes(Segment, [0, 7, 1]));
}

/// In a whole run a read of the initial value comes before every write, also one that comes after it in no prefix.
#[test]
fn whole_runs_have_reads_of_initial_values_first() {
    let case = || {
        Case::new(|b| {
            b.write(3, "x", "1"); // 0: remote
            b.read(3, "y", "f"); // 1
            b.assume(3, "(= f 0)"); // 2
            b.write(2, "y", "1"); // 3
            b.write(2, "x", "2"); // 4: first
            b.write(2, "x", "3"); // 5: second
        })
    };
    assert!(case().complete().refutes(Segment, [4, 0, 5]));
    assert!(!case().refutes(Segment, [4, 0, 5]), "a prefix may end before the read");
}

/// In a whole run a write that comes before a read comes before the read's source.
#[test]
fn whole_runs_have_no_write_between_a_source_and_its_read() {
    let case = || {
        Case::new(|b| {
            b.write(2, "x", "1"); // 0: first
            b.write(2, "x", "2"); // 1: second
            b.write(2, "y", "1"); // 2
            b.fork(2, 3); // 3
            b.write(4, "y", "2"); // 4
            b.write(4, "x", "3"); // 5: remote
            b.read(3, "y", "f"); // 6
            b.assume(3, "(= f 2)"); // 7
        })
    };
    assert!(case().complete().refutes(Segment, [0, 5, 1]));
    assert!(!case().refutes(Segment, [0, 5, 1]), "a prefix may end before the read");
}

/// Filters that are prepared in part say less. Stopped at once, none of the orders of reads is there.
#[test]
fn orders_that_are_stopped_at_once_are_those_of_every_model() {
    let case = Case::new(|b| flag(b, Some("(= f 1)")));
    let trace_index = TraceIndex::new(&case.trace);
    let constants = Default::default();
    let reads = Reads::new(&case.trace, &trace_index, &case.observed, &constants);
    let rule = ReadRule::Conditions { pins: true };
    let orders = |go_on: bool| Orders::within(&case.trace, &trace_index, &reads, rule, Feasibility::Prefix, &|| go_on);
    let (flag, assume) = (EventId(2), EventId(4));
    assert!(orders(true).clocks.before(flag, assume) && orders(true).reads.len() == 1);
    assert!(!orders(false).clocks.before(flag, assume) && orders(false).reads.is_empty());
}

//! Early refutation: orders that only the candidate itself forces.

use super::Case;
use crate::verdict::Decider::{CutPoints, EarlyRefutation, MustHappenBefore, Segment};
use foretrace_trace::{Data, Model, TraceBuilder};

/// Of the filters, early refutation alone refutes the triple.
fn only_closure_refutes(case: &Case, triple: [u32; 3]) {
    assert!(case.refutes(EarlyRefutation, triple));
    for other in [MustHappenBefore, CutPoints, Segment] {
        assert!(!case.refutes(other, triple), "{other} does so, too");
    }
}

/// Each thread takes a flag under a lock and gives it back in another section. The second tests it by `test`, if at all.
fn flag(b: &mut TraceBuilder, test: Option<&str>, is_taken_at_once: bool) {
    for thread in [2, 3] {
        b.acquire(thread, "m"); // 0, 9
        b.read(thread, "y", "f"); // 1, 10
        b.assume(thread, test.filter(|_| thread == 3).unwrap_or("(= f 0)")); // 2, 11
        if !is_taken_at_once {
            b.release(thread, "m");
            b.acquire(thread, "m");
        }
        b.write(thread, "y", "1"); // 3, 12
        b.release(thread, "m"); // 4, 13
        b.write(thread, "x", "1"); // 5, 14
        b.acquire(thread, "m"); // 6, 15
        b.write(thread, "y", "0"); // 7, 16
        b.write(thread, "x", "2"); // 8, 17
        b.release(thread, "m"); // 9, 18
    }
}

#[test]
fn a_flag_that_threads_own_is_like_a_lock() {
    for test in [None, Some("(< f 1)"), Some("(distinct f 1)")] {
        only_closure_refutes(&Case::new(|b| flag(b, test, true)), [5, 15, 8]);
        only_closure_refutes(&Case::new(|b| flag(b, test, true)), [5, 18, 8]);
    }
    assert!(!Case::new(|b| flag(b, Some("(< f 2)"), true)).refutes(EarlyRefutation, [5, 15, 8]), "it is no test");
    assert!(
        !Case::new(|b| flag(b, None, false)).refutes(EarlyRefutation, [7, 19, 10]),
        "another may take it meanwhile"
    );
    assert!(!Case::new(|b| flag(b, None, true)).model(Model::Cam).refutes(EarlyRefutation, [5, 15, 8]));
}

/// Remote lies in a region that ends only after second, which lies in a region of the same lock that first is not in.
fn region_that_waits(b: &mut TraceBuilder) {
    b.put(2, "x", None); // 0: first
    b.acquire(2, "m"); // 1
    b.put(2, "x", None); // 2: second
    b.release(2, "m"); // 3
    b.post(2, "s"); // 4
    b.acquire(3, "m"); // 5
    b.put(3, "x", None); // 6: remote
    b.down(3, "s"); // 7
    b.release(3, "m"); // 8
}

#[test]
fn a_region_left_open_keeps_the_next_from_starting() {
    for model in [Model::Cam, Model::Avp] {
        only_closure_refutes(&Case::with_data(Data::None, region_that_waits).model(model), [0, 6, 2]);
    }
}

#[test]
fn a_region_that_can_end_does_not() {
    let case = Case::with_data(Data::None, |b| {
        b.put(2, "x", None); // 0: first
        b.acquire(2, "m"); // 1
        b.put(2, "x", None); // 2: second
        b.release(2, "m"); // 3
        b.acquire(3, "m"); // 4
        b.put(3, "x", None); // 5: remote
        b.release(3, "m"); // 6
    });
    assert!(!case.model(Model::Cam).refutes(EarlyRefutation, [0, 5, 2]));
}

#[test]
fn a_region_that_is_never_left_does() {
    let case = Case::with_data(Data::None, |b| {
        b.put(2, "x", None); // 0: first
        b.acquire(2, "m"); // 1
        b.put(2, "x", None); // 2: second
        b.release(2, "m"); // 3
        b.acquire(3, "m"); // 4
        b.put(3, "x", None); // 5: remote
    });
    only_closure_refutes(&case.model(Model::Cam), [0, 5, 2]);
}

/// Second waits for remote's thread, which reads the initial y after remote; y is written before first.
fn reads_too_late(b: &mut TraceBuilder, condition: bool) {
    b.write(3, "x", "1"); // 0: remote
    b.read(3, "y", "a"); // 1
    if condition {
        b.assume(3, "(= a 0)"); // 2
    } else {
        b.write(3, "z", "1"); // 2
    }
    b.write(2, "y", "1"); // 3
    b.write(2, "x", "2"); // 4: first
    b.join(2, 3); // 5
    b.write(2, "x", "3"); // 6: second
}

#[test]
fn a_read_of_the_initial_value_comes_before_every_write() {
    for model in [Model::Avp, Model::Mcm] {
        only_closure_refutes(&Case::new(|b| reads_too_late(b, false)).model(model), [4, 0, 6]);
    }
    only_closure_refutes(&Case::new(|b| reads_too_late(b, true)), [4, 0, 6]);
    assert!(!Case::new(|b| reads_too_late(b, false)).refutes(EarlyRefutation, [4, 0, 6])); // ctp reads anything
    assert!(!Case::new(|b| reads_too_late(b, true)).model(Model::Cam).refutes(EarlyRefutation, [4, 0, 6]));
}

/// A thread that remote's forks reads what first wrote, and second waits for it.
#[test]
fn no_other_write_comes_between_a_read_and_its_source() {
    let case = || {
        Case::new(|b| {
            b.write(3, "x", "1"); // 0: remote
            b.fork(3, 4); // 1
            b.write(2, "x", "2"); // 2: first
            b.read(4, "x", "a"); // 3
            b.assume(4, "(= a 2)"); // 4
            b.join(2, 4); // 5
            b.write(2, "x", "3"); // 6: second
        })
    };
    for model in [Model::Avp, Model::Mcm, Model::Ctp] {
        only_closure_refutes(&case().model(model), [2, 0, 6]);
    }
    assert!(!case().model(Model::Cam).refutes(EarlyRefutation, [2, 0, 6]));
}

#[test]
fn what_only_a_pin_closes_says_so() {
    let case = Case::new(|b| {
        b.write(3, "x", "1"); // 0: remote
        b.read(3, "y", "a"); // 1
        b.pin(3, "(= a 0)"); // 2
        b.write(2, "y", "1"); // 3
        b.write(2, "x", "2"); // 4: first
        b.join(2, 3); // 5
        b.write(2, "x", "3"); // 6: second
    });
    assert!(case.rests_on_pin(EarlyRefutation, [4, 0, 6]));
    assert!(!Case::new(|b| reads_too_late(b, true)).rests_on_pin(EarlyRefutation, [4, 0, 6]));
}

/// A prefix may end before remote's thread reads y, a whole run may not.
#[test]
fn complete_runs_hold_what_comes_after() {
    let case = || {
        Case::new(|b| {
            b.write(4, "x", "3"); // 0: remote
            b.read(4, "y", "a"); // 1
            b.assume(4, "(= a 0)"); // 2
            b.write(2, "y", "1"); // 3
            b.write(2, "x", "1"); // 4: first
            b.write(2, "x", "2"); // 5: second
        })
    };
    assert!(!case().refutes(EarlyRefutation, [4, 0, 5]));
    assert!(case().complete().refutes(EarlyRefutation, [4, 0, 5]));
}

//! Must-happen-before and cut-points.

use super::Case;
use crate::verdict::Decider::{CutPoints, MustHappenBefore};
use foretrace_trace::TraceBuilder;

fn two_writes_of_one(b: &mut TraceBuilder, lock: &str) {
    b.acquire(2, lock); // 0
    b.write(2, "x", "1"); // 1
    b.write(2, "x", "2"); // 2
    b.release(2, lock); // 3
}

#[test]
fn a_fork_after_second_and_a_join_before_first_refute() {
    let case = Case::new(|b| {
        b.write(1, "x", "1"); // 0
        b.write(1, "x", "2"); // 1
        b.fork(1, 2); // 2
        b.write(2, "x", "3"); // 3
        b.join(1, 2); // 4
        b.write(1, "x", "4"); // 5
        b.write(1, "x", "5"); // 6
    });
    assert!(case.refutes(MustHappenBefore, [0, 3, 1]));
    assert!(case.refutes(MustHappenBefore, [5, 3, 6]));
    assert!(!case.refutes(MustHappenBefore, [1, 3, 5]));
}

#[test]
fn nothing_comes_between_the_parts_of_a_step() {
    let case = Case::new(|b| {
        b.write(2, "x", "1").part(1, 2); // 0
        b.write(2, "x", "2").part(2, 2); // 1
        b.write(2, "x", "3"); // 2
        b.write(3, "x", "4"); // 3
    });
    assert!(case.refutes(MustHappenBefore, [0, 3, 1]));
    assert!(!case.refutes(MustHappenBefore, [1, 3, 2]));
}

#[test]
fn a_common_lock_leaves_no_cut() {
    let case = Case::new(|b| {
        two_writes_of_one(b, "m");
        b.acquire(3, "m"); // 4
        b.write(3, "x", "3"); // 5
        b.release(3, "m"); // 6
        b.write(3, "x", "4"); // 7
    });
    assert!(case.refutes(CutPoints, [1, 5, 2]));
    assert!(!case.refutes(CutPoints, [1, 7, 2]));
}

#[test]
fn a_lock_given_back_in_between_leaves_a_cut() {
    let case = Case::new(|b| {
        b.acquire(2, "m"); // 0
        b.write(2, "x", "1"); // 1
        b.release(2, "m"); // 2
        b.acquire(2, "m"); // 3
        b.write(2, "x", "2"); // 4
        b.release(2, "m"); // 5
        b.acquire(3, "m"); // 6
        b.write(3, "x", "3"); // 7
    });
    assert!(!case.refutes(CutPoints, [1, 7, 4]));
}

#[test]
fn the_inner_release_of_a_recursive_lock_gives_nothing_back() {
    let case = Case::new(|b| {
        b.acquire(2, "deep"); // 0
        b.acquire(2, "deep"); // 1
        b.write(2, "x", "1"); // 2
        b.release(2, "deep"); // 3
        b.write(2, "x", "2"); // 4
        b.release(2, "deep"); // 5
        b.write(2, "x", "3"); // 6
        b.acquire(3, "deep"); // 7
        b.write(3, "x", "3"); // 8
    });
    assert!(case.refutes(CutPoints, [2, 8, 4]));
    assert!(!case.refutes(CutPoints, [4, 8, 6]));
}

#[test]
fn shares_exclude_the_exclusive_only() {
    let case = Case::new(|b| {
        b.acquire_shared(2, "rw"); // 0
        b.read(2, "x", "a"); // 1
        b.read(2, "x", "b"); // 2
        b.release_shared(2, "rw"); // 3
        b.acquire_shared(3, "rw"); // 4
        b.write(3, "x", "1"); // 5
        b.release_shared(3, "rw"); // 6
        b.acquire(3, "rw"); // 7
        b.write(3, "x", "2"); // 8
    });
    assert!(!case.refutes(CutPoints, [1, 5, 2]));
    assert!(case.refutes(CutPoints, [1, 8, 2]));
    let exclusive_first = Case::new(|b| {
        two_writes_of_one(b, "rw");
        b.acquire_shared(3, "rw"); // 4
        b.write(3, "x", "1"); // 5
    });
    assert!(exclusive_first.refutes(CutPoints, [1, 5, 2]));
}

#[test]
fn one_common_lock_of_several_is_enough() {
    let case = Case::new(|b| {
        b.acquire(2, "m"); // 0
        b.acquire(2, "n"); // 1
        b.write(2, "x", "1"); // 2
        b.write(2, "x", "2"); // 3
        b.release(2, "n"); // 4
        b.release(2, "m"); // 5
        b.acquire(3, "deep"); // 6
        b.acquire(3, "n"); // 7
        b.write(3, "x", "3"); // 8
        b.release(3, "n"); // 9
        b.write(3, "x", "4"); // 10
    });
    assert!(case.refutes(CutPoints, [2, 8, 3]));
    assert!(!case.refutes(CutPoints, [2, 10, 3]));
}

/// Thread 2 takes n so many times with m and deep held, then gives m back before its second write.
fn late_cut(times: usize) -> (Case, [u32; 3]) {
    let mut triple = [0; 3];
    let case = Case::new(|b| {
        b.acquire(2, "deep");
        b.acquire(2, "m");
        triple[0] = b.write(2, "x", "1").id().0;
        for _ in 0..times {
            b.acquire(2, "n");
            b.release(2, "n");
        }
        b.release(2, "m");
        triple[2] = b.write(2, "x", "2").id().0;
        b.release(2, "deep");
        b.acquire(3, "m");
        triple[1] = b.write(3, "x", "3").id().0;
    });
    (case, triple)
}

/// The cut is the last event before second, however many locksets come before it.
#[test]
fn a_cut_after_many_others_is_not_missed() {
    for times in [0, 1, 126, 127, 128, 129, 300] {
        let (case, triple) = late_cut(times);
        assert!(!case.refutes(CutPoints, triple), "{times}");
    }
}

#[test]
fn a_wait_gives_every_level_back() {
    let case = Case::new(|b| {
        b.acquire(2, "deep"); // 0
        b.acquire(2, "deep"); // 1
        b.write(2, "x", "1"); // 2
        b.wait(2, "c", "deep"); // 3
        b.acquire(3, "deep"); // 4
        b.write(3, "x", "2"); // 5
        b.signal(3, "c"); // 6
        b.release(3, "deep"); // 7
        b.wake(2, "c", "deep", None); // 8
        b.write(2, "x", "3"); // 9
        b.write(2, "x", "4"); // 10
    });
    assert!(!case.refutes(CutPoints, [2, 5, 9]));
    assert!(case.refutes(CutPoints, [9, 5, 10]));
}

/// Each thread holds one lock at its access and has taken the other's meanwhile: whichever took its own last could not
/// have done so.
#[test]
fn crossing_acquisition_histories_refute() {
    let case = Case::new(|b| {
        b.acquire(2, "m"); // 0
        b.acquire(2, "n"); // 1
        b.release(2, "n"); // 2
        b.write(2, "x", "1"); // 3
        b.write(2, "x", "2"); // 4
        b.release(2, "m"); // 5
        b.acquire(3, "n"); // 6
        b.acquire(3, "m"); // 7
        b.release(3, "m"); // 8
        b.write(3, "x", "3"); // 9
        b.release(3, "n"); // 10
        b.acquire(3, "n"); // 11
        b.write(3, "x", "4"); // 12
    });
    assert!(case.refutes(CutPoints, [3, 9, 4]));
    assert!(!case.refutes(CutPoints, [3, 12, 4])); // m was not taken since n was
}

/// The same where locks overlap without nesting: m is given back before n.
#[test]
fn histories_need_no_nesting() {
    let case = Case::new(|b| {
        b.acquire(2, "deep"); // 0
        b.acquire(2, "m"); // 1
        b.acquire(2, "n"); // 2
        b.release(2, "deep"); // 3
        b.release(2, "n"); // 4
        b.write(2, "x", "1"); // 5
        b.write(2, "x", "2"); // 6
        b.release(2, "m"); // 7
        b.acquire(3, "n"); // 8
        b.acquire(3, "deep"); // 9
        b.acquire(3, "m"); // 10
        b.release(3, "deep"); // 11
        b.release(3, "m"); // 12
        b.write(3, "x", "3"); // 13
    });
    assert!(case.refutes(CutPoints, [5, 13, 6]));
}

/// One history alone leaves a cut, whichever side has it: the other thread took its lock after it was given back.
#[test]
fn a_history_on_one_side_refutes_nothing() {
    let remote_has_it = Case::new(|b| {
        b.acquire(2, "m"); // 0
        b.write(2, "x", "1"); // 1
        b.write(2, "x", "2"); // 2
        b.release(2, "m"); // 3
        b.acquire(3, "n"); // 4
        b.acquire(3, "m"); // 5
        b.release(3, "m"); // 6
        b.write(3, "x", "3"); // 7
        b.release(3, "n"); // 8
    });
    assert!(!remote_has_it.refutes(CutPoints, [1, 7, 2]));
    let block_has_it = Case::new(|b| {
        b.acquire(2, "m"); // 0
        b.acquire(2, "n"); // 1
        b.release(2, "n"); // 2
        b.write(2, "x", "1"); // 3
        b.write(2, "x", "2"); // 4
        b.release(2, "m"); // 5
        b.acquire(3, "n"); // 6
        b.write(3, "x", "3"); // 7
        b.release(3, "n"); // 8
    });
    assert!(!block_has_it.refutes(CutPoints, [3, 7, 4]));
}

/// The only cut comes first: after it thread 2 holds what remote holds.
#[test]
fn a_cut_before_others_is_not_missed() {
    let case = Case::new(|b| {
        b.acquire(2, "deep"); // 0
        b.write(2, "x", "1"); // 1
        b.acquire(2, "m"); // 2
        b.write(2, "x", "2"); // 3
        b.write(2, "x", "3"); // 4
        b.release(2, "m"); // 5
        b.acquire(3, "m"); // 6
        b.write(3, "x", "4"); // 7
    });
    assert!(!case.refutes(CutPoints, [1, 7, 3]));
    assert!(case.refutes(CutPoints, [3, 7, 4]));
}

/// A history says which locks were taken, not how often.
#[test]
fn a_lock_that_is_taken_again_and_again_crowds_no_other_out_of_a_history() {
    let mut triple = [0; 3];
    let case = Case::new(|b| {
        b.acquire(2, "m");
        for _ in 0..100 {
            b.acquire(2, "deep");
            b.release(2, "deep");
        }
        b.acquire(2, "n");
        b.release(2, "n");
        triple[0] = b.write(2, "x", "1").id().0;
        triple[2] = b.write(2, "x", "2").id().0;
        b.release(2, "m");
        b.acquire(3, "n");
        b.acquire(3, "m");
        b.release(3, "m");
        triple[1] = b.write(3, "x", "3").id().0;
    });
    assert!(case.refutes(CutPoints, triple));
}

/// Both took another lock since their own, but only one of them the other's.
#[test]
fn histories_that_do_not_cross_refute_nothing() {
    let crossing = |own: &str, other: &str| {
        Case::new(|b| {
            b.acquire(2, "m"); // 0
            b.acquire(2, own); // 1
            b.release(2, own); // 2
            b.write(2, "x", "1"); // 3
            b.write(2, "x", "2"); // 4
            b.release(2, "m"); // 5
            b.acquire(3, "n"); // 6
            b.acquire(3, other); // 7
            b.release(3, other); // 8
            b.write(3, "x", "3"); // 9
        })
        .refutes(CutPoints, [3, 9, 4])
    };
    assert!(crossing("n", "m"));
    assert!(!crossing("n", "deep"));
    assert!(!crossing("deep", "m"));
}

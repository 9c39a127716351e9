//! Orders that critical sections, semaphores and reads of whole runs force. Each with a twin in which there is none.

use super::Case;
use crate::verdict::Decider::Segment;
use foretrace_trace::{Model, TraceBuilder};

/// Thread 2 writes x twice and y in a section; thread 3 sees y in one of its own and writes x there.
fn seen_in_a_section(sees: &str) -> Case {
    Case::new(|b| {
        b.acquire(2, "m"); // 0
        b.write(2, "y", "1"); // 1
        b.write(2, "x", "1"); // 2
        b.write(2, "x", "2"); // 3
        b.release(2, "m"); // 4
        b.acquire(3, "m"); // 5
        b.read(3, "y", "f"); // 6
        b.assume(3, sees); // 7
        b.write(3, "x", "3"); // 8
        b.release(3, "m"); // 9
    })
}

#[test]
fn a_section_that_sees_another_comes_after_its_end() {
    assert!(seen_in_a_section("(= f 1)").refutes(Segment, [2, 8, 3]));
    assert!(!seen_in_a_section("(>= f 0)").refutes(Segment, [2, 8, 3]));
}

/// Thread 3 knows that thread 2 began to share or to hold the lock; that it gave it back only follows if they exclude each other.
#[test]
fn shared_sections_force_no_order() {
    let refutes = |is_shared: bool| {
        let take = |b: &mut TraceBuilder, thread| match is_shared {
            true => b.acquire_shared(thread, "rw").id(),
            false => b.acquire(thread, "rw").id(),
        };
        let give = |b: &mut TraceBuilder, thread| match is_shared {
            true => b.release_shared(thread, "rw").id(),
            false => b.release(thread, "rw").id(),
        };
        let case = Case::new(|b| {
            take(b, 2); // 0
            b.write(2, "y", "1"); // 1
            b.write(2, "x", "1"); // 2
            b.write(2, "x", "2"); // 3
            give(b, 2); // 4
            b.read(3, "y", "f"); // 5
            b.assume(3, "(= f 1)"); // 6
            take(b, 3); // 7
            give(b, 3); // 8
            b.write(3, "x", "3"); // 9
        });
        case.refutes(Segment, [2, 9, 3])
    };
    assert!(refutes(false));
    assert!(!refutes(true));
}

/// What thread 3's section sees at its end holds for its start, if the run does not end before.
#[test]
fn whole_runs_have_whole_sections() {
    let case = || {
        Case::new(|b| {
            b.write(2, "x", "1"); // 0: first
            b.write(2, "x", "2"); // 1: second
            b.acquire(2, "m"); // 2
            b.write(2, "y", "1"); // 3
            b.release(2, "m"); // 4
            b.acquire(3, "m"); // 5
            b.write(3, "x", "3"); // 6: remote
            b.read(3, "y", "f"); // 7
            b.assume(3, "(= f 1)"); // 8
            b.release(3, "m"); // 9
        })
    };
    assert!(case().complete().refutes(Segment, [0, 6, 1]));
    assert!(!case().refutes(Segment, [0, 6, 1]));
}

/// A post of its own that comes after a down does not enable it.
#[test]
fn a_later_post_enables_no_down() {
    let refutes = |posts_before: bool| {
        let mut triple = [0; 3];
        let case = Case::new(|b| {
            triple[0] = b.write(2, "x", "1").id().0;
            triple[2] = b.write(2, "x", "2").id().0;
            b.post(2, "s");
            if posts_before {
                b.post(3, "s");
            }
            b.down(3, "s");
            triple[1] = b.write(3, "x", "3").id().0;
            if !posts_before {
                b.post(3, "s");
            }
        });
        case.model(Model::Cam).refutes(Segment, triple)
    };
    assert!(refutes(false));
    assert!(!refutes(true));
}

/// In a whole run a read comes before what overwrites its source.
#[test]
fn whole_runs_have_reads_before_the_next_write() {
    let case = |overwrites: bool| {
        Case::new(|b| {
            b.write(2, "y", "1"); // 0
            b.write(3, "x", "3"); // 1: remote
            b.read(3, "y", "f"); // 2
            b.assume(3, "(= f 1)"); // 3
            b.write(2, if overwrites { "y" } else { "z" }, "2"); // 4
            b.write(2, "x", "1"); // 5: first
            b.write(2, "x", "2"); // 6: second
        })
    };
    assert!(case(true).complete().refutes(Segment, [5, 1, 6]));
    assert!(!case(false).complete().refutes(Segment, [5, 1, 6]));
    assert!(!case(true).refutes(Segment, [5, 1, 6]), "a prefix may end before the read");
}

/// The last write that comes before a read comes before its source in a whole run, not only the first one.
#[test]
fn whole_runs_have_the_last_known_write_before_the_source() {
    let case = Case::new(|b| {
        b.write(2, "y", "1"); // 0
        b.write(2, "x", "1"); // 1: first
        b.write(2, "x", "2"); // 2: second
        b.write(2, "y", "2"); // 3
        b.fork(2, 3); // 4
        b.write(4, "y", "3"); // 5
        b.write(4, "x", "3"); // 6: remote
        b.read(3, "y", "f"); // 7
        b.assume(3, "(= f 3)"); // 8
    });
    assert!(!case.refutes(Segment, [1, 6, 2]));
    assert!(case.complete().refutes(Segment, [1, 6, 2]));
}

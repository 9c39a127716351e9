//! The segment: orders of events that need some of several others, whichever they are. In each case thread 2 writes x twice.

use super::Case;
use crate::verdict::Decider::{MustHappenBefore, Segment};
use foretrace_trace::{Model, SyncKind};

/// Refuted by the segment and not by what holds without it.
fn only_by_segment(case: &Case, triple: [u32; 3]) -> bool {
    assert!(!case.refutes(MustHappenBefore, triple));
    case.refutes(Segment, triple)
}

/// Thread 3 goes on when it has read a 1 from thread 4 or 5.
fn either_writer(both_are_forked_late: bool) -> Case {
    Case::new(|b| {
        b.write(2, "x", "1"); // 0
        b.write(2, "x", "2"); // 1
        b.fork(2, 4); // 2
        if both_are_forked_late {
            b.fork(2, 5); // 3
        } else {
            b.post(2, "s"); // 3
        }
        b.write(4, "y", "1"); // 4
        b.write(5, "y", "1"); // 5
        b.read(3, "y", "f"); // 6
        b.assume(3, "(= f 1)"); // 7
        b.write(3, "x", "3"); // 8
    })
}

#[test]
fn what_comes_before_all_sources_of_a_read_comes_before_it() {
    assert!(only_by_segment(&either_writer(true), [0, 8, 1]));
    assert!(!only_by_segment(&either_writer(false), [0, 8, 1]));
    assert!(!only_by_segment(&either_writer(true).model(Model::Cam), [0, 8, 1]));
}

/// Thread 3 waits so many times; thread 2 signals between its writes and after them.
fn waits(times: usize) -> Case {
    Case::new(|b| {
        b.acquire(3, "m"); // 0
        b.wait(3, "c", "m"); // 1
        b.write(2, "x", "1"); // 2
        b.signal(2, "c"); // 3
        b.write(2, "x", "2"); // 4
        b.wake(3, "c", "m", None); // 5
        if times > 1 {
            b.wait(3, "c", "m"); // 6
        }
        b.signal(2, "c"); // 7, or 6
        if times > 1 {
            b.wake(3, "c", "m", None); // 8
        }
        b.write(3, "x", "3"); // 9, or 7
    })
    .model(Model::Cam)
}

#[test]
fn a_second_wake_of_a_thread_needs_a_second_signal() {
    assert!(only_by_segment(&waits(2), [2, 9, 4]));
    assert!(!only_by_segment(&waits(1), [2, 7, 4]));
}

/// Threads 3 and 4 are woken by thread 2, between its writes and after them; when both are, thread 5 wakes thread 6.
fn two_waiters(first_is_broadcast: bool) -> Case {
    Case::new(|b| {
        b.sync("d", SyncKind::Condvar);
        for (thread, lock, cond) in [(3, "m", "c"), (4, "n", "c"), (6, "deep", "d")] {
            b.acquire(thread, lock); // 0, 2, 4
            b.wait(thread, cond, lock); // 1, 3, 5
        }
        b.write(2, "x", "1"); // 6
        if first_is_broadcast {
            b.broadcast(2, "c"); // 7
        } else {
            b.signal(2, "c"); // 7
        }
        b.write(2, "x", "2"); // 8
        b.signal(2, "c"); // 9
        for (thread, lock) in [(3, "m"), (4, "n")] {
            b.wake(thread, "c", lock, None); // 10, 12
            b.post(thread, "s"); // 11, 13
        }
        b.down(5, "s"); // 14
        b.down(5, "s"); // 15
        b.signal(5, "d"); // 16
        b.wake(6, "d", "deep", None); // 17
        b.write(6, "x", "3"); // 18
    })
    .model(Model::Cam)
}

#[test]
fn two_waiters_need_two_signals_or_a_broadcast() {
    assert!(only_by_segment(&two_waiters(false), [6, 18, 8]));
    assert!(!only_by_segment(&two_waiters(true), [6, 18, 8]));
}

/// Thread 2 posts once between its writes and twice after them; thread 3 goes down so many times.
fn posts(downs: usize) -> Case {
    Case::new(|b| {
        b.write(2, "x", "1"); // 0
        b.post(2, "s"); // 1
        b.write(2, "x", "2"); // 2
        b.post(2, "s"); // 3
        b.post(2, "s"); // 4
        for _ in 0..downs {
            b.down(3, "s"); // 5, 6
        }
        b.write(3, "x", "3"); // after them
    })
    .model(Model::Cam)
}

#[test]
fn a_second_down_needs_two_of_the_posts() {
    assert!(only_by_segment(&posts(2), [0, 7, 2]));
    assert!(!only_by_segment(&posts(1), [0, 6, 2]));
}

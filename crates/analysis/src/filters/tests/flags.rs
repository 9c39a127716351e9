//! Flags that threads own.

use super::Case;
use crate::verdict::Decider::EarlyRefutation;
use foretrace_trace::{Data, Model, TraceBuilder, Value};

/// Two threads that each read the flag y as f and take it as `take` does, write x twice, do what `then` does, and give the flag back. The triple
/// has the second thread's first write between those of the first.
fn exclude_each_other(
    take: impl Fn(&mut TraceBuilder, u64),
    then: impl Fn(&mut TraceBuilder, u64),
) -> (Case, [u32; 3]) {
    let mut writes = Vec::new();
    let case = Case::new(|b| {
        for thread in [2, 3] {
            b.acquire(thread, "m");
            b.read(thread, "y", "f");
            take(b, thread);
            b.write(thread, "y", "1");
            b.release(thread, "m");
            writes.push(b.write(thread, "x", "1").id().0);
            writes.push(b.write(thread, "x", "2").id().0);
            then(b, thread);
            b.acquire(thread, "m");
            b.write(thread, "y", "0");
            b.release(thread, "m");
        }
    });
    (case, [writes[0], writes[2], writes[1]])
}

#[test]
fn conditions_before_the_write_are_a_test() {
    let take = |conditions: &'static [&'static str]| {
        let assume = move |b: &mut TraceBuilder, thread| {
            conditions.iter().for_each(|condition| {
                b.assume(thread, condition);
            });
        };
        exclude_each_other(assume, |_, _| {})
    };
    for conditions in [&["(= f 0)"][..], &["(>= f 0)", "(< f 1)"], &["(< f 1)", "(>= f 0)"]] {
        let (case, triple) = take(conditions);
        assert!(case.refutes(EarlyRefutation, triple), "{conditions:?}");
        assert!(!case.rests_on_pin(EarlyRefutation, triple));
    }
    let (case, triple) = take(&["(>= f 0)"]);
    assert!(!case.refutes(EarlyRefutation, triple), "it tests nothing");
}

/// A prefix may end before such a condition, with x written by two threads that both took the flag.
#[test]
fn a_condition_after_all_is_no_test() {
    let (case, triple) = exclude_each_other(
        |_, _| {},
        |b, thread| {
            b.assume(thread, "(= f 0)");
        },
    );
    assert!(!case.refutes(EarlyRefutation, triple));
}

#[test]
fn a_test_that_is_a_pin_says_so() {
    let (case, triple) = exclude_each_other(
        |b, thread| {
            b.pin(thread, "(= f 0)");
        },
        |_, _| {},
    );
    assert!(case.rests_on_pin(EarlyRefutation, triple));
}

/// In mcm each read returns what it did. A thread that found the flag taken and wrote to it is no owner.
#[test]
fn recorded_values_are_tests_in_mcm() {
    let refutes = |is_kept: bool| {
        let mut writes = Vec::new();
        let value = |is_taken: bool| Some(Value::int(i64::from(is_taken)));
        let case = Case::with_data(Data::Concrete, |b| {
            for thread in [2, 3] {
                b.acquire(thread, "m");
                b.saw(thread, "y", value(is_kept && thread == 3));
                b.put(thread, "y", value(true));
                b.release(thread, "m");
                writes.push(b.put(thread, "x", value(true)).id().0);
                writes.push(b.put(thread, "x", value(true)).id().0);
                if !is_kept || thread == 3 {
                    b.acquire(thread, "m");
                    b.put(thread, "y", value(false));
                    b.release(thread, "m");
                }
            }
        });
        case.model(Model::Mcm).refutes(EarlyRefutation, [writes[0], writes[2], writes[1]])
    };
    assert!(refutes(false));
    assert!(!refutes(true));
}

/// Each thread writes x before it takes the flag, twice while it owns it, and after it gave it back. Each does all that twice.
#[test]
fn only_accesses_while_both_own_the_flag_are_kept_apart() {
    let mut writes = Vec::new();
    let case = Case::new(|b| {
        for thread in [2, 2, 3, 3] {
            let own = writes.len();
            writes.push(b.write(thread, "x", "1").id().0);
            b.acquire(thread, "m");
            b.read(thread, "y", &format!("f{own}"));
            b.assume(thread, &format!("(= f{own} 0)"));
            b.write(thread, "y", "1");
            b.release(thread, "m");
            writes.push(b.write(thread, "x", "2").id().0);
            writes.push(b.write(thread, "x", "3").id().0);
            b.write(thread, "y", "0");
            writes.push(b.write(thread, "x", "4").id().0);
        }
    });
    let refutes = |first: usize, remote: usize, second: usize| {
        case.refutes(EarlyRefutation, [writes[first], writes[remote], writes[second]])
    };
    // Thread 2 has the first eight writes. It owns the flag at 1 and 2, and again at 5 and 6; so does thread 3 at 9, 10, 13 and 14.
    for remote in [9, 10, 13, 14] {
        assert!(refutes(1, remote, 2) && refutes(5, remote, 6), "{remote}");
        assert!(!refutes(0, remote, 1), "{remote}: not yet");
        assert!(!refutes(2, remote, 3), "{remote}: not any more");
        assert!(!refutes(1, remote, 5), "{remote}: not in between");
    }
    for remote in [8, 11, 12, 15] {
        assert!(!refutes(1, remote, 2) && !refutes(5, remote, 6), "{remote}");
    }
}

/// Between a test without the lock and the write another thread may take the flag, too, though each held the lock shortly before.
#[test]
fn a_test_after_a_section_is_none() {
    let refutes = |is_inside: bool| {
        let mut writes = Vec::new();
        let case = Case::new(|b| {
            for thread in [2, 3] {
                b.acquire(thread, "m");
                if !is_inside {
                    b.release(thread, "m");
                }
                b.read(thread, "y", "f");
                b.assume(thread, "(= f 0)");
                b.write(thread, "y", "1");
                if is_inside {
                    b.release(thread, "m");
                }
                writes.push(b.write(thread, "x", "1").id().0);
                writes.push(b.write(thread, "x", "2").id().0);
                b.acquire(thread, "m");
                b.write(thread, "y", "0");
                b.release(thread, "m");
            }
        });
        case.refutes(EarlyRefutation, [writes[0], writes[2], writes[1]])
    };
    assert!(refutes(true));
    assert!(!refutes(false));
}

//! Writes whose value follows from what conditions leave of reads.

use super::{Case, triple_of};
use crate::verdict::Decider::Segment;
use foretrace_checker::oracle::Oracle;
use foretrace_trace::{Atomic, Independence, TraceBuilder};

/// How a thread counts on: reads x as n and writes one more.
type Counts = fn(&mut TraceBuilder, u64);

fn plainly(b: &mut TraceBuilder, thread: u64) {
    b.read(thread, "x", "n");
    b.write(thread, "x", "(+ n 1)");
}

fn through_a_definition(b: &mut TraceBuilder, thread: u64) {
    b.read(thread, "x", "n");
    b.set(thread, "k", "(+ n 1)");
    b.write(thread, "x", "k");
}

fn in_one_step(b: &mut TraceBuilder, thread: u64) {
    b.rmw(thread, "x", "n", "(+ n 1)");
}

/// Threads 4 and 2 append to an array whose count is x and whose elements are z and y, under the lock. Pins say which element each wrote.
/// Thread 3 reads y, under the lock where the count is two. Whether thread 2's write of y cannot come between two such reads.
fn ordered(counts: Counts, pins: [&str; 2], gives_back_before_pin: bool) -> bool {
    let mut triple = [0; 3];
    let case = Case::new(|b| {
        for (pin, thread, element) in [(pins[0], 4, "z"), (pins[1], 2, "y")] {
            b.acquire(thread, "m");
            counts(b, thread);
            if gives_back_before_pin {
                b.release(thread, "m");
                b.acquire(thread, "m");
            }
            b.pin(thread, pin);
            triple[1] = b.write(thread, element, "7").id().0;
            b.release(thread, "m");
        }
        b.acquire(3, "m");
        b.read(3, "x", "c");
        b.assume(3, "(> c 1)");
        triple[0] = b.read(3, "y", "v").id().0;
        b.release(3, "m");
        triple[2] = b.read(3, "y", "u").id().0;
    });
    let refutes = case.refutes(Segment, triple);
    assert_eq!(case.rests_on_pin(Segment, triple), refutes);
    refutes
}

#[test]
fn a_count_that_a_pin_fixes_orders_appends() {
    for counts in [plainly, through_a_definition, in_one_step] as [Counts; 3] {
        assert!(ordered(counts, ["(= n 0)", "(= n 1)"], false));
        assert!(ordered(counts, ["(= 0 n)", "(= 1 n)"], false));
        assert!(!ordered(counts, ["(>= n 0)", "(>= n 0)"], false), "it leaves more than one value");
        assert!(!ordered(counts, ["(= n 0)", "(= n 1)"], true), "the count may be read before the pin");
    }
}

/// What a thread does with q.
type Step = fn(&mut TraceBuilder, u64);

/// What keeps others out of an append: how a thread takes it, and gives it back.
const LOCK: [Step; 2] = [
    |b, thread| {
        b.acquire(thread, "q");
    },
    |b, thread| {
        b.release(thread, "q");
    },
];
const SHARED: [Step; 2] = [
    |b, thread| {
        b.acquire_shared(thread, "q");
    },
    |b, thread| {
        b.release_shared(thread, "q");
    },
];

/// Thread 3 reads y where the count is two, and once more after it gave q back: the first and last of a triple.
fn looks_twice(b: &mut TraceBuilder, [takes, gives]: [Step; 2]) -> [u32; 2] {
    takes(b, 3);
    b.read(3, "x", "c");
    b.assume(3, "(> c 1)");
    let first = b.read(3, "y", "v").id().0;
    gives(b, 3);
    [first, b.read(3, "y", "u").id().0]
}

/// Like `ordered`, under a guard and with a pin before anything is written: the count is read twice, `between` comes between the two,
/// and `first` before all.
fn ordered_if_read_twice([takes, gives]: [Step; 2], first: Step, between: Step) -> bool {
    let mut remote = 0;
    let mut ends = [0; 2];
    let case = Case::new(|b| {
        first(b, 1);
        for (pin, thread, element) in [("(= n 0)", 4, "z"), ("(= n 1)", 2, "y")] {
            takes(b, thread);
            b.read(thread, "x", "n");
            b.pin(thread, pin);
            between(b, thread);
            b.read(thread, "x", "d");
            b.write(thread, "x", "(+ d 1)");
            remote = b.write(thread, element, "7").id().0;
            gives(b, thread);
        }
        ends = looks_twice(b, [takes, gives]);
    });
    case.refutes(Segment, [ends[0], remote, ends[1]])
}

#[test]
fn a_count_that_is_read_twice_is_known_where_no_other_thread_writes_it_between() {
    let nothing: Step = |_, _| {};
    assert!(ordered_if_read_twice(LOCK, nothing, nothing));
    let starts: Step = |b, thread| {
        b.write(thread, "x", "0");
        for other in [2, 3, 4] {
            b.fork(thread, other);
        }
    };
    assert!(ordered_if_read_twice(LOCK, starts, nothing), "the first write comes before both reads");
    let writes: Step = |b, thread| {
        b.write(thread, "x", "0");
    };
    assert!(!ordered_if_read_twice(LOCK, writes, nothing), "a thread without the lock may write it between them");
    let lets_others_in: Step = |b, thread| {
        b.release(thread, "q");
        b.acquire(thread, "q");
    };
    assert!(!ordered_if_read_twice(LOCK, nothing, lets_others_in), "others may count on between the two");
}

/// Thread 2 counts on and writes y while it has q, and gives q back after its pin. Thread 3 reads the count and y while it has q in this way.
fn counted_under([takes, gives]: [Step; 2]) -> bool {
    let mut triple = [0; 3];
    let case = Case::new(|b| {
        for (pin, thread, element) in [("(= n 0)", 4, "z"), ("(= n 1)", 2, "y")] {
            takes(b, thread);
            plainly(b, thread);
            b.pin(thread, pin);
            triple[1] = b.write(thread, element, "7").id().0;
            gives(b, thread);
        }
        [triple[0], triple[2]] = looks_twice(b, [takes, gives]);
    });
    case.refutes(Segment, triple)
}

/// Those who share a lock may meet: the reader may read the count before the writer's pin.
#[test]
fn sections_that_share_a_lock_end_no_write() {
    assert!(counted_under(LOCK));
    assert!(!counted_under(SHARED));
}

/// Whether the filter refutes a triple. The oracle says what is true, and the filter must not contradict it.
fn refutes_rightly(case: &Case, triple: [u32; 3]) -> bool {
    let oracle = Oracle::new(&case.trace, &case.observed, case.model).expect("the model fits");
    let transactions = Atomic::Threads.transactions(&case.trace);
    let truth = oracle.decide(&transactions, case.feasibility, Independence::Conflict);
    let is_possible = truth[&triple_of(triple)].is_some();
    let refutes = case.refutes(Segment, triple);
    assert!(!(refutes && is_possible), "the filter refutes what is possible");
    assert_eq!(refutes, !is_possible, "what is impossible here rests on a value that is known");
    refutes
}

/// A step of a thread.
fn step(what: impl Fn(&mut TraceBuilder, u64)) -> impl Fn(&mut TraceBuilder, u64) {
    what
}

/// Thread 4 does `counts`, which leaves one in x. Thread 2 writes y and then two to x. Thread 3 finds two in x and reads y twice. Thread 5 does `disturbs`.
/// Whether the write of y cannot come between the two reads, since only thread 2 leaves two in x.
fn only_thread_two_leaves_two(
    lock: [Step; 2],
    counts: &dyn Fn(&mut TraceBuilder, u64),
    disturbs: &dyn Fn(&mut TraceBuilder, u64),
) -> bool {
    let mut triple = [0; 3];
    let case = Case::new(|b| {
        counts(b, 4);
        triple[1] = b.write(2, "y", "7").id().0;
        lock[0](b, 2);
        b.write(2, "x", "2");
        lock[1](b, 2);
        lock[0](b, 3);
        b.read(3, "x", "c");
        b.assume(3, "(= c 2)");
        lock[1](b, 3);
        triple[0] = b.read(3, "y", "v").id().0;
        triple[2] = b.read(3, "y", "u").id().0;
        disturbs(b, 5);
    });
    refutes_rightly(&case, triple)
}

fn under([takes, gives]: [Step; 2], what: &'static [Step]) -> impl Fn(&mut TraceBuilder, u64) {
    step(move |b, thread| {
        takes(b, thread);
        what.iter().for_each(|step| step(b, thread));
        gives(b, thread);
    })
}

const READS: Step = |b, thread| {
    b.read(thread, "x", "n");
};
const READS_AGAIN: Step = |b, thread| {
    b.read(thread, "x", "d");
};
const PINS: Step = |b, thread| {
    b.pin(thread, "(= n 0)");
};
const COUNTS_ON: Step = |b, thread| {
    b.write(thread, "x", "(+ n 1)");
};
const COUNTS_ON_AGAIN: Step = |b, thread| {
    b.write(thread, "x", "(+ d 1)");
};
const WRITES_ONE: Step = |b, thread| {
    b.write(thread, "x", "1");
};

/// The pin comes after the write. Where no section holds both, the reader may find what another count leads to.
#[test]
fn a_write_is_known_before_its_pin_only_in_a_section_that_holds_both() {
    let one = under(LOCK, &[WRITES_ONE]);
    assert!(only_thread_two_leaves_two(LOCK, &under(LOCK, &[READS, COUNTS_ON, PINS]), &one));
    let pins_later = step(|b, thread| {
        under(LOCK, &[READS, COUNTS_ON])(b, thread);
        PINS(b, thread);
    });
    assert!(!only_thread_two_leaves_two(LOCK, &pins_later, &one));
    let takes_it_again = step(|b, thread| {
        under(LOCK, &[READS, COUNTS_ON])(b, thread);
        under(LOCK, &[PINS])(b, thread);
    });
    assert!(!only_thread_two_leaves_two(LOCK, &takes_it_again, &one));
}

/// The same with locks that the program makes of a variable each: sections of one say nothing of those of the other.
#[test]
fn a_write_is_known_before_its_pin_only_to_sections_of_the_same_made_lock() {
    let v: [Step; 2] = [
        |b, thread| {
            b.rmw(thread, "v", "f", "1");
            b.assume(thread, "(= f 0)");
        },
        |b, thread| {
            b.write(thread, "v", "0");
        },
    ];
    let w: [Step; 2] = [
        |b, thread| {
            b.rmw(thread, "w", "g", "1");
            b.assume(thread, "(= g 0)");
        },
        |b, thread| {
            b.write(thread, "w", "0");
        },
    ];
    let is_known = |counter: [Step; 2], reader: [Step; 2]| {
        let counts = step(move |b, thread| {
            b.int_var("v", 0).int_var("w", 0);
            under(counter, &[READS, COUNTS_ON, PINS])(b, thread);
        });
        only_thread_two_leaves_two(reader, &counts, &under(counter, &[WRITES_ONE]))
    };
    for [counter, reader] in [[v, v], [w, w]] {
        assert!(is_known(counter, reader));
    }
    for [counter, reader] in [[v, w], [w, v]] {
        assert!(!is_known(counter, reader));
    }
}

/// A value that is computed of two reads is known where both are.
#[test]
fn a_write_is_known_by_the_last_of_its_pins() {
    let one = under(LOCK, &[WRITES_ONE]);
    let adds: Step = |b, thread| {
        b.read(thread, "x", "n");
        b.pin(thread, "(= n 0)");
        b.read(thread, "z", "k");
        b.write(thread, "x", "(+ n (+ k 1))");
    };
    let writes_z: Step = |b, thread| {
        b.write(thread, "z", "1");
    };
    let pins_k: Step = |b, thread| {
        b.pin(thread, "(= k 0)");
    };
    let before = move |b: &mut TraceBuilder, thread| {
        LOCK[0](b, thread);
        adds(b, thread);
        pins_k(b, thread);
        LOCK[1](b, thread);
    };
    let later = move |b: &mut TraceBuilder, thread| {
        LOCK[0](b, thread);
        adds(b, thread);
        LOCK[1](b, thread);
        pins_k(b, thread);
    };
    assert!(only_thread_two_leaves_two(LOCK, &before, &one));
    assert!(!only_thread_two_leaves_two(LOCK, &later, &writes_z));
}

/// Two that share a lock may meet: one may write the count between two reads of the other.
#[test]
fn a_count_that_is_read_twice_is_not_known_where_the_lock_is_shared() {
    let to_write: [Step; 2] = [
        |b, thread| {
            b.acquire(thread, "rw");
        },
        |b, thread| {
            b.release(thread, "rw");
        },
    ];
    let to_read: [Step; 2] = [
        |b, thread| {
            b.acquire_shared(thread, "rw");
        },
        |b, thread| {
            b.release_shared(thread, "rw");
        },
    ];
    let twice: &[Step] = &[READS, PINS, READS_AGAIN, COUNTS_ON_AGAIN];
    let is_known =
        |counts, disturbs| only_thread_two_leaves_two(to_write, &under(counts, twice), &under(disturbs, &[WRITES_ONE]));
    assert!(is_known(to_write, to_write));
    assert!(is_known(to_read, to_write));
    assert!(!is_known(to_read, to_read));
}

/// A condition over a computed value says nothing of the read by itself.
#[test]
fn a_pin_of_a_definition_is_none_of_the_read() {
    let by_definition: &[Step] = &[READS, |b, thread| {
        b.set(thread, "k", "(+ n 1)");
        b.pin(thread, "(= k 1)");
        b.write(thread, "x", "(+ n 2)");
    }];
    let disturbs: Step = |_, _| {};
    assert!(!only_thread_two_leaves_two(LOCK, &under(LOCK, by_definition), &disturbs), "thread 4 leaves two, too");
}

/// In a prefix that ends between a thread's own read and its pin, the thread may have read what it wrote of another count.
#[test]
fn a_write_is_not_known_to_its_own_thread_before_the_pin() {
    let own = |pins_before: bool| {
        let mut triple = [0; 3];
        let case = Case::new(|b| {
            READS(b, 3);
            COUNTS_ON(b, 3);
            triple[1] = b.write(2, "y", "7").id().0;
            b.write(2, "x", "2");
            if pins_before {
                PINS(b, 3);
            }
            b.read(3, "x", "c");
            b.assume(3, "(= c 2)");
            triple[0] = b.read(3, "y", "v").id().0;
            triple[2] = b.read(3, "y", "u").id().0;
            if !pins_before {
                PINS(b, 3);
            }
            b.write(5, "x", "1");
        });
        refutes_rightly(&case, triple)
    };
    assert!(own(true));
    assert!(!own(false));
}

/// Threads write outside of the lock: so many times before all else, and once more at any time, if asked.
fn known_with_outside_writes(at_the_start: usize, at_any_time: bool) -> bool {
    let start = step(move |b, thread| {
        for _ in 0..at_the_start {
            b.write(1, "x", "0");
        }
        for other in [2, 3, 4, 5] {
            b.fork(1, other);
        }
        under(LOCK, &[READS, PINS, READS_AGAIN, COUNTS_ON_AGAIN])(b, thread);
    });
    let one: Step = if at_any_time { WRITES_ONE } else { |_, _| {} };
    only_thread_two_leaves_two(LOCK, &start, &one)
}

/// What the thread itself wrote last is known, too; other locks that it holds make no difference.
#[test]
fn a_count_is_known_after_a_write_of_its_own() {
    let one = under(LOCK, &[WRITES_ONE]);
    let twice: &[Step] = &[READS, PINS, READS_AGAIN, COUNTS_ON_AGAIN];
    let after_known: &[Step] = &[READS, PINS, |b, thread| {
        b.write(thread, "x", "(- n 3)");
        b.read(thread, "x", "d");
        b.write(thread, "x", "(+ d 4)");
    }];
    let after_literal: &[Step] = &[|b, thread| {
        b.write(thread, "x", "(- 3)");
        b.read(thread, "x", "d");
        b.write(thread, "x", "(+ d 4)");
    }];
    let makes_it_two: Step = |b, thread| {
        b.write(thread, "x", "(- 2)");
    };
    for steps in [after_known, after_literal] {
        assert!(only_thread_two_leaves_two(LOCK, &under(LOCK, steps), &one));
        assert!(!only_thread_two_leaves_two(LOCK, &under(LOCK, steps), &makes_it_two), "at any time");
    }
    let within_another = step(move |b, thread| {
        b.acquire(thread, "m");
        under(LOCK, twice)(b, thread);
        b.release(thread, "m");
    });
    assert!(only_thread_two_leaves_two(LOCK, &within_another, &one));
    let before_another = step(move |b, thread| {
        under(LOCK, twice)(b, thread);
        b.acquire(thread, "m");
        b.release(thread, "m");
    });
    assert!(only_thread_two_leaves_two(LOCK, &before_another, &one));
}

/// What another thread writes without the lock disturbs a count only if it may come between the two reads: here it waits for the counting thread.
#[test]
fn a_count_is_known_where_the_other_write_comes_after_it() {
    let twice: &[Step] = &[READS, PINS, READS_AGAIN, COUNTS_ON_AGAIN];
    let counts_and_starts = step(move |b, thread| {
        under(LOCK, twice)(b, thread);
        b.fork(thread, 5);
    });
    assert!(only_thread_two_leaves_two(LOCK, &counts_and_starts, &WRITES_ONE));
    assert!(!only_thread_two_leaves_two(LOCK, &under(LOCK, twice), &WRITES_ONE));
}

/// A compare-and-swap says itself what it found.
#[test]
fn a_compare_and_swap_is_known_by_its_guard() {
    let by = |guard: &'static str| {
        let swaps = step(move |b: &mut TraceBuilder, thread| {
            b.rmw_if(thread, "x", "n", "(+ n 1)", guard);
        });
        only_thread_two_leaves_two(LOCK, &swaps, &WRITES_ONE)
    };
    assert!(by("(= n 0)"));
    assert!(!by("(< n 2)"), "of one it makes two");
}

#[test]
fn many_writes_outside_of_the_lock_leave_no_count_known() {
    assert!(known_with_outside_writes(16, false));
    for many in [14, 15, 16, 17, 18, 30] {
        assert!(!known_with_outside_writes(many, true), "{many}");
    }
}

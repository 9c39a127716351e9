//! Writes whose value follows from what conditions leave of reads.

use super::Case;
use crate::verdict::Decider::Segment;
use foretrace_trace::TraceBuilder;

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

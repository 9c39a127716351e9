//! Where a read can take its value from. In each case thread 2 writes x twice and then y; thread 3 reads y and then writes x.

use super::Case;
use crate::verdict::Decider::Segment;
use foretrace_trace::TraceBuilder;

/// Whether thread 3 writes x only after thread 2 has done so twice; `others` come before the read of y, `read` does it.
fn follows(others: impl Fn(&mut TraceBuilder), value: &str, read: impl Fn(&mut TraceBuilder)) -> bool {
    let mut triple = [0; 3];
    let case = Case::new(|b| {
        others(b);
        triple[0] = b.write(2, "x", "1").id().0;
        triple[2] = b.write(2, "x", "2").id().0;
        b.write(2, "y", value);
        read(b);
        triple[1] = b.write(3, "x", "3").id().0;
    });
    case.refutes(Segment, triple)
}

fn assumes(condition: &'static str) -> impl Fn(&mut TraceBuilder) {
    move |b| {
        b.read(3, "y", "f");
        b.assume(3, condition);
    }
}

#[test]
fn a_write_of_another_value_is_no_source() {
    let one = assumes("(= f 1)");
    assert!(follows(|_| {}, "1", &one));
    assert!(follows(
        |b| {
            b.write(4, "y", "5");
        },
        "1",
        &one
    ));
    assert!(follows(
        |b| {
            b.rmw(4, "y", "o", "5");
        },
        "1",
        &one
    ));
    assert!(!follows(
        |b| {
            b.rmw(4, "y", "o", "1");
        },
        "1",
        &one
    ));
    assert!(
        !follows(
            |b| {
                b.rmw(4, "y", "o", "(+ o 1)");
            },
            "1",
            &one
        ),
        "nobody knows what it adds to"
    );
}

/// What thread 1 wrote before it started thread 3 is there, but for what it overwrote itself.
#[test]
fn an_overwritten_value_is_no_source() {
    let before_start = |values: &'static [&'static str]| {
        move |b: &mut TraceBuilder| {
            values.iter().for_each(|value| {
                b.write(1, "y", value);
            });
            b.fork(1, 3);
        }
    };
    assert!(follows(before_start(&["1", "2"]), "1", assumes("(= f 1)")));
    assert!(!follows(before_start(&["2", "1"]), "1", assumes("(= f 1)")));
    assert!(follows(before_start(&["5"]), "0", assumes("(= f 0)")), "the initial value is overwritten");
    assert!(!follows(before_start(&[]), "0", assumes("(= f 0)")));
}

/// Neither itself nor what its thread writes later.
#[test]
fn a_read_takes_nothing_from_what_comes_after_it() {
    let swap = |b: &mut TraceBuilder| {
        b.rmw_if(3, "y", "f", "f", "(= f 1)");
    };
    assert!(follows(|_| {}, "1", swap));
    let then_writes = |b: &mut TraceBuilder| {
        assumes("(= f 1)")(b);
        b.write(3, "y", "1");
    };
    assert!(follows(|_| {}, "1", then_writes));
    let writes_before = |b: &mut TraceBuilder| {
        b.write(3, "y", "1");
        assumes("(= f 1)")(b);
    };
    assert!(!follows(|_| {}, "1", writes_before));
}

/// A read of a variable that nobody writes has one value, so a condition over it and another read is one over that.
#[test]
fn constant_reads_count_for_nothing_in_a_condition() {
    let with_constant = |condition: &'static str| {
        move |b: &mut TraceBuilder| {
            b.read(3, "z", "g");
            assumes(condition)(b);
        }
    };
    for condition in ["(distinct f g)", "(< g f)"] {
        assert!(follows(|_| {}, "1", with_constant(condition)), "{condition}");
    }
    assert!(!follows(|_| {}, "1", with_constant("(<= g f)")));
    let and_then_another_value = |b: &mut TraceBuilder| {
        with_constant("(distinct f g)")(b);
        b.write(4, "z", "1");
    };
    assert!(!follows(|_| {}, "1", and_then_another_value));
}

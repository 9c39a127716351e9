//! What the recorded order shows of values and their sources, in every data mode.

use crate::{Data, EventId, Op, Results, TraceBuilder, Value, observe, validate, validate_meanwhile};

#[test]
fn symbolic_values_follow_from_expressions() {
    let mut b = TraceBuilder::new(Data::Symbolic);
    b.int_var("x", 3);
    b.read(1, "x", "r");
    b.write(2, "x", "8");
    b.rmw(1, "x", "s", "(+ r s)");
    b.read(2, "x", "q");
    let (_, observed) = b.finish().expect("an execution");
    let values = |event| (observed.read(EventId(event)).cloned(), observed.written(EventId(event)).cloned());
    assert_eq!(values(0), (Some(Value::int(3)), None));
    assert_eq!(values(1), (None, Some(Value::int(8))));
    assert_eq!(values(2), (Some(Value::int(8)), Some(Value::int(11))));
    assert_eq!(values(3), (Some(Value::int(11)), None));
    let sources: Vec<_> = (0..4).map(|event| observed.source(EventId(event))).collect();
    assert_eq!(sources, [None, None, Some(EventId(1)), Some(EventId(2))]);
}

#[test]
fn a_write_reads_nothing() {
    let mut b = TraceBuilder::new(Data::Symbolic);
    b.int_var("x", 3);
    b.write(1, "x", "4");
    b.write(2, "x", "5");
    let (_, observed) = b.finish().expect("an execution");
    let read: Vec<_> = [0, 1].map(EventId).map(|event| (observed.read(event), observed.source(event))).to_vec();
    assert_eq!(read, [(None, None), (None, None)]);
}

/// An operation gives what its `let` says in the recorded order. Where that is no execution, nobody knows what it says.
#[test]
fn an_order_that_fails_has_no_results() {
    let given_by = |last: &str| {
        let mut b = TraceBuilder::new(Data::Symbolic);
        b.int_var("n", 0);
        b.call(1, "get");
        b.read(1, "n", "a");
        b.set(1, "result", "(+ a 1)");
        b.ret(1, "get"); // 3
        b.read_if(1, "n", "b", last);
        let mut trace = b.build().expect("names and sorts are right");
        let one = trace.names.intern("1");
        let Op::Return { value, .. } = &mut trace.events[3].op else { panic!("a return") };
        *value = Some(one);
        Results::new(&trace).given_by(EventId(3))
    };
    assert_eq!(given_by("(= b 0)"), Some(EventId(2)));
    assert_eq!(given_by("(= b 5)"), None);
}

#[test]
fn concrete_values_are_those_recorded() {
    let mut b = TraceBuilder::new(Data::Concrete);
    b.int_var("x", 3);
    b.put(1, "x", Some(Value::int(5)));
    b.swapped(2, "x", Some((Value::int(5), Value::int(6))));
    b.saw(1, "x", Some(Value::int(6)));
    let (_, observed) = b.finish().expect("an execution");
    assert_eq!(observed.written(EventId(0)), Some(&Value::int(5)));
    assert_eq!(observed.read(EventId(1)), Some(&Value::int(5)));
    assert_eq!(observed.written(EventId(1)), Some(&Value::int(6)));
    assert_eq!((observed.read(EventId(2)), observed.source(EventId(2))), (Some(&Value::int(6)), Some(EventId(1))));
}

#[test]
fn a_concrete_value_that_does_not_follow_is_an_error() {
    let mut b = TraceBuilder::new(Data::Concrete);
    b.int_var("x", 3);
    b.put(1, "x", Some(Value::int(5)));
    b.saw(2, "x", Some(Value::int(3)));
    let error = observe(&b.build().expect("names are right")).expect_err("no execution");
    let message = "event 1: found the recorded value 3, expected 5, which it reads (x) in the recorded order";
    assert_eq!(error.to_string(), message);
}

#[test]
fn a_concrete_guard_is_evaluated() {
    let mut b = TraceBuilder::new(Data::Concrete);
    b.int_var("x", 3);
    b.read_if(1, "x", "r", "(= r 4)").value(Value::int(3));
    let error = observe(&b.build().expect("names are right")).expect_err("no execution");
    assert_eq!(error.to_string(), "event 0: found the guard `(= r 4)` false with r = 3, expected it true");
}

#[test]
fn without_data_only_sources_are_known() {
    let mut b = TraceBuilder::new(Data::None);
    b.saw(1, "x", None);
    b.put(1, "x", None);
    b.saw(2, "x", None);
    b.swapped(2, "x", None);
    b.saw(1, "x", None);
    let (_, observed) = b.finish().expect("an execution");
    assert!((0..5).all(|event| observed.read(EventId(event)).is_none() && observed.written(EventId(event)).is_none()));
    let sources: Vec<_> = (0..5).map(|event| observed.source(EventId(event))).collect();
    assert_eq!(sources, [None, None, Some(EventId(1)), Some(EventId(1)), Some(EventId(3))]);
}

#[test]
fn checked_side_by_side_as_one_after_the_other() {
    let check = |fill: fn(&mut TraceBuilder)| {
        let mut b = TraceBuilder::new(Data::Symbolic);
        b.int_var("x", 3);
        b.read(1, "x", "r");
        fill(&mut b);
        assert_eq!(validate_meanwhile(b.trace(), || ()), validate(b.trace()));
        validate(b.trace()).map_err(|invalid| invalid.to_string())
    };
    assert_eq!(check(|b| _ = b.write(1, "x", "(+ r 1)")), Ok(()));
    assert!(check(|b| _ = b.assume(1, "(= r 4)")).unwrap_err().contains("event 1"));
    assert!(check(|b| _ = b.end(1)).unwrap_err().contains("`end`"));
}

//! Which candidates known orders refute.

use super::Orders;
use foretrace_solve::KnownOrder;
use foretrace_trace::{Data, EventId, Trace, TraceBuilder, Triple};

/// Two threads that write a variable in turn, one event of the first, then one of the second.
fn in_turn() -> Trace {
    let mut builder = TraceBuilder::new(Data::Symbolic);
    builder.int_var("x", 0);
    for round in 0..4 {
        builder.write(1, "x", &round.to_string());
        builder.write(2, "x", &round.to_string());
    }
    builder.finish().expect("a valid trace").0
}

fn triple(first: usize, remote: usize, second: usize) -> Triple {
    let [first, remote, second] = [first, remote, second].map(EventId::from_index);
    Triple { first, remote, second }
}

fn order(earlier: usize, later: usize, rests_on_pin: bool) -> KnownOrder {
    let [earlier, later] = [earlier, later].map(EventId::from_index);
    KnownOrder { earlier, later, rests_on_pin }
}

#[test]
fn an_order_refutes_what_is_beyond_it() {
    let trace = in_turn();
    let mut orders = Orders::default();
    assert!(orders.add(&trace, order(3, 4, false)) && !orders.add(&trace, order(3, 4, false)));
    // Remote, the same or earlier, comes before first, the same or later.
    assert_eq!(orders.refutes(&trace, triple(4, 3, 6)), Some(false));
    assert_eq!(orders.refutes(&trace, triple(4, 1, 6)), Some(false));
    assert_eq!(orders.refutes(&trace, triple(6, 3, 6)), Some(false));
    // Second, the same or earlier, comes before remote, the same or later.
    assert_eq!(orders.refutes(&trace, triple(1, 4, 3)), Some(false));
    assert_eq!(orders.refutes(&trace, triple(1, 6, 3)), Some(false));
}

#[test]
fn an_order_refutes_nothing_else() {
    let trace = in_turn();
    let mut orders = Orders::default();
    orders.add(&trace, order(3, 4, false));
    assert_eq!(orders.refutes(&trace, triple(4, 5, 6)), None, "remote is later than the order says");
    assert_eq!(orders.refutes(&trace, triple(2, 3, 6)), None, "first is earlier than the order says");
    assert_eq!(orders.refutes(&trace, triple(1, 4, 5)), None, "second is later than the order says");
    assert_eq!(orders.refutes(&trace, triple(1, 2, 3)), None, "remote is earlier than the order says");
    assert_eq!(orders.refutes(&trace, triple(3, 4, 5)), None, "remote may come between");
}

#[test]
fn a_refutation_rests_on_pins_where_every_order_does_that_says_it() {
    let trace = in_turn();
    let mut orders = Orders::default();
    orders.add(&trace, order(3, 4, true));
    assert_eq!(orders.refutes(&trace, triple(4, 1, 6)), Some(true));
    orders.add(&trace, order(1, 4, false));
    assert_eq!(orders.refutes(&trace, triple(4, 1, 6)), Some(false));
    assert_eq!(orders.refutes(&trace, triple(4, 3, 6)), Some(true));
}

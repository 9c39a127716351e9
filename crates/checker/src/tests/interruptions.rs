//! Which interruptions of a pair the checker takes, each with twins that it refuses, and what the oracle says of them.

use crate::oracle::Oracle;
use crate::{CheckError, Checker, Interruption};
use foretrace_trace::{
    Atomic, Data, EventId, Feasibility, Independence, Model, Observed, Question, Trace, TraceBuilder, Triple,
};

fn triple(first: u32, remote: u32, second: u32) -> Triple {
    Triple { first: EventId(first), remote: EventId(remote), second: EventId(second) }
}

/// Thread 1 reads and writes x in a transaction. Thread 2 writes it, thread 3 writes y.
fn interrupted(written: &str) -> (Trace, Observed) {
    let mut b = TraceBuilder::new(Data::Symbolic);
    b.int_var("x", 0).int_var("y", 0);
    b.begin(1); // 0
    b.read(1, "x", "r");
    b.write(1, "x", "(+ r 1)"); // 2
    b.end(1);
    b.write(2, "x", written); // 4
    b.write(3, "y", "1");
    b.finish().expect("an execution")
}

fn checked(
    (trace, observed): &(Trace, Observed),
    independence: Independence,
    triple: Triple,
    schedule: &[u32],
) -> Result<(), CheckError> {
    let question = Question { model: Model::Ctp, feasibility: Feasibility::Prefix, independence };
    let transactions = Atomic::Marked.transactions(trace);
    let schedule: Vec<EventId> = schedule.iter().copied().map(EventId).collect();
    Checker::new(trace, observed, &transactions, question)?.check(Interruption(triple), &schedule).map(drop)
}

#[test]
fn an_interruption_ends_with_remote_between_first_and_second() {
    let case = interrupted("7");
    let check = |schedule: &[u32]| checked(&case, Independence::Conflict, triple(1, 4, 2), schedule);
    assert_eq!(check(&[0, 1, 4]), Ok(()));
    assert_eq!(check(&[5, 0, 1, 4]), Ok(()));
    assert_eq!(check(&[0, 1, 2, 4]), Err(CheckError::TooFar(EventId(2))));
    assert_eq!(check(&[0, 4, 1]), Err(CheckError::Order(triple(1, 4, 2))));
    assert_eq!(check(&[0, 1]), Err(CheckError::Missing(EventId(4))));
    assert_eq!(check(&[0, 1, 4, 5]), Err(CheckError::GoesOn { last: EventId(4), events: 1 }));
    assert!(matches!(check(&[1, 0, 4]), Err(CheckError::Step(_))));
    let no_candidate = checked(&case, Independence::Conflict, triple(1, 5, 2), &[0, 1, 5]);
    assert!(matches!(no_candidate, Err(CheckError::NoCandidate { .. })), "{no_candidate:?}");
}

#[test]
fn an_interruption_that_changes_nothing_is_none_under_guarded_independence() {
    let of = |written: &str, independence| checked(&interrupted(written), independence, triple(1, 4, 2), &[0, 1, 4]);
    assert_eq!(of("7", Independence::Guarded), Ok(()));
    assert_eq!(of("0", Independence::Guarded), Err(CheckError::Independent(triple(1, 4, 2))), "0 read, 0 written");
    assert_eq!(of("0", Independence::Conflict), Ok(()));
}

/// An rmw counts as a read and as a write. One of the two is enough: 3 read and 3 written are the same, 5 and 3 written are not.
#[test]
fn one_pattern_that_depends_is_enough() {
    let mut b = TraceBuilder::new(Data::Symbolic);
    b.int_var("x", 3);
    b.begin(1); // 0
    b.rmw(1, "x", "a", "(+ a 2)");
    b.read(1, "x", "r"); // 2
    b.write(2, "x", "3");
    let case = b.finish().expect("an execution");
    assert_eq!(checked(&case, Independence::Guarded, triple(1, 3, 2), &[0, 1, 3]), Ok(()));
}

/// Second may not be in the prefix: where remote comes only after second, there is no interruption.
#[test]
fn the_oracle_knows_no_interruption_after_second() {
    let interruption = |is_forked_between: bool| {
        let mut b = TraceBuilder::new(Data::Symbolic);
        b.int_var("x", 0);
        b.begin(1); // 0
        b.write(1, "x", "1");
        if is_forked_between {
            b.fork(1, 2); // 2
        }
        let second = b.write(1, "x", "2").id();
        b.end(1);
        if !is_forked_between {
            b.fork(1, 2);
        }
        let remote = b.write(2, "x", "3").id();
        let (trace, observed) = b.finish().expect("an execution");
        let oracle = Oracle::new(&trace, &observed, Model::Ctp).expect("the data suffices");
        oracle.interruption(Triple { first: EventId(1), remote, second }, Independence::Conflict)
    };
    assert_eq!(interruption(true), Some([0, 1, 2, 5].map(EventId).to_vec()));
    assert_eq!(interruption(false), None);
}

//! Which other ways at branches the checker takes, each with a twin that it refuses.

use crate::{CheckError, Checker, OtherWay, Witness};
use foretrace_trace::{Data, EventId, Feasibility, Independence, Model, Observed, Question, Trace, TraceBuilder};

/// Thread 1 adds two numbers and takes a branch by the sum, then one by the second number; thread 2 makes the numbers larger.
fn summed() -> (Trace, Observed) {
    let mut b = TraceBuilder::new(Data::Symbolic);
    b.int_var("x", 1);
    b.int_var("y", 1);
    b.assume(1, "true"); // 0
    b.read(1, "x", "a"); // 1
    b.read(1, "y", "b"); // 2
    b.assume(1, "(<= (+ a b) 5)"); // 3
    b.assume(1, "(<= b 5)"); // 4
    b.write(2, "x", "5"); // 5
    b.write(2, "y", "9"); // 6
    b.finish().expect("an execution")
}

fn checked_in(model: Model, branch: u32, schedule: &[u32]) -> Result<Witness<OtherWay>, CheckError> {
    let (trace, observed) = summed();
    let schedule: Vec<EventId> = schedule.iter().copied().map(EventId).collect();
    let (feasibility, independence) = (Feasibility::Prefix, Independence::Conflict);
    let checker = Checker::new(&trace, &observed, &[], Question { model, feasibility, independence })?;
    checker.check(OtherWay { branch: EventId(branch) }, &schedule)
}

fn checked(branch: u32, schedule: &[u32]) -> Result<Witness<OtherWay>, CheckError> {
    checked_in(Model::Ctp, branch, schedule)
}

#[test]
fn a_schedule_with_other_values_leads_another_way() {
    for schedule in [&[5, 0, 1, 2][..], &[0, 5, 6, 1, 2], &[0, 1, 5, 6, 2]] {
        assert!(checked(3, schedule).is_ok(), "{schedule:?}");
    }
}

#[test]
fn what_goes_the_recorded_way_or_is_no_branch_is_refused() {
    let not_false = |branch| Some(CheckError::NotFalse(EventId(branch)));
    assert_eq!(checked(3, &[0, 1, 2]).err(), not_false(3), "the recorded values");
    assert_eq!(checked(3, &[0, 1, 2, 5, 6]).err(), Some(CheckError::GoesOn { last: EventId(2), events: 2 }));
    assert_eq!(checked(3, &[0, 1]).err(), Some(CheckError::Missing(EventId(2))), "not yet there");
    assert!(matches!(checked(4, &[0, 5, 6, 1, 2, 3]).err(), Some(CheckError::Step(_))), "another branch comes before");
    assert_eq!(checked(0, &[]).err(), Some(CheckError::NoBranch(EventId(0))), "nothing is before it");
    assert_eq!(checked(2, &[0, 1]).err(), Some(CheckError::NoBranch(EventId(2))), "a read");
    assert_eq!(checked(9, &[0, 1]).err(), Some(CheckError::NoBranch(EventId(9))), "no event");
    assert_eq!(checked_in(Model::Cam, 3, &[5, 0, 1, 2]).err(), not_false(3), "a model without values");
}

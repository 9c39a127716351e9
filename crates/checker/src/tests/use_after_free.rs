//! Which uses after free the checker takes, each with a twin that it refuses.

use crate::{CheckError, Checker, UseAfterFree, Witness};
use foretrace_trace::{Data, EventId, Feasibility, Independence, Model, Observed, Question, Trace, TraceBuilder};

const QUESTION: Question =
    Question { model: Model::Ctp, feasibility: Feasibility::Prefix, independence: Independence::Conflict };

/// Threads 1 and 3 read x, thread 1 also y; thread 2 frees x and reads y.
fn freed() -> (Trace, Observed) {
    let mut b = TraceBuilder::new(Data::Symbolic);
    b.int_var("x", 0);
    b.int_var("y", 0);
    b.read(1, "x", "r"); // 0
    b.read(1, "x", "s"); // 1
    b.read(1, "y", "t"); // 2
    b.read(3, "x", "u"); // 3
    b.free(2, &["x"]); // 4
    b.read(2, "x", "v"); // 5
    b.finish().expect("an execution")
}

fn checked(free: u32, access: u32, schedule: &[u32]) -> Result<Witness<UseAfterFree>, CheckError> {
    let (trace, observed) = freed();
    let schedule: Vec<EventId> = schedule.iter().copied().map(EventId).collect();
    let claim = UseAfterFree { free: EventId(free), access: EventId(access) };
    Checker::new(&trace, &observed, &[], QUESTION)?.check(claim, &schedule)
}

#[test]
fn a_schedule_that_ends_with_the_first_use_by_another_thread_shows_it() {
    for schedule in [&[4, 0][..], &[4, 5, 0]] {
        let witness = checked(4, 0, schedule).expect("it shows it");
        assert_eq!(witness.run().uses_after_free.last(), Some(&EventId(0)));
    }
    assert!(checked(4, 1, &[0, 4, 1]).is_ok(), "the use before the free is none");
}

#[test]
fn what_is_no_use_after_free_is_refused() {
    let (free, access) = (EventId(4), EventId(1));
    let of = |access| Some(CheckError::NoUseAfterFree { free, access: EventId(access) });
    assert_eq!(checked(4, 2, &[4, 0, 1, 2]).err(), of(2), "another variable");
    assert_eq!(checked(4, 5, &[4, 5]).err(), of(5), "by the thread that frees it");
    assert_eq!(checked(4, 9, &[4]).err(), of(9), "no event of the trace");
    let none = Some(CheckError::NoUseAfterFree { free: EventId(0), access: EventId(3) });
    assert_eq!(checked(0, 3, &[0, 3]).err(), none, "no free");
    assert_eq!(checked(4, 1, &[0, 1, 4]).err(), Some(CheckError::NotFreedBefore { free, access }));
    assert_eq!(checked(4, 1, &[0, 4]).err(), Some(CheckError::Missing(access)));
    assert_eq!(checked(4, 1, &[0, 4, 1, 2]).err(), Some(CheckError::GoesOn { last: access, events: 1 }));
    let before = Some(CheckError::UsedBefore { access, other: EventId(0) });
    assert_eq!(checked(4, 1, &[4, 0, 1]).err(), before, "what it read there is of no meaning");
    assert!(matches!(checked(4, 1, &[4, 1]).err(), Some(CheckError::Step(_))), "no prefix");
}

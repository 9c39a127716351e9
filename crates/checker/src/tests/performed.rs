//! Which claims about the operations of a schedule the checker takes, each with a twin that it refuses.

use crate::{CheckError, Checker, PerformedOperations, PerformedStep};
use foretrace_trace::{
    Data, EventId, Feasibility, Independence, Model, NameId, Observed, Op, Question, Trace, TraceBuilder, observe,
};

/// Two increments, one after the other; each gives what it wrote. Thread 2's events are 5 to 9.
fn counter() -> (Trace, Observed) {
    let mut b = TraceBuilder::new(Data::Symbolic);
    b.int_var("n", 0);
    for thread in [1, 2] {
        b.call(thread, "inc");
        b.read(thread, "n", "a");
        b.write(thread, "n", "(+ a 1)");
        b.set(thread, "result", "(+ a 1)");
        b.ret(thread, "inc");
    }
    let mut trace = b.build().expect("names and sorts are right");
    for (event, given) in [(4, "1"), (9, "2")] {
        let name: NameId = trace.names.intern(given);
        let Op::Return { value, .. } = &mut trace.events[event].op else { panic!("a return") };
        *value = Some(name);
    }
    let observed = observe(&trace).expect("an execution");
    (trace, observed)
}

fn step(event: u32, result: Option<&str>, given_by: Option<u32>) -> PerformedStep {
    PerformedStep { event: EventId(event), result: result.map(str::to_string), given_by: given_by.map(EventId) }
}

fn checked(model: Model, steps: &[PerformedStep], schedule: &[u32]) -> Result<(), CheckError> {
    let (trace, observed) = counter();
    let question = Question { model, feasibility: Feasibility::Prefix, independence: Independence::Conflict };
    let schedule: Vec<EventId> = schedule.iter().copied().map(EventId).collect();
    let claim = PerformedOperations { steps: steps.to_vec() };
    Checker::new(&trace, &observed, &[], question)?.check(claim, &schedule).map(drop)
}

#[test]
fn results_are_those_of_the_schedule() {
    let both = [0, 5, 1, 6, 2, 7, 3, 8, 4, 9];
    let lost = [step(0, None, None), step(5, None, None), step(4, Some("1"), Some(3)), step(9, Some("1"), Some(8))];
    assert_eq!(checked(Model::Ctp, &lost, &both), Ok(()));
    let as_recorded = [lost[0].clone(), lost[1].clone(), lost[2].clone(), step(9, Some("2"), Some(8))];
    assert_eq!(checked(Model::Ctp, &as_recorded, &both), Err(CheckError::NotPerformed(EventId(9))));
    let serial = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
    let in_turn = [lost[0].clone(), lost[2].clone(), lost[1].clone(), as_recorded[3].clone()];
    for model in [Model::Ctp, Model::Mcm, Model::Avp] {
        assert_eq!(checked(model, &in_turn, &serial), Ok(()), "{model}");
    }
    assert!(matches!(checked(Model::Mcm, &lost, &both), Err(CheckError::Step(_))), "a read returns something else");
    assert_eq!(checked(Model::Cam, &in_turn, &serial), Err(CheckError::NoResults(Model::Cam)));
}

#[test]
fn the_claim_holds_every_call_and_return_in_order_and_ends_with_the_last() {
    let (call, ret) = (step(0, None, None), step(4, Some("1"), Some(3)));
    let schedule = [0, 1, 2, 3, 4];
    assert_eq!(checked(Model::Ctp, &[call.clone(), ret.clone()], &schedule), Ok(()));
    let differs = |event: u32| Err(CheckError::NotPerformed(EventId(event)));
    assert_eq!(checked(Model::Ctp, &[ret.clone(), call.clone()], &schedule), differs(0));
    assert_eq!(checked(Model::Ctp, std::slice::from_ref(&call), &schedule), differs(4));
    assert_eq!(checked(Model::Ctp, &[call.clone(), ret.clone(), step(5, None, None)], &schedule), differs(5));
    assert_eq!(checked(Model::Ctp, &[call.clone(), step(4, Some("1"), None)], &schedule), differs(4));
    assert_eq!(checked(Model::Ctp, &[call.clone(), step(4, None, Some(3))], &schedule), differs(4));
    let goes_on = CheckError::GoesOn { last: EventId(0), events: 1 };
    assert_eq!(checked(Model::Ctp, &[call], &[0, 1]), Err(goes_on));
}

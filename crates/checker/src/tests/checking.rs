//! What the checker refuses, and what a witness tells.

use crate::{CheckError, Checker, Witness, check, run_schedule};
use foretrace_trace::{
    Atomic, Data, EventId, Feasibility, Independence, Model, Observed, Pattern, Question, SyncKind, Trace,
    TraceBuilder, Triple, Value,
};

const CTP_PREFIX: Question =
    Question { model: Model::Ctp, feasibility: Feasibility::Prefix, independence: Independence::Conflict };

fn ids(events: &[u32]) -> Vec<EventId> {
    events.iter().copied().map(EventId).collect()
}

fn triple(first: u32, remote: u32, second: u32) -> Triple {
    Triple { first: EventId(first), remote: EventId(remote), second: EventId(second) }
}

fn judged(
    (trace, observed): &(Trace, Observed),
    question: Question,
    triple: Triple,
    schedule: &[u32],
) -> Result<Witness, CheckError> {
    check(trace, observed, &Atomic::Marked.transactions(trace), question, triple, &ids(schedule))
}

/// The message with which a schedule for (1, 5, 2) of [`increments`] is refused.
fn refusal(question: Question, schedule: &[u32]) -> String {
    judged(&increments(), question, triple(1, 5, 2), schedule).expect_err("refused").to_string()
}

/// Thread 1 increments x in a transaction, thread 2 turns it into 9 where it is not negative.
fn increments() -> (Trace, Observed) {
    let mut b = TraceBuilder::new(Data::Symbolic);
    b.int_var("x", 0);
    b.begin(1); // 0
    b.read(1, "x", "r");
    b.write(1, "x", "(+ r 1)"); // 2
    b.end(1);
    b.read(2, "x", "q"); // 4
    b.write_if(2, "x", "9", "(>= q 0)");
    b.finish().expect("an execution")
}

#[test]
fn a_witness_has_the_values_of_its_own_order() {
    let case = increments();
    let witness = judged(&case, CTP_PREFIX, triple(1, 5, 2), &[0, 4, 1, 5, 2]).expect("a violation");
    assert_eq!((*witness.claim(), witness.pattern()), (triple(1, 5, 2), Pattern::Rww));
    assert_eq!(witness.schedule(), ids(&[0, 4, 1, 5, 2]));
    let steps = witness.run().steps(&case.0);
    let values: Vec<_> = steps.into_iter().map(|step| (step.read, step.written)).collect();
    let int = |value: i64| Some(Value::int(value));
    assert_eq!(values, [(None, None), (int(0), None), (int(0), None), (None, int(9)), (None, int(1))]);
    assert_eq!(witness.guarded_dependent(), Some(true)); // 0 ≠ 9, 9 ≠ 1
    assert!(!witness.run().complete && !witness.run().passes_external);
}

#[test]
fn the_same_schedule_may_pass_in_one_model_and_fail_in_another() {
    let cam = Question { model: Model::Cam, ..CTP_PREFIX };
    let case = increments();
    let witness = judged(&case, cam, triple(1, 5, 2), &[0, 4, 1, 5, 2]).expect("a violation");
    assert_eq!(witness.guarded_dependent(), None);
    assert!(witness.run().steps(&case.0).iter().all(|step| step.read.is_none() && step.written.is_none()));
    let stopped = "step 3, event 5: found that thread 2 stopped at a read that returned another value or write than \
                   recorded, expected no further event of that thread";
    for model in [Model::Mcm, Model::Avp] {
        assert_eq!(refusal(Question { model, ..CTP_PREFIX }, &[0, 4, 1, 5, 2]), stopped);
    }
}

#[test]
fn schedules_of_the_wrong_shape_are_refused() {
    assert_eq!(refusal(CTP_PREFIX, &[0, 1, 4, 5]), "the schedule has no event 2");
    assert_eq!(refusal(CTP_PREFIX, &[0, 1, 2, 4, 5]), "the events of (1, 5, 2) do not come in this order");
    assert_eq!(refusal(CTP_PREFIX, &[0, 1, 4, 5, 2, 3]), "the schedule goes on after event 2, with 1 more");
    let complete = Question { feasibility: Feasibility::Complete, ..CTP_PREFIX };
    assert_eq!(refusal(complete, &[0, 1, 4, 5, 2]), "the schedule has 5 of 6 events");
    assert!(judged(&increments(), complete, triple(1, 5, 2), &[0, 1, 4, 5, 2, 3]).is_ok());
}

#[test]
fn schedules_with_too_many_switches_are_refused() {
    let (trace, observed) = increments();
    let transactions = Atomic::Marked.transactions(&trace);
    let check = |most: u32| {
        let checker = Checker::new(&trace, &observed, &transactions, CTP_PREFIX).expect("the data suffices");
        checker.within(Some(most)).check(triple(1, 5, 2), &ids(&[0, 1, 4, 5, 2])).map(drop)
    };
    assert_eq!(check(2), Ok(()));
    let expected = CheckError::ContextSwitches { first: EventId(1), last: EventId(2), found: 2, most: 1 };
    assert_eq!(check(1), Err(expected));
}

#[test]
fn schedules_that_are_no_prefix_are_refused() {
    let order = "step 0, event 1: found an event out of order, expected event 0, the next of thread 1";
    assert_eq!(refusal(CTP_PREFIX, &[1, 0, 4, 5, 2]), order);
    let again = "step 2, event 1: found an event that was done before, expected event 2, the next of thread 1";
    assert_eq!(refusal(CTP_PREFIX, &[0, 1, 1, 4, 5, 2]), again);
    let unknown = "step 1, event 77: found an event that the trace does not have, expected an index below 6";
    assert_eq!(refusal(CTP_PREFIX, &[0, 77, 1, 4, 5, 2]), unknown);
}

#[test]
fn questions_that_the_trace_cannot_answer_are_refused() {
    let mut b = TraceBuilder::new(Data::None);
    b.begin(1);
    b.saw(1, "x", None);
    b.put(1, "x", None);
    b.put(2, "x", None);
    let case = b.finish().expect("an execution");
    let ask = |question| judged(&case, question, triple(1, 3, 2), &[0, 1, 3, 2]).map_err(|error| error.to_string());
    assert_eq!(ask(CTP_PREFIX).err().as_deref(), Some("model ctp needs a trace with symbolic data, found no"));
    let mcm = Question { model: Model::Mcm, ..CTP_PREFIX };
    assert_eq!(ask(mcm).err().as_deref(), Some("model mcm needs a trace with concrete data, found no"));
    let avp = Question { model: Model::Avp, ..CTP_PREFIX };
    assert_eq!(ask(avp).map(|witness| witness.guarded_dependent()), Ok(None));
    let guarded = Question { independence: Independence::Guarded, ..avp };
    let message = "guarded independence needs a model with values (ctp or mcm), found avp";
    assert_eq!(ask(guarded).err().as_deref(), Some(message));
    assert!(matches!(judged(&case, avp, triple(1, 2, 3), &[0, 1, 3, 2]), Err(CheckError::NoCandidate { .. })));
}

#[test]
fn equal_values_are_no_violation_under_guarded_independence() {
    let mut b = TraceBuilder::new(Data::Symbolic);
    b.int_var("x", 3);
    b.begin(1);
    b.read(1, "x", "r");
    b.read(1, "x", "s");
    b.write(2, "x", "3");
    b.write(2, "x", "4");
    let case = b.finish().expect("an execution");
    let guarded = Question { independence: Independence::Guarded, ..CTP_PREFIX };
    let error = judged(&case, guarded, triple(1, 3, 2), &[0, 1, 3, 2]).expect_err("3 read, 3 written");
    assert_eq!(error.to_string(), "the accesses of (1, 3, 2) are independent with the values of the schedule");
    let conflict = judged(&case, CTP_PREFIX, triple(1, 3, 2), &[0, 1, 3, 2]).expect("a violation");
    assert_eq!(conflict.guarded_dependent(), Some(false));
    // R-W-R: 3 ≠ 4 for first and remote, and 4 ≠ 3, what the last write found.
    let witness = judged(&case, guarded, triple(1, 4, 2), &[0, 1, 3, 4, 2]).expect("a violation");
    assert_eq!(witness.guarded_dependent(), Some(true));
}

#[test]
fn avp_witnesses_have_values_where_the_trace_has() {
    let mut b = TraceBuilder::new(Data::Concrete);
    b.int_var("x", 3);
    b.begin(1);
    b.saw(1, "x", Some(Value::int(3)));
    b.saw(1, "x", Some(Value::int(3)));
    b.put(2, "x", Some(Value::int(4)));
    let case = b.finish().expect("an execution");
    let avp = Question { model: Model::Avp, ..CTP_PREFIX };
    let witness = judged(&case, avp, triple(1, 3, 2), &[0, 1, 3, 2]).expect("a violation");
    assert_eq!(witness.guarded_dependent(), Some(true));
    assert_eq!(witness.run().steps(&case.0)[3].read, Some(Value::int(4)));
}

#[test]
fn uses_after_free_and_external_writes_are_told() {
    let mut b = TraceBuilder::new(Data::Symbolic);
    b.int_var("x", 0);
    b.begin(1); // 0
    b.read(1, "x", "r");
    b.write(1, "x", "(+ r 1)"); // 2
    b.write(2, "x", "5"); // 3
    b.write(2, "x", "6").external();
    b.free(2, &["x"]); // 5
    let case = b.finish().expect("an execution");
    let witness = judged(&case, CTP_PREFIX, triple(1, 3, 2), &[0, 1, 3, 4, 5, 2]).expect("a violation");
    assert_eq!(witness.run().uses_after_free, ids(&[2]));
    assert!(witness.run().passes_external);
    let witness = judged(&case, CTP_PREFIX, triple(1, 3, 2), &[0, 1, 3, 2]).expect("a violation");
    assert_eq!(witness.run().uses_after_free, ids(&[]));
    assert!(!witness.run().passes_external);
}

#[test]
fn a_schedule_alone_is_run_and_described() {
    let (trace, observed) = increments();
    let run = run_schedule(&trace, &observed, Model::Ctp, &ids(&[4, 5, 0, 1, 2, 3])).expect("a prefix");
    assert!(run.complete);
    assert_eq!(run.steps(&trace)[4].written, Some(Value::int(10)));
    let error = run_schedule(&trace, &observed, Model::Ctp, &ids(&[5])).expect_err("out of order");
    assert_eq!(
        error.to_string(),
        "step 0, event 5: found an event out of order, expected event 4, the next of thread 2"
    );
    let none = run_schedule(&trace, &observed, Model::Cam, &[]).expect("the empty prefix");
    assert!(none.schedule().is_empty() && !none.complete);
}

#[test]
fn a_guard_that_fails_is_shown_with_the_values_of_the_schedule() {
    let mut b = TraceBuilder::new(Data::Symbolic);
    b.sync("m", SyncKind::Mutex { recursive: false }).int_var("x", 1);
    b.read(1, "x", "r");
    b.assume(1, "(> r 0)");
    b.write(2, "x", "(- 4)");
    let (trace, observed) = b.finish().expect("an execution");
    let error = run_schedule(&trace, &observed, Model::Ctp, &ids(&[2, 0, 1])).expect_err("the assumption fails");
    let message = "step 2, event 1: found the assumption `(> r 0)` false with r = -4, expected it true";
    assert_eq!(error.to_string(), message);
    assert!(run_schedule(&trace, &observed, Model::Cam, &ids(&[2, 0, 1])).is_ok());
}

#[test]
fn an_order_that_matters_only_to_both_is_told_where_both_come() {
    let mut b = TraceBuilder::new(Data::Symbolic);
    b.int_var("x", 0);
    b.begin(1);
    b.read(1, "x", "r"); // 1
    b.unseen_if_both(1, "look", "clocks");
    b.write(1, "x", "(+ r 1)"); // 3
    b.end(1);
    b.unseen_if_both(2, "look", "clocks"); // 5
    b.write(2, "x", "7"); // 6
    b.unseen_if_both(2, "look", "clocks");
    let case = b.finish().expect("an execution");
    let resting = |schedule: &[u32]| {
        let witness = judged(&case, CTP_PREFIX, triple(1, 6, 3), schedule).expect("a violation");
        witness.run().unseen.map(|unseen| (unseen.event.0, unseen.after.0))
    };
    assert_eq!(resting(&[0, 1, 2, 5, 6, 3]), None, "as in the run");
    assert_eq!(resting(&[0, 1, 5, 6, 2, 3]), Some((5, 2)));
    let alone = |schedule: &[u32]| run_schedule(&case.0, &case.1, Model::Ctp, &ids(schedule)).expect("it runs").unseen;
    assert_eq!(alone(&[5, 6, 7]), None, "the other does not look");
}

#[test]
fn an_order_that_unseen_code_may_ask_for_is_told() {
    let mut b = TraceBuilder::new(Data::Symbolic);
    b.int_var("x", 0);
    b.unseen(1, "flock", "a.lock"); // 0
    b.begin(1);
    b.read(1, "x", "r"); // 2
    b.write(1, "x", "(+ r 1)");
    b.end(1);
    b.unseen(1, "flock", "a.lock"); // 5
    b.unseen(2, "flock", "a.lock");
    b.write(2, "x", "7"); // 7
    b.unseen(3, "flock", "b.lock");
    b.write(3, "x", "8"); // 9
    b.unseen(4, "assembly", "");
    b.write(4, "x", "9"); // 11
    let case = b.finish().expect("an execution");
    let resting = |remote: u32, before: &[u32]| {
        let schedule = [&[0, 1, 2], before, &[remote, 3]].concat();
        let witness = judged(&case, CTP_PREFIX, triple(2, remote, 3), &schedule).expect("a violation");
        witness.run().unseen.map(|unseen| (unseen.event.0, unseen.after.0))
    };
    assert_eq!(resting(7, &[6]), Some((6, 5))); // the lock is not given back yet
    assert_eq!(resting(9, &[8]), None); // another object
    assert_eq!(resting(11, &[10]), Some((10, 5))); // may wait for anything
    let (trace, observed) = &case;
    let unseen = |schedule: &[u32]| {
        let run = run_schedule(trace, observed, Model::Ctp, &ids(schedule)).expect("a prefix");
        run.unseen.map(|unseen| (unseen.event.0, unseen.after.0))
    };
    assert_eq!(unseen(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]), None); // as recorded
    assert_eq!(unseen(&[0, 1, 2, 3, 4, 5, 6]), None);
    assert_eq!(unseen(&[6]), Some((6, 5))); // the other has not begun
}

/// The steps of a run have the values of the run, whether those are the ones of the trace or not.
#[test]
fn steps_have_the_values_of_their_run() {
    let mut b = TraceBuilder::new(Data::Concrete);
    b.int_var("x", 3).int_var("y", 0);
    b.put(1, "x", Some(Value::int(5))); // 0
    b.swapped(2, "x", Some((Value::int(5), Value::int(6))));
    b.put(3, "y", Some(Value::int(1))); // 2
    b.saw(1, "x", Some(Value::int(6)));
    let (trace, observed) = b.finish().expect("an execution");
    let int = |value: i64| Some(Value::int(value));
    let values = |model: Model, schedule: &[u32]| -> Vec<_> {
        let run = run_schedule(&trace, &observed, model, &ids(schedule)).expect("a prefix");
        assert_eq!(run.schedule(), ids(schedule));
        run.steps(&trace).into_iter().map(|step| (step.event.0, step.read, step.written)).collect()
    };
    let recorded = [(0, None, int(5)), (1, int(5), int(6)), (2, None, int(1)), (3, int(6), None)];
    assert_eq!(values(Model::Mcm, &[0, 1, 2, 3]), recorded);
    // The last read of a thread may return anything.
    assert_eq!(values(Model::Mcm, &[2, 0, 3]), [(2, None, int(1)), (0, None, int(5)), (3, int(5), None)]);
    assert_eq!(values(Model::Cam, &[2, 0]), [(2, None, None), (0, None, None)]);
}

//! Early witnesses and what becomes of them.

use super::{Case, triple_of};
use crate::schedule::{context_switches, shorter, simplify};
use foretrace_checker::check;
use foretrace_encodings::TraceView;
use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_trace::{Atomic, EventId, Feasibility, Independence, Model, Question, TraceBuilder};

fn ids(events: &[u32]) -> Vec<EventId> {
    events.iter().copied().map(EventId).collect()
}

/// Two threads that each add one to x in two steps, under a lock each time: the lost update.
fn lost_update(b: &mut TraceBuilder) {
    for (thread, name) in [(2, "a"), (3, "b")] {
        b.acquire(thread, "m"); // 0, 6
        b.read(thread, "x", name); // 1, 7
        b.release(thread, "m"); // 2, 8
        b.acquire(thread, "m"); // 3, 9
        b.write(thread, "x", &format!("(+ {name} 1)")); // 4, 10
        b.release(thread, "m"); // 5, 11
    }
}

#[test]
fn a_remote_access_recorded_later_is_moved_forward() {
    // Thread 3 has to have all of its first region done before it writes.
    let schedule = Case::new(lost_update).schedule([1, 10, 4]).expect("a witness");
    let place = |event: u32| schedule.iter().position(|e| *e == event);
    assert!(place(1) < place(10) && place(10) < place(4));
    assert_eq!(schedule.last(), Some(&4));
}

#[test]
fn a_remote_access_recorded_earlier_is_held_back() {
    let case = Case::new(lost_update);
    assert!(case.schedule([7, 4, 10]).is_some());
    // In avp thread 3 goes on only if it has read from event 4.
    assert_eq!(case.model(Model::Avp).schedule([7, 4, 10]), None);
}

#[test]
fn a_whole_run_goes_on_to_the_last_event() {
    let schedule = Case::new(lost_update).complete().schedule([1, 10, 4]).expect("a witness");
    assert_eq!(schedule.len(), 12);
}

#[test]
fn what_cannot_happen_has_no_witness() {
    let case = Case::new(|b| {
        b.acquire(2, "m"); // 0
        b.read(2, "x", "a"); // 1
        b.write(2, "x", "(+ a 1)"); // 2
        b.release(2, "m"); // 3
        b.acquire(3, "m"); // 4
        b.write(3, "x", "5"); // 5
        b.release(3, "m"); // 6
    });
    assert_eq!(case.schedule([1, 5, 2]), None);
}

/// Remote's condition needs what thread 4 writes; the run waits for it rather than fail.
#[test]
fn other_threads_go_on_where_a_condition_waits() {
    let case = Case::new(|b| {
        b.write(2, "x", "1"); // 0: first
        b.write(2, "x", "2"); // 1: second
        b.write(4, "y", "1"); // 2
        b.read_if(3, "y", "f", "(= f 1)"); // 3
        b.write(3, "x", "3"); // 4: remote
    });
    assert_eq!(case.schedule([0, 4, 1]), Some(vec![0, 2, 3, 4, 1]));
}

#[test]
fn events_that_nothing_depends_on_are_dropped() {
    let case = Case::new(|b| {
        b.write(4, "z", "1"); // 0: no part of it
        b.write(2, "x", "1"); // 1: first
        b.write(4, "y", "1"); // 2: read by remote's thread
        b.write(4, "z", "2"); // 3: no part of it
        b.read(3, "y", "f"); // 4
        b.write(3, "x", "f"); // 5: remote
        b.write(2, "x", "2"); // 6: second
    });
    let triple = triple_of([1, 5, 6]);
    let short = shorter(&case.trace, Feasibility::Prefix, triple, &ids(&[0, 1, 2, 3, 4, 5, 6]));
    assert_eq!(short, ids(&[0, 1, 2, 4, 5, 6])); // 0 comes before 2 in its thread
    let whole = shorter(&case.trace, Feasibility::Complete, triple, &ids(&[0, 1, 2, 3, 4, 5, 6]));
    assert_eq!(whole.len(), 7);
}

#[test]
fn threads_run_as_long_as_they_can() {
    let case = Case::new(|b| {
        b.read(2, "y", "a"); // 0
        b.read(3, "y", "b"); // 1
        b.read(2, "z", "c"); // 2
        b.read(3, "z", "d"); // 3
        b.write(2, "x", "1"); // 4: first
        b.write(3, "x", "2"); // 5: remote
        b.write(2, "x", "3"); // 6: second
    });
    let trace_index = TraceIndex::new(&case.trace);
    let clocks = MustHappenBefore::new(&case.trace, &trace_index);
    let view = TraceView { trace: &case.trace, trace_index: &trace_index, observed: &case.observed, clocks: &clocks };
    let transactions = Atomic::Threads.transactions(&case.trace);
    let question =
        Question { model: Model::Ctp, feasibility: Feasibility::Prefix, independence: Independence::Conflict };
    let observed = ids(&[0, 1, 2, 3, 4, 5, 6]);
    let witness = check(&case.trace, &case.observed, &transactions, question, triple_of([4, 5, 6]), &observed);
    let simple = simplify(view, &transactions, question, witness.expect("the recorded order shows it"));
    assert_eq!(context_switches(&case.trace, &observed), 6);
    assert_eq!(simple.schedule(), ids(&[0, 2, 4, 1, 3, 5, 6]));
}

#[test]
fn parts_of_a_step_stay_together() {
    let case = Case::new(|b| {
        b.write(2, "x", "1"); // 0: first
        b.write(3, "y", "1"); // 1
        b.write(3, "x", "2").part(1, 2); // 2: remote
        b.write(3, "z", "2").part(2, 2); // 3
        b.write(2, "x", "3"); // 4: second
    });
    assert!(case.schedule([0, 2, 4]).is_some_and(|schedule| schedule.windows(2).any(|pair| pair == [2, 3])));
}

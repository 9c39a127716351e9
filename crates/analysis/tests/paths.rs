//! What the solver says of violation paths that random small traces seldom have: through two other threads, with orders that are known, and
//! of attempts that a compare-exchange confirms.

use foretrace_analysis::serializability::{AskedBlocks, BlockJudge, Bounds, Method, decide_blocks};
use foretrace_serializability::{Choices, Decision, Judge, Judgement};
use foretrace_trace::{Atomic, Data, Model, Observed, Trace, TraceBuilder};
use std::sync::atomic::AtomicBool;

/// Whether the only block is violated, as the solver alone says.
fn is_violated((trace, observed): &(Trace, Observed), model: Model) -> bool {
    let stop = AtomicBool::new(false);
    let bounds = Bounds { of_block: None, deadline: None, work: None, stop: &stop };
    let blocks = Atomic::Marked.blocks(trace);
    let judge = Judge::new(trace, observed, &blocks, &|_| true, Choices::new(model)).expect("fits");
    let judge = BlockJudge::new(trace, observed, judge, Method::Solve);
    let judgement = judge.decide(0, &mut judge.solver(), &bounds);
    match judgement.decision {
        Decision::Violated(_) => true,
        Decision::Holds | Decision::Proved => false,
        _ => panic!("{judgement:?}"),
    }
}

/// Thread 1 writes x and reads z in a block. Thread 2 leads from x to y, and thread 3 from y to z, if it comes to y at all.
fn through_two_threads(third_reads_y: bool) -> (Trace, Observed) {
    let mut builder = TraceBuilder::new(Data::Symbolic);
    ["x", "y", "z", "other"].iter().for_each(|var| _ = builder.int_var(var, 0));
    builder.read(3, if third_reads_y { "y" } else { "other" }, "d");
    builder.write(3, "z", "1");
    builder.begin(1);
    builder.write(1, "x", "1");
    builder.read(1, "z", "a");
    builder.end(1);
    builder.read(2, "x", "b");
    builder.write(2, "y", "1");
    builder.finish().expect("a valid trace")
}

#[test]
fn a_path_leads_through_two_threads_that_conflict() {
    for model in [Model::Cam, Model::Ctp, Model::Mcm] {
        assert_eq!(is_violated(&through_two_threads(true), model), model != Model::Mcm, "{model}");
        assert!(!is_violated(&through_two_threads(false), model), "{model}");
    }
}

/// A block forks a thread and joins it. All orders of what they access are known, so no constraint speaks of them.
fn with_all_orders_known(child_writes_x: bool) -> (Trace, Observed) {
    let mut builder = TraceBuilder::new(Data::Symbolic);
    ["x", "y"].iter().for_each(|var| _ = builder.int_var(var, 0));
    builder.begin(1);
    builder.write(1, "x", "1");
    builder.fork(1, 2);
    builder.write(2, if child_writes_x { "x" } else { "y" }, "2");
    builder.join(1, 2);
    builder.read(1, "x", "a");
    builder.end(1);
    builder.finish().expect("a valid trace")
}

#[test]
fn a_path_of_known_orders_is_found() {
    for model in [Model::Cam, Model::Ctp, Model::Mcm] {
        assert!(is_violated(&with_all_orders_known(true), model), "{model}");
        assert!(!is_violated(&with_all_orders_known(false), model), "{model}");
    }
}

/// A block reads the head of a list and what is below, and puts that in place of the head if the head is still the same. Thread 2 takes the head
/// away and changes what is below. It may put the head back.
fn pop(comes_back: bool) -> (Trace, Observed) {
    let mut builder = TraceBuilder::new(Data::Symbolic);
    builder.int_var("head", 1).int_var("below", 2);
    builder.begin(1);
    builder.read(1, "head", "h");
    builder.read(1, "below", "n");
    builder.rmw_if(1, "head", "o", "n", "(= o h)");
    builder.end(1);
    builder.rmw(2, "head", "p", "(+ p 10)");
    builder.write(2, "below", "7");
    if comes_back {
        builder.rmw(2, "head", "q", "(- q 10)");
    }
    builder.finish().expect("a valid trace")
}

/// A block reads what is below twice, and changes a head that it shares with nobody. Thread 2 changes what is below between the two.
fn own_head() -> (Trace, Observed) {
    let mut builder = TraceBuilder::new(Data::Symbolic);
    builder.int_var("head", 1).int_var("below", 2);
    builder.begin(1);
    builder.read(1, "below", "m");
    builder.read(1, "head", "h");
    builder.read(1, "below", "n");
    builder.rmw_if(1, "head", "o", "n", "(= o h)");
    builder.end(1);
    builder.write(2, "below", "7");
    builder.finish().expect("a valid trace")
}

/// What is found of the only block, by the solver as far as the recorded order does not show it.
fn judgement((trace, observed): &(Trace, Observed)) -> (bool, bool) {
    let stop = AtomicBool::new(false);
    let bounds = Bounds { of_block: None, deadline: None, work: None, stop: &stop };
    let blocks = Atomic::Marked.blocks(trace);
    let choices = Choices::new(Model::Ctp);
    let method = Method::Solve;
    let asked =
        AskedBlocks { trace, observed, blocks: &blocks, wanted: &|_| true, choices, method, observed_only: false };
    let mut found = None;
    let mut judged = |_: &Judge<'_>, judgement: Judgement, _| {
        found = Some((matches!(judgement.decision, Decision::Violated(_)), judgement.is_dropped));
        Ok(())
    };
    decide_blocks(&asked, &bounds, &mut judged).expect("no internal contradiction");
    found.expect("one block")
}

/// The block reads what is below the old head after thread 2 has changed it. That has an effect only if the compare-exchange succeeds.
#[test]
fn what_a_failed_attempt_reads_has_no_effect() {
    assert_eq!(judgement(&pop(false)), (true, true));
    assert_eq!(judgement(&pop(true)), (true, false));
    assert_eq!(judgement(&own_head()), (true, false));
}

//! The figures of the paper as tests.

use foretrace_index::TraceIndex;
use foretrace_serializability::{Choices, Decision, Judge, Range};
use foretrace_trace::{Atomic, Blocks, Data, EventId, Model, Observed, Trace, TraceBuilder};
use std::collections::BTreeSet;

fn finished(builder: TraceBuilder) -> (Trace, Observed, Blocks) {
    let (trace, observed) = builder.finish().expect("a valid trace");
    let blocks = Atomic::Marked.blocks(&trace);
    (trace, observed, blocks)
}

/// Figure 1: thread 2 sets `p` (e1) and resets it (e4), thread 1 reads it twice in a block (e2, e3).
fn figure_1() -> TraceBuilder {
    let mut builder = TraceBuilder::new(Data::None);
    builder.put(2, "p", None).at("e1");
    builder.begin(1);
    builder.saw(1, "p", None).at("e2");
    builder.saw(1, "p", None).at("e3");
    builder.end(1);
    builder
}

fn named<'t>(trace: &'t Trace, events: &[EventId]) -> Vec<&'t str> {
    events.iter().filter_map(|event| trace.loc(*event)).collect()
}

#[test]
fn figure_1_has_four_avp_interleavings() {
    let mut builder = figure_1();
    builder.put(2, "p", None).at("e4");
    let (trace, observed, blocks) = finished(builder);
    // No variable counts, so that nothing is a violation and nothing stops early.
    let judge = Judge::new(&trace, &observed, &blocks, &|_| false, Choices::new(Model::Avp)).expect("fits");
    for reduce in [false, true] {
        let mut found = BTreeSet::new();
        let whole = Range::whole(&TraceIndex::new(&trace));
        judge.explore(0, whole, reduce, &mut |schedule, _, _| {
            assert!(found.insert(named(&trace, schedule).join(" ")));
        });
        // Section II.C.
        let expected = ["e1 e2 e3 e4", "e1 e2 e4 e3", "e1 e4 e2", "e2 e1 e4"];
        assert_eq!(found, expected.map(String::from).into(), "reduction: {reduce}");
    }
}

#[test]
fn figure_2_a_is_a_violation() {
    let mut builder = figure_1();
    builder.put(2, "p", None).at("e4");
    let (trace, observed, blocks) = finished(builder);
    let judge = Judge::new(&trace, &observed, &blocks, &|_| true, Choices::new(Model::Avp)).expect("fits");
    let Decision::Violated(violation) = judge.judge(0, &|| true).decision else { panic!("not violated") };
    assert_eq!(named(&trace, &violation.claim().events), ["e2", "e4", "e3"]);
    assert_eq!(named(&trace, violation.schedule()), ["e1", "e2", "e4", "e3"]);
}

#[test]
fn figure_2_b_is_bogus() {
    // Without e4 only e2 e1 e3 is left, in which e2 reads something else and e3 need not follow.
    let (trace, observed, blocks) = finished(figure_1());
    let decision = |model| {
        let judge = Judge::new(&trace, &observed, &blocks, &|_| true, Choices::new(model)).expect("fits");
        judge.judge(0, &|| true).decision
    };
    assert!(matches!(decision(Model::Avp), Decision::Proved | Decision::Holds));
    assert!(matches!(decision(Model::Cam), Decision::Violated(_)));
}

/// Adds writes of a variable that only this thread has.
fn fill(builder: &mut TraceBuilder, thread: u64, count: usize) {
    for _ in 0..count {
        builder.put(thread, &format!("own{thread}"), None);
    }
}

#[test]
fn figure_4_has_these_vectors() {
    let mut builder = TraceBuilder::new(Data::None);
    for thread in 1..=3 {
        builder.thread(thread);
    }
    fill(&mut builder, 3, 3); // 3.1 to 3.3
    builder.put(3, "e", None); // 3.4
    builder.put(2, "d", None); // 2.1
    let v22 = builder.saw(2, "d", None).id(); // 2.2 reads 2.1
    builder.put(2, "c", None); // 2.3
    let v24 = builder.saw(2, "e", None).id(); // 2.4 reads 3.4
    builder.put(1, "a", None); // 1.1
    fill(&mut builder, 1, 1); // 1.2
    builder.saw(1, "a", None); // 1.3 reads 1.1
    let v14 = builder.saw(1, "c", None).id(); // 1.4 reads 2.3
    let (trace, observed, blocks) = finished(builder);
    let judge = Judge::new(&trace, &observed, &blocks, &|_| true, Choices::new(Model::Avp)).expect("fits");
    assert_eq!(judge.vector(v14), [3, 3, 0]);
    assert_eq!(judge.vector(v24), [0, 3, 4]);
    assert_eq!(judge.vector(v22), [0, 1, 0]);
    // 2.4 and 1.4 may happen in parallel; 2.2 must happen before 1.4.
    assert!(judge.vector(v14)[1] < 4 && judge.vector(v24)[0] < 4);
    assert!(judge.vector(v14)[1] >= 2);
}

#[test]
fn figure_5_has_these_frontiers() {
    let mut builder = TraceBuilder::new(Data::None);
    for thread in 1..=3 {
        builder.thread(thread);
    }
    fill(&mut builder, 2, 4); // 2.1 to 2.4
    builder.put(2, "p", None); // 2.5
    fill(&mut builder, 3, 5); // 3.1 to 3.5
    builder.put(3, "q", None); // 3.6
    fill(&mut builder, 1, 5); // 1.1 to 1.5
    builder.saw(1, "p", None); // 1.6 reads 2.5
    builder.saw(1, "q", None); // 1.7 reads 3.6
    builder.begin(1); // 1.8
    builder.put(1, "x", None); // 1.9
    fill(&mut builder, 1, 6); // 1.10 to 1.15
    builder.put(1, "y", None); // 1.16
    builder.end(1); // 1.17
    for thread in [2, 3] {
        fill(&mut builder, thread, if thread == 2 { 4 } else { 3 }); // 2.6 to 2.9, 3.7 to 3.9
        builder.saw(thread, "y", None); // 2.10 and 3.10 read 1.16: coupled below the upper frontier
        fill(&mut builder, thread, 2);
    }
    let (trace, observed, blocks) = finished(builder);
    let judge = Judge::new(&trace, &observed, &blocks, &|_| true, Choices::new(Model::Avp)).expect("fits");
    let Range { upper, lower } = judge.frontiers(0).expect("the block has accesses");
    assert_eq!(upper, [8, 5, 6]);
    assert_eq!(lower.iter().map(|position| position + 1).collect::<Vec<_>>(), [17, 11, 11]);
}

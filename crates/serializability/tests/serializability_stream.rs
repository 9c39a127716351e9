//! Monitoring while events come finds what the pass over the whole trace finds.

use foretrace_serializability::{StreamMonitor, observed};
use foretrace_trace::strategies::{Shape, random_trace};
use foretrace_trace::{Atomic, Data, EventId, Format, Layout, Op, ThreadId, Trace, TraceBuilder, file};
use std::collections::BTreeSet;

/// By the thread's number, which every layout keeps: thread, first event and end.
type Found = BTreeSet<(u64, EventId, EventId)>;

/// What the pass over the whole trace finds.
fn whole(trace: &Trace, atomic: Atomic) -> Found {
    let blocks = atomic.blocks(trace);
    let found = observed(trace, &blocks, &|_| true).into_iter();
    let block = |position: usize| &blocks.all()[position];
    found.map(|one| (number(trace, block(one.block).thread), block(one.block).first, one.end)).collect()
}

fn number(trace: &Trace, thread: ThreadId) -> u64 {
    trace.threads[thread.index()].number
}

fn monitor(trace: &Trace, atomic: Atomic) -> StreamMonitor {
    match atomic.resolved(trace) {
        Atomic::Auto if !trace.events.iter().any(|event| matches!(event.op, Op::Begin { .. })) => {
            StreamMonitor::of_bare()
        }
        atomic => StreamMonitor::new(atomic),
    }
}

/// What is found of the file's events as they come.
fn streamed(trace: &Trace, atomic: Atomic, layout: Layout) -> Found {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace");
    file::write(&path, trace, Format { layout, compressed: layout == Layout::Binary }).expect("written");
    let mut stream = file::stream(&path).expect("the start is a trace's");
    let mut monitor = monitor(trace, atomic);
    let mut found = Vec::new();
    while let Some((id, event)) = stream.next().expect("a valid trace") {
        let counts = event.op.var().is_some_and(|var| !stream.trace().vars[var.index()].is_of_library());
        monitor.see(id, &event, counts, &mut found);
    }
    monitor.end(&mut found);
    found.into_iter().map(|seen| (number(stream.trace(), seen.thread), seen.first, seen.end)).collect()
}

#[test]
fn random_traces_give_the_same() {
    let count: u64 = std::env::var("FORETRACE_TRACES").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000);
    let mut all = 0;
    for seed in 0..count {
        let data = [None, Some(Data::Symbolic), Some(Data::None)][(seed / 8 % 3) as usize];
        let (trace, _) = random_trace(seed, &Shape { events: 8 + (seed % 40) as usize, data, ..Shape::default() });
        let atomic = Atomic::ALL[(seed % 8) as usize];
        let expected = whole(&trace, atomic);
        for layout in [Layout::Jsonl, Layout::Binary] {
            assert_eq!(streamed(&trace, atomic, layout), expected, "seed {seed}, {atomic}, {layout:?}");
        }
        all += expected.len();
    }
    assert!(all > 100, "{all}");
}

/// Threads that come and go, of which each has the place of an earlier one.
#[test]
fn places_of_threads_that_are_over_are_used_again() {
    let mut builder = TraceBuilder::new(Data::None);
    for round in 0..40 {
        let (one, other) = (2 + 2 * round, 3 + 2 * round);
        builder.fork(1, one);
        builder.fork(1, other);
        builder.begin(one);
        builder.put(one, "x", None);
        builder.put(if round % 3 == 0 { other } else { one }, "x", None);
        builder.saw(one, "x", None);
        builder.end(one);
        builder.put(1, "y", None);
        builder.join(1, one);
        builder.join(1, other);
    }
    let (trace, _) = builder.finish().expect("a valid trace");
    let expected = whole(&trace, Atomic::Marked);
    assert_eq!(expected.len(), 14);
    assert_eq!(streamed(&trace, Atomic::Marked, Layout::Jsonl), expected);
    for atomic in [Atomic::Threads, Atomic::Auto] {
        assert_eq!(streamed(&trace, atomic, Layout::Jsonl), whole(&trace, atomic), "{atomic}");
    }
}

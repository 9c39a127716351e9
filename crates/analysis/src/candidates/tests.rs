//! Candidates of small traces, by hand.

use super::{AccessLocation, Candidates, Class};
use crate::options::CandidateSet::{Adjacent, All};
use foretrace_index::TraceIndex;
use foretrace_trace::{Atomic, Data, EventId, OF_LIBRARY, Trace, TraceBuilder, Triple};

/// R or W in thread 2 or 3, on x; U is an rmw, E an external write, Y a write of y.
fn trace(accesses: &[(u64, char)]) -> Trace {
    let mut builder = TraceBuilder::new(Data::None);
    for (thread, kind) in accesses {
        match kind {
            'R' => builder.saw(*thread, "x", None),
            'W' => builder.put(*thread, "x", None),
            'U' => builder.swapped(*thread, "x", None),
            'E' => builder.put(*thread, "x", None).external(),
            _ => builder.put(*thread, "y", None),
        };
    }
    builder.build().expect("a valid trace")
}

/// The candidates of thread 2, which is one transaction, and that counting agrees.
fn triples(trace: &Trace, set: crate::options::CandidateSet) -> Vec<[u32; 3]> {
    let trace_index = TraceIndex::new(trace);
    let mut transactions = Atomic::Threads.transactions(trace);
    transactions.retain(|transaction| trace.threads[transaction.thread.index()].number == 2);
    let candidates = Candidates::new(trace, &trace_index, &transactions);
    let found: Vec<[u32; 3]> = candidates.triples(set).map(|t| [t.first.0, t.remote.0, t.second.0]).collect();
    assert_eq!(candidates.count(set), found.len() as u64);
    found
}

#[test]
fn a_remote_write_goes_between_neighbours_of_any_kind() {
    let trace = trace(&[(2, 'R'), (2, 'W'), (2, 'R'), (3, 'W')]);
    assert_eq!(triples(&trace, Adjacent), [[0, 3, 1], [1, 3, 2]]);
    assert_eq!(triples(&trace, All), [[0, 3, 1], [0, 3, 2], [1, 3, 2]]);
}

#[test]
fn a_remote_read_goes_between_writes_and_passes_over_reads() {
    let trace = trace(&[(2, 'W'), (2, 'R'), (2, 'W'), (2, 'W'), (3, 'R')]);
    assert_eq!(triples(&trace, Adjacent), [[0, 4, 2], [2, 4, 3]]);
    assert_eq!(triples(&trace, All), [[0, 4, 2], [0, 4, 3], [2, 4, 3]]);
}

#[test]
fn an_rmw_reads_and_writes() {
    let trace = trace(&[(2, 'W'), (2, 'R'), (2, 'U'), (3, 'U')]);
    // Between 0 and 2 the rmw counts as a read, between neighbours as a write.
    assert_eq!(triples(&trace, Adjacent), [[0, 3, 1], [0, 3, 2], [1, 3, 2]]);
    assert_eq!(triples(&trace, All), [[0, 3, 1], [0, 3, 2], [1, 3, 2]]);
}

#[test]
fn external_writes_and_other_variables_take_no_part() {
    let trace = trace(&[(2, 'R'), (2, 'E'), (2, 'Y'), (2, 'R'), (3, 'W'), (3, 'E'), (3, 'Y')]);
    assert_eq!(triples(&trace, Adjacent), [[0, 4, 3]]);
}

#[test]
fn variables_of_a_library_take_no_part() {
    let mut builder = TraceBuilder::new(Data::None);
    let internal = format!("{OF_LIBRARY}x");
    for thread in [2, 2, 3] {
        builder.swapped(thread, &internal, None);
        builder.swapped(thread, "x", None);
    }
    let trace = builder.build().expect("a valid trace");
    assert_eq!(triples(&trace, All), [[1, 5, 3]]);
}

#[test]
fn wider_triples_are_the_rest_of_all_around_a_remote_access() {
    let trace = trace(&[(2, 'W'), (2, 'W'), (2, 'R'), (2, 'W'), (3, 'W')]);
    let trace_index = TraceIndex::new(&trace);
    let transactions = Atomic::Threads.transactions(&trace);
    let candidates = Candidates::new(&trace, &trace_index, &transactions);
    let triple = Triple { first: EventId(1), remote: EventId(4), second: EventId(2) };
    let wider: Vec<[u32; 2]> = candidates.wider(triple).map(|t| [t.first.0, t.second.0]).collect();
    assert_eq!(wider, [[0, 2], [0, 3], [1, 3]]);
}

#[test]
fn an_event_without_location_is_a_place_of_its_own() {
    let mut builder = TraceBuilder::new(Data::None);
    builder.put(2, "x", None).at("a.c:1");
    builder.put(2, "x", None).at("a.c:1");
    builder.put(3, "x", None);
    let trace = builder.build().expect("a valid trace");
    let class = Class::by_locations(&trace, Triple { first: EventId(0), remote: EventId(2), second: EventId(1) });
    assert_eq!(class.first, class.second);
    assert_eq!(class.remote, AccessLocation::Event(EventId(2)));
}

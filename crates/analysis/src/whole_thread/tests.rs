//! Which violations of whole threads count as found.

use super::WholeThreads;
use crate::blocks::NamedBlocks;
use crate::options::Options;
use foretrace_trace::{Atomic, EventId, Triple, read_from};
use std::sync::Arc;

/// Two functions of a thread with accesses to `x`, and two accesses in its own code; another thread writes `x`.
const TRACE: &str = r#"{"foretrace": 1, "data": "none", "vars": {"x": {}}}
{"t": 1, "op": "begin", "kind": "thread", "label": "main"}
{"t": 1, "op": "begin", "kind": "function", "label": "put"}
{"t": 1, "op": "write", "var": "x"}
{"t": 1, "op": "read", "var": "x"}
{"t": 1, "op": "end"}
{"t": 1, "op": "begin", "kind": "function", "label": "get"}
{"t": 1, "op": "read", "var": "x"}
{"t": 1, "op": "write", "var": "x"}
{"t": 1, "op": "end"}
{"t": 1, "op": "write", "var": "x"}
{"t": 1, "op": "read", "var": "x"}
{"t": 1, "op": "end"}
{"t": 2, "op": "write", "var": "x"}
"#;

#[test]
fn own_code_counts_and_what_a_read_decides() {
    let trace = read_from(TRACE.as_bytes(), "trace.jsonl").expect("a trace");
    let mut options = Options::new(trace.data);
    options.blocks = Some(Arc::new(NamedBlocks::new(&trace, Atomic::Auto)));
    let counts = |options: &Options, first, second| {
        let triple = Triple { first: EventId(first), remote: EventId(12), second: EventId(second) };
        WholeThreads::new(&trace, options).counts(triple)
    };
    assert!(counts(&options, 2, 3), "in one function");
    assert!(!counts(&options, 2, 6), "no value was read");
    assert!(counts(&options, 3, 6), "what was read may decide what `get` writes");
    assert!(!counts(&options, 7, 9), "the second alone is the thread's own");
    assert!(counts(&options, 9, 10), "both are the thread's own");
    options.atomic = Atomic::Threads;
    assert!(counts(&options, 2, 6), "the user chose the blocks");
}

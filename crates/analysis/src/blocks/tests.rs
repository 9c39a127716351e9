//! Which candidates of whole threads are of little interest.

use super::NamedBlocks;
use foretrace_trace::{Atomic, EventId, Triple, read_from};

/// Two functions of a thread, each with an access to `x`, and two accesses in its own code; another thread writes `x`.
const TRACE: &str = r#"{"foretrace": 1, "data": "none", "vars": {"x": {}}}
{"t": 1, "op": "begin", "kind": "thread", "label": "main"}
{"t": 1, "op": "begin", "kind": "function", "label": "put"}
{"t": 1, "op": "write", "var": "x"}
{"t": 1, "op": "read", "var": "x"}
{"t": 1, "op": "end"}
{"t": 1, "op": "begin", "kind": "function", "label": "get"}
{"t": 1, "op": "read", "var": "x"}
{"t": 1, "op": "end"}
{"t": 1, "op": "write", "var": "x"}
{"t": 1, "op": "read", "var": "x"}
{"t": 1, "op": "end"}
{"t": 2, "op": "write", "var": "x"}
"#;

#[test]
fn only_a_write_that_a_function_makes_begins_one() {
    let trace = read_from(TRACE.as_bytes(), "trace.jsonl").expect("a trace");
    let blocks = NamedBlocks::new(&trace, Atomic::Auto);
    let remote = EventId(11);
    let of = |first, second| {
        let triple = Triple { first: EventId(first), remote, second: EventId(second) };
        (blocks.is_of_whole_thread(&trace, triple), blocks.is_of_little_interest(&trace, triple))
    };
    assert_eq!(of(2, 3), (false, false), "in one function");
    assert_eq!(of(2, 6), (true, true));
    assert_eq!(of(3, 6), (true, false), "what is read may decide what the thread does");
    assert_eq!(of(2, 8), (true, true), "the second alone is the thread's own");
    assert_eq!(of(8, 9), (true, false), "both are the thread's own");
}

//! Calls of which a trace says only that they were made: they may order threads, and other threads may go on within them.

use foretrace_trace::{NameId, Op, ThreadId, Trace};
use foretrace_walker::{GIVEN_AGAIN, LOOK};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Among the names of such calls: that there were writes whose calls are not known.
pub(crate) const WRITES: &str = "writes by code that is not recorded";
/// Why there may be orders that no exploration shows.
pub(crate) const NOT_MODELLED: &str =
    "calls that are not modelled may order threads: of files, other processes, or code that foretrace did not build";

/// Their names: of those that concern anything, and of what several threads call.
pub(crate) fn unseen_calls(trace: &Trace) -> BTreeSet<String> {
    let mut callers: FxHashMap<NameId, ThreadId> = FxHashMap::default();
    let calls = trace.events.iter().filter_map(|event| match event.op {
        // Which block a thread has got, and when it looks at a clock, is a matter of each schedule, and no code that someone could make visible.
        Op::Unseen { what, object, .. } if ![GIVEN_AGAIN, LOOK].contains(&trace.names.text(what)) => {
            Some((event.thread, what, object))
        }
        _ => None,
    });
    let calls: Vec<(ThreadId, NameId, Option<NameId>)> = calls.collect();
    let mut is_shared = |(thread, _, object): &&(ThreadId, NameId, Option<NameId>)| {
        object.is_none_or(|object| *callers.entry(object).or_insert(*thread) != *thread)
    };
    let shared: Vec<_> =
        calls.iter().filter(|call| is_shared(call)).map(|(_, what, object)| (*what, *object)).collect();
    let text = |(what, object): (NameId, Option<NameId>)| match object {
        Some(object) => format!("{} ({})", trace.names.text(what), trace.names.text(object)),
        None => trace.names.text(what).to_string(),
    };
    shared.into_iter().map(text).collect()
}

/// Whether other threads may go on within or between these calls: no log has a place there.
pub(crate) fn hide_orders(unseen: &BTreeSet<String>) -> bool {
    unseen.iter().any(|name| name != WRITES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretrace_trace::jsonl;

    fn names(events: &[&str]) -> Vec<String> {
        let header = r#"{"foretrace":1,"data":"none","threads":{"1":{},"2":{}}}"#;
        let (trace, _) = jsonl::read(format!("{header}\n{}", events.join("\n")).as_bytes()).expect("a trace");
        unseen_calls(&trace).into_iter().collect()
    }

    #[test]
    fn calls_of_one_library_by_two_threads_hide_orders() {
        let [one, two] = [1, 2].map(|t| format!(r#"{{"t":{t},"op":"unseen","what":"lib_{t}","object":"lib.so"}}"#));
        assert_eq!(names(&[&one, &two]), ["lib_2 (lib.so)"]);
        assert!(names(&[&one, &one]).is_empty(), "one thread alone");
        assert_eq!(names(&[r#"{"t":1,"op":"unseen","what":"assembly"}"#]), ["assembly"], "it may concern anything");
        assert!(hide_orders(&BTreeSet::from([WRITES.to_string(), "assembly".to_string()])));
        assert!(!hide_orders(&BTreeSet::from([WRITES.to_string()])), "runs have what these write");
    }
}

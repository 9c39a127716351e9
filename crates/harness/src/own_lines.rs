//! The program's own lines that a run came to, also by calls of libraries: the trace knows which calls led there, a record does not.

use foretrace_report::{below_project, line_of};
use foretrace_trace::Trace;
use foretrace_walker::program::is_of_library;
use std::collections::BTreeMap;

/// Which lines of the program the threads of a run came to.
#[derive(Default)]
pub struct OwnLines {
    /// By path of a thread, positions in its log with their lines, in order.
    of_threads: BTreeMap<String, Vec<(u64, String)>>,
}

impl OwnLines {
    /// Those of the events of a recording's trace.
    pub fn of_trace(trace: &Trace) -> OwnLines {
        let mut lines = OwnLines::default();
        for (id, event) in trace.iter() {
            let thread = &trace.threads[event.thread.index()];
            let loc = trace.loc(id).filter(|loc| !loc.is_empty() && !is_of_library(loc));
            if let (Some(path), Some(at), Some(loc)) = (&thread.path, event.at, loc) {
                let line = below_project(line_of(loc)).to_string();
                lines.of_threads.entry(path.to_string()).or_default().push((at, line));
            }
        }
        lines
    }

    /// The line that a thread was at, at a position in its log.
    pub(super) fn at(&self, path: &str, at: u64) -> Option<&str> {
        let lines = self.of_threads.get(path)?;
        let (other, line) = lines.get(lines.partition_point(|(other, _)| *other < at))?;
        (*other == at).then_some(line)
    }

    /// The line that a thread came to last, with its position in the log.
    pub(super) fn last(&self, path: &str) -> Option<(u64, &str)> {
        self.of_threads.get(path)?.last().map(|(at, line)| (*at, line.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretrace_trace::{Data, TraceBuilder};

    #[test]
    fn events_of_the_programs_own_have_lines() {
        let mut builder = TraceBuilder::new(Data::Symbolic);
        builder.int_var("x", 0);
        builder.acquire(1, "lock").at("src/main.rs:7:40");
        builder.read(1, "x", "a").at("/rustc/0/library/core/src/sync/atomic.rs:9:1");
        let mut trace = builder.build().expect("a valid trace");
        trace.threads[0].path = Some("0".into());
        for (event, at) in trace.events.iter_mut().zip([4, 9]) {
            event.at = Some(at);
        }
        let lines = OwnLines::of_trace(&trace);
        assert_eq!(lines.at("0", 4), Some("src/main.rs:7"));
        assert_eq!((lines.at("0", 9), lines.at("0", 5), lines.at("0.1", 4)), (None, None, None));
        assert_eq!(lines.last("0"), Some((4, "src/main.rs:7")));
    }
}

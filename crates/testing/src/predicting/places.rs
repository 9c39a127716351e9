//! Places of a trace as people read them: lines, the program's own code before a library's, functions, files below the project.

use crate::attempt::Access;
use crate::workplace::bytes_of;
use foretrace_harness::{OwnLines, Sources};
use foretrace_report::{below_project, line_of, thread_name};
use foretrace_trace::{BlockKind, Blocks, EventId, Trace};
use foretrace_walker::program::is_of_library;
use foretrace_walker::{Options, walk};
use std::path::Path;

/// The program's own lines in a recorded run; none where it gives no trace, or where making that takes seconds.
pub fn own_lines(recording: &Path, options: &Options) -> OwnLines {
    const MOST_BYTES: u64 = 16 << 20;
    let is_short = bytes_of(recording).is_ok_and(|bytes| bytes <= MOST_BYTES);
    let walked = is_short.then(|| walk(recording, options, |_| ()).ok()).flatten();
    walked.map(|(walked, ())| OwnLines::of_trace(&walked.trace)).unwrap_or_default()
}

/// The program's own place that its thread came by last before an event, if it did not long ago.
pub fn own_place_before(trace: &Trace, event: EventId) -> Option<&str> {
    let thread = trace.event(event).thread;
    let before = (event.index().saturating_sub(LOOKED_BACK)..event.index()).rev().map(EventId::from_index);
    let of_thread = before.filter(|before| trace.event(*before).thread == thread);
    of_thread.filter_map(|before| trace.loc(before)).find(|loc| !is_of_library(loc))
}

/// So many events before one of a library's are looked at for one of the program's own.
const LOOKED_BACK: usize = 10_000;

/// The place of an event as stories show it, and the place whose line of source they show with it. Of a library's place the program's own
/// that came before is part.
pub fn told(trace: &Trace, event: EventId, loc: &str) -> (String, String) {
    let own = own_place_before(trace, event).filter(|_| is_of_library(loc));
    let line = below_project(line_of(loc));
    match own {
        Some(own) => (format!("{}, then {line}", below_project(line_of(own))), own.to_string()),
        None => (line.to_string(), loc.to_string()),
    }
}

/// The name of what an event accesses; empty where that is no variable.
pub fn variable_of(trace: &Trace, event: EventId) -> &str {
    trace.event(event).op.var().map_or("", |var| trace.vars[var.index()].shown())
}

/// An access of a run, as people read it.
pub fn access_in(trace: &Trace, blocks: &Blocks, event: EventId, sources: Option<&Sources>) -> Access {
    let loc = trace.loc(event).unwrap_or("?");
    let (place, shown) = told(trace, event, loc);
    Access {
        thread: thread_name(trace, trace.event(event).thread),
        function: around(trace, blocks, event),
        place,
        text: sources.and_then(|sources| Some(sources.line(&shown)?.trim().to_string())),
        is_of_library: is_of_library(loc),
    }
}

/// The innermost function of the program's own around an event, as far as blocks know it.
pub fn around(trace: &Trace, blocks: &Blocks, event: EventId) -> String {
    around_both(trace, blocks, event, event)
}

/// The same around two events of a thread. A critical section is known by the code that takes the lock, which may be a function that only
/// does that. So the block around it counts, where there is one.
pub fn around_both(trace: &Trace, blocks: &Blocks, first: EventId, second: EventId) -> String {
    let section = blocks.innermost(trace.event(first).thread, first, second);
    let is_section = |position: &usize| blocks.all()[*position].kind == BlockKind::Section;
    let around = std::iter::successors(section, |position| blocks.around(*position)).find(|block| !is_section(block));
    let label = around.or(section).and_then(|block| blocks.all()[block].label);
    innermost(label.map_or("", |label| trace.names.text(label))).to_string()
}

/// The last of several functions with `>` between them: `client>Cache<int>::get` ends with `Cache<int>::get`.
fn innermost(label: &str) -> &str {
    let (mut open, mut start) = (0, 0);
    for (at, c) in label.char_indices() {
        let before = &label[..at];
        let is_of_name = before.ends_with('-') || before.trim_end_matches(['<', '>', '-', '=']).ends_with("operator");
        match c {
            '<' if !is_of_name => open += 1,
            '>' if !is_of_name && open > 0 => open -= 1,
            '>' if !is_of_name => start = at + 1,
            _ => {}
        }
    }
    &label[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_function_keeps_the_arguments_of_its_templates() {
        assert_eq!(innermost("client>connections_take"), "connections_take");
        assert_eq!(innermost("main::lambda>Cache<int, std::vector<int>>::get"), "Cache<int, std::vector<int>>::get");
        assert_eq!(innermost("run><Queue<T> as Drop>::drop"), "<Queue<T> as Drop>::drop");
        assert_eq!(innermost("run>Key::operator<=>"), "Key::operator<=>");
        assert_eq!(innermost("run>Cell::operator->"), "Cell::operator->");
        assert_eq!(innermost(""), "");
    }
}

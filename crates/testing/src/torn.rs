//! A block that a failing run tore: a block of another thread came both after a part of it and before another part.
//!
//! The analysis of blocks asks for a path of conflicts and program order out of the block and back. Here the other thread's block counts as
//! one step, so the path may also come back from an access that its thread made before. Two critical sections of one lock that an
//! operation should not have parted are torn so. This is told of runs that fail and that no schedule explains.

use crate::predicting::{is_of_library, own_place_before};
use foretrace_trace::{Block, BlockKind, Blocks, EventId, Op, ThreadId, Trace};
use rustc_hash::FxHashMap;

/// Events that are looked at, those of nested blocks once for each block.
const MOST_WORK: usize = 3_000_000;
/// Pairs of accesses of which the first ones of a block are compared.
const MOST_PAIRS: usize = 64;

/// A block, by its position among all, and a path out of it and back, in the order of the run.
pub struct Torn {
    pub block: usize,
    pub path: [EventId; 4],
}

/// The smallest torn block of the program's own code.
pub fn torn(trace: &Trace, blocks: &Blocks) -> Option<Torn> {
    let mut work = MOST_WORK;
    let mut best: Option<(u32, Torn)> = None;
    for (position, block) in blocks.all().iter().enumerate().filter(|(_, block)| block.kind != BlockKind::Thread) {
        let length = block.last.0 - block.first.0;
        work = work.checked_sub(length as usize)?;
        if best.as_ref().is_some_and(|(shortest, _)| *shortest <= length) {
            continue;
        }
        if let Some(path) = path_through(trace, blocks, block) {
            best = Some((length, Torn { block: position, path }));
        }
    }
    best.map(|(_, torn)| torn)
}

/// A path through one block of another thread. A block that waits for others is meant to be left.
fn path_through(trace: &Trace, blocks: &Blocks, block: &Block) -> Option<[EventId; 4]> {
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for at in (block.first.0..=block.last.0).map(EventId) {
        let event = trace.event(at);
        let is_own = event.thread == block.thread;
        if is_own && matches!(event.op, Op::Wait { .. } | Op::Join { .. } | Op::Down { .. }) {
            return None;
        }
        if let Some(access) = Access::at(trace, at) {
            if is_own { own.push(access) } else { others.push(access) }
        }
    }
    let after = pairs(&own, &others); // the other thread comes after a part of the block
    own.reverse();
    let before = pairs(&others, &own); // and before another part
    let path = after.iter().find_map(|(first, there)| {
        let back = before.iter().find(|(back, last)| {
            let [one, other] = [there.at.min(back.at), there.at.max(back.at)];
            let whole = || blocks.innermost(there.thread, one, other).map(|at| blocks.all()[at].kind);
            let is_unit = || whole().is_some_and(|kind| kind != BlockKind::Thread);
            back.thread == there.thread && back.var != there.var && first.at < last.at && is_unit()
        })?;
        let [one, other] = [there.at.min(back.0.at), there.at.max(back.0.at)];
        Some([first.at, one, other, back.1.at])
    })?;
    path.iter().all(|at| is_told(trace, *at)).then_some(path)
}

/// Whether an access is in the program's code, or in a library's that this calls.
fn is_told(trace: &Trace, at: EventId) -> bool {
    trace.loc(at).is_some_and(|loc| !is_of_library(loc) || own_place_before(trace, at).is_some())
}

#[derive(Clone, Copy)]
struct Access {
    at: EventId,
    thread: ThreadId,
    var: usize,
    writes: bool,
}

impl Access {
    /// An access of a variable of the program's own.
    fn at(trace: &Trace, at: EventId) -> Option<Access> {
        let event = trace.event(at);
        let var = event.op.var().filter(|var| !event.op.is_external() && !trace.vars[var.index()].is_of_library())?;
        Some(Access { at, thread: event.thread, var: var.index(), writes: event.op.writes() })
    }
}

/// Pairs that conflict, where one of `earlier` comes before one of `later`: of each variable and two threads the first.
fn pairs(earlier: &[Access], later: &[Access]) -> Vec<(Access, Access)> {
    let mut of_var: FxHashMap<usize, Vec<Access>> = FxHashMap::default();
    earlier.iter().for_each(|access| of_var.entry(access.var).or_default().push(*access));
    let mut found: Vec<(Access, Access)> = Vec::new();
    for access in later {
        let Some(before) = of_var.get(&access.var) else { continue };
        let conflicts = |other: &&Access| other.at < access.at && (other.writes || access.writes);
        let is_known = |other: &Access| {
            let same =
                |(a, b): &&(Access, Access)| (a.var, a.thread, b.thread) == (access.var, other.thread, access.thread);
            found.iter().any(|pair| same(&pair))
        };
        if let Some(other) = before.iter().filter(conflicts).find(|other| !is_known(other)) {
            found.push((*other, *access));
            if found.len() == MOST_PAIRS {
                break;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretrace_trace::{Atomic, jsonl};

    /// Where the block of thread 1 is torn, by the positions of events.
    fn path(events: &[&str]) -> Option<[u32; 4]> {
        let header = r#"{"foretrace":1,"data":"none","vars":{"x":{},"y":{}},"threads":{"1":{},"2":{}}}"#;
        let (trace, _) = jsonl::read(format!("{header}\n{}", events.join("\n")).as_bytes()).expect("a trace");
        torn(&trace, &Atomic::Auto.blocks(&trace)).map(|torn| torn.path.map(|at| at.0))
    }

    fn line(thread: u32, rest: &str) -> String {
        format!(r#"{{"t":{thread},{rest},"loc":"a.c:{thread}:1"}}"#)
    }

    #[test]
    fn a_block_that_comes_after_one_part_and_before_another_tears_it() {
        let begin = |thread| line(thread, r#""op":"begin","label":"f","kind":"function""#);
        let end = |thread| line(thread, r#""op":"end""#);
        let access = |thread, op: &str, var: &str| line(thread, &format!(r#""op":"{op}","var":"{var}""#));
        let run = |inner: [String; 4]| {
            let [a, b, c, d] = inner;
            let events = [begin(1), a, begin(2), b, c, end(2), d, end(1)];
            path(&events.each_ref().map(String::as_str))
        };
        let (read, write) = (|thread, var| access(thread, "read", var), |thread, var| access(thread, "write", var));
        assert_eq!(run([read(1, "x"), read(2, "y"), write(2, "x"), write(1, "y")]), Some([1, 3, 4, 6]));
        assert_eq!(run([read(1, "x"), write(2, "x"), read(2, "y"), write(1, "y")]), Some([1, 3, 4, 6]));
        assert_eq!(run([read(1, "x"), read(2, "y"), read(2, "x"), write(1, "y")]), None, "nothing changes x");
        assert_eq!(
            run([read(1, "x"), read(2, "x"), write(2, "y"), write(1, "x")]),
            None,
            "y is the other thread's own"
        );
    }
}

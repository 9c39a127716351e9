//! Where the outermost loops of threads end a turn.
//!
//! Runs in which other threads go on only there are made of whole turns, in some order. What such a run writes comes of no interruption, so
//! it says what varies by itself.

use foretrace_runtime::record::header;
use foretrace_trace::{Block, BlockKind, Blocks, EventId, NameId, Op, ThreadId, Trace};
use foretrace_walker::{Options, WalkError, log, walk};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::Path;

/// For each thread of a recording, by number, the headers (kind and place) of records that end turns of its outermost loop, and stand nowhere
/// else in any thread.
pub fn ends_of_turns(recording: &Path, options: &Options) -> Result<Vec<Vec<u64>>, WalkError> {
    let uses = uses_of_headers(recording, options)?;
    let is_within = |header: &u64| uses.iter().any(|uses| uses.get(header).is_some_and(Uses::is_within_a_turn));
    let of_thread = |uses: &FxHashMap<u64, Uses>| {
        let ends = uses.iter().filter(|(header, uses)| uses.ends > 0 && !is_within(header));
        let mut ends: Vec<(usize, u64)> = ends.map(|(header, uses)| (uses.ends, *header)).collect();
        ends.sort_unstable_by(|one, other| other.cmp(one)); // the runtime takes a few
        ends.into_iter().map(|(_, header)| header).collect()
    };
    Ok(uses.iter().map(of_thread).collect())
}

/// Whether these records, of each thread, stand at the ends of turns alone in a recording, too: a turn may go another way than in the one that
/// they are known from.
pub fn goes_by_turns(recording: &Path, options: &Options, ends: &[Vec<u64>]) -> Result<bool, WalkError> {
    let uses = uses_of_headers(recording, options)?;
    Ok(uses
        .iter()
        .zip(ends)
        .all(|(uses, ends)| ends.iter().all(|header| !uses.get(header).is_some_and(Uses::is_within_a_turn))))
}

/// Where records with one header stand.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Uses {
    /// Right before another turn.
    ends: usize,
    /// In the last turn, or in a thread that has one.
    in_last: usize,
    /// Elsewhere.
    within: usize,
}

impl Uses {
    /// The last turn ends like others.
    fn is_within_a_turn(&self) -> bool {
        self.within > 0 || self.in_last > 1
    }
}

/// For each thread of a recording, by number, where records stand, by their headers.
fn uses_of_headers(recording: &Path, options: &Options) -> Result<Vec<FxHashMap<u64, Uses>>, WalkError> {
    let (walked, ()) = walk(recording, options, |_| ())?;
    let trace = &walked.trace;
    let starts = starts_of_turns(trace, &options.atomic.blocks(trace));
    let logs = log::open_logs(recording)?;
    let mut all = Vec::new();
    for (log, path) in logs.iter().zip(log::thread_paths(&logs)) {
        let number = log.header().thread as usize;
        all.resize(all.len().max(number), FxHashMap::default());
        let own = trace.threads.iter().position(|thread| thread.path.as_deref() == Some(&*path));
        let starts = own.and_then(|own| starts.get(&ThreadId::from_index(own))).map_or(&[][..], Vec::as_slice);
        if let Some(place) = number.checked_sub(1) {
            let counted = log.records().filter(|record| record.kind.counted());
            all[place] = uses(counted.map(|record| (header(record.kind, record.place), record.at)), starts);
        }
    }
    Ok(all)
}

/// Where records stand, of which the header and the position are given, by their headers. Later turns begin at these positions, which are sorted.
fn uses(records: impl Iterator<Item = (u64, u64)>, starts: &[u64]) -> FxHashMap<u64, Uses> {
    let last = starts.last().copied().unwrap_or(0);
    let mut all: FxHashMap<u64, Uses> = FxHashMap::default();
    for (header, at) in records {
        let uses = all.entry(header).or_default();
        match starts.binary_search(&(at + 1)) {
            Ok(_) => uses.ends += 1,
            Err(_) if at >= last => uses.in_last += 1,
            Err(_) => uses.within += 1,
        }
    }
    all
}

/// Per thread, where turns of its outermost loops begin, but for the first one: positions in its log.
fn starts_of_turns(trace: &Trace, blocks: &Blocks) -> FxHashMap<ThreadId, Vec<u64>> {
    let mut inside: FxHashMap<Option<usize>, Vec<usize>> = FxHashMap::default();
    for position in 0..blocks.all().len() {
        inside.entry(blocks.around(position)).or_default().push(position);
    }
    let mut found = FxHashMap::default();
    for thread in (0..trace.threads.len()).map(ThreadId::from_index) {
        let own: Vec<EventId> = trace.iter().filter(|(_, event)| event.thread == thread).map(|(id, _)| id).collect();
        let outermost = inside.get(&None).into_iter().flatten();
        let is_own = |position: &usize| blocks.all()[*position].thread == thread;
        let mut level: Vec<usize> = outermost.copied().filter(is_own).collect();
        // A function that is all that the thread does is no unit, as a closure that it runs.
        while let [only] = level[..]
            && matches!(blocks.all()[only].kind, BlockKind::Thread | BlockKind::Function)
        {
            level = inside.get(&Some(only)).cloned().unwrap_or_default();
        }
        let mut known = FxHashSet::default();
        let level = level.into_iter().map(|position| blocks.all()[position]);
        let later = level.filter(|block| !known.insert(place_of_block(trace, block)));
        let mut starts: Vec<u64> = later.filter_map(|block| start_of(trace, &own, &block)).collect();
        starts.sort_unstable();
        found.insert(thread, starts);
    }
    found
}

/// What tells blocks of one level apart. One that comes again is the turn of a loop, or all that there is in one. A function is known by its
/// call, where its block ends.
fn place_of_block(trace: &Trace, block: &Block) -> (BlockKind, Option<NameId>, Option<NameId>) {
    let at = if block.kind == BlockKind::Function { block.last } else { block.first };
    (block.kind, block.label, trace.event(at).loc)
}

/// Where a block begins, with the locks that are taken right before its first access: a position in the log of its thread.
fn start_of(trace: &Trace, own: &[EventId], block: &Block) -> Option<u64> {
    let first = own.binary_search(&block.first).ok()?;
    let takes = |id: &&EventId| matches!(trace.event(**id).op, Op::Acquire { .. } | Op::Begin { .. });
    let before = own[..first].iter().rev().take_while(takes).count();
    own[first - before..].iter().find_map(|id| trace.event(*id).at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where later turns of the first thread begin. A word is an event: `l` and `s` begin a turn of a loop and a section, `e` ends it, and others
    /// are accesses and operations of a lock.
    fn starts(words: &str) -> Vec<u64> {
        let header =
            r#"{"foretrace":1,"data":"none","vars":{"x":{},"y":{}},"sync":{"m":{"kind":"mutex"}},"threads":{"1":{}}}"#;
        let begin = |kind: &str, label: &str| format!(r#"{{"t":1,"op":"begin","kind":"{kind}","label":"{label}"}}"#);
        let end = |label: &str| format!(r#"{{"t":1,"op":"end","label":"{label}"}}"#);
        let mut at = 0;
        let mut open = vec![];
        let lines = words.split(' ').map(|word| {
            let mut placed = |op: &str, on: &str| {
                at += 1;
                format!(r#"{{"t":1,"op":"{op}",{on},"at":{at}}}"#)
            };
            match word {
                "l" | "s" | "f" => {
                    open.push(word);
                    let kinds = [("l", "loop"), ("s", "section"), ("f", "function")];
                    begin(kinds.into_iter().find(|(short, _)| *short == word).expect("one of them").1, word)
                }
                "e" => end(open.pop().expect("it has begun")),
                "take" => placed("acquire", r#""lock":"m""#),
                "give" => placed("release", r#""lock":"m""#),
                var => placed("write", &format!(r#""var":"{var}""#)),
            }
        });
        let text = [header.to_string()].into_iter().chain(lines).collect::<Vec<String>>().join("\n");
        let (trace, _) = foretrace_trace::jsonl::read(text.as_bytes()).expect("a trace");
        let blocks = foretrace_trace::Atomic::Auto.blocks(&trace);
        starts_of_turns(&trace, &blocks).remove(&ThreadId::from_index(0)).unwrap_or_default()
    }

    #[test]
    fn turns_begin_with_the_locks_that_they_take() {
        assert_eq!(starts("l x x e l x x e l x x e"), [3, 5]);
        assert_eq!(starts("f l x x e l x x e e"), [3], "the function is all that there is");
        assert_eq!(starts("take s x x e give take s x x e give"), [5], "a section is all that there is in a turn");
        assert_eq!(starts("l s x x e s x x e e"), [0; 0], "both sections are in one turn");
        assert_eq!(starts("l s x x e s x x e e l s x x e s x x e e"), [5]);
        assert_eq!(starts("s x x e l y y e"), [0; 0], "neither comes again");
    }

    #[test]
    fn a_record_ends_turns_that_stands_nowhere_else() {
        let ends = |headers: [u64; 9], starts: &[u64]| {
            let uses = uses(headers.into_iter().zip(0..), starts);
            let mut ends: Vec<u64> = uses
                .iter()
                .filter(|(_, uses)| uses.ends > 0 && !uses.is_within_a_turn())
                .map(|(end, _)| *end)
                .collect();
            ends.sort_unstable();
            ends
        };
        assert_eq!(ends([1, 2, 3, 1, 2, 3, 1, 2, 3], &[3, 6]), [3]);
        assert_eq!(ends([1, 3, 3, 1, 2, 3, 1, 2, 3], &[3, 6]), [0; 0], "it stands within a turn, too");
        assert_eq!(ends([1, 2, 4, 1, 2, 3, 1, 2, 5], &[3, 6]), [3, 4]);
        assert_eq!(ends([1, 2, 3, 1, 2, 3, 3, 2, 3], &[3, 6]), [0; 0], "the last turn has two of them");
        assert_eq!(ends([1, 2, 3, 1, 2, 3, 1, 2, 3], &[]), [0; 0]);
    }
}

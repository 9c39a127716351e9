//! What reports say of a candidate's block.

use super::Subject;
use foretrace_analysis::blocks::BlockName;
use foretrace_trace::{Block, BlockKind, Trace, Triple};
use serde::Serialize;

/// A block as JSON has it.
#[derive(Serialize)]
pub struct BlockJson<'t> {
    kind: BlockKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'t str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    loc: Option<&'t str>,
}

impl<'t> BlockJson<'t> {
    /// A block of a trace.
    pub fn new(trace: &'t Trace, block: &Block) -> BlockJson<'t> {
        let label = block.label.map(|label| trace.names.text(label));
        BlockJson { kind: block.kind, label, loc: trace.loc(block.first) }
    }

    /// The block of a candidate, where blocks are known.
    pub fn of_triple(subject: Subject<'t>, triple: Triple) -> Option<BlockJson<'t>> {
        let BlockName { kind, label, loc } = subject.block(triple)?.0;
        let text = |name| subject.trace.names.text(name);
        Some(BlockJson { kind, label: label.map(text), loc: loc.map(text) })
    }
}

/// A block in words.
pub fn in_words(trace: &Trace, name: BlockName) -> String {
    let what = match name.kind {
        BlockKind::Mark => "marked block",
        BlockKind::Section => "critical section",
        BlockKind::Loop => "turn of a loop",
        BlockKind::Function => "function",
        BlockKind::Thread => "whole thread",
    };
    let label = name.label.map_or(String::new(), |label| match name.kind {
        BlockKind::Loop | BlockKind::Section => format!(" in `{}`", trace.names.text(label)),
        _ => format!(" `{}`", trace.names.text(label)),
    });
    let place = name.loc.map_or(String::new(), |loc| format!(", {}", trace.names.text(loc)));
    format!("{what}{label}{place}")
}

/// Code of libraries whose state is for themselves: counts of references and words of locks.
const WORKINGS: [&str; 10] = [
    "alloc/src/sync.rs",
    "alloc/src/rc.rs",
    "std/src/sync/",
    "std/src/sys/sync/",
    "bits/shared_ptr",
    "ext/atomicity.h",
    "/parking_lot",
    "/lock_api",
    "/crossbeam-epoch",
    "/tokio-",
];

/// Whether a source file is of a crate that cargo fetched: a folder on its path has a name and a version, `tokio-1.54.1`.
fn is_of_registry(place: &str) -> bool {
    let is_version = |text: &str| {
        let numbers: Vec<&str> = text.splitn(3, '.').collect();
        numbers.len() == 3 && numbers.iter().all(|number| number.starts_with(|c: char| c.is_ascii_digit()))
    };
    let mut folders = place.split('/').rev().skip(1);
    folders.any(|folder| folder.rsplit_once('-').is_some_and(|(name, version)| !name.is_empty() && is_version(version)))
}

/// Why text reports only count a class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Folded {
    /// It is of a whole thread, and does not count ([`Subject::counts`]).
    Thread,
    /// All its accesses are a library's own workings.
    Workings,
}

/// Whether text reports only count a class.
pub fn is_folded(subject: Subject<'_>, triple: Triple) -> Option<Folded> {
    if subject.options.all {
        return None;
    }
    let accesses = [triple.first, triple.remote, triple.second];
    let is_working = |place: &str| WORKINGS.iter().any(|part| place.contains(part));
    let of_library = |event| {
        let inside = subject.inside(event).is_some_and(|places| places.split("; ").all(is_working));
        let is_there = |loc: &str| loc.contains(".rs:") && (is_working(loc) || is_of_registry(loc));
        inside || subject.trace.loc(event).is_some_and(is_there)
    };
    if accesses.into_iter().all(of_library) {
        return Some(Folded::Workings);
    }
    (!subject.counts(triple)).then_some(Folded::Thread)
}

#[cfg(test)]
mod tests {
    use super::is_of_registry;

    #[test]
    fn crates_of_a_registry_have_versions() {
        let registry = "/home/me/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/dashmap-6.1.0/src/lib.rs:3:4";
        for (place, expected) in [
            ("tokio-1.54.1/src/runtime/task/core.rs:12:3", true),
            (registry, true),
            ("serde-1.0.0-rc.1/src/lib.rs:1", false),
            ("my-tool/src/main.rs:10:5", false),
            ("src/raw_mutex.rs:1:1", false),
            ("leveldb-1.23/db/skiplist.h:7", false),
        ] {
            assert_eq!(is_of_registry(place), expected, "{place}");
        }
    }
}

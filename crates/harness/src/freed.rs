//! Memory that the program uses after it was freed, by the logs of a run.

use super::positions::Positions;
use super::thread_names::ThreadNames;
use foretrace_runtime::record::Kind;
use foretrace_walker::WalkError;
use foretrace_walker::log::{Log, Record, thread_paths};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The allocator gives blocks from this size on back to the system, which may map something else there, unseen.
const MAPPED_APART: u64 = 128 << 10;

/// An access of memory that was freed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct UseAfterFree {
    /// The thread that uses it, by its place among the logs.
    user: usize,
    /// The use.
    use_: Record,
}

/// Such an access in words.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct UseAfterFreeInWords {
    /// Who does what.
    pub text: String,
    /// The line of the use: that of the program's own code before it, if it is in a library's.
    pub place: Option<String>,
}

/// A record with its order and its thread's place among the logs.
type Ordered = (u64, usize, Record);

/// The first use of freed memory in the order of the run, before the allocator gives it out again: an access, or another thread's
/// use of a lock or its like in it. Logs that leave out parts of the run may leave out allocations, too: they show none.
fn use_after_free(logs: &[Log]) -> Option<UseAfterFree> {
    if logs.iter().any(|log| log.cut().is_some()) {
        return None;
    }
    let blocks = ordered(logs, |record| matches!(record.kind, Kind::Allocate | Kind::Free));
    let stretches = freed_stretches(&blocks);
    if stretches.is_empty() {
        return None;
    }
    let is_freed_once = |record: &Record| {
        let at = stretches.partition_point(|(start, _)| *start <= record.words[0]);
        at > 0 && record.words[0] < stretches[at - 1].1
    };
    let uses = ordered(logs, |record| (record.kind.size() > 0 || is_of_object(record.kind)) && is_freed_once(record));
    let mut freed = Freed::default();
    let mut blocks = blocks.iter().peekable();
    uses.into_iter().find_map(|(order, user, use_)| {
        while let Some((_, thread, record)) = blocks.next_if(|(of_block, ..)| *of_block < order) {
            freed.take(*thread, record);
        }
        // What the library does for a thread that frees a stream uses the stream's lock to the end.
        let freer = freed.by(use_.words[0])?;
        (freer != user || use_.kind.size() > 0).then_some(UseAfterFree { user, use_ })
    })
}

/// The same in words, with the folder of the recording.
///
/// # Errors
/// The program, or what the recording says of its threads, cannot be read.
pub fn use_after_free_in_words(recording: &Path, logs: &[Log]) -> Result<Option<UseAfterFreeInWords>, WalkError> {
    let Some(found) = use_after_free(logs) else { return Ok(None) };
    let mut positions = Positions::default();
    positions.learn(recording)?;
    let names = ThreadNames::of_recording(recording)?;
    let paths = thread_paths(logs);
    let before = |record: &Record| record.order() != Some(0) && record.order() <= found.use_.order();
    let own = logs[found.user].records().filter(|record| record.order().is_some() && positions.is_own(record));
    let place = own.take_while(before).last().and_then(|record| positions.line_of(&record));
    let user = names.full(&paths[found.user]);
    let act = match found.use_.kind {
        kind if kind.is_load() => "reads freed memory",
        kind if kind.size() > 0 => "writes freed memory",
        Kind::Wait | Kind::Signal | Kind::Broadcast => "uses a freed condition variable",
        Kind::Post | Kind::Down => "uses a freed semaphore",
        Kind::Arrive => "uses a freed barrier",
        _ => "uses a freed lock",
    };
    let text = format!("{user} {act}");
    Ok(Some(UseAfterFreeInWords { text, place }))
}

/// Whether a record says that its thread uses a lock or its like.
fn is_of_object(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Acquire
            | Kind::Release
            | Kind::WriteLock
            | Kind::WriteUnlock
            | Kind::ReadLock
            | Kind::ReadUnlock
            | Kind::Wait
            | Kind::Signal
            | Kind::Broadcast
            | Kind::Post
            | Kind::Down
            | Kind::Arrive
            | Kind::Busy
            | Kind::Refused
    )
}

/// The records that took effect and are wanted, of all threads, in the order of the run.
fn ordered(logs: &[Log], is_wanted: impl Fn(&Record) -> bool) -> Vec<Ordered> {
    let mut all: Vec<Ordered> = Vec::new();
    for (thread, log) in logs.iter().enumerate() {
        let wanted = log.records().filter(&is_wanted);
        all.extend(wanted.filter_map(|record| Some((record.order().filter(|order| *order != 0)?, thread, record))));
    }
    all.sort_by_key(|(order, thread, _)| (*order, *thread));
    all
}

/// Which memory was freed at some time, as stretches from the lowest on, each to where it ends.
fn freed_stretches(blocks: &[Ordered]) -> Vec<(u64, u64)> {
    let mut lengths = Lengths::default();
    let mut stretches: Vec<(u64, u64)> = blocks.iter().filter_map(|(.., record)| lengths.take(record)).collect();
    stretches.sort_unstable();
    stretches.dedup_by(|next, kept| {
        let goes_on = next.0 <= kept.1;
        kept.1 = if goes_on { kept.1.max(next.1) } else { kept.1 };
        goes_on
    });
    stretches
}

/// How long blocks are that were not freed yet, by where they start.
#[derive(Default)]
struct Lengths(FxHashMap<u64, u64>);

impl Lengths {
    /// Takes up what the allocator did; says which memory it freed.
    fn take(&mut self, record: &Record) -> Option<(u64, u64)> {
        let [start, bytes, ..] = record.words;
        match record.kind {
            Kind::Allocate => {
                self.0.insert(start, record.allocated());
                None
            }
            Kind::Free if bytes == 0 => {
                let length = self.0.remove(&start).filter(|length| (1..MAPPED_APART).contains(length))?;
                Some((start, start.saturating_add(length)))
            }
            _ => None, // mappings may be gone and come again unseen
        }
    }
}

/// Blocks that are freed at a point of the run.
#[derive(Default)]
struct Freed {
    lengths: Lengths,
    /// Freed ones that the allocator has not given out again: where each ends, and who freed it.
    blocks: BTreeMap<u64, (u64, usize)>,
}

impl Freed {
    /// Takes up what the allocator did.
    fn take(&mut self, thread: usize, record: &Record) {
        let start = record.words[0];
        if record.kind == Kind::Allocate {
            let end = start.saturating_add(record.allocated().max(1));
            let before = self.blocks.range(..end).rev().take_while(|(_, (until, _))| *until > start);
            let overlapping: Vec<u64> = before.map(|(start, _)| *start).collect();
            overlapping.iter().for_each(|start| _ = self.blocks.remove(start));
        }
        if let Some((start, end)) = self.lengths.take(record) {
            self.blocks.insert(start, (end, thread));
        }
    }

    /// Who freed the block that holds this byte.
    fn by(&self, address: u64) -> Option<usize> {
        let (_, (end, thread)) = self.blocks.range(..=address).next_back()?;
        (address < *end).then_some(*thread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: Kind, words: [u64; 4]) -> Record {
        Record { kind, place: 0, words, at: 0 }
    }

    /// What is freed after these steps at this byte, and by whom.
    fn freed_by(steps: &[(usize, Kind, u64, u64)], address: u64) -> Option<usize> {
        let mut freed = Freed::default();
        for (thread, kind, start, bytes) in steps {
            freed.take(*thread, &record(*kind, [*start, *bytes, 0, 0]));
        }
        freed.by(address)
    }

    #[test]
    fn a_block_is_freed_until_its_memory_is_allocated_again() {
        let (born, gone) = ((0, Kind::Allocate, 0x100, 16), (1, Kind::Free, 0x100, 0));
        assert_eq!(freed_by(&[born], 0x100), None);
        assert_eq!(freed_by(&[born, gone], 0x100), Some(1));
        assert_eq!(freed_by(&[born, gone], 0x10f), Some(1));
        assert_eq!(freed_by(&[born, gone], 0x110), None, "beyond its end");
        let again = (0, Kind::Allocate, 0xf8, 9);
        assert_eq!(freed_by(&[born, gone, again], 0x108), None, "the block is no more, wherever the new one ends");
        assert_eq!(freed_by(&[gone], 0x100), None, "where it was allocated is not known, so neither is its length");
        assert_eq!(freed_by(&[born, gone, gone], 0x100), Some(1));
    }

    #[test]
    fn what_the_system_may_map_again_is_not_called_freed() {
        let large = |bytes| [(0, Kind::Allocate, 0x1000, bytes), (1, Kind::Free, 0x1000, 0)];
        assert_eq!(freed_by(&large(MAPPED_APART), 0x1000), None);
        assert_eq!(freed_by(&large(MAPPED_APART - 1), 0x1000), Some(1));
        assert_eq!(
            freed_by(&[(0, Kind::Allocate, 0x1000, 64), (1, Kind::Free, 0x1000, 64)], 0x1000),
            None,
            "a mapping"
        );
    }

    #[test]
    fn stretches_of_freed_memory_are_joined() {
        let steps = [(0x100, 16), (0x110, 16), (0x200, 8)].into_iter().enumerate();
        let both = |(at, (start, bytes)): (usize, (u64, u64))| {
            let order = 2 * at as u64 + 1;
            let of = |kind, order: u64, bytes| (order, 0, record(kind, [start, bytes, order, 0]));
            [of(Kind::Allocate, order, bytes), of(Kind::Free, order + 1, 0)]
        };
        let blocks: Vec<Ordered> = steps.flat_map(both).collect();
        assert_eq!(freed_stretches(&blocks), [(0x100, 0x120), (0x200, 0x208)]);
    }
}

//! Pairs of places at which two threads access the same memory, or take the same lock, one after the other; and how to reverse such a pair.
//!
//! A run along the reversed order follows a known run up to the first of the two, then lets the other thread come to its place first.

use super::execution::{Execution, Taken};
use super::outcomes::pulled_before;
use super::schedule::Forced;
use foretrace_runtime::record::Kind;
use rustc_hash::FxHashMap;

/// Two places in the order in which two threads came by.
pub type Pair = (u64, u64);

/// Two steps of different threads, one after the other, at the same memory or lock.
pub struct Meeting {
    /// Their places.
    pub pair: Pair,
    /// The steps.
    pub earlier: usize,
    pub later: usize,
    /// Before which step the later one is to come: where the thread of the earlier one took the first lock that it holds there.
    before: usize,
}

/// The locks that a thread holds, and the steps by which it took them.
#[derive(Default)]
pub struct Held(Vec<(u64, usize)>);

impl Held {
    /// The thread takes a step.
    pub fn goes_on(&mut self, index: usize, step: &Taken) {
        match step.kind {
            Kind::Acquire | Kind::WriteLock | Kind::ReadLock => self.0.push((step.words[0], index)),
            Kind::Release | Kind::WriteUnlock | Kind::ReadUnlock => self.0.retain(|(lock, _)| *lock != step.words[0]),
            _ => {}
        }
    }

    pub fn any(&self) -> bool {
        !self.0.is_empty()
    }

    /// The step by which it took the first of them.
    fn outermost(&self) -> Option<usize> {
        self.0.first().map(|(_, from)| *from)
    }
}

/// Where two threads meet in an execution.
pub fn meetings(run: &Execution) -> Vec<Meeting> {
    let mut last: FxHashMap<u64, Vec<(usize, usize, bool)>> = FxHashMap::default();
    let mut held: FxHashMap<usize, Held> = FxHashMap::default();
    let mut outermost: Vec<usize> = Vec::with_capacity(run.steps.len());
    let mut found = Vec::new();
    for (index, step) in run.steps.iter().enumerate() {
        let held = held.entry(step.thread).or_default();
        held.goes_on(index, step);
        outermost.push(held.outermost().unwrap_or(index));
        let Some((object, changes)) = meets_at(step) else { continue };
        let known = last.entry(object).or_default();
        for (thread, earlier, changed) in known.iter() {
            if *thread != step.thread && (changes || *changed) {
                let pair = (run.steps[*earlier].place, step.place);
                found.push(Meeting { pair, earlier: *earlier, later: index, before: outermost[*earlier] });
            }
        }
        known.retain(|(thread, ..)| *thread != step.thread);
        known.push((step.thread, index, changes));
    }
    found
}

/// Memory is told apart by words of so many bytes.
pub const BYTES_OF_WORD: u64 = 8;

/// Memory or a lock that a step uses, and whether it changes that.
pub fn meets_at(step: &Taken) -> Option<(u64, bool)> {
    match step.kind {
        Kind::Acquire | Kind::WriteLock => Some((step.words[0], true)),
        Kind::ReadLock => Some((step.words[0], false)),
        kind if kind.size() > 0 => Some((step.words[0] / BYTES_OF_WORD, step.writes())),
        _ => None,
    }
}

/// The steps of an execution up to a meeting, then those of the other thread up to its place; the last one apart. Nothing where that
/// thread starts too late.
pub fn reversed(run: &Execution, meeting: &Meeting) -> Option<(Vec<Taken>, Forced)> {
    let thread = run.steps[meeting.later].thread;
    let steps = pulled_before(run, meeting.before, meeting.later)?;
    Some((steps, Forced { thread, wakes: None }))
}

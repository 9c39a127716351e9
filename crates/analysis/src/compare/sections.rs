//! One refutation, applied to other candidates in the same critical sections.
//!
//! Lemma. Let first, remote and second be in three sections of one lock that exclude each other. Refuting this candidate refutes every
//! candidate in the same three sections whose second access is the same or later.
//!
//! Proof. Remote is between the two others exactly if its whole section is between theirs, wherever in the sections the accesses are.
//! A prefix that holds a later event of second's section also holds the earlier ones.

use crate::filters::{RegionsByThread, region_around};
use foretrace_index::Region;
use foretrace_trace::{EventId, Trace, Triple};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[cfg(test)]
mod tests;

/// Most threes of sections that are kept: memory must not grow with the candidates.
const MOST_REFUTED: usize = 1 << 20;

/// The starts of the sections that first, remote and second are in.
type Sections = [EventId; 3];

/// What was refuted: for each three sections the earliest second.
pub(super) struct Refuted<'a> {
    trace: &'a Trace,
    regions: Arc<RegionsByThread>,
    earliest: Mutex<FxHashMap<Sections, EventId>>,
}

impl<'a> Refuted<'a> {
    /// Nothing yet, of a trace with these regions.
    pub(super) fn new(trace: &'a Trace, regions: Arc<RegionsByThread>) -> Refuted<'a> {
        Refuted { trace, regions, earliest: Mutex::default() }
    }

    /// Notes a candidate that no prefix shows, under conflict independence.
    pub(super) fn add(&self, triple: Triple) {
        if let Some(sections) = self.sections(triple) {
            let mut earliest = self.earliest();
            if earliest.len() < MOST_REFUTED {
                let known = earliest.entry(sections).or_insert(triple.second);
                *known = triple.second.min(*known);
            }
        }
    }

    /// Whether one that was noted refutes this one, too.
    pub(super) fn covers(&self, triple: Triple) -> bool {
        let known = |sections| self.earliest().get(&sections).copied();
        self.sections(triple).and_then(known).is_some_and(|second| second <= triple.second)
    }

    fn earliest(&self) -> MutexGuard<'_, FxHashMap<Sections, EventId>> {
        self.earliest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Three sections of the first lock that has them.
    fn sections(&self, Triple { first, remote, second }: Triple) -> Option<Sections> {
        let locks = self.regions.iter().filter(|by_thread| !by_thread.is_empty());
        let in_sections = |by_thread: &Vec<Vec<Region>>| {
            let section = |event: EventId| region_around(&by_thread[self.trace.event(event).thread.index()], event);
            let [from, other, to] = [section(first)?, section(remote)?, section(second)?];
            let apart = from.start != to.start && from.excludes(&other) && to.excludes(&other);
            apart.then_some([from.start, other.start, to.start])
        };
        locks.filter_map(in_sections).next()
    }
}

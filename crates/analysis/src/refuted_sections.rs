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

/// What was refuted: for each three sections the earliest second, and the earliest of those whose refutation rests on no pin.
pub(crate) struct RefutedSections<'a> {
    trace: &'a Trace,
    regions: Arc<RegionsByThread>,
    earliest: Mutex<FxHashMap<Sections, Earliest>>,
}

#[derive(Clone, Copy, Default)]
struct Earliest {
    at_all: Option<EventId>,
    without_pin: Option<EventId>,
}

impl<'a> RefutedSections<'a> {
    /// Nothing yet, of a trace with these regions.
    pub(crate) fn new(trace: &'a Trace, regions: Arc<RegionsByThread>) -> RefutedSections<'a> {
        RefutedSections { trace, regions, earliest: Mutex::default() }
    }

    /// Notes a candidate that no prefix shows, under conflict independence; and whether that rests on pins.
    pub(crate) fn add(&self, triple: Triple, rests_on_pin: bool) {
        if let Some(sections) = self.sections(triple) {
            let mut earliest = self.earliest();
            if earliest.len() < MOST_REFUTED {
                let known = earliest.entry(sections).or_default();
                let earlier = |known: Option<EventId>| Some(known.unwrap_or(triple.second).min(triple.second));
                known.at_all = earlier(known.at_all);
                if !rests_on_pin {
                    known.without_pin = earlier(known.without_pin);
                }
            }
        }
    }

    /// Whether one that was noted refutes this one, too; then whether that rests on pins.
    pub(crate) fn covers(&self, triple: Triple) -> Option<bool> {
        let known = self.sections(triple).and_then(|sections| self.earliest().get(&sections).copied())?;
        let covers = |second: Option<EventId>| second.is_some_and(|second| second <= triple.second);
        covers(known.at_all).then(|| !covers(known.without_pin))
    }

    fn earliest(&self) -> MutexGuard<'_, FxHashMap<Sections, Earliest>> {
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

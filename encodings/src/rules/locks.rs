//! Locks: regions of one lock do not overlap, unless both only share it; a failed try finds the lock held.
//!
//! A prefix may leave a region open: then no other region of the lock that it excludes comes after.

use super::Rule;
use crate::encoder::Encoder;
use crate::origin::Origin;
use foretrace_index::Region;
use foretrace_trace::{EventId, SyncId, TermId};

impl Encoder<'_> {
    /// The region that `start` opens, against those of other threads that take part already.
    pub(crate) fn lock_region(&mut self, start: EventId, lock: SyncId) {
        if self.is_left_out(Rule::Locks) {
            return;
        }
        let Some(region) = self.view.trace_index.region_at(lock, start) else {
            return; // an inner level of a recursive lock
        };
        if !self.view.trace_index.is_contended(&region) {
            return;
        }
        if self.obligations.is_some() {
            return self.post_region(region);
        }
        let taking_part = self.cone.regions.entry(lock).or_default();
        let others: Vec<Region> = taking_part.iter().filter(|other| region.excludes(other)).copied().collect();
        taking_part.push(region);
        for other in others {
            self.exclusion(&region, &other);
        }
    }

    fn exclusion(&mut self, a: &Region, b: &Region) {
        let must_follow =
            |first: &Region, then: &Region| first.end.is_some_and(|end| self.view.clocks.before(end, then.start));
        if must_follow(a, b) || must_follow(b, a) {
            return;
        }
        let (a_in, b_in) = (self.included(a.start), self.included(b.start));
        let (not_a, not_b) = (self.build.not(a_in), self.build.not(b_in));
        let (a_first, b_first) = (self.closed_before(a, b), self.closed_before(b, a));
        let (one, other) = (a.start.min(b.start), a.start.max(b.start));
        for (mine, theirs) in a_first.iter().flat_map(|x| b_first.iter().map(move |y| (*x, *y))) {
            let term = self.build.or([not_a, not_b, mine, theirs]);
            self.assert(Origin::Exclusion { one, other }, other, term);
        }
    }

    /// What makes `first` end before `then` starts: all of these terms.
    pub(crate) fn closed_before(&mut self, first: &Region, then: &Region) -> Vec<TermId> {
        match first.end {
            Some(end) => vec![self.included(end), self.before(end, then.start)],
            None => vec![self.build.falsity()],
        }
    }

    /// A failed try: some other thread holds the lock.
    pub(crate) fn busy(&mut self, id: EventId, lock: SyncId) {
        let thread = self.view.trace.event(id).thread;
        let included = self.included(id);
        let mut ways = vec![self.build.not(included)];
        for region in &self.view.trace_index.regions[lock.index()] {
            if region.thread != thread && !self.view.clocks.before(id, region.start) {
                ways.push(self.holds(region, id));
            }
        }
        let term = self.build.or(ways);
        self.assert(Origin::Busy(id), id, term);
    }

    /// The region is open when `at` happens.
    fn holds(&mut self, region: &Region, at: EventId) -> TermId {
        let started = [self.included(region.start), self.before(region.start, at)];
        let still = match region.end {
            Some(end) => {
                let closed = self.included(end);
                let ways = [self.build.not(closed), self.before(at, end)];
                self.build.or(ways)
            }
            None => self.build.truth(),
        };
        self.build.and(started.into_iter().chain([still]))
    }
}

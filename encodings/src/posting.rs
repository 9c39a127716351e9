//! Makes the obligations of a solver that knows schedules, event by event.

use crate::encoder::Encoder;
use crate::obligation::{Obligation, Participant};
use foretrace_index::{Region, Waiting};
use foretrace_trace::{EventId, Op};

impl Encoder<'_> {
    fn part(&mut self, event: EventId) -> Participant {
        let step = self.step(event);
        self.order(step);
        self.included(event);
        let included = (!self.is_complete()).then(|| self.inclusion(event));
        Participant { event, step, included }
    }

    fn post(&mut self, obligation: Obligation) {
        self.obligations.get_or_insert_default().push(obligation);
    }

    /// Tells of a region.
    pub(crate) fn post_region(&mut self, region: Region) {
        let start = self.part(region.start);
        let end = region.end.map(|end| self.part(end));
        self.post(Obligation::Region { region, start, end });
    }

    /// Tells of a wake with the signals that it may need.
    pub(crate) fn post_wake(&mut self, waiting: Waiting, mut signals: Vec<EventId>) {
        signals.sort_by_key(|signal| nearness(waiting.wake, Some(*signal)));
        let (wait, wake) = (self.part(waiting.wait), self.part(waiting.wake));
        let trace = self.view.trace;
        let is_broadcast = |signal: EventId| matches!(trace.event(signal).op, Op::Broadcast { .. });
        let signals = signals.into_iter().map(|signal| (self.part(signal), is_broadcast(signal))).collect();
        self.post(Obligation::Wake { cond: waiting.cond, wait, wake, signals });
    }

    /// Tells of an access with its sources, once.
    pub(crate) fn post_read(&mut self, at: EventId) {
        if !self.cone.told_reads.insert(at) {
            return;
        }
        let pi = self.pi(at);
        let var = self.view.trace.event(at).op.var().expect("an access has a variable");
        for write in &pi.writes {
            if self.cone.told.insert(*write) {
                let write = self.part(*write);
                self.post(Obligation::Write { var, write });
            }
        }
        let reads = self.view.trace.event(at).op.reads();
        let observed = reads.then(|| self.view.observed.source(at));
        let mut sources: Vec<Option<EventId>> = pi.sources().collect();
        sources.sort_by_key(|source| (Some(*source) != observed, nearness(at, *source)));
        let sources = sources.into_iter().map(|source| source.map(|write| self.part(write))).collect();
        let step = self.step(at);
        self.order(step);
        self.post(Obligation::Read { var, at, step, sources });
    }
}

/// Writes before the access, the latest first; then the initial value; then writes after it.
fn nearness(at: EventId, source: Option<EventId>) -> (u8, u32) {
    match source {
        Some(write) if write < at => (0, at.0 - write.0),
        None => (1, 0),
        Some(write) => (2, write.0 - at.0),
    }
}

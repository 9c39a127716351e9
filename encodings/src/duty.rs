//! What a solver that knows schedules is told in place of constraints: which regions of locks, reads and writes take part.
//!
//! What it must see to is what the constraints say that are left out (`NotBetween`, the order in `WrittenBefore`,
//! `Exclusion`, `Signalled`, `OwnSignal`): regions of one lock that are part of the prefix do not overlap, unless both only
//! share it; a `ReadsFrom` atom that is true puts its write before the access, and every other write of the prefix before
//! that write or after the access; and each wake of the prefix has its signal.

use crate::encoder::Encoder;
use foretrace_index::{Region, Waiting};
use foretrace_trace::{EventId, Op, SyncId, VarId};

/// An event that takes part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// The event.
    pub event: EventId,
    /// Its step, as order atoms name it.
    pub step: EventId,
    /// The event whose `Included` atom says whether the prefix holds it; none where every execution does.
    pub included: Option<EventId>,
}

/// Something that the solver must see to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Duty {
    /// A region of a lock does not overlap with those told before that it excludes.
    Region {
        /// The region.
        region: Region,
        /// Its start.
        start: Part,
        /// Its end, where the run got there.
        end: Option<Part>,
    },
    /// A wake needs one of these signals for itself, between its wait and itself, or one of these broadcasts.
    Wake {
        /// The condition variable.
        cond: SyncId,
        /// Where the wait begins.
        wait: Part,
        /// The wake.
        wake: Part,
        /// The likeliest first, and whether it is a broadcast.
        signals: Vec<(Part, bool)>,
    },
    /// A write stands in no access's way to its source.
    Write {
        /// The variable.
        var: VarId,
        /// The write.
        write: Part,
    },
    /// An access takes the value that it finds from one of these sources.
    Read {
        /// The variable.
        var: VarId,
        /// The access, and the step that it belongs to.
        at: EventId,
        /// Its step, as order atoms name it.
        step: EventId,
        /// The writes that are told already, none for the initial value; the likeliest first: what the run shows, then
        /// what is nearest to it.
        sources: Vec<Option<Part>>,
    },
}

impl Encoder<'_> {
    fn part(&mut self, event: EventId) -> Part {
        let step = self.step(event);
        self.order(step);
        self.included(event);
        let included = (!self.is_complete()).then(|| self.inclusion(event));
        Part { event, step, included }
    }

    fn tell(&mut self, duty: Duty) {
        self.duties.get_or_insert_default().push(duty);
    }

    /// Tells of a region.
    pub(crate) fn tell_region(&mut self, region: Region) {
        let start = self.part(region.start);
        let end = region.end.map(|end| self.part(end));
        self.tell(Duty::Region { region, start, end });
    }

    /// Tells of a wake with the signals that it may need.
    pub(crate) fn tell_wake(&mut self, waiting: Waiting, mut signals: Vec<EventId>) {
        signals.sort_by_key(|signal| nearness(waiting.wake, Some(*signal)));
        let (wait, wake) = (self.part(waiting.wait), self.part(waiting.wake));
        let trace = self.facts.trace;
        let is_broadcast = |signal: EventId| matches!(trace.event(signal).op, Op::Broadcast { .. });
        let signals = signals.into_iter().map(|signal| (self.part(signal), is_broadcast(signal))).collect();
        self.tell(Duty::Wake { cond: waiting.cond, wait, wake, signals });
    }

    /// Tells of an access with its sources, once.
    pub(crate) fn tell_read(&mut self, at: EventId) {
        if !self.cone.told_reads.insert(at) {
            return;
        }
        let pi = self.pi(at);
        let var = self.facts.trace.event(at).op.var().expect("an access has a variable");
        for write in &pi.writes {
            if self.cone.told.insert(*write) {
                let write = self.part(*write);
                self.tell(Duty::Write { var, write });
            }
        }
        let reads = self.facts.trace.event(at).op.reads();
        let observed = reads.then(|| self.facts.observed.source(at));
        let mut sources: Vec<Option<EventId>> = pi.sources().collect();
        sources.sort_by_key(|source| (Some(*source) != observed, nearness(at, *source)));
        let sources = sources.into_iter().map(|source| source.map(|write| self.part(write))).collect();
        let step = self.step(at);
        self.order(step);
        self.tell(Duty::Read { var, at, step, sources });
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

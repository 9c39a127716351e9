//! Which violations of whole threads count as found.
//!
//! A thread as a whole is seldom meant to be atomic: other threads may normally come between two blocks of its code. So a violation that no
//! tighter block holds counts only in two cases. The thread's own code makes both accesses, or the value that the first one read decides
//! what the thread writes at the second: a check, and an act on it.

use crate::options::Options;
use foretrace_trace::{Atomic, Data, EventId, Op, TermId, Trace, Triple};
use rustc_hash::FxHashSet;

/// Events between two accesses that are looked at. A violation over more of them counts, and ranks as if no wait were between.
const MOST_EVENTS: u32 = 1 << 17;

#[cfg(test)]
mod tests;

/// The threads of a trace as blocks.
#[derive(Clone, Copy)]
pub struct WholeThreads<'t> {
    trace: &'t Trace,
    options: &'t Options,
}

impl<'t> WholeThreads<'t> {
    /// Of a trace, of which this is asked.
    pub fn new(trace: &'t Trace, options: &'t Options) -> WholeThreads<'t> {
        WholeThreads { trace, options }
    }

    /// Whether a violation counts as found: all do that a block tighter than the thread holds, or where the user chose the blocks.
    pub fn counts(&self, triple: Triple) -> bool {
        self.options.atomic != Atomic::Auto || !self.is_of_whole_thread(triple) || self.thread_is_meant(triple)
    }

    /// Whether no block but the whole thread holds a candidate.
    fn is_of_whole_thread(&self, triple: Triple) -> bool {
        self.options.blocks.as_ref().is_some_and(|blocks| blocks.is_of_whole_thread(self.trace, triple))
    }

    /// The events of a thread between two of its own; `None` where too many events of the trace are.
    pub fn between(self, first: EventId, second: EventId) -> Option<impl Iterator<Item = (EventId, &'t Op)>> {
        (second.0 - first.0 <= MOST_EVENTS).then(|| self.of_same_thread(first, second.0))
    }

    /// The events of an event's thread that come after it and before a position.
    fn of_same_thread(self, first: EventId, end: u32) -> impl Iterator<Item = (EventId, &'t Op)> {
        let thread = self.trace.event(first).thread;
        let all = (first.0 + 1..end).map(|event| (EventId(event), self.trace.event(EventId(event))));
        all.filter(move |(_, event)| event.thread == thread).map(|(id, event)| (id, &event.op))
    }

    fn thread_is_meant(&self, triple: Triple) -> bool {
        let Triple { first, second, .. } = triple;
        let is_own = self.is_own_code(first) && self.is_own_code(second) && !self.are_sections_apart(first, second);
        is_own || self.decides(first, second)
    }

    /// Whether an event is in no block tighter than the thread.
    fn is_own_code(&self, event: EventId) -> bool {
        self.is_of_whole_thread(Triple { first: event, remote: event, second: event })
    }

    /// Whether a critical section of the thread ends between two of its events that holds the first, or begins there that holds the second.
    fn are_sections_apart(&self, first: EventId, second: EventId) -> bool {
        let Some(between) = self.between(first, second) else { return false };
        let mut taken = FxHashSet::default();
        for (_, op) in between {
            match op {
                Op::Acquire { lock } | Op::AcquireShared { lock } => drop(taken.insert(*lock)),
                Op::Release { lock } | Op::ReleaseShared { lock } if !taken.remove(lock) => return true,
                _ => {}
            }
        }
        !taken.is_empty()
    }

    /// Whether what an access read decides what its thread writes to the variable at a later access, or after that in the same
    /// block. In a trace without expressions it may.
    fn decides(&self, first: EventId, second: EventId) -> bool {
        let trace = self.trace;
        if !trace.event(first).op.reads() {
            return false;
        }
        if second.0 - first.0 > MOST_EVENTS {
            return true;
        }
        let var = trace.event(first).op.var();
        let mut flow = Flow::new(trace, first);
        let end = (trace.events.len() as u32).min(second.0 + MOST_EVENTS);
        let is_own = self.is_own_code(second);
        for (event, op) in self.of_same_thread(first, end) {
            if event > second && is_own && !self.is_own_code(event) {
                continue;
            }
            if event > second && !is_own && !self.share_block(second, event) {
                return false;
            }
            if event >= second && op.writes() && op.var() == var {
                return flow.decides(op);
            }
            flow.pass(event, op);
        }
        false
    }

    /// Whether a block tighter than the thread holds two of its events.
    fn share_block(&self, first: EventId, second: EventId) -> bool {
        !self.is_of_whole_thread(Triple { first, remote: first, second })
    }
}

/// What a value that was read goes into.
struct Flow<'t> {
    trace: &'t Trace,
    /// The definitions that depend on it.
    reached: FxHashSet<EventId>,
    /// Whether the thread went its way because of it.
    branched: bool,
}

impl<'t> Flow<'t> {
    fn new(trace: &'t Trace, read: EventId) -> Flow<'t> {
        Flow { trace, reached: FxHashSet::from_iter([read]), branched: trace.data != Data::Symbolic }
    }

    fn has(&self, term: TermId) -> bool {
        self.trace.terms.leaves(term).into_iter().any(|local| self.reached.contains(&local.definition))
    }

    fn pass(&mut self, event: EventId, op: &Op) {
        match op {
            Op::Let { expr, .. } if self.has(*expr) => drop(self.reached.insert(event)),
            Op::Assume { expr, .. } => self.branched |= self.has(*expr),
            _ => {}
        }
    }

    fn decides(&self, write: &Op) -> bool {
        self.branched || write.written().is_some_and(|term| self.has(term))
    }
}

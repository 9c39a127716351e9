//! Region I: the observed order, each thread up to its last point without locks.

use super::Synthesizer;
use foretrace_trace::{EventId, ThreadId};

impl Synthesizer<'_> {
    /// The observed order up to the earlier of the two points without locks: of each other thread what comes before its own last such
    /// point until then.
    ///
    /// No lock is held at its end, so that all its locks are given back before they are taken again.
    pub(super) fn region_one(&self, early: (ThreadId, usize), late: (ThreadId, usize)) -> Vec<EventId> {
        // A thread that stands at its start is at its point from the first: then the other's point says how far to go.
        let Some(end) = self.last_of(early).or_else(|| self.last_of(late)) else { return Vec::new() };
        let unlocked: Vec<Option<EventId>> = (0..self.trace.threads.len())
            .map(|thread| {
                let thread = ThreadId::from_index(thread);
                let own = &self.trace_index.threads[thread.index()];
                let until = own.partition_point(|event| *event <= end);
                let most = [early, late].iter().find(|(other, _)| *other == thread).map_or(until, |(_, most)| *most);
                self.last_of((thread, self.unlocked_until(thread, until.min(most))))
            })
            .collect();
        let events = self.trace.events[..=end.index()].iter().enumerate();
        let chosen = events.map(|(index, event)| (EventId::from_index(index), event.thread.index()));
        chosen.filter(|(id, thread)| unlocked[*thread].is_some_and(|last| *id <= last)).map(|(id, _)| id).collect()
    }
}

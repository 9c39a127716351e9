//! The events of the walk as they come: those of the trace but for the marks of transactions and the names that are put in later,
//! and with cells in place of variables.

use foretrace_trace::{Event, EventId, TraceAssembler};

/// The events of the walk so far, and the trace's header in the making.
pub(crate) struct Draft {
    pub assembler: TraceAssembler,
    /// Their variables are numbers of cells, their terms those of the walk.
    pub events: Vec<Event>,
}

impl Draft {
    /// The index of the next event.
    pub fn next(&self) -> EventId {
        EventId::from_index(self.events.len())
    }

    /// Adds an event.
    pub fn push(&mut self, event: Event) -> EventId {
        let id = self.next();
        self.events.push(event);
        id
    }
}

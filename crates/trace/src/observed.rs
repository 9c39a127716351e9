//! What the accesses of a trace read and wrote in the recorded order.

use crate::interner::{Interner, hash_of};
use crate::trace::EventId;
use crate::value::Value;

/// What every access read and wrote in the recorded order.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    values: Interner<Value>,
    accesses: Vec<Access>,
}

/// Values by their position among the distinct ones; [`NOTHING`] where there is none.
#[derive(Clone, Copy, Debug)]
struct Access {
    read: u32,
    written: u32,
    source: u32,
}

const NOTHING: u32 = u32::MAX;

impl Observed {
    /// The value that a read or rmw read; nothing in a trace without data.
    pub fn read(&self, event: EventId) -> Option<&Value> {
        self.values.items().get(self.accesses[event.index()].read as usize)
    }

    /// The value that a write or rmw wrote; nothing in a trace without data.
    pub fn written(&self, event: EventId) -> Option<&Value> {
        self.values.items().get(self.accesses[event.index()].written as usize)
    }

    /// The write or rmw that a read or rmw read from; nothing where it read the initial value.
    pub fn source(&self, event: EventId) -> Option<EventId> {
        Some(self.accesses[event.index()].source).filter(|write| *write != NOTHING).map(EventId)
    }

    /// The same of a trace with so many more events at its end, none of them an access.
    pub fn followed_by(&self, events: usize) -> Observed {
        let mut longer = self.clone();
        let nothing = Access { read: NOTHING, written: NOTHING, source: NOTHING };
        longer.accesses.extend(std::iter::repeat_n(nothing, events));
        longer
    }

    /// Nothing yet, with room for so many events.
    pub(crate) fn with_capacity(events: usize) -> Observed {
        Observed { values: Interner::default(), accesses: Vec::with_capacity(events) }
    }

    /// Adds what the next event read and wrote, and the write that it read from.
    pub(crate) fn push(&mut self, read: Option<&Value>, written: Option<&Value>, source: Option<EventId>) {
        let (read, written) = (self.id(read), self.id(written));
        self.accesses.push(Access { read, written, source: source.map_or(NOTHING, |write| write.0) });
    }

    fn id(&mut self, value: Option<&Value>) -> u32 {
        match value {
            None => NOTHING,
            Some(value) => self.values.intern(hash_of(value), |other| other == value, || value.clone()) as u32,
        }
    }
}

//! The events of the walk as they come: those of the trace but for the marks of transactions and the names that are put in later,
//! and with cells in place of variables.

use foretrace_trace::{Event, EventId, NameId, Op, ThreadId, TraceAssembler};

/// Code that foretrace did not build and that ran: the function, and what it belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ran {
    pub what: NameId,
    pub object: NameId,
}

impl Ran {
    pub fn op(self) -> Op {
        Op::Unseen { what: self.what, object: Some(self.object) }
    }
}

/// The events of the walk so far, and the trace's header in the making.
pub(crate) struct Draft {
    pub assembler: TraceAssembler,
    /// Their variables are numbers of cells, their terms those of the walk.
    pub events: Vec<Event>,
    /// Per thread, what ran before whatever it does next.
    held: Vec<Vec<Ran>>,
}

impl Draft {
    pub fn new(assembler: TraceAssembler) -> Draft {
        Draft { assembler, events: Vec::new(), held: Vec::new() }
    }

    /// The index of the next event.
    pub fn next(&self) -> EventId {
        EventId::from_index(self.events.len())
    }

    /// Adds an event, after the marks that come right before it.
    pub fn push(&mut self, event: Event) -> EventId {
        let (thread, loc) = (event.thread, event.loc);
        if let Some(held) = self.held.get_mut(thread.index()) {
            let marks =
                held.drain(..).map(|ran| Event { thread, op: ran.op(), loc, at: None, part: None, tried: false });
            self.events.extend(marks);
        }
        let id = self.next();
        self.events.push(event);
        id
    }

    /// Marks what ran before the next event of a thread.
    pub fn hold(&mut self, thread: ThreadId, ran: Ran) {
        if self.held.len() <= thread.index() {
            self.held.resize(thread.index() + 1, Vec::new());
        }
        if !self.is_held(thread, ran) {
            self.held[thread.index()].push(ran);
        }
    }

    /// Whether the same code ran already before the next event of a thread.
    pub fn is_held(&self, thread: ThreadId, ran: Ran) -> bool {
        let held = self.held.get(thread.index()).map_or(&[][..], Vec::as_slice);
        held.iter().any(|held| held.object == ran.object)
    }
}

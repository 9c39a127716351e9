//! The events of the walk as they come: those of the trace but for the marks of transactions and the names that are put in later,
//! and with cells in place of variables.

use crate::looks::Looks;
use crate::marks::Ran;
use foretrace_trace::{Event, EventId, NameId, Op, TermId, ThreadId, TraceAssembler};

/// The events of the walk so far, and the trace's header in the making.
pub(crate) struct Draft {
    pub assembler: TraceAssembler,
    /// Their variables are numbers of cells, their terms those of the walk.
    pub events: Vec<Event>,
    /// Per thread, what ran before whatever it does next.
    held: Vec<Vec<Ran>>,
    pub looks: Looks,
    /// Per thread, the call that comes right before the next thing that it does to others.
    calls: Vec<Option<Event>>,
}

impl Draft {
    pub fn new(assembler: TraceAssembler) -> Draft {
        Draft { assembler, events: Vec::new(), held: Vec::new(), looks: Looks::default(), calls: Vec::new() }
    }

    /// The index of the next event.
    pub fn next(&self) -> EventId {
        EventId::from_index(self.events.len())
    }

    /// The index of the access that comes next: what comes right before it is put in.
    pub fn next_access(&mut self, thread: ThreadId, loc: Option<NameId>) -> EventId {
        self.begin_call(thread);
        self.push_held(thread, loc);
        self.next()
    }

    /// Adds an event, after the marks that come right before it.
    pub fn push(&mut self, event: Event) -> EventId {
        if !matches!(event.op, Op::Assume { .. } | Op::Let { .. }) {
            self.begin_call(event.thread);
        }
        self.push_held(event.thread, event.loc);
        let id = self.next();
        self.events.push(event);
        id
    }

    /// A read happens as recorded only where this holds, which may be about what it finds.
    pub fn guard_read(&mut self, read: EventId, condition: TermId) {
        if let Op::Read { guard, .. } = &mut self.events[read.index()].op {
            *guard = Some(condition);
        }
    }

    /// What runs before the next event of a thread is put in.
    fn push_held(&mut self, thread: ThreadId, loc: Option<NameId>) {
        self.looks.goes_on(self.events.len(), thread, loc);
        if let Some(held) = self.held.get_mut(thread.index()) {
            let marks =
                held.drain(..).map(|ran| Event { thread, op: ran.op(), loc, at: None, part: None, tried: false });
            self.events.extend(marks);
        }
    }

    /// A call begins right before the next event of its thread but for conditions: as late as it can, since nothing that it does earlier
    /// concerns other threads.
    pub fn hold_call(&mut self, call: Event) {
        let thread = call.thread.index();
        if self.calls.len() <= thread {
            self.calls.resize(thread + 1, None);
        }
        self.calls[thread] = Some(call);
    }

    /// A call that is held begins.
    pub fn begin_call(&mut self, thread: ThreadId) {
        if let Some(call) = self.calls.get_mut(thread.index()).and_then(Option::take) {
            self.push_held(call.thread, call.loc);
            self.events.push(call);
        }
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

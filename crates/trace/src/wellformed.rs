//! The rules of the format that need no values: what each event may say, given those before it.
//!
//! Every reader and [`crate::TraceAssembler::finish`] use these checks. The step semantics checks that the recorded order finds each event
//! enabled and reproduces each value. The messages here name the mistake more plainly.

mod blocks;
mod fields;
mod naming;
mod parts;
mod scope;
mod threads;

pub(crate) use fields::values_in_trace_without_data;

use crate::error::{Invalid, Problem};
use crate::trace::{Event, EventId, Trace};

/// Checks every event of a trace.
pub fn check(trace: &Trace) -> Result<(), Invalid> {
    let scope = scope::Scope::new(trace);
    let mut parts = parts::Parts::default();
    let mut threads = threads::Threads::default();
    threads.know(trace.threads.len());
    let mut blocks = blocks::Blocks::default();
    blocks.know(trace.threads.len());
    let mut check_event = |id: EventId, event: &Event| -> Result<(), Problem> {
        fields::check(trace, event)?;
        scope.check(trace, id, event)?;
        parts.check(trace, event)?;
        threads.check(trace, id, event)?;
        blocks.check(trace, id, event)
    };
    trace.iter().try_for_each(|(id, event)| check_event(id, event).map_err(|problem| problem.at(id)))
}

/// The rules that need no values, for events that come one by one and are not kept. These are the rules of threads, of what threads open
/// and close, and of the objects that events are on.
#[derive(Default)]
pub(crate) struct AsTheyCome {
    parts: parts::Parts,
    threads: threads::Threads,
    blocks: blocks::Blocks,
}

impl AsTheyCome {
    /// Checks the next event; `trace` has what was declared so far.
    pub(crate) fn check(&mut self, trace: &Trace, id: EventId, event: &Event) -> Result<(), Problem> {
        self.threads.know(trace.threads.len());
        self.blocks.know(trace.threads.len());
        fields::check_kinds(trace, event)?;
        self.parts.check(trace, event)?;
        self.threads.check(trace, id, event)?;
        self.blocks.check(trace, id, event)
    }
}

/// The rules of an event's own fields, values among them.
pub(crate) fn check_fields(trace: &Trace, event: &Event) -> Result<(), Problem> {
    fields::check(trace, event)
}

//! The rules of the format that need no values: what each event may say, given those before it.
//!
//! Every reader and [`crate::TraceAssembler::finish`] ask here. That the recorded order finds each event enabled and
//! reproduces each value is the business of the step semantics; what is checked here names the mistake more plainly.

mod blocks;
mod fields;
mod parts;
mod scope;
mod threads;

pub(crate) use fields::values_in_trace_without_data;

use crate::error::{Invalid, Problem, quoted};
use crate::trace::{Event, EventId, SyncId, ThreadId, Trace};

/// Checks every event of a trace.
pub fn check(trace: &Trace) -> Result<(), Invalid> {
    let scope = scope::Scope::new(trace);
    let mut parts = parts::Parts::default();
    let mut threads = threads::Threads::new(trace);
    let mut blocks = blocks::Blocks::new(trace);
    let mut check_event = |id: EventId, event: &Event| -> Result<(), Problem> {
        fields::check(trace, event)?;
        scope.check(trace, id, event)?;
        parts.check(trace, event)?;
        threads.check(trace, id, event)?;
        blocks.check(trace, id, event)
    };
    trace.iter().try_for_each(|(id, event)| check_event(id, event).map_err(|problem| problem.at(id)))
}

fn thread(trace: &Trace, id: ThreadId) -> String {
    format!("thread {}", trace.threads[id.index()].number)
}

fn sync(trace: &Trace, id: SyncId) -> String {
    quoted(&trace.syncs[id.index()].key)
}

/// `a read`, `an assume`, `an rmw`: an event's kind in a sentence.
fn a_kind(event: &Event) -> String {
    let kind = event.op.kind();
    let an = kind.starts_with(['a', 'e', 'i', 'o', 'u']) || kind == "rmw";
    let article = if an { "an" } else { "a" };
    format!("{article} `{kind}`")
}

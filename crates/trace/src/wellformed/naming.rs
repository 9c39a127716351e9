//! What events, threads and objects are called in messages.

use crate::error::quoted;
use crate::trace::{Event, SyncId, ThreadId, Trace};

pub(super) fn thread(trace: &Trace, id: ThreadId) -> String {
    format!("thread {}", trace.threads[id.index()].number)
}

pub(super) fn sync(trace: &Trace, id: SyncId) -> String {
    quoted(&trace.syncs[id.index()].key)
}

/// `a read`, `an assume`, `an rmw`: an event's kind in a sentence.
pub(super) fn a_kind(event: &Event) -> String {
    let kind = event.op.kind();
    let an = kind.starts_with(['a', 'e', 'i', 'o', 'u']) || kind == "rmw";
    let article = if an { "an" } else { "a" };
    format!("{article} `{kind}`")
}

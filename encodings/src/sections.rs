//! Critical sections and what they hide: sources that a π-function can do without.
//!
//! Two regions of one lock do not overlap. So of the writes of one region an access in another sees at most the last, and an access after a
//! write of its own region sees none of the other. This uses the rule for locks without naming it, so the encoder of an argument does not
//! use it.

use crate::pi::Pi;
use crate::view::TraceView;
use foretrace_index::Region;
use foretrace_trace::EventId;
use std::rc::Rc;

/// From an event on, a thread holds the locks of these regions.
type Epoch = (EventId, Rc<[Region]>);

/// The regions around every access.
pub(crate) struct Sections {
    epochs: Vec<Vec<Epoch>>,
}

impl Sections {
    pub(crate) fn new(view: TraceView<'_>) -> Sections {
        let threads = view.trace.threads.len();
        let mut changes: Vec<Vec<(EventId, bool, Region)>> = vec![Vec::new(); threads];
        for region in view.trace_index.regions.iter().flatten() {
            let own = &mut changes[region.thread.index()];
            own.push((region.start, true, *region));
            own.extend(region.end.map(|end| (end, false, *region)));
        }
        Sections { epochs: changes.into_iter().map(epochs).collect() }
    }

    /// The π-function without the writes that critical sections hide from the access, unless more than `most` are left.
    pub(crate) fn narrow(&self, view: TraceView<'_>, pi: Pi, most: usize) -> Option<Pi> {
        let thread = view.trace.event(pi.at).thread;
        let around = self.around(view, pi.at);
        let is_own = |write: &EventId| view.trace.event(*write).thread == thread;
        let own = pi.writes.iter().copied().find(|write| is_own(write) && *write < pi.at);
        let hides = |mine: &Region, theirs: &Region, write: EventId| {
            let overwritten = |next| theirs.end.is_none_or(|end| next < end);
            let next = || view.trace_index.next_write(view.trace, write);
            mine.excludes(theirs) && (own.is_some_and(|own| mine.start < own) || next().is_some_and(overwritten))
        };
        let is_hidden = |write: &EventId| {
            let theirs = if around.is_empty() { &[] } else { self.around(view, *write) };
            !is_own(write) && around.iter().any(|mine| theirs.iter().any(|theirs| hides(mine, theirs, *write)))
        };
        let mut left = pi.writes.iter().copied().filter(|write| !is_hidden(write));
        let writes: Vec<EventId> = left.by_ref().take(most).collect();
        left.next().is_none().then_some(Pi { writes, ..pi })
    }

    fn around(&self, view: TraceView<'_>, event: EventId) -> &[Region] {
        let epochs = &self.epochs[view.trace.event(event).thread.index()];
        let begun = epochs.partition_point(|(from, _)| *from < event);
        begun.checked_sub(1).map_or(&[], |last| &epochs[last].1)
    }
}

fn epochs(mut changes: Vec<(EventId, bool, Region)>) -> Vec<Epoch> {
    changes.sort_unstable_by_key(|(at, begins, _)| (*at, *begins));
    let mut held: Vec<Region> = Vec::new();
    let mut epochs = Vec::with_capacity(changes.len());
    for (at, begins, region) in changes {
        if begins {
            held.push(region);
        } else {
            held.retain(|other| *other != region);
        }
        epochs.push((at, held.as_slice().into()));
    }
    epochs
}

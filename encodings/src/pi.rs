//! π-functions: which definitions a use of a shared variable may take.
//!
//! Source: Fusion, section 4.1. A π-function's arguments leave out what must-happen-before rules out: writes that come
//! after the use, and writes that another write must come between.

use crate::view::TraceView;
use foretrace_trace::EventId;

/// π(v₁ … vₙ): the definitions that the value just before an access may come from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pi {
    /// The access.
    pub at: EventId,
    /// Whether the initial value is among them.
    pub initial: bool,
    /// The writes among them, in observed order.
    pub writes: Vec<EventId>,
}

impl Pi {
    /// The π-function of an access.
    pub fn new(view: TraceView<'_>, at: EventId) -> Pi {
        let (mut writes, mut latest) = (Vec::new(), Vec::new());
        for Window { before, concurrent } in windows(view, at) {
            latest.extend(before);
            writes.extend_from_slice(concurrent);
        }
        let initial = latest.is_empty();
        let last = |w: &&EventId| !latest.iter().any(|other| view.clocks.before(**w, *other));
        writes.extend(latest.iter().filter(last));
        writes.sort_unstable();
        Pi { at, initial, writes }
    }

    /// How many writes it has before those are left out that critical sections hide, about.
    pub(crate) fn size(view: TraceView<'_>, at: EventId) -> usize {
        windows(view, at).map(|window| window.concurrent.len()).sum()
    }

    /// All sources, the initial value first, as `Atom::ReadsFrom` names them.
    pub fn sources(&self) -> impl Iterator<Item = Option<EventId>> + '_ {
        self.initial.then_some(None).into_iter().chain(self.writes.iter().copied().map(Some))
    }
}

/// A thread's writes of a variable, as an access of it sees them.
pub(crate) struct Window<'a> {
    /// The last one that must come before the access.
    pub(crate) before: Option<EventId>,
    /// Those after that one which need not come after the access.
    pub(crate) concurrent: &'a [EventId],
}

/// The writes that the value just before an access may come from, as far as each thread by itself tells.
pub(crate) fn windows<'a>(view: TraceView<'a>, at: EventId) -> impl Iterator<Item = Window<'a>> {
    let var = view.trace.event(at).op.var().expect("only accesses have a π-function");
    view.trace_index.writes_by_thread(view.trace, var).map(move |own| {
        let concurrent = own.partition_point(|write| view.clocks.before(*write, at));
        let after = own.partition_point(|write| *write != at && !view.clocks.before(at, *write));
        Window { before: own[..concurrent].last().copied(), concurrent: &own[concurrent..after] }
    })
}

//! Orders that refute many candidates of a pair at once.
//!
//! While one thread is between first and second, another thread can often do little. Its events from before first in the run must come
//! before first; its events from after second need second. So this module asks the solver two questions about each other thread:
//!
//! - Must its last remote access before first, in the run, come before first?
//! - Must its first remote access after second, in the run, come after second?
//!
//! An order that the solver confirms refutes all candidates beyond it. It holds in every prefix, so later questions take it as a
//! fact and do not look at the whole trace before that place.

use foretrace_index::TraceIndex;
use foretrace_trace::{EventId, ThreadId, Trace};

/// Remote accesses of one thread, on one side of a pair in the run.
struct Side {
    thread: ThreadId,
    /// Whether they came before first, not after second.
    early: bool,
    /// Those next to the pair first.
    remotes: Vec<EventId>,
}

/// What may bound the candidates of a pair.
pub(crate) struct Bounds {
    first: EventId,
    second: EventId,
    sides: Vec<Side>,
}

impl Bounds {
    /// Those of a pair with these remote accesses, in the order of the run. Only events that are steps of their own come after
    /// others: what holds in prefixes without an open step holds for them in all.
    pub(crate) fn new(
        trace: &Trace,
        trace_index: &TraceIndex,
        (first, second): (EventId, EventId),
        remotes: impl Iterator<Item = EventId>,
    ) -> Bounds {
        let alone =
            |event: EventId| trace.event(event).part.is_none() && trace_index.step(trace, event) == (event, event);
        let mut sides: Vec<Side> = Vec::new();
        for remote in remotes {
            let (thread, early) = (trace.event(remote).thread, remote < first);
            let may_come_later = if early { first } else { remote };
            if (early || second < remote) && alone(may_come_later) {
                match sides.iter_mut().find(|side| (side.thread, side.early) == (thread, early)) {
                    Some(side) => side.remotes.push(remote),
                    None => sides.push(Side { thread, early, remotes: vec![remote] }),
                }
            }
        }
        sides.iter_mut().filter(|side| side.early).for_each(|side| side.remotes.reverse());
        Bounds { first, second, sides }
    }

    /// The orders, each (earlier, later), that would refute all that is left.
    pub(crate) fn orders(&self) -> Vec<(EventId, EventId)> {
        self.sides.iter().map(|side| self.order(side)).collect()
    }

    fn order(&self, side: &Side) -> (EventId, EventId) {
        if side.early { (side.remotes[0], self.first) } else { (self.second, side.remotes[0]) }
    }

    /// The remote accesses that the orders refute.
    pub(crate) fn refuted(&self) -> impl Iterator<Item = EventId> {
        self.sides.iter().flat_map(|side| side.remotes.iter().copied())
    }

    /// Gives up the orders that a prefix with these steps breaks. Whether there is one, and some are left.
    pub(crate) fn give_up(&mut self, prefix: &[EventId], step: impl Fn(EventId) -> EventId) -> bool {
        let place = |event: EventId| prefix.iter().position(|other| *other == step(event));
        let [first, second] = [self.first, self.second].map(place);
        let before = self.sides.iter().map(|side| side.remotes.len()).sum::<usize>();
        for side in &mut self.sides {
            let is_broken = |remote: &EventId| {
                let remote = place(*remote);
                let (earlier, later) = if side.early { (remote, first) } else { (second, remote) };
                later.is_some() && earlier.is_none_or(|earlier| Some(earlier) > later)
            };
            let broken = side.remotes.iter().take_while(|remote| is_broken(remote)).count();
            side.remotes.drain(..broken);
        }
        self.sides.retain(|side| !side.remotes.is_empty());
        let left = self.sides.iter().map(|side| side.remotes.len()).sum::<usize>();
        0 < left && left < before
    }
}

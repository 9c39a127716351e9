//! Events that are put among those of the draft, and the numbers that all have then.

use foretrace_trace::{Event, EventId, Local, Op, Terms, ThreadId};

/// Events, each with its place: the event of the draft before which it comes. In order.
pub(super) struct Inserted {
    /// How many events the draft has.
    among: usize,
    places: Vec<usize>,
    events: Vec<Event>,
}

impl Inserted {
    /// None so far, among this many.
    pub fn among(among: usize) -> Inserted {
        Inserted { among, places: Vec::new(), events: Vec::new() }
    }

    /// Puts one before an event of the draft, after all that were put before it; gives its preliminary number, which is above
    /// those of the draft.
    pub fn push(&mut self, before: usize, event: Event) -> EventId {
        debug_assert!(self.places.last().is_none_or(|last| *last <= before));
        self.places.push(before);
        self.events.push(event);
        EventId::from_index(self.among + self.events.len() - 1)
    }

    /// The number in the trace of an event of the draft, or of one that was put in; all that come before it are known.
    pub fn renumbered(&self, id: EventId) -> EventId {
        EventId::from_index(match id.index().checked_sub(self.among) {
            Some(inserted) => self.places[inserted] + inserted,
            None => id.index() + self.places.partition_point(|before| *before <= id.index()),
        })
    }

    /// Puts all where they belong, and lets terms mention events by their numbers there.
    pub fn put(self, events: &mut Vec<Event>, terms: &mut Terms<Local>) {
        if self.events.is_empty() {
            return;
        }
        terms.rename_leaves(&mut |local| local.definition = self.renumbered(local.definition));
        let (mut rest, mut free) = (events.len(), events.len() + self.events.len());
        events.reserve_exact(self.events.len());
        events.resize_with(free, || Event {
            thread: ThreadId(0),
            op: Op::Fail { reason: None },
            loc: None,
            at: None,
            part: None,
            tried: false,
        });
        for (before, event) in self.places.into_iter().zip(self.events).rev() {
            while rest > before {
                (rest, free) = (rest - 1, free - 1);
                events.swap(rest, free);
            }
            free -= 1;
            events[free] = event;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretrace_trace::Sort;

    fn event(thread: u32) -> Event {
        Event { thread: ThreadId(thread), op: Op::Fail { reason: None }, loc: None, at: None, part: None, tried: false }
    }

    #[test]
    fn events_come_where_they_were_put_and_terms_follow() {
        let mut events: Vec<Event> = (0..4).map(event).collect();
        let mut terms: Terms<Local> = Terms::default();
        let local = |definition| Local { definition, sort: Sort::Bool };
        let of_draft: Vec<_> = (0..4).map(|id| terms.append_leaf(local(EventId(id)))).collect();
        let mut inserted = Inserted::among(4);
        let numbers: Vec<EventId> =
            [(0, 10), (2, 11), (2, 12), (4, 13)].map(|(before, thread)| inserted.push(before, event(thread))).into();
        let of_inserted: Vec<_> = numbers.iter().map(|id| terms.append_leaf(local(*id))).collect();
        inserted.put(&mut events, &mut terms);
        let threads: Vec<u32> = events.iter().map(|event| event.thread.0).collect();
        assert_eq!(threads, [10, 0, 1, 11, 12, 2, 3, 13]);
        let mut definitions = of_draft.iter().chain(&of_inserted).map(|term| match terms.node(*term) {
            foretrace_trace::Node::Leaf(local) => local.definition.0,
            other => panic!("{other:?}"),
        });
        assert!(definitions.by_ref().eq([1, 2, 5, 6, 0, 3, 4, 7]));
        assert_eq!(terms.leaf(local(EventId(5))), of_draft[2]);
    }
}

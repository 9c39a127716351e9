//! The history of a prefix: which operations were called and have returned, with what, and which had ended before which began.

use foretrace_trace::EventId;
use std::sync::Arc;

/// A call or a return that came.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Came {
    /// The event.
    pub event: EventId,
    /// Of a return, what the operation gives, as JSON; `None` where that is not known.
    pub result: Option<Arc<str>>,
}

/// Calls, or returns, that came with none of the other kind in between. Their order means nothing.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct CallsOrReturns {
    are_returns: bool,
    /// By their events.
    all: Vec<Came>,
}

/// A history, object by object, since objects are judged by themselves. Two prefixes have equal histories exactly in this case: the same
/// operations were called and have returned with the same results, and the same ones ended before others of their object began.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Performed {
    objects: Vec<Vec<CallsOrReturns>>,
}

impl Performed {
    /// Adds what comes next on an object.
    pub fn add(&mut self, object: usize, is_return: bool, came: Came) {
        if self.objects.len() <= object {
            self.objects.resize(object + 1, Vec::new());
        }
        let groups = &mut self.objects[object];
        match groups.last_mut().filter(|group| group.are_returns == is_return) {
            Some(group) => {
                let place = group.all.partition_point(|other| other.event < came.event);
                group.all.insert(place, came);
            }
            None => groups.push(CallsOrReturns { are_returns: is_return, all: vec![came] }),
        }
    }

    /// The calls and returns, object by object, each in an order that the history allows.
    pub fn came(&self) -> impl Iterator<Item = &Came> {
        self.objects.iter().flat_map(|groups| in_order(groups))
    }

    /// A key of one object's history: equal histories have equal keys.
    pub(crate) fn of_object(&self, object: usize) -> &[CallsOrReturns] {
        self.objects.get(object).map_or(&[], Vec::as_slice)
    }
}

/// The calls and returns of an object's history, in an order that it allows.
pub(crate) fn in_order(groups: &[CallsOrReturns]) -> impl Iterator<Item = &Came> {
    groups.iter().flat_map(|group| &group.all)
}

//! Where a thread has stood in its current transaction: for each lock state the last event after which it held.

use crate::locks::StateId;
use foretrace_trace::EventId;
use rustc_hash::FxHashMap;

/// What a thread is like between two of its events: the locks that it holds, and what it has learned of other threads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Standing {
    pub state: StateId,
    /// How many times the thread has learned of events of others.
    pub epoch: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    standing: Standing,
    /// The last event after which the thread was like this.
    last: EventId,
    older: u32,
    newer: u32,
}

const NONE: u32 = u32::MAX;

/// The standings since the transaction began, the latest first. Each costs constant time, whatever their number.
#[derive(Debug)]
pub(crate) struct Stays {
    nodes: Vec<Node>,
    places: FxHashMap<Standing, u32>,
    newest: u32,
}

impl Stays {
    pub fn new() -> Stays {
        Stays { nodes: Vec::new(), places: FxHashMap::default(), newest: NONE }
    }

    /// Forgets all: a transaction begins.
    pub fn clear(&mut self) {
        self.nodes.clear();
        if self.places.capacity() > 64 {
            self.places = FxHashMap::default(); // to clear it would cost its capacity each time
        } else {
            self.places.clear();
        }
        self.newest = NONE;
    }

    /// The thread is like this right after `event`.
    pub fn enter(&mut self, standing: Standing, event: EventId) {
        if let Some(newest) = self.nodes.get_mut(self.newest as usize)
            && newest.standing == standing
        {
            newest.last = event;
            return;
        }
        let place = match self.places.get(&standing) {
            Some(place) => *place,
            None => {
                let place = self.nodes.len() as u32;
                self.nodes.push(Node { standing, last: event, older: NONE, newer: NONE });
                self.places.insert(standing, place);
                place
            }
        };
        self.unlink(place);
        let node = &mut self.nodes[place as usize];
        (node.last, node.older, node.newer) = (event, self.newest, NONE);
        if let Some(newest) = self.nodes.get_mut(self.newest as usize) {
            newest.newer = place;
        }
        self.newest = place;
    }

    /// The thread is still as it was last, right after `event`.
    pub fn remain(&mut self, event: EventId) {
        if let Some(newest) = self.nodes.get_mut(self.newest as usize) {
            newest.last = newest.last.max(event);
        }
    }

    /// What the thread was like after some event from `first` on, with the last such event.
    pub fn since(&self, first: EventId) -> impl Iterator<Item = (Standing, EventId)> + '_ {
        let mut place = self.newest;
        std::iter::from_fn(move || {
            let node = self.nodes.get(place as usize)?;
            place = node.older;
            Some((node.standing, node.last))
        })
        .take_while(move |(_, last)| *last >= first)
    }

    fn unlink(&mut self, place: u32) {
        let Node { older, newer, .. } = self.nodes[place as usize];
        if let Some(older) = self.nodes.get_mut(older as usize) {
            older.newer = newer;
        }
        match self.nodes.get_mut(newer as usize) {
            Some(newer) => newer.older = older,
            None if self.newest == place => self.newest = older,
            None => {}
        }
    }
}

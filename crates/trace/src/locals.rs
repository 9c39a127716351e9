//! Where a prefix keeps the values of thread-local names.
//!
//! A definition that some later expression uses has a slot; the slot is empty again after the last such use, so
//! that prefixes that differ in nothing that can still matter are the same state.

use crate::result_lets::result_lets;
use crate::term::Node;
use crate::trace::{EventId, Trace};

/// The slot of every definition that is used by a later event of its thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots {
    /// Per event the slot of what it defines, [`NONE`] where it has none.
    slot: Vec<u32>,
    /// The slots that no later event uses, by the event that is the last.
    ended: Vec<u32>,
    /// Per event where its part of `ended` starts, and one more.
    starts: Vec<u32>,
    count: usize,
}

const NONE: u32 = u32::MAX;

impl Slots {
    pub fn new(trace: &Trace) -> Slots {
        let last_use = last_uses(trace);
        let mut filled = starts(&last_use);
        let mut slots = Slots {
            slot: vec![NONE; trace.events.len()],
            ended: vec![NONE; filled[trace.events.len()] as usize],
            starts: filled.clone(),
            count: 0,
        };
        let mut free: Vec<Vec<u32>> = vec![Vec::new(); trace.threads.len()];
        for (id, event) in trace.iter() {
            let free = &mut free[event.thread.index()];
            free.extend(slots.ended_by(id));
            let last = last_use[id.index()] as usize;
            if last == NONE as usize {
                continue;
            }
            let slot = free.pop().unwrap_or(slots.count as u32);
            slots.count = slots.count.max(slot as usize + 1);
            slots.slot[id.index()] = slot;
            slots.ended[filled[last] as usize] = slot;
            filled[last] += 1;
        }
        slots
    }

    /// How many slots there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Where the value that this event defines is kept; nowhere if no later event uses it.
    #[inline]
    pub fn slot_of(&self, definition: EventId) -> Option<usize> {
        self.slot.get(definition.index()).filter(|slot| **slot != NONE).map(|slot| *slot as usize)
    }

    /// The slots whose value this event is the last to use.
    #[inline]
    pub fn ended_by(&self, event: EventId) -> &[u32] {
        match self.starts.get(event.index()..event.index() + 2) {
            Some([start, end]) => &self.ended[*start as usize..*end as usize],
            _ => &[],
        }
    }
}

/// For each event the last other one that uses what it defines, [`NONE`] if there is none. A term is used where one is that it is
/// an argument of. A `return` uses what gives its result.
fn last_uses(trace: &Trace) -> Vec<u32> {
    let mut uses = vec![None; trace.terms.len()]; // by term, the last event
    for (id, event) in trace.iter() {
        for term in event.op.condition().into_iter().chain(event.op.computed()) {
            uses[term.index()] = Some(id);
        }
    }
    let mut last_use = vec![NONE; trace.events.len()];
    for term in trace.terms.iter().rev() {
        let Some(last) = uses[term.index()] else { continue };
        match trace.terms.node(term) {
            Node::Const(_) => {}
            Node::Leaf(local) if local.definition == last => {}
            Node::Leaf(local) => {
                if let Some(of_local) = last_use.get_mut(local.definition.index()) {
                    *of_local = last.0;
                }
            }
            Node::App(_, args) => args.iter().for_each(|arg| uses[arg.index()] = uses[arg.index()].max(Some(last))),
        }
    }
    for (definition, ret) in result_lets(trace) {
        let last = &mut last_use[definition.index()];
        *last = if *last == NONE { ret.0 } else { (*last).max(ret.0) };
    }
    last_use
}

/// Per event how many definitions have their last use before it, and then how many there are in all.
fn starts(last_use: &[u32]) -> Vec<u32> {
    let mut starts = vec![0; last_use.len() + 1];
    for last in last_use.iter().filter(|last| **last != NONE) {
        starts[*last as usize + 1] += 1;
    }
    for event in 1..starts.len() {
        starts[event] += starts[event - 1];
    }
    starts
}

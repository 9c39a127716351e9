//! Where a prefix keeps the values of thread-local names.
//!
//! A definition that some later expression uses has a slot; the slot is empty again after the last such use, so
//! that prefixes that differ in nothing that can still matter are the same state.

use crate::trace::{EventId, Trace};
use rustc_hash::{FxHashMap, FxHashSet};

/// The slot of every definition that is used by a later event of its thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots {
    slot: FxHashMap<EventId, u32>,
    /// Per event: the slots that no later event uses.
    last_uses: FxHashMap<EventId, Vec<u32>>,
    count: usize,
}

impl Slots {
    pub fn new(trace: &Trace) -> Slots {
        let last_use = last_uses(trace);
        let mut slots = Slots::default();
        let mut free: Vec<Vec<u32>> = vec![Vec::new(); trace.threads.len()];
        for (id, event) in trace.iter() {
            let free = &mut free[event.thread.index()];
            if let Some(ended) = slots.last_uses.get(&id) {
                free.extend(ended);
            }
            let Some(last) = last_use.get(&id) else { continue };
            let slot = free.pop().unwrap_or_else(|| {
                slots.count += 1;
                slots.count as u32 - 1
            });
            slots.slot.insert(id, slot);
            slots.last_uses.entry(*last).or_default().push(slot);
        }
        slots
    }

    /// How many slots there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Where the value that this event defines is kept; nowhere if no later event uses it.
    pub fn of(&self, definition: EventId) -> Option<usize> {
        self.slot.get(&definition).map(|slot| *slot as usize)
    }

    /// The slots whose value this event is the last to use.
    pub fn ended_by(&self, event: EventId) -> &[u32] {
        self.last_uses.get(&event).map_or(&[], Vec::as_slice)
    }
}

/// For each definition that a later event uses, the last such event.
fn last_uses(trace: &Trace) -> FxHashMap<EventId, EventId> {
    let mut last_use = FxHashMap::default();
    let mut used = FxHashSet::default();
    for (id, event) in trace.iter() {
        for term in event.op.condition().into_iter().chain(event.op.computed()) {
            used.clear();
            trace.terms.for_each_leaf(term, &mut |local| {
                used.insert(local.definition);
            });
            last_use.extend(used.iter().filter(|definition| **definition != id).map(|definition| (*definition, id)));
        }
    }
    last_use
}

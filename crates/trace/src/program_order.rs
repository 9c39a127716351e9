//! Each thread's events in program order, and other facts that hold in every prefix of a trace.

use crate::op::Op;
use crate::trace::{EventId, SyncId, ThreadId, Trace};
use rustc_hash::FxHashMap;

/// Which events each thread has, in its own order.
#[derive(Clone, Debug)]
pub(crate) struct ProgramOrder {
    threads: Vec<Vec<EventId>>,
    position: Vec<u32>,
}

impl ProgramOrder {
    /// The program order of a trace.
    pub fn new(trace: &Trace) -> ProgramOrder {
        let mut threads = vec![Vec::new(); trace.threads.len()];
        let mut position = Vec::with_capacity(trace.events.len());
        for (id, event) in trace.iter() {
            let events: &mut Vec<EventId> = &mut threads[event.thread.index()];
            position.push(events.len() as u32); // below 2^32, as the events are
            events.push(id);
        }
        ProgramOrder { threads, position }
    }

    /// The events of one thread.
    pub fn of_thread(&self, thread: ThreadId) -> &[EventId] {
        &self.threads[thread.index()]
    }

    /// An event's position among those of its thread, from 0.
    pub fn position(&self, event: EventId) -> u32 {
        self.position[event.index()]
    }
}

/// One round of a barrier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    /// Its position among all rounds of all barriers.
    pub index: usize,
    /// How many arrives were recorded.
    pub arrives: u32,
}

/// What the step semantics looks up about a trace.
#[derive(Clone, Debug)]
pub(crate) struct Fixed {
    pub order: ProgramOrder,
    /// Per thread: the fork that starts it, where one does.
    pub forks: Vec<Option<EventId>>,
    pub rounds: FxHashMap<(SyncId, u64), Round>,
}

impl Fixed {
    pub fn new(trace: &Trace) -> Fixed {
        let mut forks = vec![None; trace.threads.len()];
        let mut rounds: FxHashMap<(SyncId, u64), Round> = FxHashMap::default();
        for (id, event) in trace.iter() {
            match event.op {
                Op::Fork { child } => forks[child.index()] = forks[child.index()].or(Some(id)),
                Op::Arrive { barrier, round } => {
                    let index = rounds.len();
                    rounds.entry((barrier, round)).or_insert(Round { index, arrives: 0 }).arrives += 1;
                }
                _ => {}
            }
        }
        Fixed { order: ProgramOrder::new(trace), forks, rounds }
    }
}

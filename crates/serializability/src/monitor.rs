//! Watches an interleaving as it grows: does it hold a violation path of one block?
//!
//! For each thread and variable it keeps the earliest access of the block from which a path of conflicts and program order leads
//! there. What is watched changes in constant time per access.

use crate::accesses::Accesses;
use foretrace_trace::{Block, EventId, Trace};
use rustc_hash::FxHashMap;

/// What a monitor looks up about its block.
pub struct Watched {
    /// The block.
    pub block: Block,
    /// Per access of the block that is in a block inside it: where that one begins. A path from there to here is not this
    /// block's own.
    pub part: FxHashMap<EventId, EventId>,
    /// The variables that it has to know, in its own numbers.
    vars: FxHashMap<u32, u32>,
}

impl Watched {
    /// A block; `vars` are those that can be on a path.
    pub fn new(block: Block, part: FxHashMap<EventId, EventId>, vars: impl Iterator<Item = u32>) -> Watched {
        let mut numbers = FxHashMap::default();
        for var in vars {
            let number = numbers.len() as u32;
            numbers.entry(var).or_insert(number);
        }
        Watched { block, part, vars: numbers }
    }
}

const NONE: u32 = u32::MAX;

/// The earliest access of the block that leads to accesses of a variable: of the block itself, and of other threads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct OfVar {
    own_read: u32,
    own_write: u32,
    other_read: u32,
    other_write: u32,
}

/// How far the interleaving is with a path.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Monitor {
    vars: Vec<OfVar>,
    threads: Vec<u32>,
    /// The access at which a path came back.
    found: Option<EventId>,
}

impl Monitor {
    /// For the empty interleaving.
    pub fn new(watched: &Watched, threads: usize) -> Monitor {
        let none = OfVar { own_read: NONE, own_write: NONE, other_read: NONE, other_write: NONE };
        Monitor { vars: vec![none; watched.vars.len()], threads: vec![NONE; threads], found: None }
    }

    /// Where a path came back to the block.
    pub fn found(&self) -> Option<EventId> {
        self.found
    }

    /// Adds an event to the interleaving. A path may start there only if `may_start`.
    pub fn see(&mut self, trace: &Trace, accesses: &Accesses, watched: &Watched, id: EventId, may_start: bool) {
        if !accesses.count(id) {
            return;
        }
        let event = trace.event(id);
        let Some(var) = event.op.var().and_then(|var| watched.vars.get(&var.0)) else { return };
        let var = &mut self.vars[*var as usize];
        let (reads, writes) = (event.op.reads(), event.op.writes());
        if event.thread != watched.block.thread {
            let thread = &mut self.threads[event.thread.index()];
            *thread = (*thread).min(var.own_write).min(var.other_write);
            if writes {
                *thread = (*thread).min(var.own_read).min(var.other_read);
            }
            if reads {
                var.other_read = var.other_read.min(*thread);
            }
            if writes {
                var.other_write = var.other_write.min(*thread);
            }
            return;
        }
        if id < watched.block.first || id > watched.block.last {
            return;
        }
        let from = if writes { var.other_write.min(var.other_read) } else { var.other_write };
        let is_own = |from: u32| watched.part.get(&id).is_none_or(|begin| from < begin.0);
        if self.found.is_none() && from != NONE && is_own(from) {
            self.found = Some(id);
        }
        if !may_start {
            return;
        }
        if reads {
            var.own_read = var.own_read.min(id.0);
        }
        if writes {
            var.own_write = var.own_write.min(id.0);
        }
    }
}

//! Which blocks the recorded order itself violates: the monitoring problem.
//!
//! One pass over a trace that was read whole; [`crate::StreamMonitor`] does the same while events come.

use crate::clocks::{Access, Clocks};
use foretrace_trace::{Block, Blocks, EventId, Trace, VarId};

/// A block that the recorded order violates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Observation {
    /// The block's position among all.
    pub block: usize,
    /// The first access at which a path comes back to it.
    pub end: EventId,
}

/// Finds every block that the recorded order violates, by the positions of the blocks; `wanted` says which variables count.
pub fn observed(trace: &Trace, blocks: &Blocks, wanted: &dyn Fn(VarId) -> bool) -> Vec<Observation> {
    let wanted: Vec<bool> =
        (0..trace.vars.len()).map(|var| !trace.vars[var].is_of_library() && wanted(VarId::from_index(var))).collect();
    let mut clocks = Clocks::new(trace.threads.len());
    let mut open = OpenBlocks::new(trace, blocks.all());
    for (id, event) in trace.iter() {
        let Some(var) = event.op.var().filter(|var| wanted[var.index()] && !event.op.is_external()) else { continue };
        let thread = event.thread.index();
        let back = clocks.access(Access::of_event(event, var, thread, id));
        open.came_back(thread, id, back);
    }
    open.violated.sort_unstable_by_key(|observation| observation.block);
    open.violated
}

/// The blocks that are open in each thread, as the trace goes on.
struct OpenBlocks<'t> {
    blocks: &'t [Block],
    /// Per thread: its blocks by first event, which of them comes next, and which are open.
    of_thread: Vec<(Vec<usize>, usize, Vec<usize>)>,
    is_violated: Vec<bool>,
    violated: Vec<Observation>,
}

impl OpenBlocks<'_> {
    fn new<'t>(trace: &Trace, blocks: &'t [Block]) -> OpenBlocks<'t> {
        let mut of_thread = vec![(Vec::new(), 0, Vec::new()); trace.threads.len()];
        for (position, block) in blocks.iter().enumerate() {
            of_thread[block.thread.index()].0.push(position);
        }
        OpenBlocks { blocks, of_thread, is_violated: vec![false; blocks.len()], violated: Vec::new() }
    }

    /// A path from an access (its number from 1) has come back to its thread at this event.
    fn came_back(&mut self, thread: usize, event: EventId, from: u32) {
        if from == 0 {
            return;
        }
        let (own, next, open) = &mut self.of_thread[thread];
        while own.get(*next).is_some_and(|position| self.blocks[*position].first <= event) {
            open.push(own[*next]);
            *next += 1;
        }
        open.retain(|position| self.blocks[*position].last >= event);
        for position in open.iter() {
            if self.blocks[*position].first.0 < from && !self.is_violated[*position] {
                self.is_violated[*position] = true;
                self.violated.push(Observation { block: *position, end: event });
            }
        }
    }
}

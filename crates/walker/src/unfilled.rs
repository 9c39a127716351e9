//! Blocks that hold what a freed block left there, and that other threads may know before they are filled. What these threads would read is not
//! known: it depends on what the allocator did before.

use crate::regions::{OUTSIDE, RegionId};
use crate::shared::Cells;
use foretrace_trace::{Op, ThreadId};
use rustc_hash::FxHashMap;

/// Which blocks threads have allocated, and which of these they may have shown to others.
#[derive(Default)]
pub(crate) struct Unfilled {
    /// Who allocated a block, and whether it holds what a freed one left there.
    blocks: FxHashMap<RegionId, (ThreadId, bool)>,
    /// By thread, the newest region when it last did something that others can see. Older ones of its own they may know.
    shown: FxHashMap<ThreadId, RegionId>,
}

impl Unfilled {
    /// A thread has allocated a block.
    pub fn born(&mut self, thread: ThreadId, region: RegionId, is_left_over: bool) {
        self.blocks.insert(region, (thread, is_left_over));
    }

    /// Whether a block holds what a freed one left there.
    pub fn is_left_over(&self, region: RegionId) -> bool {
        self.blocks.get(&region).is_some_and(|(_, is_left_over)| *is_left_over)
    }

    /// Whether such a block may be known to threads other than this one.
    pub fn is_shown(&self, thread: ThreadId, region: RegionId) -> bool {
        self.is_left_over(region) && !self.is_own(thread, region)
    }

    /// A thread does this: it may show others what it has allocated, but not by a write to a block that they do not know.
    pub fn note(&mut self, thread: ThreadId, op: &Op, cells: &Cells) {
        let shows = match op {
            Op::Write { var, .. } | Op::Rmw { var, .. } => !self.is_own(thread, cells.all[var.index()].region),
            Op::Read { .. } | Op::Let { .. } | Op::Assume { .. } | Op::Begin { .. } | Op::End { .. } => false,
            _ => true,
        };
        if shows {
            self.shown.insert(thread, cells.regions.last());
        }
    }

    /// Whether only this thread can know a region.
    fn is_own(&self, thread: ThreadId, region: RegionId) -> bool {
        let is_allocated = || self.blocks.get(&region).is_some_and(|(owner, _)| *owner == thread);
        region != OUTSIDE && is_allocated() && self.shown.get(&thread).is_none_or(|shown| region > *shown)
    }
}

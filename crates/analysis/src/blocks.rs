//! Blocks as reports name them: all with one kind, label and place are one group.

use foretrace_trace::{Atomic, BlockKind, Blocks, NameId, Trace, Triple};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// What all blocks of a group have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BlockName {
    /// What they are.
    pub kind: BlockKind,
    /// Their label: of a function its name, of a turn that of the function around it.
    pub label: Option<NameId>,
    /// Where they begin in the source.
    pub loc: Option<NameId>,
}

/// The blocks of a trace, and what reports call them.
#[derive(Clone, Debug)]
pub struct NamedBlocks {
    blocks: Blocks,
    names: IndexSet<BlockName, FxBuildHasher>,
    /// Per block the position of its name.
    name_of: Vec<u32>,
}

impl NamedBlocks {
    /// Names the blocks of a trace.
    pub fn new(trace: &Trace, atomic: Atomic) -> NamedBlocks {
        let blocks = atomic.blocks(trace);
        let mut names = IndexSet::default();
        let name = |block: &foretrace_trace::Block| BlockName {
            kind: block.kind,
            label: block.label,
            loc: trace.event(block.first).loc.filter(|_| block.kind != BlockKind::Thread),
        };
        let name_of = blocks.all().iter().map(|block| names.insert_full(name(block)).0 as u32).collect();
        NamedBlocks { blocks, names, name_of }
    }

    fn innermost(&self, trace: &Trace, triple: Triple) -> Option<usize> {
        self.blocks.innermost(trace.event(triple.first).thread, triple.first, triple.second)
    }

    /// The name of a candidate's block, and how many levels of blocks that has inside.
    pub fn block_of(&self, trace: &Trace, triple: Triple) -> Option<(BlockName, u32)> {
        let block = self.innermost(trace, triple)?;
        let name = *self.names.get_index(self.name_of[block] as usize)?;
        Some((name, self.blocks.all()[block].height))
    }

    /// Whether no block but the whole thread holds a candidate.
    pub fn is_of_whole_thread(&self, trace: &Trace, triple: Triple) -> bool {
        self.block_of(trace, triple).is_some_and(|(name, _)| name.kind == BlockKind::Thread)
    }

    /// By what candidates with the same locations are told apart: the names of blocks, but of marks, which say what they
    /// are about themselves.
    pub fn apart(&self, trace: &Trace, triple: Triple) -> u32 {
        let Some(block) = self.innermost(trace, triple) else { return 0 };
        if self.blocks.all()[block].kind == BlockKind::Mark { 0 } else { self.name_of[block] + 1 }
    }
}

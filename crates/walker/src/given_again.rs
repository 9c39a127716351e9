//! Memory that the allocator gives out again while other threads may have pointers to the block before. The pointers to both blocks are one value,
//! so nothing in the trace tells which of them a thread has got.
//!
//! Marks stand where a block is allocated, where a thread first accesses it, and where the next block in its place is allocated: one object for
//! each block and thread. So a schedule rests on what is not seen if it has such an access before the allocation that it came after in the run,
//! or after the next one.

use crate::draft::Draft;
use crate::marks::{Mark, Ran};
use crate::regions::RegionId;
use foretrace_trace::{NameId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

/// What the marks say.
pub const GIVEN_AGAIN: &str = "memory that is given out again";

/// The block that lives in some place.
struct Block {
    /// How many there were before it.
    nth: u32,
    /// Who allocated it, where in the source, and before which event of the draft.
    allocated: (ThreadId, Option<NameId>, usize),
    /// Who has accessed it.
    users: Vec<ThreadId>,
}

/// What threads did to such memory.
#[derive(Default)]
pub(crate) struct GivenAgain {
    /// By the number of a place.
    blocks: FxHashMap<u32, Block>,
    accessed: FxHashSet<(ThreadId, RegionId)>,
    marks: Vec<Mark>,
}

impl GivenAgain {
    /// A thread has allocated a block in a place.
    pub fn born(&mut self, draft: &mut Draft, (thread, loc): (ThreadId, Option<NameId>), place: u32) {
        let before = draft.next().index();
        let nth = self.blocks.get(&place).map_or(0, |last| last.nth + 1);
        let new = Block { nth, allocated: (thread, loc, before), users: Vec::new() };
        let Some(last) = self.blocks.insert(place, new) else { return };
        let (owner, loc, before) = last.allocated;
        if owner != thread {
            let ran = ran(draft, (place, last.nth), owner);
            self.marks.push(Mark { before, thread: owner, loc, ran });
        }
        for user in last.users.iter().chain([&owner]).filter(|user| **user != thread) {
            let ran = ran(draft, (place, last.nth), *user);
            draft.hold(thread, ran);
        }
    }

    /// A thread is about to access a block in a place.
    pub fn accessed(&mut self, draft: &mut Draft, thread: ThreadId, (region, place): (RegionId, u32)) {
        if !self.accessed.insert((thread, region)) {
            return;
        }
        let Some(block) = self.blocks.get_mut(&place) else { return };
        let (owner, loc, before) = block.allocated;
        if owner != thread {
            block.users.push(thread);
            let ran = ran(draft, (place, block.nth), thread);
            self.marks.push(Mark { before, thread: owner, loc, ran });
            draft.hold(thread, ran);
        }
    }

    /// The marks that are still to be put in.
    pub fn into_marks(self) -> Vec<Mark> {
        self.marks
    }
}

fn ran(draft: &mut Draft, (place, nth): (u32, u32), thread: ThreadId) -> Ran {
    let object = format!("place {place}, block {}, thread {}", nth + 1, thread.0 + 1);
    let [what, object] = [GIVEN_AGAIN, &object].map(|text| draft.assembler.name(text));
    Ran { what, object, if_both: false }
}

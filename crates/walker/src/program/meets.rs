//! Where the ways that part at a branch meet again.

use super::graph::{dominators, predecessors, reverse_postorder};
use foretrace_instrument::sidecar::BlockId;

/// The immediate post-dominator of each block of a function: the next block that every way from it to the function's return passes
/// (Ferrante, Ottenstein and Warren, "The Program Dependence Graph and Its Use in Optimization", section 3.1).
///
/// Ways on which the function does not return, by an exception, a panic or the end of the process, do not count.
#[derive(Debug, Default)]
pub(crate) struct Meets(Vec<Option<BlockId>>);

impl Meets {
    /// The block where the ways from a block meet; none if that is at the function's end.
    pub fn after(&self, block: BlockId) -> Option<BlockId> {
        self.0.get(block as usize).copied().flatten()
    }

    /// Those of a function, by where each block can lead to, and the blocks from which it returns.
    pub fn new(successors: &[Vec<BlockId>], returning: &[BlockId]) -> Meets {
        // The graph turned around, with one entry from which all returns are reached. Block n is number n + 1 in it.
        let number = |block: usize| block + 1;
        let mut backward: Vec<Vec<BlockId>> = vec![returning.iter().map(|block| block + 1).collect()];
        backward.extend(
            predecessors(successors).iter().map(|from| from.iter().map(|block| number(*block) as BlockId).collect()),
        );
        let order = reverse_postorder(&backward);
        let immediate = dominators(&order, &predecessors(&backward));
        let meets = |block: usize| immediate[number(block)].filter(|meet| *meet > 0).map(|meet| (meet - 1) as BlockId);
        Meets((0..successors.len()).map(meets).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ways_of_a_branch_meet_behind_it() {
        // 0: if → 1, else 2; both → 3, a loop over 4; 5 returns
        let meets = Meets::new(&[vec![1, 2], vec![3], vec![3], vec![4, 5], vec![3], vec![]], &[5]);
        let expected = [Some(3), Some(3), Some(3), Some(5), Some(3), None];
        assert_eq!((0..6).map(|block| meets.after(block)).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_does_not_return_is_no_way() {
        // 0 → 1 (panics) or 2; 2 → 3 (returns) or 4 (returns); 5 → 5 for ever
        let meets = Meets::new(&[vec![1, 2], vec![], vec![3, 4], vec![], vec![], vec![5]], &[3, 4]);
        assert_eq!((0..6).map(|block| meets.after(block)).collect::<Vec<_>>(), [Some(2), None, None, None, None, None]);
    }
}

//! The natural loops of a function.

use super::graph::{dominates, dominators, predecessors, reverse_postorder};
use foretrace_instrument::sidecar::BlockId;

/// The natural loops of a function: per block, the headers of the loops that it lies in, outermost first.
#[derive(Debug, Default)]
pub(crate) struct Loops {
    headers: Vec<Vec<BlockId>>,
}

impl Loops {
    /// The headers of the loops that a block lies in, outermost first.
    pub fn around(&self, block: BlockId) -> &[BlockId] {
        self.headers.get(block as usize).map_or(&[], Vec::as_slice)
    }

    /// The loops of a function, of which this is where each block can lead to.
    pub fn new(successors: &[Vec<BlockId>]) -> Loops {
        let count = successors.len();
        let predecessors = predecessors(successors);
        let order = reverse_postorder(successors);
        let dominators = dominators(&order, &predecessors);
        let mut bodies: Vec<(BlockId, Vec<bool>)> = Vec::new();
        for header in order.iter().copied() {
            let back: Vec<usize> =
                predecessors[header].iter().copied().filter(|from| dominates(&dominators, header, *from)).collect();
            if !back.is_empty() {
                bodies.push((header as BlockId, body(header, back, &predecessors)));
            }
        }
        // An outer loop has more blocks than those inside of it.
        bodies.sort_by_key(|(_, body)| std::cmp::Reverse(body.iter().filter(|inside| **inside).count()));
        let of_block =
            |block: usize| bodies.iter().filter(|(_, body)| body[block]).map(|(header, _)| *header).collect();
        Loops { headers: (0..count).map(of_block).collect() }
    }
}

/// The blocks from which a back edge is reached without passing the header.
fn body(header: usize, back: Vec<usize>, predecessors: &[Vec<usize>]) -> Vec<bool> {
    let mut inside = vec![false; predecessors.len()];
    inside[header] = true;
    let mut open = back;
    while let Some(block) = open.pop() {
        if !std::mem::replace(&mut inside[block], true) {
            open.extend(&predecessors[block]);
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_inside_each_other() {
        // 0 → 1 (outer header) → 2 (inner header) → 3 → 2, 2 → 4 → 1, 1 → 5
        let loops = Loops::new(&[vec![1], vec![2, 5], vec![3, 4], vec![2], vec![1], vec![]]);
        let expected: [&[BlockId]; 6] = [&[], &[1], &[1, 2], &[1, 2], &[1], &[]];
        assert_eq!(loops.headers, expected);
    }

    #[test]
    fn a_cycle_with_two_entries_is_no_natural_loop() {
        let loops = Loops::new(&[vec![1, 2], vec![2], vec![1]]);
        assert!(loops.headers.iter().all(Vec::is_empty));
    }
}

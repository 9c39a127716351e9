//! The natural loops of a function.

use super::Function;
use foretrace_instrument::sidecar::{BlockId, Op};

/// The natural loops of a function: per block, the headers of the loops that it lies in, outermost first.
#[derive(Debug, Default)]
pub(crate) struct Loops {
    headers: Vec<Vec<BlockId>>,
}

/// Where a block can lead to.
fn successors(function: &Function, block: BlockId) -> Vec<BlockId> {
    match function.last_of(block) {
        Some(Op::Branch { yes, no, .. }) => vec![*yes, *no],
        Some(Op::Jump(to)) => vec![*to],
        Some(Op::Switch { cases, otherwise, .. }) => {
            cases.iter().map(|(_, to)| *to).chain(std::iter::once(*otherwise)).collect()
        }
        Some(Op::Indirect { to, .. }) => to.clone(),
        Some(Op::Call { unwinds: Some((normal, unwind)), .. }) => vec![*normal, *unwind],
        _ => Vec::new(),
    }
}

impl Loops {
    /// The loops of a function.
    pub fn of(function: &Function) -> Loops {
        let blocks = 0..function.blocks.len() as BlockId;
        let successors: Vec<Vec<BlockId>> = blocks.map(|block| successors(function, block)).collect();
        Loops::new(&successors)
    }

    /// The headers of the loops that a block lies in, outermost first.
    pub fn around(&self, block: BlockId) -> &[BlockId] {
        self.headers.get(block as usize).map_or(&[], Vec::as_slice)
    }

    /// The loops of a graph whose entry is block 0.
    fn new(successors: &[Vec<BlockId>]) -> Loops {
        let count = successors.len();
        let mut predecessors = vec![Vec::new(); count];
        for (block, targets) in successors.iter().enumerate() {
            for target in targets.iter().filter(|target| (**target as usize) < count) {
                predecessors[*target as usize].push(block);
            }
        }
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

fn reverse_postorder(successors: &[Vec<BlockId>]) -> Vec<usize> {
    let mut seen = vec![false; successors.len()];
    let mut order = Vec::new();
    let mut open = vec![(0usize, 0usize)];
    if let Some(first) = seen.first_mut() {
        *first = true;
    }
    while let Some((block, next)) = open.last_mut() {
        match successors.get(*block).and_then(|targets| targets.get(*next)) {
            Some(target) => {
                *next += 1;
                let target = *target as usize;
                if target < seen.len() && !std::mem::replace(&mut seen[target], true) {
                    open.push((target, 0));
                }
            }
            None => {
                order.push(*block);
                open.pop();
            }
        }
    }
    order.reverse();
    order
}

/// Per block its immediate dominator (Cooper, Harvey, Kennedy); nothing for blocks that are never reached.
fn dominators(order: &[usize], predecessors: &[Vec<usize>]) -> Vec<Option<usize>> {
    let mut position = vec![usize::MAX; predecessors.len()];
    order.iter().enumerate().for_each(|(index, block)| position[*block] = index);
    let mut immediate: Vec<Option<usize>> = vec![None; predecessors.len()];
    let Some(entry) = order.first() else { return immediate };
    immediate[*entry] = Some(*entry);
    let mut changed = true;
    while changed {
        changed = false;
        for block in &order[1..] {
            let known = predecessors[*block].iter().copied().filter(|from| immediate[*from].is_some());
            let common = known.reduce(|a, b| common_dominator(&immediate, &position, a, b));
            if common.is_some() && immediate[*block] != common {
                immediate[*block] = common;
                changed = true;
            }
        }
    }
    immediate
}

fn common_dominator(immediate: &[Option<usize>], position: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        let later = if position[a] > position[b] { &mut a } else { &mut b };
        *later = immediate[*later].unwrap_or(0);
    }
    a
}

fn dominates(immediate: &[Option<usize>], header: usize, mut block: usize) -> bool {
    loop {
        match immediate[block] {
            _ if block == header => return true,
            Some(above) if above != block => block = above,
            _ => return false,
        }
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

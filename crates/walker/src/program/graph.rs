//! Which blocks of a function lead where, and which of them all ways pass.

use foretrace_instrument::sidecar::BlockId;

/// Per block, which lead to it.
pub(super) fn predecessors(successors: &[Vec<BlockId>]) -> Vec<Vec<usize>> {
    let count = successors.len();
    let mut predecessors = vec![Vec::new(); count];
    for (block, targets) in successors.iter().enumerate() {
        for target in targets.iter().filter(|target| (**target as usize) < count) {
            predecessors[*target as usize].push(block);
        }
    }
    predecessors
}

/// The blocks that are reached from block 0, each before those behind it where there is no cycle.
pub(super) fn reverse_postorder(successors: &[Vec<BlockId>]) -> Vec<usize> {
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
pub(super) fn dominators(order: &[usize], predecessors: &[Vec<usize>]) -> Vec<Option<usize>> {
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

/// Whether every way to a block passes another one, the `header`.
pub(super) fn dominates(immediate: &[Option<usize>], header: usize, mut block: usize) -> bool {
    loop {
        match immediate[block] {
            _ if block == header => return true,
            Some(above) if above != block => block = above,
            _ => return false,
        }
    }
}

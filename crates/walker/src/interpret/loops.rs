//! Turns of loops as stretches of a thread.

use super::Walk;
use crate::program::Function;
use crate::transactions::Title;
use foretrace_instrument::sidecar::{BlockId, LocationId, Op};
use foretrace_trace::BlockKind;

/// The natural loops of a function: per block, the headers of the loops that it lies in, outermost first.
#[derive(Debug, Default)]
pub(crate) struct Loops {
    headers: Vec<Vec<BlockId>>,
}

/// Where a block can lead to.
fn successors(function: &Function, block: usize) -> Vec<BlockId> {
    let end = function.blocks.get(block + 1).map_or(function.instructions.len(), |start| *start as usize);
    match function.instructions[..end].last().map(|last| &last.op) {
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
        let successors: Vec<Vec<BlockId>> =
            (0..function.blocks.len()).map(|block| successors(function, block)).collect();
        Loops::new(&successors)
    }

    /// The headers of the loops that a block lies in, outermost first.
    fn around(&self, block: BlockId) -> &[BlockId] {
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

impl Walk<'_, '_> {
    /// The innermost function goes to a block: turns of loops end and begin.
    pub(super) fn enter_block(&mut self, function: &Function, to: BlockId) {
        let headers = function.loops().around(to);
        let Some(frame) = self.thread.frames.last_mut() else { return };
        if frame.loops == headers && !headers.contains(&to) || !frame.has_blocks {
            return;
        }
        let mut open = std::mem::take(&mut frame.loops);
        let mut same = open.iter().zip(headers).take_while(|(a, b)| a == b).count();
        if let Some(again) = open.iter().position(|header| *header == to) {
            same = same.min(again);
        }
        while open.len() > same {
            open.pop();
            self.end_stretch(Some(self.world.draft.next().0));
        }
        for header in &headers[same..] {
            let title = self.title_of_turn(function, *header);
            self.thread.nest.begin(self.world.draft.next().0, title);
            open.push(*header);
        }
        if let Some(frame) = self.thread.frames.last_mut() {
            frame.loops = open;
        }
    }

    /// A turn has the name of its function, and the place of its loop.
    fn title_of_turn(&mut self, function: &Function, header: BlockId) -> Title {
        let start = function.blocks.get(header as usize).map_or(0, |start| *start as usize);
        let end = function.blocks.get(header as usize + 1).map_or(function.instructions.len(), |end| *end as usize);
        let inside = function.instructions.get(start..end).unwrap_or_default();
        let position = |location| self.program.location(function.unit, location);
        let has_column = |location: &LocationId| position(*location).is_some_and(|position| position.column > 0);
        let loc = inside.iter().map(|one| one.location).find(has_column);
        let loc = loc.and_then(|location| self.world.place_of_block(function.unit, location));
        let label = Some(self.world.draft.assembler.name(&function.name));
        Title { kind: BlockKind::Loop, label, loc }
    }
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

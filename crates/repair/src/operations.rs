//! The operations of a trace: stretches that are meant to be atomic, and so the largest sections of a repair.

use crate::calls::{CallSpan, Calls, is_without_choice};
use crate::relation::{Position, Relation};
use crate::serializable::Stretch;
use crate::ways::{Way, Ways};
use foretrace_trace::{Atomic, Block, BlockKind, Blocks, EventId, NameId, Op, ThreadId, Trace};

/// A stretch of one thread's steps that a section may hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    /// The thread.
    pub thread: ThreadId,
    /// The position of its first step.
    pub(crate) first: Position,
    /// The position of its last step.
    pub(crate) last: Position,
}

/// The operations of a trace, and the blocks inside of them.
pub struct Operations {
    /// By thread, then by position.
    all: Vec<Operation>,
    /// Per thread and position, the operation.
    of_step: Vec<Vec<Option<u32>>>,
    /// The blocks that are no turns of loops, critical sections or threads come with what they are inside of.
    blocks: Blocks,
    /// Per block the named one around it.
    around: Vec<Option<u32>>,
    /// Per event the innermost named block.
    innermost: Vec<Option<u32>>,
    /// Where named blocks lead to steps that lie elsewhere.
    ways: Ways,
    /// The calls of functions, where they are known.
    pub(crate) calls: Option<Calls>,
}

impl Operations {
    /// What counts as an operation where nothing is chosen: calls and returns, else marks, else functions, else all
    /// blocks that there are.
    pub fn default_choice(trace: &Trace) -> Atomic {
        let has = |wanted: fn(&Op) -> bool| trace.events.iter().any(|event| wanted(&event.op));
        if has(|op| matches!(op, Op::Call { .. })) {
            Atomic::Operations
        } else if has(|op| matches!(op, Op::Begin { kind: BlockKind::Mark, .. })) {
            Atomic::Marked
        } else if has(|op| matches!(op, Op::Begin { kind: BlockKind::Function, .. }))
            || !calls_by_default(trace).is_empty()
        {
            Atomic::Functions
        } else {
            Atomic::Auto
        }
    }

    /// The outermost blocks of a choice. A block ends where its thread waits for another thread: no section can hold
    /// a join, a wait, a barrier or a down that needs another thread's post, since the other thread has to go on meanwhile.
    pub fn new(trace: &Trace, relation: &Relation, atomic: Atomic) -> Operations {
        let blocks = atomic.blocks(trace);
        let stretches: Vec<(ThreadId, EventId, EventId)> = blocks
            .clone()
            .into_transactions()
            .into_iter()
            .map(|transaction| (transaction.thread, transaction.first, transaction.last))
            .collect();
        Operations::within(trace, relation, blocks, &stretches)
    }

    /// Those of a choice; without one, what counts as an operation by default. There a function counts that the compiler has inlined, too.
    pub fn chosen(trace: &Trace, relation: &Relation, atomic: Option<Atomic>) -> Operations {
        let default = Operations::default_choice(trace);
        let calls = if atomic.is_none() && default == Atomic::Functions { calls_by_default(trace) } else { Vec::new() };
        if calls.is_empty() {
            return Operations::new(trace, relation, atomic.unwrap_or(default));
        }
        let stretches: Vec<(ThreadId, EventId, EventId)> =
            calls.into_iter().map(|span| (span.thread, span.first, span.last)).collect();
        Operations::within(trace, relation, default.blocks(trace), &stretches)
    }

    fn within(
        trace: &Trace,
        relation: &Relation,
        blocks: Blocks,
        stretches: &[(ThreadId, EventId, EventId)],
    ) -> Operations {
        let mut of_step: Vec<Vec<Option<u32>>> = relation.steps.iter().map(|steps| vec![None; steps.len()]).collect();
        let mut all: Vec<Operation> = Vec::new();
        for (thread, first, last) in stretches.iter().copied() {
            let steps = relation.steps(thread);
            let from = steps.partition_point(|step| *step < first);
            let to = steps.partition_point(|step| *step <= last);
            let mut open: Option<usize> = None;
            for position in from..to {
                let op = &trace.event(steps[position]).op;
                // Of downs only those that wait for others are steps.
                if matches!(op, Op::Join { .. } | Op::Wake { .. } | Op::Depart { .. } | Op::Down { .. }) {
                    open = None;
                    continue;
                }
                let operation = *open.get_or_insert_with(|| {
                    let position = position as Position;
                    all.push(Operation { thread, first: position, last: position });
                    all.len() - 1
                });
                all[operation].last = position as Position;
                of_step[thread.index()][position] = Some(operation as u32);
            }
        }
        let (around, innermost) = nesting(trace, &blocks);
        let ways = Ways::new(trace, &blocks, &around, &innermost);
        let calls = Calls::new(trace);
        Operations { all, of_step, blocks, around, innermost, ways, calls }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The operation of a step, by its number.
    pub(crate) fn operation_at(&self, thread: usize, position: Position) -> Option<u32> {
        self.of_step[thread][position as usize]
    }

    /// The operation of this number.
    pub(crate) fn get(&self, number: u32) -> Operation {
        self.all[number as usize]
    }

    /// The parts of a stretch that are within one operation: no section goes on over a wait.
    pub(crate) fn cut(&self, (thread, first, last): Stretch) -> Vec<Stretch> {
        let mut parts: Vec<(Option<u32>, Stretch)> = Vec::new();
        for position in first..=last {
            let operation = self.operation_at(thread, position);
            match parts.last_mut() {
                Some((of, part)) if *of == operation && operation.is_some() => part.2 = position,
                _ => parts.push((operation, (thread, position, position))),
            }
        }
        parts.into_iter().map(|(_, part)| part).collect()
    }

    /// The innermost block with a name that holds two events of a thread, by its number.
    pub(crate) fn named_block(&self, thread: ThreadId, first: EventId, last: EventId) -> Option<u32> {
        let mut block = self.innermost[first.index()];
        while let Some(number) = block.filter(|number| !self.block(*number).holds(thread, first, last)) {
            block = self.around[number as usize];
        }
        block
    }

    /// Whether an event is in a block itself, and not in one that it calls.
    pub(crate) fn is_own(&self, block: Option<u32>, event: EventId) -> bool {
        self.innermost[event.index()] == block
    }

    /// The place in a block's own lines that leads to a step which lies elsewhere.
    pub(crate) fn way<'t>(&self, trace: &'t Trace, block: Option<u32>, step: EventId) -> Option<Way<'t>> {
        self.ways.way(trace, (block, self.innermost[step.index()]), step, &self.around)
    }

    /// Whether one step of a thread, which comes by a place a second time, is in another turn of a loop than the other one. Without
    /// turns in the trace all that comes a second time is.
    pub(crate) fn is_new_turn(&self, one: EventId, other: EventId) -> bool {
        !self.ways.has_turns() || self.ways.begun(one) != self.ways.begun(other)
    }

    /// The block of this number.
    pub(crate) fn block(&self, number: u32) -> &Block {
        &self.blocks.all()[number as usize]
    }

    /// The numbers of all blocks of a name. Those without a name are the outermost ones that no named block is around.
    pub(crate) fn blocks_of(&self, label: Option<NameId>) -> impl Iterator<Item = u32> {
        let wanted = move |number: &u32| {
            let block = self.block(*number);
            match label {
                Some(_) => has_name(block) && block.label == label,
                None => !has_name(block),
            }
        };
        (0..self.blocks.all().len() as u32).filter(wanted)
    }
}

/// The calls that are operations where nothing is chosen; none where the trace has a choice of its own, or none is known.
fn calls_by_default(trace: &Trace) -> Vec<CallSpan> {
    if !is_without_choice(trace) {
        return Vec::new();
    }
    Calls::new(trace).map_or_else(Vec::new, |calls| calls.outermost())
}

/// Whether a block is named for its code: loops, sections and threads are parts of a function.
fn has_name(block: &Block) -> bool {
    matches!(block.kind, BlockKind::Function | BlockKind::Mark) && block.label.is_some()
}

/// Per block the named block around it, and per event the innermost named block.
fn nesting(trace: &Trace, blocks: &Blocks) -> (Vec<Option<u32>>, Vec<Option<u32>>) {
    let mut around = vec![None; blocks.all().len()];
    let mut innermost = vec![None; trace.events.len()];
    let mut open: Vec<Vec<u32>> = vec![Vec::new(); trace.threads.len()];
    let mut next = 0;
    for (id, event) in trace.iter() {
        let open = &mut open[event.thread.index()];
        while open.last().is_some_and(|block| blocks.all()[*block as usize].last < id) {
            open.pop();
        }
        // Blocks come by first event, the outer one first.
        while let Some(block) = blocks.all().get(next).filter(|block| block.first == id) {
            around[next] = open.last().copied();
            if has_name(block) {
                open.push(next as u32);
            }
            next += 1;
        }
        innermost[id.index()] = open.last().copied();
    }
    (around, innermost)
}

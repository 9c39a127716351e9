//! Blocks: stretches of threads that are meant to be atomic, inside each other.

use crate::op::{BlockKind, Op};
use crate::trace::{EventId, NameId, ThreadId, Trace, VarId};
use crate::transactions::{Atomic, Transaction};
use rustc_hash::{FxHashMap, FxHashSet};

/// A stretch of one thread that is meant to be atomic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// The thread.
    pub thread: ThreadId,
    /// Its first event.
    pub first: EventId,
    /// Its last event; the thread's last one where the run ended inside.
    pub last: EventId,
    /// The label of its `begin`, the method of its `call`.
    pub label: Option<NameId>,
    /// What it is.
    pub kind: BlockKind,
    /// How many levels of blocks it has inside, of those in which a variable is accessed twice.
    pub height: u32,
    /// The block around it, by its position among all.
    around: Option<u32>,
}

impl Block {
    /// Whether two events of a thread both belong to it.
    pub fn holds(&self, thread: ThreadId, first: EventId, second: EventId) -> bool {
        self.thread == thread && self.first <= first && second <= self.last
    }
}

/// The blocks of a trace: of two blocks of one thread one holds the other, or they have no event in common.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Blocks {
    /// By first event; of blocks that share it the outer one comes first.
    all: Vec<Block>,
    /// Per event the last block of its thread that has begun by then: one more than its position among all, or 0.
    begun: Vec<u32>,
}

impl Atomic {
    /// The transactions of a trace, by first event: the outermost blocks. No two of one thread overlap.
    pub fn transactions(self, trace: &Trace) -> Vec<Transaction> {
        self.blocks(trace).into_transactions()
    }

    /// The blocks of a trace.
    pub fn blocks(self, trace: &Trace) -> Blocks {
        Blocks::new(self, trace)
    }
}

impl Blocks {
    fn new(atomic: Atomic, trace: &Trace) -> Blocks {
        match atomic.resolved(trace) {
            Atomic::Auto if has_blocks(trace) => Blocks::by(trace, |_| true),
            Atomic::Auto => {
                Scan::blocks_of(trace, &Choice { threads: Threads::Cut, sections: true, operations: false })
            }
            Atomic::Marked => Blocks::by(trace, |kind| kind == BlockKind::Mark),
            Atomic::Functions => Blocks::by(trace, |kind| kind == BlockKind::Function),
            Atomic::InnerFunctions => {
                let functions = Blocks::by(trace, |kind| kind == BlockKind::Function);
                let around: FxHashSet<u32> = functions.all.iter().filter_map(|block| block.around).collect();
                let inner = functions.all.into_iter().zip(0..).filter(|(_, position)| !around.contains(position));
                Blocks::arranged(trace, inner.map(|(block, _)| block).collect())
            }
            Atomic::Loops => Blocks::by(trace, |kind| kind == BlockKind::Loop),
            Atomic::Sections => {
                Scan::blocks_of(trace, &Choice { threads: Threads::None, sections: true, operations: false })
            }
            Atomic::Operations => {
                Scan::blocks_of(trace, &Choice { threads: Threads::None, sections: false, operations: true })
            }
            Atomic::Threads => {
                Scan::blocks_of(trace, &Choice { threads: Threads::Whole, sections: false, operations: false })
            }
        }
    }

    /// The blocks between `begin` and `end` whose kind is wanted.
    fn by(trace: &Trace, wanted: impl Fn(BlockKind) -> bool) -> Blocks {
        let mut open: Vec<Vec<Option<Block>>> = vec![Vec::new(); trace.threads.len()];
        let mut last: Vec<EventId> = vec![EventId(0); trace.threads.len()];
        let mut all = Vec::new();
        for (id, event) in trace.iter() {
            let thread = event.thread.index();
            last[thread] = id;
            match event.op {
                Op::Begin { label, kind } => {
                    open[thread].push(wanted(kind).then(|| starting(event.thread, id, label, kind)));
                }
                Op::End { .. } => all.extend(open[thread].pop().flatten().map(|block| Block { last: id, ..block })),
                _ => {}
            }
        }
        for (open, last) in open.into_iter().zip(last) {
            all.extend(open.into_iter().flatten().map(|block| Block { last, ..block }));
        }
        Blocks::arranged(trace, all)
    }

    /// Puts blocks in order and finds which is in which.
    fn arranged(trace: &Trace, mut all: Vec<Block>) -> Blocks {
        all.sort_by_key(|block| (block.first, std::cmp::Reverse(block.last)));
        let mut open: Vec<Vec<u32>> = vec![Vec::new(); trace.threads.len()];
        for position in 0..all.len() {
            let Block { thread, first, .. } = all[position];
            let open = &mut open[thread.index()];
            while open.last().is_some_and(|outer| all[*outer as usize].last < first) {
                open.pop();
            }
            all[position].around = open.last().copied();
            all[position].height = 0;
            open.push(position as u32);
        }
        let accesses = Accesses::of_trace(trace);
        for position in (0..all.len()).rev() {
            if let Some(around) = all[position].around {
                let height = all[position].height + u32::from(accesses.has_pair(&all[position]));
                let outer = &mut all[around as usize].height;
                *outer = height.max(*outer);
            }
        }
        let begun = begun(trace, &all);
        Blocks { all, begun }
    }

    /// All blocks, by first event; of blocks that share it the outer one comes first.
    pub fn all(&self) -> &[Block] {
        &self.all
    }

    /// The block right around one, by their positions among all.
    pub fn around(&self, position: usize) -> Option<usize> {
        self.all[position].around.map(|around| around as usize)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The innermost block that holds two events of a thread, by its position among all.
    pub fn innermost(&self, thread: ThreadId, first: EventId, second: EventId) -> Option<usize> {
        let mut position = self.begun.get(first.index()).and_then(|begun| begun.checked_sub(1));
        while let Some(inner) = position {
            let block = &self.all[inner as usize];
            if block.holds(thread, first, second) {
                return Some(inner as usize);
            }
            position = block.around;
        }
        None
    }

    /// The outermost blocks, by first event.
    pub fn into_transactions(self) -> Vec<Transaction> {
        let outermost = self.all.into_iter().filter(|block| block.around.is_none());
        let transaction = |Block { thread, first, last, label, .. }| Transaction { thread, first, last, label };
        outermost.map(transaction).collect()
    }
}

/// Per event one more than the position of the last of these blocks that its thread has begun by then, or 0.
fn begun(trace: &Trace, all: &[Block]) -> Vec<u32> {
    let (mut last, mut next) = (vec![0; trace.threads.len()], 0);
    let of_event = trace.iter().map(|(id, event)| {
        while let Some(block) = all.get(next).filter(|block| block.first <= id) {
            next += 1;
            last[block.thread.index()] = next as u32;
        }
        last[event.thread.index()]
    });
    of_event.collect()
}

/// What the threads access.
struct Accesses {
    /// Per thread, the events that access a variable.
    events: Vec<Vec<EventId>>,
    /// Per thread and number of these, one more than the latest of the earlier accesses of the same variable that one of them has.
    earlier: Vec<Vec<usize>>,
}

impl Accesses {
    fn of_trace(trace: &Trace) -> Accesses {
        let threads = trace.threads.len();
        let (mut events, mut earlier) = (vec![Vec::new(); threads], vec![vec![0]; threads]);
        let mut last: FxHashMap<(ThreadId, VarId), usize> = FxHashMap::default();
        for (id, event) in trace.iter() {
            let Some(var) = event.op.var() else { continue };
            let (events, earlier) = (&mut events[event.thread.index()], &mut earlier[event.thread.index()]);
            let before = last.insert((event.thread, var), events.len()).map_or(0, |before| before + 1);
            events.push(id);
            earlier.push(before.max(earlier[earlier.len() - 1]));
        }
        Accesses { events, earlier }
    }

    /// Whether a block accesses some variable twice.
    fn has_pair(&self, block: &Block) -> bool {
        let (events, earlier) = (&self.events[block.thread.index()], &self.earlier[block.thread.index()]);
        let from = events.partition_point(|event| *event < block.first);
        let to = events.partition_point(|event| *event <= block.last);
        from < to && earlier[to] > from
    }
}

fn has_blocks(trace: &Trace) -> bool {
    trace.events.iter().any(|event| matches!(event.op, Op::Begin { .. }))
}

fn starting(thread: ThreadId, first: EventId, label: Option<NameId>, kind: BlockKind) -> Block {
    Block { thread, first, last: first, label, kind, height: 0, around: None }
}

/// What becomes a block where no `begin` says so.
struct Choice {
    threads: Threads,
    sections: bool,
    operations: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Threads {
    None,
    Whole,
    /// A block never spans a fork or join.
    Cut,
}

/// Goes through one thread after the other's events, as they come.
struct Scan {
    thread: Option<Block>,
    section: Option<Block>,
    /// How many locks are held.
    locks: usize,
    operation: Option<Block>,
    /// How many operations are open.
    operations: usize,
}

impl Scan {
    fn blocks_of(trace: &Trace, choice: &Choice) -> Blocks {
        let new = || Scan { thread: None, section: None, locks: 0, operation: None, operations: 0 };
        let mut scans: Vec<Scan> = trace.threads.iter().map(|_| new()).collect();
        let mut all = Vec::new();
        for (id, event) in trace.iter() {
            scans[event.thread.index()].event(choice, (event.thread, id), &event.op, &mut all);
        }
        for scan in scans {
            all.extend([scan.thread, scan.section, scan.operation].into_iter().flatten());
        }
        Blocks::arranged(trace, all)
    }

    fn event(&mut self, choice: &Choice, (thread, id): (ThreadId, EventId), op: &Op, all: &mut Vec<Block>) {
        let cuts = choice.threads == Threads::Cut && matches!(op, Op::Fork { .. } | Op::Join { .. });
        if cuts {
            all.extend([self.thread.take(), self.section.take()].into_iter().flatten());
        }
        if choice.threads != Threads::None && !cuts {
            self.thread.get_or_insert_with(|| starting(thread, id, None, BlockKind::Thread)).last = id;
        }
        let in_section = self.locks > 0;
        match op {
            Op::Acquire { .. } | Op::AcquireShared { .. } | Op::Wake { .. } => self.locks += 1,
            Op::Release { .. } | Op::ReleaseShared { .. } | Op::Wait { .. } => {
                self.locks = self.locks.saturating_sub(1)
            }
            Op::Call { method, .. } if choice.operations => {
                self.operations += 1;
                self.operation.get_or_insert_with(|| starting(thread, id, Some(*method), BlockKind::Function));
            }
            _ => {}
        }
        if choice.sections && !cuts && (in_section || self.locks > 0) {
            self.section.get_or_insert_with(|| starting(thread, id, None, BlockKind::Section)).last = id;
            if self.locks == 0 {
                all.extend(self.section.take());
            }
        }
        if let Some(operation) = &mut self.operation {
            operation.last = id;
        }
        if matches!(op, Op::Return { .. }) && self.operations > 0 {
            self.operations -= 1;
            if self.operations == 0 {
                all.extend(self.operation.take());
            }
        }
    }
}

//! The trace atomicity segment of a block: its frontiers (section III.A), the shrinking by what the block accesses (I.B), and
//! the static check (III.C).

use crate::accesses::Accesses;
use crate::order::Order;
use foretrace_index::TraceIndex;
use foretrace_trace::{Block, EventId, SyncId, Trace};

/// Per thread a range of positions: from the first one inside up to the first one after.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Range {
    /// The upper frontier: how many events of each thread come before.
    pub upper: Vec<u32>,
    /// The lower frontier: the position of the first event after; the thread's length where there is none.
    pub lower: Vec<u32>,
}

impl Range {
    /// All events.
    pub fn whole(trace_index: &TraceIndex) -> Range {
        let lower = trace_index.threads.iter().map(|events| events.len() as u32).collect();
        Range { upper: vec![0; trace_index.threads.len()], lower }
    }

    /// How many events are inside.
    pub fn events(&self) -> u64 {
        self.upper.iter().zip(&self.lower).map(|(upper, lower)| u64::from(lower.saturating_sub(*upper))).sum()
    }

    /// Whether a position of a thread is inside.
    pub fn holds(&self, thread: usize, position: u32) -> bool {
        self.upper[thread] <= position && position < self.lower[thread]
    }
}

/// What is known of a block before anything is explored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Where events of violation paths can be.
    pub range: Range,
    /// Whether no violation path is possible.
    pub is_proved: bool,
    /// The block's accesses at which a path can leave it, ascending.
    pub leaving: Vec<EventId>,
    /// Those at which one can come back.
    pub entering: Vec<EventId>,
}

/// What keeps violation paths from an access of a block that is proved.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Apart {
    /// No access of another thread conflicts with it.
    Untouched,
    /// Accesses that do are made under locks that the block holds throughout; these locks are held.
    Locks(Vec<SyncId>),
    /// Accesses that do come before the block or after it in every prefix of the model.
    Ordered,
    /// A path can leave the block here, but not come back here or later.
    LeavesOnly,
    /// A path can come back here, but not leave here or earlier.
    EntersOnly,
    /// A path can leave and come back here, but is then a path of a block inside, or has no two accesses of the block.
    Alone,
}

/// Finds segments of blocks of one trace.
pub struct Segments<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// Its structure.
    pub trace_index: &'a TraceIndex,
    /// What counts.
    pub accesses: &'a Accesses,
    /// The orders of the model.
    pub order: &'a Order,
}

impl Segments<'_> {
    /// The block's accesses that count, in order.
    pub fn accesses_of(&self, block: &Block) -> Vec<EventId> {
        let thread = &self.trace_index.threads[block.thread.index()];
        let from = thread.partition_point(|event| *event < block.first);
        let to = thread.partition_point(|event| *event <= block.last);
        thread[from..to].iter().copied().filter(|event| self.accesses.count(*event)).collect()
    }

    /// The segment of a block. `parts` tells apart the accesses that belong to one block inside of it: a path that starts and
    /// ends in the same one is that block's. Where `shrinks` is off the frontiers are those of the block's first and last
    /// access, and the whole trace where `segmented` is off.
    pub fn of_block(&self, block: &Block, parts: &dyn Fn(EventId) -> Option<usize>, segmented: bool) -> Segment {
        self.with_ends(block, parts, segmented).0
    }

    /// What keeps violation paths from each access of a block that is proved.
    pub fn apart(&self, block: &Block, parts: &dyn Fn(EventId) -> Option<usize>) -> Vec<(EventId, Apart)> {
        let own = self.accesses_of(block);
        let (segment, Some((first, last))) = self.with_ends(block, parts, true) else { return Vec::new() };
        let (locks, whole) = (self.held_throughout(first, last), Range::whole(self.trace_index));
        let (compatible, any) = (self.accesses.compatible(&locks), self.accesses.compatible(&[]));
        let apart = |event: EventId| {
            let can = |range: &Range, compatible: &[bool], leaves: bool, segmented: bool| {
                self.conflicts(block, event, range, compatible, leaves, segmented)
            };
            if !can(&whole, &any, true, false) {
                return Apart::Untouched;
            }
            let ends = |compatible: &[bool]| [true, false].map(|leaves| can(&segment.range, compatible, leaves, true));
            match (ends(&compatible), ends(&any)) {
                ([false, false], [false, false]) => Apart::Ordered,
                ([false, false], _) => Apart::Locks(locks.iter().map(|(lock, _)| *lock).collect()),
                ([true, false], _) => Apart::LeavesOnly,
                ([false, true], _) => Apart::EntersOnly,
                ([true, true], _) => Apart::Alone,
            }
        };
        own.into_iter().map(|event| (event, apart(event))).collect()
    }

    /// The segment, and between which accesses of the block it lies in the end.
    fn with_ends(
        &self,
        block: &Block,
        parts: &dyn Fn(EventId) -> Option<usize>,
        segmented: bool,
    ) -> (Segment, Option<(EventId, EventId)>) {
        let own = self.accesses_of(block);
        let nothing = |range| Segment { range, is_proved: true, leaving: Vec::new(), entering: Vec::new() };
        let (Some(mut first), Some(mut last)) = (own.first().copied(), own.last().copied()) else {
            return (nothing(Range { upper: Vec::new(), lower: Vec::new() }), None);
        };
        let mut range = self.between(block, first, last, segmented);
        loop {
            let locks = self.held_throughout(first, last);
            let compatible = self.accesses.compatible(&locks);
            let inside = |event: &&EventId| first <= **event && **event <= last;
            let can =
                |event: &EventId, leaves: bool| self.conflicts(block, *event, &range, &compatible, leaves, segmented);
            let leaving: Vec<EventId> = own.iter().filter(inside).copied().filter(|event| can(event, true)).collect();
            let entering: Vec<EventId> = own.iter().filter(inside).copied().filter(|event| can(event, false)).collect();
            let (Some(from), Some(to)) = (leaving.first().copied(), entering.last().copied()) else {
                return (nothing(range), Some((first, last)));
            };
            let whole = parts(from).is_some() && parts(from) == parts(to);
            if from >= to || whole {
                return (nothing(range), Some((first, last)));
            }
            if !segmented || (from, to) == (first, last) {
                return (Segment { range, is_proved: false, leaving, entering }, Some((first, last)));
            }
            (first, last) = (from, to);
            range = self.between(block, first, last, segmented);
        }
    }

    /// The frontiers of two accesses of a block: what comes before the first in every prefix that goes past it, and what comes
    /// after the last.
    pub fn between(&self, block: &Block, first: EventId, last: EventId, segmented: bool) -> Range {
        if !segmented {
            return Range::whole(self.trace_index);
        }
        let own = block.thread.index();
        let firm = self.order.firm();
        // The write that a read found comes before the read in every prefix that goes on after it, and a path does.
        let source = self.order.source(first);
        let seen = |thread: usize| {
            let by_source = source.map_or(0, |write| match self.trace.event(write).thread.index() == thread {
                true => self.trace_index.position(write) as u32 + 1,
                false => firm.seen(write, thread),
            });
            firm.seen(first, thread).max(by_source)
        };
        let threads = 0..self.trace.threads.len();
        let upper = threads.clone().map(|thread| match thread == own {
            true => self.trace_index.position(first) as u32,
            false => seen(thread),
        });
        let lower = threads.map(|thread| firm.first_after(last, thread));
        Range { upper: upper.collect(), lower: lower.collect() }
    }

    /// Whether an access of the block conflicts with one of another thread inside the range that can come after it (if a path is
    /// to leave) or before it, and that can happen while the block's locks are held.
    fn conflicts(
        &self,
        block: &Block,
        event: EventId,
        range: &Range,
        compatible: &[bool],
        leaves: bool,
        segmented: bool,
    ) -> bool {
        let op = &self.trace.event(event).op;
        let Some(var) = op.var() else { return false };
        let firm = self.order.firm();
        self.accesses.groups(var).iter().any(|group| {
            let thread = group.thread;
            if thread == block.thread.index() || (segmented && !compatible[group.lockset as usize]) {
                return false;
            }
            let (mut from, mut to) = (range.upper[thread], range.lower[thread]);
            match leaves {
                true if segmented => from = from.max(firm.seen(event, thread)),
                false if segmented => to = to.min(firm.first_after(event, thread)),
                _ => {}
            }
            group.conflicts(op.writes(), from, to)
        })
    }

    /// The locks that a block's thread holds from one of its accesses to another.
    fn held_throughout(&self, first: EventId, last: EventId) -> Vec<(SyncId, bool)> {
        let thread = self.trace.event(first).thread;
        let at_first = self.accesses.locks_at(first);
        let holds = |(lock, _): &&(SyncId, bool)| {
            let regions = &self.trace_index.regions[lock.index()];
            let started = regions.partition_point(|region| region.start <= first);
            let current = regions[..started].iter().rev().find(|region| region.thread == thread);
            current.is_some_and(|region| region.end.is_none_or(|end| end > last))
        };
        at_first.iter().filter(holds).copied().collect()
    }
}

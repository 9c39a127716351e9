//! Segments of a trace that is read as it comes: when one is closed, whether it is whole, and which events nothing needs any more.
//!
//! A block's segment is closed when each thread has an event that comes after the block's last access in every prefix, by orders that no
//! later event undoes (section III.A: the lower frontier is known). No later event is on a violation path of the block then.
//!
//! Events that are no longer kept are taken to come first, in the recorded order. So a schedule that violates a block is one of the whole
//! trace. If no schedule violates a block, that holds for the whole trace if the dropped events can come first in every prefix that
//! matters. `start.rs` has the lemma. Its conditions are checked here by what is known of dropped events ([`Gone`]). Where that is not
//! known, the block counts as cut.

mod gone;

pub use gone::Gone;

use crate::judge::Judge;
use crate::judgement::{Decision, Judgement};
use crate::order::lasting;
use crate::segment::Range;
use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_trace::{Block, BlockKind, Blocks, EventId, Lent, Model, Op, ThreadId, Trace, VarId};

/// The events that are kept, with their blocks.
pub struct Window<'a> {
    lent: &'a Lent,
    blocks: &'a Blocks,
    model: Model,
    trace_index: TraceIndex,
    lasting: MustHappenBefore,
    /// Per event: all events before this place come before it in every prefix.
    known: Vec<u32>,
    /// What threads have open at the end.
    open: Open,
    /// Whether no more events come.
    ended: bool,
}

/// What threads have open where the kept events end.
struct Open {
    /// Whether blocks are what stands between `begin` and `end`.
    by_mark: bool,
    /// The `begin` of blocks that are open.
    begins: Vec<Vec<EventId>>,
    /// Per thread, how many locks it holds.
    locks: Vec<usize>,
    /// Per thread, how many operations it is in.
    operations: Vec<usize>,
}

impl Open {
    fn at_end(trace: &Trace, by_mark: bool) -> Open {
        let threads = trace.threads.len();
        let mut open =
            Open { by_mark, begins: vec![Vec::new(); threads], locks: vec![0; threads], operations: vec![0; threads] };
        for (id, event) in trace.iter() {
            let thread = event.thread.index();
            let (locks, operations) = (&mut open.locks[thread], &mut open.operations[thread]);
            match event.op {
                Op::Begin { .. } => open.begins[thread].push(id),
                Op::End { .. } => drop(open.begins[thread].pop()),
                Op::Acquire { .. } | Op::AcquireShared { .. } | Op::Wake { .. } => *locks += 1,
                Op::Release { .. } | Op::ReleaseShared { .. } | Op::Wait { .. } => *locks = locks.saturating_sub(1),
                Op::Call { .. } => *operations += 1,
                Op::Return { .. } => *operations = operations.saturating_sub(1),
                _ => {}
            }
        }
        open
    }

    /// Whether a block goes on that its thread's latest event is in.
    fn has(&self, block: &Block) -> bool {
        let thread = block.thread.index();
        match block.kind {
            _ if self.by_mark => self.begins[thread].contains(&block.first),
            BlockKind::Section => self.locks[thread] > 0,
            BlockKind::Function => self.operations[thread] > 0,
            _ => true,
        }
    }
}

impl<'a> Window<'a> {
    /// The window of what is kept. `by_mark` says that blocks are what stands between `begin` and `end`; `ended`, that no more events come.
    pub fn new(lent: &'a Lent, blocks: &'a Blocks, model: Model, (by_mark, ended): (bool, bool)) -> Window<'a> {
        let trace_index = TraceIndex::new(&lent.trace);
        let lasting = lasting(&lent.trace, &trace_index, &lent.observed, model);
        let known = known(lent, &trace_index, &lasting);
        let open = Open::at_end(&lent.trace, by_mark);
        Window { lent, blocks, model, trace_index, lasting, known, open, ended }
    }

    fn block(&self, block: usize) -> &Block {
        &self.blocks.all()[block]
    }

    /// The block's accesses of variables that count.
    fn accesses(&self, block: &Block, counts: &dyn Fn(VarId) -> bool) -> Option<(EventId, EventId)> {
        let thread = &self.trace_index.threads[block.thread.index()];
        let from = thread.partition_point(|event| *event < block.first);
        let to = thread.partition_point(|event| *event <= block.last);
        let op = |event: &EventId| &self.lent.trace.event(*event).op;
        let is_one = |event: &&EventId| op(event).var().is_some_and(counts) && !op(event).is_external();
        let mut own = thread[from..to].iter().filter(is_one).copied();
        let first = own.next()?;
        Some((first, own.next_back().unwrap_or(first)))
    }

    /// Whether the block has its last event.
    pub fn has_ended(&self, block: usize) -> bool {
        let block = self.block(block);
        let later = self.trace_index.threads[block.thread.index()].last().is_some_and(|last| *last > block.last);
        self.ended || later || self.lent.is_over(block.thread) || !self.open.has(block)
    }

    /// Whether its segment is closed: no event that may come is on a violation path of the block.
    pub fn is_closed(&self, block: usize, counts: &dyn Fn(VarId) -> bool) -> bool {
        if self.ended || !self.has_ended(block) {
            return self.ended;
        }
        let block = self.block(block);
        let Some((_, last)) = self.accesses(block, counts) else { return true };
        let threads = 0..self.trace_index.threads.len();
        threads.filter(|thread| *thread != block.thread.index()).all(|thread| self.is_after(last, thread))
    }

    /// Whether all events of a thread that may come are after an event.
    fn is_after(&self, event: EventId, thread: usize) -> bool {
        if !self.goes_on(thread) {
            return true;
        }
        let own = &self.trace_index.threads[thread];
        match self.trace_index.fork[thread].filter(|_| own.is_empty()) {
            Some(fork) => fork == event || self.lasting.before(event, fork),
            None => (self.lasting.first_after(event, thread) as usize) < own.len(),
        }
    }

    /// Whether more events of a thread may come. A thread of which nothing but its name was heard is left out: who reads is told if it comes.
    fn goes_on(&self, thread: usize) -> bool {
        let thread = ThreadId::from_index(thread);
        !self.ended && self.lent.is_heard(thread) && !self.lent.is_over(thread)
    }

    /// The latest event of a thread that goes on, or its fork: what comes after it knows as much.
    fn latest(&self, thread: usize) -> Option<EventId> {
        self.trace_index.threads[thread]
            .last()
            .copied()
            .or(self.trace_index.fork[thread])
            .filter(|_| self.goes_on(thread))
    }

    /// The number of the first event of a block that is kept.
    pub fn first_kept(&self, block: usize) -> EventId {
        let Block { thread, first, last, .. } = *self.block(block);
        let own = &self.trace_index.threads[thread.index()];
        let kept = own.iter().find(|event| **event >= first && event.index() >= self.lent.before());
        self.lent.number(kept.copied().filter(|kept| *kept <= last).unwrap_or(first))
    }

    /// Whether a block begins where its thread does, or before, as far as is known.
    pub fn may_have_begun_before(&self, block: usize) -> bool {
        let Block { thread, first, .. } = *self.block(block);
        let own = &self.trace_index.threads[thread.index()];
        self.lent.gone() > 0 && (first.index() < self.lent.before() || own.first() == Some(&first))
    }

    /// Whether what was decided of a block that is closed holds for the whole trace, also where it was found safe.
    pub fn is_whole(&self, judge: &Judge<'_>, judgement: &Judgement, gone: &Gone) -> bool {
        let block = self.block(judgement.block);
        if matches!(judgement.decision, Decision::Violated(_)) || self.lent.gone() == 0 {
            return true;
        }
        if block.first.index() < self.lent.before() {
            return false; // it has begun before
        }
        let Some(range) = judge.frontiers(judgement.block) else { return true };
        let knows_all = gone.is_before_all || self.knows_all(block, &range, gone);
        match (&judgement.decision, &judgement.start) {
            (Decision::Proved, _) => knows_all,
            (Decision::Holds, Some(start)) => knows_all && self.may_come_first(start, gone),
            _ => false,
        }
    }

    /// Whether all events that are gone are above the block's upper frontier.
    fn knows_all(&self, block: &Block, range: &Range, gone: &Gone) -> bool {
        let before = self.counts_before();
        (0..before.len()).all(|thread| {
            let is_known = !gone.unknown.contains(&self.lent.thread(ThreadId::from_index(thread)));
            is_known || thread == block.thread.index() || range.upper[thread] > before[thread]
        }) && gone
            .unknown
            .iter()
            .all(|thread| (0..before.len()).any(|other| self.lent.thread(ThreadId::from_index(other)) == *thread))
    }

    /// Per thread, how many events stand for what went by.
    fn counts_before(&self) -> Vec<u32> {
        let count = |own: &Vec<EventId>| own.partition_point(|event| event.index() < self.lent.before()) as u32;
        self.trace_index.threads.iter().map(count).collect()
    }

    /// Whether all that is gone can come first where a range is explored.
    fn may_come_first(&self, start: &Range, gone: &Gone) -> bool {
        let before = self.counts_before();
        if start.upper.iter().zip(&before).any(|(upper, before)| upper < before) {
            return false;
        }
        match self.model {
            Model::Ctp | Model::Mcm => gone.is_before_all && !gone.is_racy,
            Model::Cam | Model::Avp => {
                let reads = self.model == Model::Cam || gone.is_before_all || self.reads_are_kept(start, gone);
                reads && (self.syncs_are_apart(gone) || (gone.is_before_all && !gone.is_racy))
            }
        }
    }

    /// Whether each object that is no plain lock, and is used before and in what is kept, is one thread's alone.
    fn syncs_are_apart(&self, gone: &Gone) -> bool {
        let kept = &self.lent.trace.events[self.lent.before()..];
        kept.iter().all(|event| {
            let Some((sync, _)) = gone::object(&event.op) else { return true };
            gone.users.get(&sync).is_none_or(|user| *user == Some(self.lent.thread(event.thread)))
        })
    }

    /// No write of the range can come before a write that is gone, which a read of the range must find (`couple` in `start.rs`).
    fn reads_are_kept(&self, start: &Range, gone: &Gone) -> bool {
        let inside = |id: &EventId| {
            let thread = self.lent.trace.event(*id).thread.index();
            id.index() >= self.lent.before() && start.holds(thread, self.trace_index.position(*id) as u32)
        };
        self.trace_index.accesses.iter().enumerate().all(|(var, accesses)| {
            let Some(writer) = gone.writers.get(&VarId::from_index(var)) else { return true };
            let of = |event: &EventId| self.lent.trace.event(*event);
            let writes = || {
                let others = self.trace_index.writes[var].iter().filter(|id| inside(id));
                others.filter(|write| self.lent.thread(of(write).thread) != *writer)
            };
            let lost = |read: &EventId| writes().any(|write| write != read && !self.lasting.before(*read, *write));
            let reads = accesses.iter().filter(|id| inside(id) && of(id).op.reads());
            let mut from_gone = reads.filter(|read| self.lent.observed.source(**read).is_none());
            !from_gone.any(lost)
        })
    }

    /// What each thread that goes on from a place knows of the others there: how many of their events. A thread without events there
    /// knows what its latest one does.
    fn knowledge(&self, from: u32) -> Vec<Vec<u32>> {
        let threads = self.trace_index.threads.len();
        let seen = |event: EventId| (0..threads).map(|thread| self.seen(event, thread)).collect::<Vec<u32>>();
        let of_thread = |thread: usize| self.first_from(from, thread).or(self.latest(thread)).map(seen);
        let mut known: Vec<Vec<u32>> = (0..threads).filter_map(of_thread).collect();
        let idle = |thread: usize| self.goes_on(thread) && self.latest(thread).is_none();
        if (0..threads).any(idle) {
            known.push(vec![0; threads]);
        }
        known
    }

    /// The first event of a thread at this place or later.
    fn first_from(&self, place: u32, thread: usize) -> Option<EventId> {
        let own = &self.trace_index.threads[thread];
        own.get(own.partition_point(|event| event.0 < place)).copied()
    }

    /// How many events of a thread come before an event or are it.
    fn seen(&self, event: EventId, thread: usize) -> u32 {
        let own = self.lent.trace.event(event).thread.index() == thread;
        self.lasting.seen(event, thread) + u32::from(own)
    }

    /// The place before which no block needs events that is not decided or is still to come: their first accesses come after all of
    /// those.
    fn least_needed(&self, undecided: &[usize], counts: &dyn Fn(VarId) -> bool) -> u32 {
        let of_block = |block: &usize| {
            let block = self.block(*block);
            let first = self.accesses(block, counts).map_or(block.first, |(first, _)| first);
            self.known[first.index()].min(block.first.0)
        };
        let of_thread = |thread: usize| match self.latest(thread) {
            Some(latest) => Some(self.known_after(latest)),
            None => self.goes_on(thread).then_some(0),
        };
        let threads = (0..self.trace_index.threads.len()).filter_map(of_thread);
        undecided.iter().map(of_block).chain(threads).min().unwrap_or(self.known.len() as u32)
    }

    /// As `known`, of what comes after an event in its thread, or in the thread that it forks: that one does not know what its parent does
    /// then.
    fn known_after(&self, event: EventId) -> u32 {
        let own = self.lent.trace.event(event).thread.index();
        let others = first_unknown(&self.trace_index, &self.lasting, event, own, self.lent.trace.events.len());
        self.first_from(event.0 + 1, own).map_or(others, |next| others.min(next.0))
    }

    /// Where to cut what is kept; `None` where nothing is to go, or fewer than `least` events.
    ///
    /// Verdicts stay the same where no block that is undecided or still to come needs what goes, and all of that comes before all
    /// that is kept. Where `is_full`, half goes in any case.
    pub fn cut(
        &self,
        undecided: &[usize],
        counts: &dyn Fn(VarId) -> bool,
        (is_full, least): (bool, u32),
        gone: &Gone,
    ) -> Option<EventId> {
        let (before, end) = (self.lent.before() as u32, self.lent.trace.events.len() as u32);
        let needed = self.least_needed(undecided, counts);
        let last = match self.model {
            Model::Ctp | Model::Mcm => needed.min(gone.first_racy(self.lent, &self.lasting).unwrap_or(end)),
            Model::Cam | Model::Avp => needed,
        };
        let mut place = (before + 1..=last).rev().find(|place| self.is_clean(*place)).unwrap_or(before);
        if is_full {
            place = place.max(before + (end - before) / 2);
        }
        while place > before && self.is_inside_step(place) {
            place -= 1;
        }
        (place - before >= least.max(1)).then_some(EventId(place))
    }

    /// Whether all events from here on come after all events before.
    fn is_clean(&self, place: u32) -> bool {
        (0..self.trace_index.threads.len()).all(|thread| match (self.first_from(place, thread), self.latest(thread)) {
            (Some(event), _) => self.known[event.index()] >= place,
            (None, Some(latest)) => self.known_after(latest) >= place,
            (None, None) => !self.goes_on(thread),
        })
    }

    /// Whether a step of several events has begun before this place and not ended.
    fn is_inside_step(&self, place: u32) -> bool {
        let event = self.lent.trace.events.get(place as usize);
        event.is_some_and(|event| event.part.is_some_and(|(k, _)| k > 1))
            || self.lent.trace.events[place as usize - 1].part.is_some_and(|(k, n)| k < n)
    }

    /// Notes what goes.
    pub fn forget(&self, cut: EventId, gone: &mut Gone) {
        let is_clean = self.is_clean(cut.0);
        gone.add(self.lent, (&self.trace_index, &self.lasting), cut, &self.knowledge(cut.0), is_clean);
    }

    /// The blocks that are open where what is kept ends or is cut, with their threads.
    pub fn open_at(&self, cut: EventId) -> impl Iterator<Item = usize> {
        let all = self.blocks.all().iter().enumerate();
        all.filter(move |(block, one)| one.first < cut && (one.last >= cut || !self.has_ended(*block)))
            .map(|(at, _)| at)
    }
}

/// Per event: up to which place all events come before it.
fn known(lent: &Lent, trace_index: &TraceIndex, lasting: &MustHappenBefore) -> Vec<u32> {
    let mut latest: Vec<Option<(u32, u32)>> = vec![None; trace_index.threads.len()];
    let events = lent.trace.events.len();
    let known = lent.trace.iter().map(|(id, event)| {
        let (own, row) = (event.thread.index(), lasting.row(id));
        let others = match latest[own].filter(|(of, _)| *of == row) {
            Some((_, others)) => others,
            None => first_unknown(trace_index, lasting, id, own, events),
        };
        latest[own] = Some((row, others));
        others.min(id.0)
    });
    known.collect()
}

/// The first event of another thread that an event does not come after.
fn first_unknown(
    trace_index: &TraceIndex,
    lasting: &MustHappenBefore,
    event: EventId,
    own: usize,
    events: usize,
) -> u32 {
    let threads = trace_index.threads.iter().enumerate().filter(|(thread, _)| *thread != own);
    let unknown = threads.filter_map(|(thread, all)| all.get(lasting.seen(event, thread) as usize));
    unknown.map(|event| event.0).min().unwrap_or(events as u32)
}

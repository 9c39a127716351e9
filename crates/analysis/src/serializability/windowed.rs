//! Blocks of a trace that is read as it comes. Each block is decided when its segment closes, on the events that are kept then, in the same
//! way as blocks of whole traces.

use super::{AskedBlocks, Bounds, Method, decide_some};
use foretrace_serializability::{Choices, Decision, Gone, Judgement, Window};
use foretrace_trace::{Atomic, Block, BlockKind, Blocks, EventId, Lent, Op, ThreadId, Trace, TraceTail, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

/// What is meant to be atomic, where it has to be known before all events are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Chosen {
    /// All blocks between `begin` and `end`.
    All,
    /// Threads between forks and joins with their critical sections, of a trace without blocks.
    Bare,
    /// This choice, which is not `auto`.
    Only(Atomic),
}

/// A block that is decided.
pub struct Decided<'a> {
    /// The number of its first event in the stream.
    pub first: EventId,
    /// What it is.
    pub kind: BlockKind,
    /// What holds for the whole trace.
    pub verdict: Verdict,
    /// What was found of it; nothing where its thread had no events any more.
    pub found: Option<Found<'a>>,
}

/// What was found of a block.
pub struct Found<'a> {
    /// The events that were kept when it was decided.
    pub lent: &'a Lent,
    /// All blocks of those.
    pub blocks: &'a Blocks,
    /// What was found; its decision is that of the kept events alone.
    pub judgement: Judgement,
}

/// What is said of a block of a stream.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verdict {
    /// No schedule of the whole trace violates it.
    Safe,
    /// No schedule of the events that were kept violates it. Others may matter.
    Cut,
    /// A limit was reached.
    Limit,
    /// The schedule violates it.
    Violated,
}

/// Decides blocks while a trace is read.
pub struct Windowed {
    chosen: Chosen,
    choices: Choices,
    method: Method,
    /// Most events that are kept.
    capacity: u64,
    gone: Gone,
    /// Blocks that are decided and may be met again.
    decided: FxHashSet<(EventId, BlockKind)>,
    /// Closed blocks that nothing violates yet, with the number of threads then that nothing forked: another one may violate them.
    held: FxHashMap<(EventId, BlockKind), u64>,
    /// How many threads had begun that nothing forked.
    roots: u64,
    has_found_safe: bool,
    /// The first events of blocks that are open where the kept events begin.
    open: FxHashMap<(ThreadId, BlockKind), EventId>,
    /// Fewest new events before blocks are decided again: preparing costs as much as there are events.
    step: u64,
    /// How many events must be kept until blocks are decided again.
    next: u64,
}

/// Fewest new events before blocks are decided again, where nothing else is said.
const STEP: u64 = 256;

impl Windowed {
    /// Keeps at most `capacity` events.
    pub fn new(chosen: Chosen, choices: Choices, method: Method, capacity: u64) -> Windowed {
        let (gone, decided) = (Gone::default(), FxHashSet::default());
        let (held, roots, open) = (FxHashMap::default(), 0, FxHashMap::default());
        let (step, next) = (STEP.min(capacity), STEP.min(capacity));
        Windowed {
            chosen,
            choices,
            method,
            capacity,
            gone,
            decided,
            held,
            roots,
            has_found_safe: false,
            open,
            step,
            next,
        }
    }

    /// The same, where blocks are decided again after `step` new events at the least.
    pub fn every(self, step: u64) -> Windowed {
        Windowed { step, next: step, ..self }
    }

    /// A block is known to be violated, by its first event and its kind.
    pub fn is_violated(&mut self, first: EventId, kind: BlockKind) {
        self.decided.insert((first, kind));
    }

    /// Whether some block was found safe, as long as no thread begins that nothing forks.
    pub fn has_found_safe(&self) -> bool {
        self.has_found_safe
    }

    /// Whether it is time to decide blocks.
    pub fn is_due(&self, tail: &TraceTail) -> bool {
        tail.trace().events.len() as u64 >= self.next
    }

    /// Decides the blocks that can be, and forgets events that nothing needs any more. `ended` says that no more events come; `wanted`, which
    /// variables count.
    ///
    /// # Errors
    /// Where the recorded order is no execution, and those of [`decide_some`] and `told`.
    pub fn decide(
        &mut self,
        tail: &mut TraceTail,
        ended: bool,
        wanted: &dyn Fn(VarId) -> bool,
        bounds: &Bounds<'_>,
        told: &mut dyn FnMut(Decided<'_>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let is_full = tail.trace().events.len() as u64 >= self.capacity;
        let least = self.step / 4;
        let (roots, forks_all) = (tail.roots(), tail.forks_all());
        if std::mem::replace(&mut self.roots, roots) != roots {
            self.gone.another_begins();
        }
        let is_unsure = tail.is_unsure() && !ended;
        let lent = tail.lend()?;
        let counts: Vec<bool> = (0..lent.trace.vars.len())
            .map(|var| !lent.trace.vars[var].is_of_library() && wanted(VarId::from_index(var)))
            .collect();
        let counts = |var: VarId| counts[var.index()];
        let blocks = self.blocks(&lent.trace);
        let window = Window::new(&lent, &blocks, self.choices.model, (self.is_by_mark(), ended));
        let keys: Vec<(EventId, BlockKind)> =
            (0..blocks.all().len()).map(|block| self.key(&lent, &blocks, &window, block)).collect();
        // What stands for what went by may look like a block that is over: a critical section that a wait ended.
        let is_kept = |block: &usize| {
            let Block { thread, kind, last, .. } = blocks.all()[*block];
            let was_open = self.is_by_mark() || self.open.contains_key(&(lent.thread(thread), kind));
            last.index() >= lent.before() || was_open
        };
        let is_open = |block: &usize| is_kept(block) && !self.decided.contains(&keys[*block]);
        let undecided: Vec<usize> = (0..keys.len()).filter(is_open).collect();
        let kept: Vec<bool> = (0..keys.len()).map(|block| is_kept(&block)).collect();
        let (mut due, rest): (Vec<usize>, Vec<usize>) =
            undecided.into_iter().partition(|block| window.is_closed(*block, &counts));
        let closed: FxHashSet<usize> = due.iter().copied().collect();
        let cut = if ended { None } else { window.cut(&rest, &counts, (is_full, least as u32), &self.gone) };
        let cut = cut.filter(|_| is_full || forks_all);
        let leaves = |block: usize| ended || cut.is_some_and(|cut| blocks.all()[block].first < cut);
        due.retain(|block| leaves(*block) || self.held.get(&keys[*block]) != Some(&roots));
        if let Some(cut) = cut {
            let may_be_cut = |block: &&usize| blocks.all()[**block].first < cut;
            let is_asked =
                |block: &&usize| window.has_ended(**block) || self.chosen != Chosen::Only(Atomic::InnerFunctions);
            due.extend(rest.iter().filter(may_be_cut).filter(is_asked));
        }
        let asked = AskedBlocks {
            trace: &lent.trace,
            observed: &lent.observed,
            blocks: &blocks,
            wanted: &counts,
            choices: self.choices.clone(),
            method: self.method,
            observed_only: false,
        };
        let (gone, held, found_safe) = (&self.gone, &mut self.held, &mut self.has_found_safe);
        let mut decided = Vec::new();
        let mut judged = |judge: &foretrace_serializability::Judge<'_>, judgement: Judgement, _: bool| {
            let block = judgement.block;
            let has_all = closed.contains(&block) && keys[block].0.0 >= lent.gone();
            let is_whole = has_all && !is_unsure && window.is_whole(judge, &judgement, gone);
            let verdict = match (&judgement.decision, is_whole) {
                (Decision::Violated(_), _) => Verdict::Violated,
                (Decision::Proved | Decision::Holds, true) => Verdict::Safe,
                (Decision::Limit, _) => Verdict::Limit,
                _ => Verdict::Cut,
            };
            if verdict != Verdict::Violated && !window.has_ended(block) {
                return Ok(()); // it goes on
            }
            if verdict != Verdict::Violated && !forks_all && !leaves(block) {
                held.insert(keys[block], roots);
                return Ok(());
            }
            held.remove(&keys[block]);
            *found_safe |= verdict == Verdict::Safe;
            decided.push(keys[block]);
            let (first, kind) = keys[block];
            told(Decided { first, kind, verdict, found: Some(Found { lent: &lent, blocks: &blocks, judgement }) })
        };
        if !due.is_empty() {
            decide_some(&asked, &due, bounds, &mut judged)?;
        }
        self.decided.extend(decided);
        if let Some(cut) = cut {
            window.forget(cut, &mut self.gone);
            let still_open: FxHashSet<(EventId, BlockKind)> = window.open_at(cut).map(|block| keys[block]).collect();
            let open = window.open_at(cut).filter(|block| kept[*block]);
            self.keep_open(&lent, cut, open.map(|block| (&blocks.all()[block], keys[block].0)));
            let number = lent.number(cut);
            let open: FxHashSet<EventId> = self.open.values().copied().collect();
            self.decided.retain(|key| key.0 >= number || still_open.contains(key) || open.contains(&key.0));
        }
        if ended {
            let met: FxHashSet<(EventId, BlockKind)> =
                keys.iter().copied().chain(self.decided.iter().copied()).collect();
            let mut lost: Vec<(EventId, BlockKind)> =
                self.open.iter().map(|((_, kind), first)| (*first, *kind)).filter(|key| !met.contains(key)).collect();
            lost.sort_unstable_by_key(|(first, _)| *first);
            for (first, kind) in lost {
                told(Decided { first, kind, verdict: Verdict::Cut, found: None })?;
            }
        }
        drop(window);
        match cut {
            Some(cut) => tail.forget(lent, cut),
            None => tail.give_back(lent),
        }
        let kept = tail.trace().events.len() as u64;
        self.next = (kept + (kept / 2).max(self.step)).min(self.capacity.max(kept + least.max(1)));
        Ok(())
    }

    /// Notes which blocks without marks are open where the kept events are cut. Of a thread without events before `cut` nothing changes.
    fn keep_open<'a>(&mut self, lent: &Lent, cut: EventId, open: impl Iterator<Item = (&'a Block, EventId)>) {
        let events = &lent.trace.events[lent.before().min(cut.index())..cut.index()];
        let had: FxHashSet<ThreadId> = events.iter().map(|event| lent.thread(event.thread)).collect();
        self.open.retain(|(thread, _), _| !had.contains(thread));
        if !self.is_by_mark() {
            self.open.extend(open.map(|(block, first)| ((lent.thread(block.thread), block.kind), first)));
        }
    }

    /// The blocks of the events that are kept.
    fn blocks(&self, trace: &Trace) -> Blocks {
        match self.chosen {
            Chosen::All if !trace.events.iter().any(|event| matches!(event.op, Op::Begin { .. })) => Blocks::default(),
            Chosen::All | Chosen::Bare => Atomic::Auto.blocks(trace),
            Chosen::Only(atomic) => atomic.blocks(trace),
        }
    }

    /// Whether blocks are what stands between `begin` and `end`.
    fn is_by_mark(&self) -> bool {
        !matches!(self.chosen, Chosen::Bare | Chosen::Only(Atomic::Threads | Atomic::Sections | Atomic::Operations))
    }

    /// Which block of the stream one is: by its first event, and its kind.
    fn key(&self, lent: &Lent, blocks: &Blocks, window: &Window<'_>, block: usize) -> (EventId, BlockKind) {
        let one = &blocks.all()[block];
        let begins_with = &lent.trace.event(one.first).op;
        let is_named = self.is_by_mark() && matches!(begins_with, Op::Begin { .. });
        if is_named || !window.may_have_begun_before(block) {
            return (lent.number(one.first), one.kind);
        }
        let open = self.open.get(&(lent.thread(one.thread), one.kind)).copied();
        (open.unwrap_or_else(|| window.first_kept(block)), one.kind)
    }
}

//! The pass over the trace: the paper's sets R, W, WW and AA, one representative of each kind.
//!
//! Source: Sorrentino, Farzan, Madhusudan, *PENELOPE*, FSE 2010, section 4.1. R and W have the accesses of a thread to a variable, AA (and
//! in it WW) pairs of accesses of one transaction with an event in between, each with locksets and acquisition histories. One pair, or one
//! access, is kept of all those with the same criteria. Besides the paper's criteria these are: the block that holds the pair, the events
//! of other threads that the thread knows of, and the locks that it takes before its second access.

use crate::future::{FutureId, Futures};
use crate::lock_log::LockLog;
use crate::locks::{LockStates, NOTHING, StateId};
use crate::stays::{Standing, Stays};
use foretrace_index::MustHappenBefore;
use foretrace_trace::{Block, BlockKind, Blocks, EventId, NameId, Op, ThreadId, Trace, VarId};
use rustc_hash::FxHashMap;

/// Where an access is in the source; all without a location are at one place, so that the pass stays linear.
pub(crate) type Location = Option<NameId>;

/// Reads, writes, or both.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) enum Kind {
    Read,
    Write,
    Rmw,
}

/// A place and what is done there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) struct Site {
    pub place: Location,
    pub kind: Kind,
}

/// Which pairs of accesses are one for cut-points: a member of AA.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) struct PairKey {
    pub var: VarId,
    pub thread: ThreadId,
    pub first: Site,
    pub second: Site,
    pub block: u32,
    pub state: StateId,
    pub future: FutureId,
}

/// Which accesses are one for cut-points: a member of R or W.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) struct PointKey {
    pub var: VarId,
    pub thread: ThreadId,
    pub site: Site,
    pub state: StateId,
    pub ahead: StateId,
}

/// Two accesses with an event, from the first on and before the second, after which the thread can stand still.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub first: EventId,
    pub second: EventId,
    pub stop: EventId,
    epoch: u32,
}

/// A remote access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub event: EventId,
    epoch: u32,
}

/// What the pass keeps: for each key the representatives, in the thread's order, one for each time that it learned of others.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    pub pairs: FxHashMap<PairKey, Vec<Pair>>,
    pub points: FxHashMap<PointKey, Vec<Point>>,
}

/// What the pass needs to know.
pub(crate) struct Input<'a> {
    pub trace: &'a Trace,
    pub blocks: &'a Blocks,
    pub clocks: &'a MustHappenBefore,
    pub log: &'a LockLog,
    pub states: &'a LockStates,
}

/// Goes over the trace once.
pub(crate) fn scan(input: &Input<'_>, futures: &mut Futures) -> Summary {
    let trace = input.trace;
    let is_shared = shared_variables(trace);
    let mut threads: Vec<Thread> = (0..trace.threads.len()).map(|_| Thread::new()).collect();
    let mut opening = input.blocks.all().iter().peekable();
    let mut classes: FxHashMap<(BlockKind, Option<NameId>, Option<NameId>), u32> = FxHashMap::default();
    let mut summary = Summary::default();
    for (id, event) in trace.iter() {
        let thread = &mut threads[event.thread.index()];
        thread.end_blocks(id);
        while let Some(block) = opening.next_if(|block| block.first == id) {
            let next = classes.len() as u32;
            let class = *classes.entry((block.kind, block.label, trace.event(id).loc)).or_insert(next);
            thread.begin(block, class);
        }
        thread.advance(input, id, event.thread);
        if let Some((var, site)) = site(trace, id).filter(|(var, _)| is_shared[var.index()]) {
            thread.access(input, futures, (id, event.thread, var, site), &mut summary);
        }
        if event.part.is_none_or(|(k, n)| k == n) {
            thread.previous = Some(id);
        }
    }
    summary
}

/// The variable and site of an access that may be part of a candidate.
fn site(trace: &Trace, id: EventId) -> Option<(VarId, Site)> {
    let event = trace.event(id);
    let (var, kind) = match event.op {
        Op::Read { var, .. } => (var, Kind::Read),
        Op::Write { var, external: false, .. } => (var, Kind::Write),
        Op::Rmw { var, external: false, .. } => (var, Kind::Rmw),
        _ => return None,
    };
    Some((var, Site { place: event.loc, kind }))
}

/// Per variable, whether two threads access it and one of them writes. A library's own variables are no one's candidates.
pub(crate) fn shared_variables(trace: &Trace) -> Vec<bool> {
    let mut users: Vec<Option<ThreadId>> = vec![None; trace.vars.len()];
    let mut is_shared = vec![false; trace.vars.len()];
    let mut is_written = vec![false; trace.vars.len()];
    for event in &trace.events {
        let Some(var) = event.op.var() else { continue };
        let user = users[var.index()].get_or_insert(event.thread);
        is_shared[var.index()] |= *user != event.thread;
        is_written[var.index()] |= event.op.writes();
    }
    let ours = trace.vars.iter().map(|var| !var.is_of_library());
    is_shared.iter().zip(is_written).zip(ours).map(|((shared, written), ours)| *shared && written && ours).collect()
}

/// An open block.
struct Open {
    first: EventId,
    last: EventId,
    class: u32,
}

/// The earliest access of a site in a block that is still open.
struct First {
    site: Site,
    event: EventId,
    /// The next of the same variable.
    next: u32,
    /// The pair that was noted last, with all that it depends on.
    noted: Option<(Site, u32, u32, u32)>,
}

const NONE: u32 = u32::MAX;

/// One thread during the pass.
struct Thread {
    open: Vec<Open>,
    stays: Stays,
    firsts: Vec<First>,
    /// Places in `firsts` that are free again.
    unused: Vec<u32>,
    heads: FxHashMap<VarId, u32>,
    /// The last event after which the thread can stand still: not inside a step of several parts.
    previous: Option<EventId>,
    /// How many changes of its locks the thread has done.
    changes: usize,
    epoch: u32,
    /// How many of its events others may depend on.
    sent: u32,
}

impl Thread {
    fn new() -> Thread {
        Thread {
            open: Vec::new(),
            stays: Stays::new(),
            firsts: Vec::new(),
            unused: Vec::new(),
            heads: FxHashMap::default(),
            previous: None,
            changes: 0,
            epoch: 0,
            sent: 0,
        }
    }

    fn end_blocks(&mut self, id: EventId) {
        while self.open.pop_if(|block| block.last < id).is_some() {}
    }

    fn begin(&mut self, block: &Block, class: u32) {
        if self.open.is_empty() {
            self.stays.clear();
            self.firsts.clear();
            self.unused.clear();
            if self.heads.capacity() > 64 {
                self.heads = FxHashMap::default();
            } else {
                self.heads.clear();
            }
        }
        self.open.push(Open { first: block.first, last: block.last, class });
    }

    /// Notes where the thread stands after its next event.
    fn advance(&mut self, input: &Input<'_>, id: EventId, thread: ThreadId) {
        if let Some(previous) = self.previous {
            self.stays.remain(previous);
        }
        let log = input.log.of_thread(thread);
        let changes = log.get(self.changes).is_some_and(|entry| entry.event == id);
        self.changes += usize::from(changes);
        let op = &input.trace.event(id).op;
        let learns = may_learn(op) && input.clocks.learned(id).next().is_some();
        self.epoch += u32::from(learns);
        self.sent += u32::from(may_send(op));
        let is_first = self.open.first().is_some_and(|block| block.first == id);
        if changes || learns || is_first {
            let standing = Standing { state: self.entry(log).map_or(NOTHING, |entry| entry.after), epoch: self.epoch };
            self.stays.enter(standing, id);
        }
    }

    fn entry<'l>(&self, log: &'l [crate::lock_log::Entry]) -> Option<&'l crate::lock_log::Entry> {
        self.changes.checked_sub(1).map(|last| &log[last])
    }

    fn access(
        &mut self,
        input: &Input<'_>,
        futures: &mut Futures,
        (id, thread, var, site): (EventId, ThreadId, VarId, Site),
        summary: &mut Summary,
    ) {
        let entry = self.entry(input.log.of_thread(thread));
        let (state, ahead) = entry.map_or((NOTHING, NOTHING), |entry| (entry.after, entry.ahead));
        let key = PointKey { var, thread, site, state, ahead };
        let point = Point { event: id, epoch: self.epoch };
        keep(summary.points.entry(key).or_default(), point, |point| point.epoch);
        if !self.open.is_empty() {
            self.pair(input, futures, (id, thread, var, site), summary);
            self.remember(var, site, id);
        }
    }

    /// Pairs an access with the earlier ones of the transaction.
    fn pair(
        &mut self,
        input: &Input<'_>,
        futures: &mut Futures,
        (id, thread, var, site): (EventId, ThreadId, VarId, Site),
        summary: &mut Summary,
    ) {
        let mut place = self.heads.get(&var).copied().unwrap_or(NONE);
        while let Some(first) = self.firsts.get_mut(place as usize) {
            place = first.next;
            let block = self.open.partition_point(|block| block.first <= first.event) - 1;
            let class = self.open[block].class;
            let version = (site, class, self.changes as u32, self.epoch.wrapping_add(self.sent));
            if first.noted == Some(version) {
                continue;
            }
            first.noted = Some(version);
            for (standing, stop) in self.stays.since(first.event) {
                let future = futures.between((input.log, input.states), thread, stop, id);
                let key = PairKey {
                    var,
                    thread,
                    first: first.site,
                    second: site,
                    block: class,
                    state: standing.state,
                    future,
                };
                let pair = Pair { first: first.event, second: id, stop, epoch: standing.epoch };
                keep(summary.pairs.entry(key).or_default(), pair, |pair| pair.epoch);
            }
        }
    }

    /// Keeps an access as the first of later pairs, where its block has no earlier one of the site. Where blocks have ended, the
    /// earliest of the site in the block around them does for all.
    fn remember(&mut self, var: VarId, site: Site, id: EventId) {
        let head = self.heads.get(&var).copied().unwrap_or(NONE);
        let (mut newer, mut place) = (NONE, head);
        let mut newer_of_site: Option<(u32, u32, usize)> = None; // its place, the one that leads to it, its block
        let mut is_known = false;
        while let Some(first) = self.firsts.get(place as usize) {
            let next = first.next;
            if first.site == site {
                let block = self.open.partition_point(|block| block.first <= first.event) - 1;
                is_known |= block + 1 == self.open.len();
                if let Some((later, before, _)) = newer_of_site.filter(|(_, _, other)| *other == block) {
                    self.unlink(var, before, later);
                    newer = if newer == later { before } else { newer };
                }
                newer_of_site = Some((place, newer, block));
            }
            (newer, place) = (place, next);
        }
        if is_known {
            return;
        }
        let next = self.heads.get(&var).copied().unwrap_or(NONE);
        let first = First { site, event: id, next, noted: None };
        let place = self.unused.pop().unwrap_or(self.firsts.len() as u32);
        match self.firsts.get_mut(place as usize) {
            Some(unused) => *unused = first,
            None => self.firsts.push(first),
        }
        self.heads.insert(var, place);
    }

    /// Takes the first at `place` out of its variable's list; `before` leads to it.
    fn unlink(&mut self, var: VarId, before: u32, place: u32) {
        let next = self.firsts[place as usize].next;
        match self.firsts.get_mut(before as usize) {
            Some(before) => before.next = next,
            None => drop(self.heads.insert(var, next)),
        }
        self.unused.push(place);
    }
}

/// Adds a representative; of those of one epoch the last stays, which others' events need the least of.
fn keep<T>(all: &mut Vec<T>, new: T, epoch: impl Fn(&T) -> u32) {
    // An earlier epoch of the same thread can come again where a pair spans it: epochs stay in order.
    let place = all.partition_point(|old| epoch(old) < epoch(&new));
    match all.get_mut(place).filter(|old| epoch(old) == epoch(&new)) {
        Some(old) => *old = new,
        None => all.insert(place, new),
    }
}

fn may_learn(op: &Op) -> bool {
    matches!(op, Op::Join { .. } | Op::Depart { .. } | Op::OncePass { .. } | Op::Wake { .. })
}

fn may_send(op: &Op) -> bool {
    matches!(op, Op::Fork { .. } | Op::Arrive { .. } | Op::OnceEnd { .. } | Op::Signal { .. } | Op::Broadcast { .. })
}

//! Must-happen-before and cut-points for many remote accesses at once.
//!
//! A trace of a million events can have hundreds of millions of candidates. A *class of remote accesses* is the remote accesses of one thread and one
//! place that hold the same locks: they differ only in their position. Between two local accesses, the orders cut a class into a
//! beginning, a middle and an end. All accesses of the middle have the same cut-points.

use super::locksets::Locksets;
use super::must_happen_before;
use crate::candidates::Pair;
use crate::verdict::Decider;
use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_trace::{EventId, NameId, ThreadId, Trace, Triple, VarId};
use rustc_hash::FxHashMap;
use std::time::{Duration, Instant};

/// Accesses of one variable by one thread at one place that do the same and hold the same locks.
#[derive(Clone, Debug)]
pub struct RemoteClass {
    alike: Alike,
    /// Whether one of them is part of a step of several events.
    in_steps: bool,
    /// The accesses in program order, at least one.
    accesses: Vec<EventId>,
}

/// What the accesses of a class have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Alike {
    thread: ThreadId,
    var: VarId,
    place: Option<NameId>,
    reads: bool,
    writes: bool,
    lockset: u32,
}

impl RemoteClass {
    /// Their source location; none where each is a place of its own.
    pub fn place(&self) -> Option<NameId> {
        self.alike.place
    }

    /// The accesses in program order, at least one.
    pub fn accesses(&self) -> &[EventId] {
        &self.accesses
    }
}

/// All accesses of a trace that can be remote ones.
#[derive(Debug)]
pub struct RemoteClasses(Vec<Vec<RemoteClass>>);

impl RemoteClasses {
    /// Puts a trace's accesses together.
    pub fn new(trace: &Trace, trace_index: &TraceIndex, locksets: &Locksets) -> RemoteClasses {
        let mut remote_classes: Vec<Vec<RemoteClass>> = vec![Vec::new(); trace.vars.len()];
        let mut position: FxHashMap<Alike, usize> = FxHashMap::default();
        for (id, event) in trace.iter() {
            let Some(var) = event.op.var().filter(|_| !event.op.is_external()) else { continue };
            let lockset = locksets.after(event.thread, trace_index.position[id.index()]);
            let (reads, writes) = (event.op.reads(), event.op.writes());
            let alike = Alike { thread: event.thread, var, place: event.loc, reads, writes, lockset };
            let of_var = &mut remote_classes[var.index()];
            let at = *position.entry(alike).or_insert_with(|| {
                of_var.push(RemoteClass { alike, in_steps: false, accesses: Vec::new() });
                of_var.len() - 1
            });
            of_var[at].accesses.push(id);
            of_var[at].in_steps |= event.part.is_some();
        }
        RemoteClasses(remote_classes)
    }

    /// The remote accesses that a pair is tried with.
    pub fn paired_with(&self, pair: Pair) -> impl Iterator<Item = &RemoteClass> {
        let tried = move |of: &Alike| of.thread != pair.thread && pair.remotes.include(of.reads, of.writes);
        self.0[pair.var.index()].iter().filter(move |remote_class| tried(&remote_class.alike))
    }
}

/// Neighbouring accesses of a class, of which a filter says the same.
#[derive(Clone, Copy, Debug)]
pub struct ScreenedAccesses<'b> {
    /// The class.
    pub remote_class: &'b RemoteClass,
    /// The accesses, at least one.
    pub accesses: &'b [EventId],
    /// Who refutes each candidate with one of them.
    pub refuted_by: Option<Decider>,
}

/// The two filters.
#[derive(Clone, Copy, Debug)]
pub struct Screen<'a> {
    trace: &'a Trace,
    trace_index: &'a TraceIndex,
    clocks: &'a MustHappenBefore,
    locksets: &'a Locksets,
    /// Which of them is asked.
    on: [bool; 2],
}

/// The two, in the order in which they are asked.
pub const SCREENS: [Decider; 2] = [Decider::MustHappenBefore, Decider::CutPoints];

impl<'a> Screen<'a> {
    /// Those of the two filters that `asks` names.
    pub fn new(
        trace: &'a Trace,
        trace_index: &'a TraceIndex,
        clocks: &'a MustHappenBefore,
        locksets: &'a Locksets,
        asks: impl Fn(Decider) -> bool,
    ) -> Screen<'a> {
        Screen { trace, trace_index, clocks, locksets, on: SCREENS.map(asks) }
    }

    /// What the filters say of a pair with each access of these classes of remote accesses, added to `parts`; returns how long each took.
    pub fn judge<'b>(
        &self,
        pair: Pair,
        remote_classes: impl Iterator<Item = &'b RemoteClass>,
        parts: &mut Vec<ScreenedAccesses<'b>>,
    ) -> [Duration; 2] {
        let start = Instant::now();
        let mut ordered = Vec::new();
        for remote_class in remote_classes {
            let all = ScreenedAccesses { remote_class, accesses: &remote_class.accesses, refuted_by: None };
            if self.on[0] { self.by_order(pair, all, &mut ordered) } else { ordered.push(all) }
        }
        let between = Instant::now();
        let mut known = Vec::new();
        for part in ordered {
            match part.refuted_by {
                None if self.on[1] => self.by_cuts(pair, part, &mut known, parts),
                _ => parts.push(part),
            }
        }
        [between - start, between.elapsed()]
    }

    /// Must-happen-before. What is part of a longer step is looked at one by one.
    fn by_order<'b>(&self, pair: Pair, part: ScreenedAccesses<'b>, parts: &mut Vec<ScreenedAccesses<'b>>) {
        let Screen { trace, trace_index, clocks, .. } = *self;
        let by = Decider::MustHappenBefore;
        let [first, second] = [pair.first, pair.second].map(|event| trace_index.step(trace, event));
        if part.remote_class.in_steps || first == second {
            let refutes = |triple| must_happen_before::refutes(trace, trace_index, clocks, triple);
            return one_by_one(pair, part, by, refutes, parts);
        }
        let thread = part.remote_class.alike.thread.index();
        let early = self.up_to(part.accesses, clocks.seen(first.1, thread));
        let late = self.up_to(part.accesses, clocks.first_after(second.0, thread));
        let (rest, too_late) = part.accesses.split_at(late);
        let (too_early, between) = rest.split_at(early.min(late));
        for (accesses, refuted_by) in [(too_early, Some(by)), (between, None), (too_late, Some(by))] {
            parts.extend((!accesses.is_empty()).then_some(ScreenedAccesses { accesses, refuted_by, ..part }));
        }
    }

    /// How many of a thread's accesses stand before a position.
    fn up_to(&self, accesses: &[EventId], bound: u32) -> usize {
        count_while(accesses, |access| self.trace_index.position[access.index()] < bound)
    }

    /// Cut-points. A remote access that has an order with some event between the two local ones is looked at by itself;
    /// all others have the same cuts. `known`: by lockset, whether there is one.
    fn by_cuts<'b>(
        &self,
        pair: Pair,
        part: ScreenedAccesses<'b>,
        known: &mut Vec<(u32, bool)>,
        parts: &mut Vec<ScreenedAccesses<'b>>,
    ) {
        let Screen { trace, trace_index, clocks, locksets, .. } = *self;
        let by = Decider::CutPoints;
        let local = pair.thread.index();
        let [from, to] = [trace_index.position[pair.first.index()] + 1, trace_index.position[pair.second.index()]];
        let early = count_while(part.accesses, |remote| clocks.first_after(remote, local) < to);
        let free = count_while(part.accesses, |remote| clocks.seen(remote, local) <= from).max(early);
        let refutes = |triple| locksets.refute(trace, trace_index, clocks, triple);
        one_by_one(pair, ScreenedAccesses { accesses: &part.accesses[..early], ..part }, by, refutes, parts);
        if early < free {
            let lockset = part.remote_class.alike.lockset;
            let cut = match known.iter().find(|(other, _)| *other == lockset) {
                Some((_, cut)) => *cut,
                None => {
                    let cut = locksets.any_compatible(local, from - 1, to - 1, lockset);
                    known.push((lockset, cut));
                    cut
                }
            };
            parts.push(ScreenedAccesses {
                accesses: &part.accesses[early..free],
                refuted_by: (!cut).then_some(by),
                ..part
            });
        }
        one_by_one(pair, ScreenedAccesses { accesses: &part.accesses[free..], ..part }, by, refutes, parts);
    }
}

/// How many accesses at the beginning fulfil what those after some access do not: all or none, most often.
fn count_while(accesses: &[EventId], fulfils: impl Fn(EventId) -> bool) -> usize {
    match accesses {
        [.., last] if fulfils(*last) => accesses.len(),
        [first, ..] if fulfils(*first) => accesses.partition_point(|access| fulfils(*access)),
        _ => 0,
    }
}

/// Asks a filter about each access; those beside each other with the same answer are one part.
fn one_by_one<'b>(
    pair: Pair,
    part: ScreenedAccesses<'b>,
    by: Decider,
    refutes: impl Fn(Triple) -> bool,
    parts: &mut Vec<ScreenedAccesses<'b>>,
) {
    let mut rest = part.accesses;
    let answer = |remote: &EventId| refutes(Triple { first: pair.first, remote: *remote, second: pair.second });
    while let [first, others @ ..] = rest {
        let refuted = answer(first);
        let alike = 1 + others.iter().take_while(|remote| answer(remote) == refuted).count();
        let (accesses, others) = rest.split_at(alike);
        parts.push(ScreenedAccesses { accesses, refuted_by: refuted.then_some(by), ..part });
        rest = others;
    }
}

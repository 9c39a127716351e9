//! One model's verdicts on a block of candidates, without a witness for each, under conflict independence.
//!
//! The candidates of a pair differ in nothing but the remote access. So a schedule in which the other threads go as far as
//! they can between the pair's accesses shows many of them, and one query refutes all that are left. A schedule that was
//! checked settles whatever else it shows, too: each of its prefixes is a prefix of the model.

use super::Said;
use crate::filters::{Filters, Judgement, Span};
use crate::lanes::{Any, Lane};
use crate::predict::Case;
use crate::solve::interruptible;
use crate::verdict::Decider;
use foretrace_trace::{EventId, Triple};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};

/// Decides candidates; those of a pair stand together. `done` hears of how many more are through.
///
/// # Errors
/// A solver's schedule that the checker refuses.
pub(super) fn verdicts(
    case: &Case<'_>,
    filters: &Filters<'_>,
    triples: &[Triple],
    mut done: impl FnMut(usize),
) -> anyhow::Result<Vec<Said>> {
    let block = Block::new(case, filters, triples);
    block.recorded_order();
    let jobs = case.options.jobs.clamp(1, block.groups.len().max(1));
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        let workers: Vec<_> = (0..jobs)
            .map(|_| {
                let (block, sender) = (&block, sender.clone());
                scope.spawn(move || interruptible(case.stop, || Worker::new(block).groups(&sender)))
            })
            .collect();
        drop(sender);
        receiver.iter().for_each(&mut done);
        workers.into_iter().try_for_each(|worker| {
            worker.join().map_err(|_| anyhow::anyhow!("internal error: a solver thread is gone"))?
        })
    })?;
    Ok(block.said.into_iter().map(|said| said.into_inner().unwrap_or(Said::Unknown)).collect())
}

/// The candidates of one pair, by their places in the block.
struct Group {
    first: EventId,
    second: EventId,
    members: Range<usize>,
    /// How many of them are not decided.
    open: AtomicUsize,
    /// Whether some worker sees to it.
    is_taken: AtomicBool,
}

/// The candidates with what is known of them. A verdict that is there stays.
struct Block<'b, 'a> {
    case: &'b Case<'a>,
    filters: &'b Filters<'b>,
    triples: &'b [Triple],
    said: Vec<OnceLock<Said>>,
    groups: Vec<Group>,
    /// The groups with this first access.
    by_first: FxHashMap<EventId, Vec<usize>>,
}

impl<'b, 'a> Block<'b, 'a> {
    fn new(case: &'b Case<'a>, filters: &'b Filters<'b>, triples: &'b [Triple]) -> Block<'b, 'a> {
        let mut groups: Vec<Group> = Vec::new();
        let mut by_first: FxHashMap<EventId, Vec<usize>> = FxHashMap::default();
        for (place, Triple { first, second, .. }) in triples.iter().enumerate() {
            match groups.last_mut().filter(|group| (group.first, group.second) == (*first, *second)) {
                Some(group) => group.members.end += 1,
                None => {
                    by_first.entry(*first).or_default().push(groups.len());
                    let members = place..place + 1;
                    let (open, is_taken) = (AtomicUsize::new(0), AtomicBool::new(false));
                    groups.push(Group { first: *first, second: *second, members, open, is_taken });
                }
            }
        }
        groups.iter_mut().for_each(|group| *group.open.get_mut() = group.members.len());
        let said = triples.iter().map(|_| OnceLock::new()).collect();
        Block { case, filters, triples, said, groups, by_first }
    }

    fn say(&self, group: &Group, place: usize, said: Said) {
        if self.said[place].set(said).is_ok() {
            group.open.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn is_open(&self, place: usize) -> bool {
        self.said[place].get().is_none()
    }

    fn open(&self, group: &Group) -> impl Iterator<Item = usize> {
        group.members.clone().filter(|place| self.is_open(*place))
    }

    /// What the recorded order shows.
    fn recorded_order(&self) {
        let shows = |triple: &&Triple| triple.first < triple.remote && triple.remote < triple.second;
        let latest = self.triples.iter().filter(shows).max_by_key(|triple| triple.second);
        if let Some(triple) = latest
            && self.filters.judge_only(Decider::EarlyWitness, *triple).is_some()
        {
            let place = |event: EventId| (event <= triple.second).then_some(event.0);
            self.settle_shown((0..=triple.second.0).map(EventId), place);
        }
    }

    /// Settles what a checked schedule shows; `place` says where its events stand in it.
    fn settle_shown(&self, schedule: impl Iterator<Item = EventId>, place: impl Fn(EventId) -> Option<u32>) {
        for first in schedule {
            let groups = self.by_first.get(&first).into_iter().flatten().map(|group| &self.groups[*group]);
            for group in groups.filter(|group| group.open.load(Ordering::Relaxed) > 0) {
                let (Some(from), Some(to)) = (place(first), place(group.second)) else { continue };
                for member in self.open(group) {
                    if place(self.triples[member].remote).is_some_and(|at| from < at && at < to) {
                        self.say(group, member, Said::Feasible);
                    }
                }
            }
        }
    }
}

/// Decides its share of the groups.
struct Worker<'w, 'b, 'a> {
    block: &'w Block<'b, 'a>,
    lane: Lane<'a, 'b>,
    /// Where each event stands in the schedule at hand, from 1 on; 0 where it is not there.
    places: Vec<u32>,
}

impl<'w, 'b, 'a> Worker<'w, 'b, 'a> {
    fn new(block: &'w Block<'b, 'a>) -> Worker<'w, 'b, 'a> {
        let places = vec![0; block.case.facts.trace.events.len()];
        Worker { block, lane: Lane::new(block.case), places }
    }

    /// Decides groups that no other worker has, from the first on: early pairs make easy questions, from which the solver learns
    /// what it needs for those after them.
    fn groups(&mut self, done: &Sender<usize>) -> anyhow::Result<()> {
        let block = self.block;
        for group in &block.groups {
            if group.is_taken.swap(true, Ordering::Relaxed) {
                continue;
            }
            if self.block.case.limits().reached().is_none() {
                self.decide(group)?;
            }
            block.open(group).for_each(|member| block.say(group, member, Said::Unknown));
            let _ = done.send(group.members.len()); // nobody listens after a failure elsewhere
        }
        Ok(())
    }

    fn decide(&mut self, group: &Group) -> anyhow::Result<()> {
        self.refute(Decider::Segment, group);
        while self.sweep(group, 0) {}
        self.refute(Decider::EarlyRefutation, group);
        self.sweep_past(group);
        self.guess(group);
        self.solve(group)
    }

    /// Asks a filter that refutes about each candidate by itself.
    fn refute(&self, filter: Decider, group: &Group) {
        for member in self.block.open(group) {
            if self.block.filters.judge_only(filter, self.block.triples[member]).is_some() {
                self.block.say(group, member, Said::Infeasible);
            }
        }
    }

    /// Settles what a schedule shows in which the other threads go as far as they can, from the first open candidate on but so
    /// many. Whether there was anything.
    fn sweep(&mut self, group: &Group, passed: usize) -> bool {
        let rest: Vec<usize> = self.block.open(group).skip(passed).collect();
        if rest.is_empty() || self.block.case.limits().reached().is_some() {
            return false;
        }
        let spans = self.spans(&rest);
        let alone = spans.iter().map(std::slice::from_ref).filter(|_| spans.len() > 1);
        let ways: Vec<&[Span]> = std::iter::once(&spans[..]).chain(alone).collect();
        ways.into_iter().any(|spans| self.try_sweep(group, spans))
    }

    /// The same where some candidates stand in the way: they are passed over, more at once each time that this does not help.
    fn sweep_past(&mut self, group: &Group) {
        let (mut passed, mut step) = (0, 1);
        while passed < group.open.load(Ordering::Relaxed) {
            if self.sweep(group, passed) {
                step = 1;
            } else {
                passed += step;
                step *= 2;
            }
        }
    }

    /// The earliest and the latest of these candidates' remote accesses in each thread.
    fn spans(&self, members: &[usize]) -> Vec<Span> {
        let trace = self.block.case.facts.trace;
        let mut spans: Vec<Span> = Vec::new();
        for member in members {
            let remote = self.block.triples[*member].remote;
            let thread = trace.event(remote).thread;
            match spans.iter_mut().find(|span| trace.event(span.from).thread == thread) {
                Some(span) => *span = Span { from: span.from.min(remote), to: span.to.max(remote) },
                None => spans.push(Span { from: remote, to: remote }),
            }
        }
        spans
    }

    fn try_sweep(&mut self, group: &Group, spans: &[Span]) -> bool {
        let filters = self.block.filters;
        let before = group.open.load(Ordering::Relaxed);
        let Some(mut schedules) = filters.sweeps((group.first, group.second), spans) else { return false };
        schedules.any(|schedule| {
            self.show(group, &schedule);
            group.open.load(Ordering::Relaxed) < before
        })
    }

    /// Settles what a guessed schedule shows, if it is a prefix.
    fn show(&mut self, group: &Group, schedule: &[EventId]) {
        self.place(schedule);
        let between = |place: &usize| {
            let Triple { first, remote, second } = self.block.triples[*place];
            let [first, remote, second] = [first, remote, second].map(|event| self.places[event.index()]);
            first > 0 && first < remote && remote < second
        };
        let shown = self.block.open(group).find(between);
        let checked = shown.filter(|shown| self.block.case.checker.check(self.block.triples[*shown], schedule).is_ok());
        if checked.is_some() {
            self.settle_placed(schedule);
        }
        self.unplace(schedule);
    }

    fn place(&mut self, schedule: &[EventId]) {
        for (place, event) in (1..).zip(schedule) {
            self.places[event.index()] = place;
        }
    }

    fn unplace(&mut self, schedule: &[EventId]) {
        schedule.iter().for_each(|event| self.places[event.index()] = 0);
    }

    fn settle_placed(&self, schedule: &[EventId]) {
        let place = |event: EventId| Some(self.places[event.index()]).filter(|place| *place > 0);
        self.block.settle_shown(schedule.iter().copied(), place);
    }

    /// Settles what a schedule shows that the checker has run.
    fn settle_checked(&mut self, schedule: &[EventId]) {
        self.place(schedule);
        self.settle_placed(schedule);
        self.unplace(schedule);
    }

    /// Guesses a schedule for each candidate by itself.
    fn guess(&mut self, group: &Group) {
        let filters = self.block.filters;
        for member in group.members.clone() {
            if self.block.is_open(member)
                && let Some(Judgement::Feasible { witness }) =
                    filters.judge_only(Decider::EarlyWitness, self.block.triples[member])
            {
                self.settle_checked(witness.schedule());
            }
        }
    }

    /// Asks the solver about all that is left, until nothing is.
    fn solve(&mut self, group: &Group) -> anyhow::Result<()> {
        let mut agenda = vec![group.members.clone()];
        while let Some(members) = agenda.pop() {
            let open: Vec<usize> = members.clone().filter(|place| self.block.is_open(*place)).collect();
            let (Some(from), Some(to)) = (open.first(), open.last()) else { continue };
            let remotes: Vec<EventId> = open.iter().map(|place| self.block.triples[*place].remote).collect();
            match self.lane.any(group.first, &remotes, group.second)? {
                Any::Shown(witness) => {
                    self.settle_checked(witness.schedule());
                    agenda.push(members);
                }
                Any::None => open.iter().for_each(|place| self.block.say(group, *place, Said::Infeasible)),
                Any::Unknown if open.len() == 1 || self.block.case.limits().reached().is_some() => {
                    open.iter().for_each(|place| self.block.say(group, *place, Said::Unknown));
                }
                Any::Unknown => {
                    let middle = open[open.len() / 2];
                    agenda.extend([middle..*to + 1, *from..middle]);
                }
            }
        }
        Ok(())
    }
}

//! A thread that decides candidates pair by pair: with guessed schedules, with filters, and with its own solver.

use super::block::{Block, PairCandidates, Stage};
use super::outcome::Said;
use crate::bounds::Bounds;
use crate::filters::{Effort, Guide, Judgement, Span, Way};
use crate::verdict::Decider;
use crate::workers::{OrdersAnswer, RemoteAnswer, SolverWorker};
use foretrace_encodings::TraceView;
use foretrace_trace::{EventId, Triple};
use rustc_hash::FxHashSet;
use std::sync::mpsc::Sender;

/// At first a query gets this fraction of its time. Hard queries are asked again after all others are decided.
const AT_FIRST: u32 = 3;

/// Schedules of the solver that are kept.
const MOST_GUIDES: usize = 2;

/// Most questions for bounds of one pair.
const MOST_BOUNDS: usize = 12;

/// Decides its share of the groups.
pub(super) struct Worker<'w, 'b, 'a> {
    block: &'w Block<'b, 'a>,
    solver: SolverWorker<'a, 'b>,
    /// Where each event stands in the schedule at hand, from 1 on; 0 where it is not there.
    places: Vec<u32>,
    /// Schedules of the solver, those of use last in front.
    guides: Vec<Guide>,
    /// How often it was of use to search by wakes, to sweep along guides, and to look for bounds.
    searching: Effort,
    guiding: Effort,
    bounding: Effort,
    /// How many of the known orders the worker knows.
    learned: usize,
}

impl<'w, 'b, 'a> Worker<'w, 'b, 'a> {
    pub(super) fn new(block: &'w Block<'b, 'a>) -> Worker<'w, 'b, 'a> {
        let places = vec![0; block.context.view.trace.events.len()];
        let [searching, guiding, bounding] = [Effort::default(); 3];
        let (solver, guides, learned) = (SolverWorker::new(block.context), Vec::new(), 0);
        Worker { block, solver, places, guides, searching, guiding, bounding, learned }
    }

    /// Decides groups that no other worker has, from the first on: early pairs make easy questions, from which the solver learns
    /// what it needs for those after them.
    pub(super) fn groups(&mut self, done: &Sender<usize>) -> anyhow::Result<()> {
        for (from, to, part) in [(Stage::Free, Stage::Taken, AT_FIRST), (Stage::Left, Stage::TakenAgain, 1)] {
            for group in self.block.groups.iter().filter(|group| group.takes(from, to)) {
                self.group(group, part, done)?;
            }
        }
        Ok(())
    }

    /// Decides a group, or leaves what takes too long for later.
    fn group(&mut self, group: &PairCandidates, part: u32, done: &Sender<usize>) -> anyhow::Result<()> {
        if !self.is_over() {
            if part > 1 {
                self.filter(group);
            }
            self.solve(group, part)?;
        }
        if part > 1 && group.is_open() {
            group.leave();
            return Ok(());
        }
        self.block.open(group).for_each(|member| self.block.say(group, member, Said::Unknown));
        let _ = done.send(group.members.len()); // nobody listens after a failure elsewhere
        Ok(())
    }

    /// Whether the run's time is over.
    fn is_over(&self) -> bool {
        self.block.context.limits().reached().is_some()
    }

    /// Settles what can be settled without a solver.
    fn filter(&mut self, group: &PairCandidates) {
        self.refute(Decider::Segment, group);
        while self.sweep(group, 0) {}
        self.refute(Decider::EarlyRefutation, group);
        self.sweep_by_handshakes(group);
        self.sweep_past(group);
        self.guess(group);
    }

    /// Asks a filter that refutes about each candidate by itself.
    fn refute(&self, filter: Decider, group: &PairCandidates) {
        for member in self.block.open(group) {
            if self.is_over() {
                return;
            }
            if self.block.filters.judge_only(filter, self.block.triples[member]).is_some() {
                self.block.say(group, member, Said::Infeasible);
            }
        }
    }

    /// Settles what a schedule shows in which the other threads go as far as they can, from the first open candidate on but so
    /// many. Whether there was anything.
    fn sweep(&mut self, group: &PairCandidates, passed: usize) -> bool {
        let rest: Vec<usize> = self.block.open(group).skip(passed).collect();
        self.sweep_these(group, &rest, Way::AsRecorded)
    }

    /// The same where some candidates stand in the way: they are passed over, more at once each time that this does not help.
    fn sweep_past(&mut self, group: &PairCandidates) {
        let (mut passed, mut step) = (0, 1);
        while passed < group.open() && !self.is_over() {
            if self.sweep(group, passed) {
                step = 1;
            } else {
                passed += step;
                step *= 2;
            }
        }
    }

    /// The same for these candidates alone, in one way.
    fn sweep_these(&mut self, group: &PairCandidates, members: &[usize], way: Way<'_>) -> bool {
        if members.is_empty() || self.is_over() {
            return false;
        }
        let spans = self.spans(members);
        let alone = spans.iter().map(std::slice::from_ref).filter(|_| spans.len() > 1);
        let ways: Vec<&[Span]> = std::iter::once(&spans[..]).chain(alone).collect();
        ways.into_iter().any(|spans| self.try_sweep(group, spans, way))
    }

    /// Searches for a schedule of each candidate by who signals whom, in which its thread goes on up to the last of the others, if it
    /// can. Where that seldom shows anything, it is seldom tried.
    fn sweep_by_handshakes(&mut self, group: &PairCandidates) {
        if !self.block.filters.has_handshakes() {
            return;
        }
        let trace = self.block.context.view.trace;
        let open: Vec<usize> = self.block.open(group).collect();
        let spans = self.spans(&open);
        for place in open {
            if !self.block.is_open(place) || self.is_over() || !self.searching.may_try() {
                continue;
            }
            let remote = self.block.triples[place].remote;
            let thread = trace.event(remote).thread;
            let to = spans.iter().find(|span| trace.event(span.to).thread == thread).map_or(remote, |span| span.to);
            if let Some(schedule) =
                self.block.filters.by_handshakes((group.first, group.second), Span { from: remote, to })
            {
                self.show(group, &schedule);
            }
            self.searching.tried(!self.block.is_open(place));
        }
    }

    /// Settles what schedules show that are made along those of the solver.
    fn sweep_along_guides(&mut self, group: &PairCandidates) {
        let mut guides = std::mem::take(&mut self.guides);
        if group.is_open() && self.guiding.may_try() {
            let helped = (0..guides.len()).find(|nth| self.sweep_along(group, &guides[*nth]));
            helped.into_iter().for_each(|nth| guides[..=nth].rotate_right(1));
            self.guiding.tried(helped.is_some());
        }
        self.guides = guides;
    }

    /// Settles what the solver's schedule shows, and what others show that are made along it.
    fn sweep_with(&mut self, group: &PairCandidates, schedule: &[EventId]) {
        self.settle_checked(schedule);
        let guide = Guide::new(schedule, self.places.len());
        if group.is_open() && self.guiding.may_try() {
            let helped = self.sweep_along(group, &guide);
            self.guiding.tried(helped);
        }
        self.guides.insert(0, guide);
        self.guides.truncate(MOST_GUIDES);
    }

    /// Sweeps along one schedule, first for what it does not do before first itself, then for all that is left. Whether there was
    /// anything.
    fn sweep_along(&mut self, group: &PairCandidates, guide: &Guide) -> bool {
        let before = group.open();
        let from = guide.place(group.first);
        let comes_later = |place: &usize| guide.place(self.block.triples[*place].remote) > from;
        let later: Vec<usize> = self.block.open(group).filter(comes_later).collect();
        let mut any = self.sweep_these(group, &later, Way::Along(guide));
        while any {
            let open: Vec<usize> = later.iter().copied().filter(|place| self.block.is_open(*place)).collect();
            any = self.sweep_these(group, &open, Way::Along(guide));
        }
        let all: Vec<usize> = self.block.open(group).collect();
        self.sweep_these(group, &all, Way::Along(guide));
        group.open() < before
    }

    /// The earliest and the latest of these candidates' remote accesses in each thread.
    fn spans(&self, members: &[usize]) -> Vec<Span> {
        let trace = self.block.context.view.trace;
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

    fn try_sweep(&mut self, group: &PairCandidates, spans: &[Span], way: Way<'_>) -> bool {
        let filters = self.block.filters;
        let before = group.open();
        let Some(mut schedules) = filters.sweeps((group.first, group.second), spans, way) else { return false };
        schedules.any(|schedule| {
            if !self.is_over() {
                self.show(group, &schedule);
            }
            group.open() < before || self.is_over()
        })
    }

    /// Settles what a guessed schedule shows, if it is a prefix.
    fn show(&mut self, group: &PairCandidates, schedule: &[EventId]) {
        self.place(schedule);
        let between = |place: &usize| {
            let Triple { first, remote, second } = self.block.triples[*place];
            let [first, remote, second] = [first, remote, second].map(|event| self.places[event.index()]);
            first > 0 && first < remote && remote < second
        };
        let shown = self.block.open(group).find(between);
        let checked =
            shown.filter(|shown| self.block.context.checker.check(self.block.triples[*shown], schedule).is_ok());
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
    fn guess(&mut self, group: &PairCandidates) {
        let filters = self.block.filters;
        for member in group.members.clone() {
            if self.is_over() {
                return;
            }
            if self.block.is_open(member)
                && let Some(Judgement::Feasible { witness }) =
                    filters.judge_only(Decider::EarlyWitness, self.block.triples[member])
            {
                self.settle_checked(witness.schedule());
            }
        }
    }

    /// Settles what the refutation of others says.
    fn refute_by_sections(&self, group: &PairCandidates) {
        for member in self.block.open(group) {
            if self.block.known.refuted.covers(self.block.triples[member]).is_some() {
                self.block.say(group, member, Said::Infeasible);
            }
        }
    }

    /// Asks the solver for orders that refute many candidates at once. Where it seldom finds any, it is seldom asked, and never where no
    /// value counts: what locks and signals order the filters know.
    fn bound(&mut self, group: &PairCandidates, part: u32) {
        let TraceView { trace, trace_index, .. } = self.block.context.view;
        let remotes = self.block.open(group).map(|place| self.block.triples[place].remote);
        let mut bounds = Bounds::new(trace, trace_index, (group.first, group.second), remotes);
        let model = self.block.context.options.question.model;
        if !model.has_values() || bounds.orders().is_empty() || !self.bounding.may_try() {
            return;
        }
        let found = self.find_bounds(&mut bounds, part);
        self.bounding.tried(found);
        if found {
            self.block.known.add_orders(&bounds.orders());
            let refuted: FxHashSet<EventId> = bounds.refuted().collect();
            let beyond = |place: &usize| refuted.contains(&self.block.triples[*place].remote);
            self.block.open(group).filter(beyond).for_each(|place| self.block.refute(group, place));
        }
    }

    /// Gives up bounds until the rest holds in every prefix. Whether there is a rest.
    fn find_bounds(&mut self, bounds: &mut Bounds, part: u32) -> bool {
        let TraceView { trace, trace_index, .. } = self.block.context.view;
        for _ in 0..MOST_BOUNDS {
            self.learn();
            match self.solver.orders(&bounds.orders(), part) {
                OrdersAnswer::All => return true,
                OrdersAnswer::Broken(prefix) => {
                    if !bounds.give_up(&prefix, |event| trace_index.step(trace, event).0) {
                        return false;
                    }
                }
                OrdersAnswer::Unknown => return false,
            }
        }
        false
    }

    /// Takes the orders that other workers have found.
    fn learn(&mut self) {
        let new = self.block.known.orders_from(self.learned);
        self.learned += new.len();
        self.solver.know(&new);
    }

    /// Asks the solver about all that is left, until nothing is.
    fn solve(&mut self, group: &PairCandidates, part: u32) -> anyhow::Result<()> {
        self.refute_by_sections(group);
        self.sweep_along_guides(group);
        self.bound(group, part);
        let mut agenda = vec![group.members.clone()];
        while let Some(members) = agenda.pop() {
            let open: Vec<usize> = members.clone().filter(|place| self.block.is_open(*place)).collect();
            let (Some(from), Some(to)) = (open.first(), open.last()) else { continue };
            let remotes: Vec<EventId> = open.iter().map(|place| self.block.triples[*place].remote).collect();
            self.learn();
            match self.solver.any(group.first, &remotes, group.second, part)? {
                RemoteAnswer::Shown(witness) => {
                    self.sweep_with(group, witness.schedule());
                    agenda.push(members);
                }
                RemoteAnswer::None => open.iter().for_each(|place| self.block.refute(group, *place)),
                RemoteAnswer::Unknown if part > 1 => return Ok(()),
                RemoteAnswer::Unknown if open.len() == 1 || self.is_over() => {
                    open.iter().for_each(|place| self.block.say(group, *place, Said::Unknown));
                }
                RemoteAnswer::Unknown => {
                    let middle = open[open.len() / 2];
                    agenda.extend([middle..*to + 1, *from..middle]);
                }
            }
        }
        Ok(())
    }
}

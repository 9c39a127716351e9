//! The candidates of a block, pair by pair, with what is known of them: all workers of a model share it.

use super::known::Known;
use super::outcome::Said;
use crate::context::AnalysisContext;
use crate::filters::Filters;
use crate::verdict::Decider;
use foretrace_trace::{EventId, Triple};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

/// How far the candidates of a pair are.
#[derive(Clone, Copy)]
pub(super) enum Stage {
    /// Nobody has seen to them.
    Free,
    /// Somebody does, or has.
    Taken,
    /// They are left for later.
    Left,
    /// Somebody does for the second time, or has.
    TakenAgain,
}

/// The candidates of one pair, by their places in the block.
pub(super) struct PairCandidates {
    pub(super) first: EventId,
    pub(super) second: EventId,
    pub(super) members: Range<usize>,
    /// How many of them are not decided.
    open: AtomicUsize,
    /// One of [`Stage`].
    stage: AtomicU8,
}

impl PairCandidates {
    /// Takes it from one stage to another, if it is there and no other thread does.
    pub(super) fn takes(&self, from: Stage, to: Stage) -> bool {
        self.stage.compare_exchange(from as u8, to as u8, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Leaves it for later.
    pub(super) fn leave(&self) {
        self.stage.store(Stage::Left as u8, Ordering::Relaxed);
    }

    /// Whether some candidate is not decided.
    pub(super) fn is_open(&self) -> bool {
        self.open() > 0
    }

    /// How many candidates are not decided.
    pub(super) fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }
}

/// The candidates with what is known of them. A verdict that is there stays.
pub(super) struct Block<'b, 'a> {
    pub(super) context: &'b AnalysisContext<'a>,
    pub(super) filters: &'b Filters<'b>,
    pub(super) triples: &'b [Triple],
    said: Vec<OnceLock<Said>>,
    pub(super) groups: Vec<PairCandidates>,
    /// The groups with this first access.
    by_first: FxHashMap<EventId, Vec<usize>>,
    /// What the model's questions have taught.
    pub(super) known: &'b Known<'a>,
}

impl<'b, 'a> Block<'b, 'a> {
    pub(super) fn new(
        context: &'b AnalysisContext<'a>,
        filters: &'b Filters<'b>,
        known: &'b Known<'a>,
        triples: &'b [Triple],
    ) -> Block<'b, 'a> {
        let mut groups: Vec<PairCandidates> = Vec::new();
        let mut by_first: FxHashMap<EventId, Vec<usize>> = FxHashMap::default();
        for (place, Triple { first, second, .. }) in triples.iter().enumerate() {
            match groups.last_mut().filter(|group| (group.first, group.second) == (*first, *second)) {
                Some(group) => group.members.end += 1,
                None => {
                    by_first.entry(*first).or_default().push(groups.len());
                    let members = place..place + 1;
                    let (open, stage) = (AtomicUsize::new(0), AtomicU8::new(Stage::Free as u8));
                    groups.push(PairCandidates { first: *first, second: *second, members, open, stage });
                }
            }
        }
        groups.iter_mut().for_each(|group| *group.open.get_mut() = group.members.len());
        let said = triples.iter().map(|_| OnceLock::new()).collect();
        Block { context, filters, triples, said, groups, by_first, known }
    }

    /// What every candidate turned out to be, in their order.
    pub(super) fn into_said(self) -> Vec<Said> {
        self.said.into_iter().map(|said| said.into_inner().unwrap_or(Said::Unknown)).collect()
    }

    pub(super) fn say(&self, group: &PairCandidates, place: usize, said: Said) {
        if self.said[place].set(said).is_ok() {
            group.open.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// No prefix shows this one.
    pub(super) fn refute(&self, group: &PairCandidates, place: usize) {
        self.known.refuted.add(self.triples[place], false);
        self.say(group, place, Said::Infeasible);
    }

    pub(super) fn is_open(&self, place: usize) -> bool {
        self.said[place].get().is_none()
    }

    pub(super) fn open(&self, group: &PairCandidates) -> impl Iterator<Item = usize> {
        group.members.clone().filter(|place| self.is_open(*place))
    }

    /// What the recorded order shows.
    pub(super) fn recorded_order(&self) {
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
    pub(super) fn settle_shown(&self, schedule: impl Iterator<Item = EventId>, place: impl Fn(EventId) -> Option<u32>) {
        for first in schedule {
            let groups = self.by_first.get(&first).into_iter().flatten().map(|group| &self.groups[*group]);
            for group in groups.filter(|group| group.is_open()) {
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

//! The totals of a run, and the sinks that get them.

use crate::filters::FilterReport;
use crate::verdict::{Decider, Decision, OffPath, Verdict};
use foretrace_trace::{EventId, Trace, Triple};
use std::collections::BTreeMap;
use std::time::Duration;

/// What one stage decided.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Can happen.
    pub feasible: u64,
    /// Cannot.
    pub infeasible: u64,
    /// Undecided.
    pub unknown: u64,
    /// Time spent, summed over threads.
    pub time: Duration,
}

/// How many infeasible candidates are not known to be impossible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct OffPathCounts {
    /// Interrupted by remote in some prefix of the model.
    pub after_remote: u64,
    /// In no such prefix, but in a schedule with free reads.
    pub before_remote: u64,
    /// Not told apart.
    pub unasked: u64,
}

/// What a run came to.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// How many transactions there are.
    pub transactions: usize,
    /// How many candidates there are.
    pub candidates: u64,
    /// How many classes the candidates make.
    pub classes: usize,
    /// Verdicts by who decided.
    pub decided_by: Vec<(Decider, Tally)>,
    /// Which of the infeasible ones are not known to be impossible.
    pub off_path: OffPathCounts,
    /// What the filters did.
    pub filters: FilterReport,
    /// Candidates that were not asked since their class was done.
    pub skipped: u64,
    /// Candidates that the run did not come to before it was stopped.
    pub unreached: u64,
    /// Time of the whole run.
    pub elapsed: Duration,
    /// Whether the user stopped it.
    pub interrupted: bool,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Candidates decided or skipped.
    pub done: u64,
    /// All candidates.
    pub candidates: u64,
    /// Feasible ones so far.
    pub feasible: u64,
    /// Classes that were come to so far.
    pub classes: usize,
}

/// Decisions by who made them, and which infeasible ones are off the path.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    by: BTreeMap<Decider, Tally>,
    off_path: OffPathCounts,
}

impl Counted {
    /// Counts a decision.
    pub fn count(&mut self, decision: &Decision) {
        let tally = self.tally(decision.decided_by);
        match decision.verdict {
            Verdict::Feasible(_) => tally.feasible += 1,
            Verdict::Infeasible => tally.infeasible += 1,
            Verdict::Unknown(_) => tally.unknown += 1,
        }
        match &decision.off_path {
            Some(OffPath::AfterRemote(_)) => self.off_path.after_remote += 1,
            Some(OffPath::BeforeRemote(_)) => self.off_path.before_remote += 1,
            Some(OffPath::Unasked(_)) => self.off_path.unasked += 1,
            None => {}
        }
    }

    /// Counts candidates that were refuted together.
    pub fn count_refuted(&mut self, by: Decider, count: u64) {
        self.tally(by).infeasible += count;
    }

    pub(super) fn tally(&mut self, decider: Decider) -> &mut Tally {
        self.by.entry(decider).or_default()
    }

    /// Puts the counts into totals.
    pub fn into_totals(self, totals: &mut Totals) {
        totals.decided_by = self.by.into_iter().collect();
        totals.off_path = self.off_path;
    }

    /// What a run came to that did not end by itself: where it was, and the decisions that are counted here.
    pub fn totals_of_unended(self, progress: &Progress, transactions: usize) -> Totals {
        let decided = self.by.values().map(|tally| tally.feasible + tally.infeasible + tally.unknown).sum();
        let Progress { candidates, classes, .. } = *progress;
        let unreached = candidates.saturating_sub(decided);
        let mut totals = Totals { transactions, candidates, classes, unreached, ..Totals::default() };
        self.into_totals(&mut totals);
        totals
    }
}

/// Who takes the decisions, which come in the order of the candidates.
pub trait Sink {
    /// Takes a decision.
    fn decision(&mut self, decision: &Decision) -> anyhow::Result<()>;

    /// Whether candidates that were refuted together may come so; else [`Sink::refuted`] is never called.
    fn takes_refuted(&self) -> bool {
        false
    }

    /// Takes candidates that were refuted together.
    fn refuted(&mut self, _refuted: &Refuted<'_>) {}

    /// Hears how far the run is.
    fn progress(&mut self, _progress: &Progress) {}

    /// Hears what the run came to, before its threads have ended: one of them may still be at work where the time is over.
    fn finished(&mut self, _totals: &Totals) {}
}

/// Keeps all decisions.
impl Sink for Vec<Decision> {
    fn decision(&mut self, decision: &Decision) -> anyhow::Result<()> {
        self.push(decision.clone());
        Ok(())
    }
}

/// Candidates of one class that differ in nothing but their remote access, all refuted by the same filter.
#[derive(Clone, Copy, Debug)]
pub struct Refuted<'r> {
    /// The first access.
    pub first: EventId,
    /// The second one.
    pub second: EventId,
    /// The remote accesses, at least one.
    pub remotes: &'r [EventId],
    /// Who refuted them, without pins.
    pub by: Decider,
}

impl Refuted<'_> {
    /// The first of the candidates.
    pub fn triple(&self) -> Triple {
        Triple { first: self.first, remote: self.remotes[0], second: self.second }
    }

    /// The decision on the first of the candidates.
    pub(super) fn decision(&self, trace: &Trace) -> Decision {
        Decision::without_witness(trace, self.triple(), Verdict::Infeasible, self.by)
    }
}

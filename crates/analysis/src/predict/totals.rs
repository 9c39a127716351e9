//! The totals of a run, and the sinks that get them.

use crate::filters::FilterReport;
use crate::verdict::{Decider, Decision, Verdict};
use foretrace_trace::{EventId, Trace, Triple};
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

//! What a comparison gives: what each model says of a candidate, the counts, and where the models do not agree.

use crate::explain::Argument;
use crate::verdict::{Decider, Limit, Verdict};
use foretrace_trace::Triple;
use std::time::Duration;

/// What a model says of a candidate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Said {
    /// It can happen.
    Feasible,
    /// It cannot.
    Infeasible,
    /// It cannot with as few context switches as were asked for.
    NotWithin,
    /// Not decided.
    Unknown,
}

impl Said {
    pub(super) fn from_verdict(verdict: &Verdict) -> Said {
        match verdict {
            Verdict::Feasible(_) => Said::Feasible,
            Verdict::Infeasible => Said::Infeasible,
            Verdict::Unknown(Limit::ContextSwitches(_)) => Said::NotWithin,
            Verdict::Unknown(_) => Said::Unknown,
        }
    }

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Said::Feasible => "feasible",
            Said::Infeasible => "infeasible",
            Said::NotWithin => "not-within",
            Said::Unknown => "unknown",
        }
    }
}

/// Candidates of one transaction, or of all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All of them.
    pub all: u64,
    /// Those that must-happen-before leaves.
    pub ordered: u64,
    /// Those that cut-points leave, too: what can be told without data.
    pub without_data: u64,
    /// Per model that was asked: feasible ones and undecided ones.
    pub by_model: Vec<(u64, u64)>,
}

impl Counts {
    pub(super) fn new(models: usize) -> Counts {
        Counts { by_model: vec![(0, 0); models], ..Counts::default() }
    }

    /// So many candidates that one of the filters refutes, or neither.
    pub(super) fn add(&mut self, count: u64, refuted_by: Option<Decider>) {
        self.all += count;
        self.ordered += if refuted_by == Some(Decider::MustHappenBefore) { 0 } else { count };
        self.without_data += if refuted_by.is_none() { count } else { 0 };
    }

    /// So many candidates of which a model says the same.
    pub(super) fn add_said(&mut self, model: usize, said: Said, count: u64) {
        let (feasible, unknown) = &mut self.by_model[model];
        match said {
            Said::Feasible => *feasible += count,
            Said::Infeasible => {}
            Said::NotWithin | Said::Unknown => *unknown += count,
        }
    }

    /// Those of another row.
    fn add_all(&mut self, other: &Counts) {
        self.all += other.all;
        self.ordered += other.ordered;
        self.without_data += other.without_data;
        for (sum, of) in self.by_model.iter_mut().zip(&other.by_model) {
            *sum = (sum.0 + of.0, sum.1 + of.1);
        }
    }
}

/// A candidate on which models do not agree.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// The candidate.
    pub triple: Triple,
    /// What each model says of it.
    pub said: Vec<Said>,
    /// Why the reference refutes it, where it does and was asked why.
    pub reason: Option<Result<Vec<Argument>, Limit>>,
    /// The kind of [`crate::verdict::OffPath`] of one that the reference refutes and that is not impossible, where it was asked why.
    pub off_path: Option<&'static str>,
}

/// The models side by side.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Per transaction that has candidates: its place among the transactions, and its counts.
    pub rows: Vec<(usize, Counts)>,
    /// The sums.
    pub total: Counts,
    /// How long each model's run took.
    pub times: Vec<Duration>,
    /// How long the two filters took that look at no data, with the clocks and locksets that they need.
    pub filters: [Duration; 2],
    /// Candidates that it did not come to before it was stopped: they are not in the rows.
    pub unreached: u64,
    /// Whether the user stopped it.
    pub interrupted: bool,
}

impl Comparison {
    /// Of so many models, before anything is compared.
    pub(super) fn new(models: usize) -> Comparison {
        Comparison {
            rows: Vec::new(),
            total: Counts::new(models),
            times: vec![Duration::ZERO; models],
            filters: [Duration::ZERO; 2],
            unreached: 0,
            interrupted: false,
        }
    }

    /// Sums the rows.
    pub fn sum(&mut self) {
        self.total = Counts::new(self.times.len());
        for (_, counts) in &self.rows {
            self.total.add_all(counts);
        }
    }

    /// Whether every model decided every candidate.
    pub fn is_complete(&self) -> bool {
        !self.interrupted && self.unreached == 0 && self.total.by_model.iter().all(|(_, unknown)| *unknown == 0)
    }
}

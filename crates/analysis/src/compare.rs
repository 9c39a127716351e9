//! The models side by side: how many candidates each leaves, and why `ctp` refutes what another allows.
//!
//! Candidates that orders or locks refute are counted and dropped. The others are decided in blocks (`round.rs`): each block goes
//! through the pipeline of `predict` once for every model. So memory stays bounded for any number of candidates.

mod bounds;
mod known;
mod round;
mod sections;
mod verdicts;
mod worker;

use crate::candidates::Candidates;
use crate::explain::{Argument, granted};
use crate::filters::{Bundles, Locksets, Screen};
use crate::options::{Options, strongest_model};
use crate::predict::Progress;
use crate::verdict::{Decider, Limit, Verdict};
use foretrace_encodings::Facts;
use foretrace_index::{MustHappenBefore, Structure};
use foretrace_solve::Limits;
use foretrace_trace::{Model, Observed, Trace, Transaction, Triple};
use round::Round;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The models, in the order of the columns.
pub const MODELS: [Model; 4] = [Model::Cam, Model::Ctp, Model::Mcm, Model::Avp];

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
    fn of(verdict: &Verdict) -> Said {
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
    fn new(models: usize) -> Counts {
        Counts { by_model: vec![(0, 0); models], ..Counts::default() }
    }

    /// So many candidates that one of the filters refutes, or neither.
    fn add(&mut self, count: u64, refuted_by: Option<Decider>) {
        self.all += count;
        self.ordered += if refuted_by == Some(Decider::MustHappenBefore) { 0 } else { count };
        self.without_data += if refuted_by.is_none() { count } else { 0 };
    }

    /// So many candidates of which a model says the same.
    fn add_said(&mut self, model: usize, said: Said, count: u64) {
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
    fn new(models: usize) -> Comparison {
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

/// Models to be held against each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contest {
    /// The models, in the order of the columns.
    pub models: Vec<Model>,
    /// The one that the others are held against: `ctp`, or the strongest that the trace's data allows; if that is not among
    /// them, the first.
    pub reference: Model,
}

impl Contest {
    /// Those of `wanted` that the trace's data allows.
    pub fn new(trace: &Trace, wanted: &[Model]) -> Contest {
        let fits = |model: &Model| wanted.contains(model) && model.needs() <= trace.data;
        let models: Vec<Model> = MODELS.into_iter().filter(fits).collect();
        let strongest = strongest_model(trace.data);
        let first = models.first().copied().unwrap_or(strongest);
        let reference = if models.contains(&strongest) { strongest } else { first };
        Contest { models, reference }
    }

    /// The column of the reference.
    pub fn reference_column(&self) -> usize {
        self.models.iter().position(|model| *model == self.reference).unwrap_or(0)
    }
}

/// Who takes the candidates on which models do not agree, in the order of the candidates.
pub trait Listener {
    /// Takes one.
    fn disagreement(&mut self, one: &Disagreement) -> anyhow::Result<()>;

    /// Hears how far the run is.
    fn progress(&mut self, _progress: &Progress) {}

    /// Hears what was compared so far, block by block; nothing is summed yet.
    fn so_far(&mut self, _comparison: &Comparison) {}
}

/// A trace, and what is asked of it.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// What its run showed.
    pub observed: &'a Observed,
    /// What counts as a transaction.
    pub transactions: &'a [Transaction],
    /// As for `predict`. The model is not looked at; guarded independence is asked of the models that have values.
    pub options: &'a Options,
    /// The models.
    pub contest: &'a Contest,
    /// How many candidates are explained, at most.
    pub reasons: usize,
}

/// Compares models.
///
/// # Errors
/// As [`crate::predict::predict`]; what the listener says; where a verdict and its argument contradict each other.
pub fn compare(asked: Asked<'_>, stop: &AtomicBool, listener: &mut dyn Listener) -> anyhow::Result<Comparison> {
    let start = Instant::now();
    let Asked { trace, observed, options, .. } = asked;
    let deadline = options.budget.map(|budget| start + budget);
    listener.so_far(&Comparison::new(asked.contest.models.len()));
    let structure = Structure::new(trace);
    let clocks = MustHappenBefore::new(trace, &structure);
    let ordered = Instant::now();
    let locksets = Locksets::new(trace, &structure);
    let bundles = Bundles::new(trace, &structure, &locksets);
    let filters = [ordered - start, ordered.elapsed()];
    let candidates = Candidates::new(trace, &structure, asked.transactions);
    let granted = granted(trace, &structure);
    let facts = Facts { trace, structure: &structure, observed, clocks: &granted };
    let limits = Limits { timeout: options.timeout, deadline, work: None, stop };
    let screen = Screen::new(trace, &structure, &clocks, &locksets, |_| true);
    let count = candidates.count(options.candidates);
    let mut comparison =
        Round::new(asked, facts, &clocks, limits, count, filters, listener).all(&candidates, screen, &bundles)?;
    comparison.sum();
    comparison.interrupted = stop.load(Ordering::Relaxed);
    Ok(comparison)
}

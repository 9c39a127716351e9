//! The models side by side: how many candidates each leaves, and why `ctp` refutes what another allows.
//!
//! Every model goes through the pipeline of `predict`, candidate by candidate; of each verdict two bits are kept.

use crate::candidates::Candidates;
use crate::explain::{Argument, Explainer, granted};
use crate::filters::FilterCount;
use crate::options::{Options, Per, strongest_model};
use crate::predict::{Asked, Progress, Sink, decide};
use crate::verdict::{Decider, Decision, Limit, Verdict};
use foretrace_encodings::Facts;
use foretrace_trace::{Independence, Model, Observed, Structure, Trace, Transaction, Triple};
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
    /// Not decided.
    Unknown,
}

impl Said {
    fn of(verdict: &Verdict) -> Said {
        match verdict {
            Verdict::Feasible(_) => Said::Feasible,
            Verdict::Infeasible => Said::Infeasible,
            Verdict::Unknown(_) => Said::Unknown,
        }
    }

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Said::Feasible => "feasible",
            Said::Infeasible => "infeasible",
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

    fn add(&mut self, code: &Code, models: usize) {
        self.all += 1;
        self.ordered += u64::from(code.refuted_by() != Some(Decider::MustHappenBefore));
        self.without_data += u64::from(code.refuted_by().is_none());
        for (nth, (feasible, unknown)) in self.by_model.iter_mut().enumerate().take(models) {
            *feasible += u64::from(code.said(nth) == Said::Feasible);
            *unknown += u64::from(code.said(nth) == Said::Unknown);
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
}

/// The models side by side.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The models that the trace's data allows.
    pub models: Vec<Model>,
    /// The model that the others are held against: `ctp`, or the strongest that the data allows.
    pub reference: Model,
    /// Per transaction that has candidates: its place among the transactions, and its counts.
    pub rows: Vec<(usize, Counts)>,
    /// The sums.
    pub total: Counts,
    /// How long each model's run took.
    pub times: Vec<Duration>,
    /// How long the two filters took that look at no data.
    pub filters: [Duration; 2],
    /// Where a model and the reference do not agree.
    pub disagreements: Vec<Disagreement>,
    /// Whether the user stopped it.
    pub interrupted: bool,
}

impl Comparison {
    /// Whether every model decided every candidate.
    pub fn is_complete(&self) -> bool {
        !self.interrupted && self.total.by_model.iter().all(|(_, unknown)| *unknown == 0)
    }

    /// The column of the reference.
    pub fn reference_column(&self) -> usize {
        self.models.iter().position(|model| *model == self.reference).unwrap_or(0)
    }
}

/// What is kept of a candidate: two bits for each model, two for the filter that refuted it.
#[derive(Clone, Copy)]
struct Code(u16);

impl Code {
    /// Undecided by every model.
    const OPEN: Code = Code(0b1010_1010);

    fn set(&mut self, nth: usize, decision: &Decision) {
        let said = Said::of(&decision.verdict) as u16;
        self.0 = self.0 & !(0b11 << (2 * nth)) | said << (2 * nth);
        match decision.decided_by {
            Decider::MustHappenBefore => self.0 |= 1 << 8,
            Decider::CutPoints => self.0 |= 1 << 9,
            _ => {}
        }
    }

    fn said(self, nth: usize) -> Said {
        match self.0 >> (2 * nth) & 0b11 {
            0 => Said::Feasible,
            1 => Said::Infeasible,
            _ => Said::Unknown,
        }
    }

    fn refuted_by(self) -> Option<Decider> {
        match self.0 >> 8 & 0b11 {
            0 => None,
            1 => Some(Decider::MustHappenBefore),
            _ => Some(Decider::CutPoints),
        }
    }
}

/// Compares the models that the trace's data allows. The model of the options' question is not looked at; guarded
/// independence is asked of the models that have values. At most `reasons` arguments are looked for.
///
/// # Errors
/// As [`crate::predict::predict`]; where a verdict and its argument contradict each other.
pub fn compare(
    trace: &Trace,
    observed: &Observed,
    transactions: &[Transaction],
    options: &Options,
    reasons: usize,
    stop: &AtomicBool,
    listen: &mut dyn FnMut(&Progress),
) -> anyhow::Result<Comparison> {
    let deadline = options.budget.map(|budget| Instant::now() + budget);
    let models: Vec<Model> = MODELS.into_iter().filter(|model| model.needs() <= trace.data).collect();
    let structure = Structure::new(trace);
    let candidates = Candidates::new(trace, &structure, transactions);
    let reference = strongest_model(trace.data);
    let mut codes: Vec<Code> = Vec::new();
    let mut comparison = Comparison {
        reference,
        rows: Vec::new(),
        total: Counts::new(models.len()),
        times: Vec::new(),
        filters: [Duration::ZERO; 2],
        disagreements: Vec::new(),
        interrupted: false,
        models,
    };
    for (nth, model) in comparison.models.iter().enumerate() {
        let options = asked_of(*model, options, deadline);
        let mut sink = Verdicts { codes: &mut codes, nth, next: 0, listen };
        let totals = decide(trace, observed, transactions, &options, Asked::Named, stop, &mut sink)?;
        comparison.times.push(totals.elapsed);
        if nth == 0 {
            comparison.filters = [Decider::MustHappenBefore, Decider::CutPoints]
                .map(|filter| totals.filters.0.iter().find(|(f, _)| *f == filter).map_or(Duration::ZERO, time));
        }
    }
    comparison.tally(&candidates, transactions, options, &codes);
    let reasoning = asked_of(reference, options, deadline);
    let clocks = granted(trace, &structure);
    let facts = Facts { trace, structure: &structure, observed, clocks: &clocks };
    comparison.find_reasons(facts, &reasoning, reasons, deadline, stop)?;
    comparison.interrupted = stop.load(Ordering::Relaxed);
    Ok(comparison)
}

fn time((_, count): &(Decider, FilterCount)) -> Duration {
    count.time
}

/// The options of one model's run.
fn asked_of(model: Model, options: &Options, deadline: Option<Instant>) -> Options {
    let mut options = options.clone();
    options.question.model = model;
    if !model.has_values() {
        options.question.independence = Independence::Conflict;
    }
    options.per = Per::Event;
    options.verdicts_only = true;
    options.budget = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    options
}

/// Takes the decisions of one model.
struct Verdicts<'v> {
    codes: &'v mut Vec<Code>,
    nth: usize,
    next: usize,
    listen: &'v mut dyn FnMut(&Progress),
}

impl Sink for Verdicts<'_> {
    fn decision(&mut self, decision: &Decision) -> anyhow::Result<()> {
        if self.next >= self.codes.len() {
            self.codes.push(Code::OPEN);
        }
        self.codes[self.next].set(self.nth, decision);
        self.next += 1;
        Ok(())
    }

    fn progress(&mut self, progress: &Progress) {
        (self.listen)(progress);
    }
}

impl Comparison {
    /// Counts, and lists where the reference is not agreed with.
    fn tally(&mut self, candidates: &Candidates<'_>, transactions: &[Transaction], options: &Options, codes: &[Code]) {
        let models = self.models.len();
        let reference = self.reference_column();
        for (at, triple) in candidates.triples(options.candidates).enumerate() {
            let code = codes.get(at).unwrap_or(&Code::OPEN);
            let transaction = candidates.transaction_of(triple).map(|found| found.first);
            let row = self.rows.last().map(|(nth, _)| transactions[*nth].first);
            if row != transaction || row.is_none() {
                let nth = transactions.iter().position(|other| Some(other.first) == transaction).unwrap_or(0);
                self.rows.push((nth, Counts::new(models)));
            }
            if let Some((_, counts)) = self.rows.last_mut() {
                counts.add(code, models);
            }
            self.total.add(code, models);
            let said: Vec<Said> = (0..models).map(|nth| code.said(nth)).collect();
            let differs = |other: &Said| *other != Said::Unknown && *other != said[reference];
            if said[reference] != Said::Unknown && said.iter().any(differs) {
                self.disagreements.push(Disagreement { triple, said, reason: None });
            }
        }
    }

    /// Asks why the reference refutes what another model allows.
    fn find_reasons(
        &mut self,
        facts: Facts<'_>,
        options: &Options,
        most: usize,
        deadline: Option<Instant>,
        stop: &AtomicBool,
    ) -> anyhow::Result<()> {
        let reference = self.reference_column();
        let refuted = self.disagreements.iter_mut().filter(|one| one.said[reference] == Said::Infeasible);
        let mut asked: Vec<&mut Disagreement> = refuted.take(most).collect();
        let share = asked.len().div_ceil(options.jobs.max(1)).max(1);
        std::thread::scope(|scope| {
            let workers: Vec<_> = asked
                .chunks_mut(share)
                .map(|share| {
                    scope.spawn(move || {
                        let explainer = Explainer::new(facts, options, deadline, stop);
                        share.iter_mut().try_for_each(|one| {
                            one.reason = Some(explainer.refutation(one.triple)?);
                            anyhow::Ok(())
                        })
                    })
                })
                .collect();
            workers.into_iter().try_for_each(|worker| {
                worker.join().map_err(|_| anyhow::anyhow!("internal error: a solver thread is gone"))?
            })
        })
    }
}

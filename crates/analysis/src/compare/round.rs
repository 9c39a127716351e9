//! A comparison in progress: candidates through the two filters, then block by block through every model.

use super::asked::{Asked, Listener};
use super::known::Known;
use super::outcome::{Comparison, Counts, Disagreement, Said};
use super::verdicts::verdicts;
use crate::candidates::{Candidates, Pair};
use crate::context::AnalysisContext;
use crate::explain::Explainer;
use crate::filters::{Filters, RemoteClasses, SCREENS, Screen, ScreenedAccesses, regions_by_thread};
use crate::open_tries::OpenTries;
use crate::options::{Options, Per, Strategy};
use crate::pool;
use crate::predict::{self, Progress, Sink, decide};
use crate::verdict::Decision;
use crate::workers::{Apart, ApartOptions, Questions, SolverWorker};
use foretrace_encodings::TraceView;
use foretrace_index::MustHappenBefore;
use foretrace_solve::Limits;
use foretrace_trace::{Independence, Model, Triple};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Candidates of the first block. The next ones are twice as large each, up to [`LARGEST_BLOCK`]: who stops the run early
/// sees all models, and preparing a model does not take longer than asking it.
const FIRST_BLOCK: usize = 1 << 14;
const LARGEST_BLOCK: usize = 1 << 18;

/// How long candidates are counted after the limit was reached.
const MOST_COUNTING: Duration = Duration::from_millis(400);

pub(super) struct Round<'r, 'a> {
    asked: Asked<'a>,
    /// With the orders that arguments take for granted.
    view: TraceView<'a>,
    /// The orders that hold in every prefix.
    clocks: &'a MustHappenBefore,
    limits: Limits<'a>,
    listener: &'r mut dyn Listener,
    /// How many more candidates may be explained.
    reasons: usize,
    /// What was learned of each model.
    known: Vec<Known<'a>>,
    /// Candidates that the models are asked about next, with their row.
    block: Vec<(usize, Triple)>,
    size: usize,
    progress: Progress,
    comparison: Comparison,
    /// Since when the limit is known to be reached.
    over_since: Option<Instant>,
}

impl<'r, 'a> Round<'r, 'a> {
    /// `candidates`: how many there are; `filters`: how long it took to prepare the filters.
    pub(super) fn new(
        asked: Asked<'a>,
        view: TraceView<'a>,
        clocks: &'a MustHappenBefore,
        limits: Limits<'a>,
        candidates: u64,
        filters: [Duration; 2],
        listener: &'r mut dyn Listener,
    ) -> Round<'r, 'a> {
        let models = asked.contest.models.len();
        let comparison = Comparison { filters, ..Comparison::new(models) };
        let regions = Arc::new(regions_by_thread(view.trace, view.trace_index));
        let known = (0..models).map(|_| Known::new(view.trace, Arc::clone(&regions))).collect();
        let (reasons, size) = (asked.reasons, FIRST_BLOCK);
        let progress = Progress { candidates, ..Progress::default() };
        Round {
            asked,
            view,
            clocks,
            limits,
            listener,
            reasons,
            known,
            block: Vec::new(),
            size,
            progress,
            comparison,
            over_since: None,
        }
    }

    /// All candidates.
    pub(super) fn all(
        mut self,
        candidates: &Candidates<'_>,
        screen: Screen<'_>,
        remote_classes: &RemoteClasses,
    ) -> anyhow::Result<Comparison> {
        let mut parts = Vec::new();
        'all: for (nth, transaction) in self.asked.transactions.iter().enumerate() {
            let row = self.comparison.rows.len();
            for pair in candidates.pairs(transaction, self.asked.options.candidates) {
                if self.is_long_over() {
                    break 'all;
                }
                parts.clear();
                let times = screen.judge(pair, remote_classes.paired_with(pair), &mut parts);
                self.comparison.filters.iter_mut().zip(times).for_each(|(sum, time)| *sum += time);
                if !parts.is_empty() && self.comparison.rows.len() == row {
                    self.comparison.rows.push((nth, Counts::new(self.asked.contest.models.len())));
                }
                self.pair(pair, row, &parts);
                if self.block.len() >= self.size {
                    self.settle()?;
                }
            }
        }
        self.settle()?;
        let counted: u64 = self.comparison.rows.iter().map(|(_, counts)| counts.all).sum();
        self.comparison.unreached = self.progress.candidates.saturating_sub(counted);
        Ok(self.comparison)
    }

    /// Whether the limit was reached so long ago that candidates are not even counted any more.
    fn is_long_over(&mut self) -> bool {
        if self.over_since.is_none() && self.limits.reached().is_some() {
            self.over_since = Some(Instant::now());
        }
        self.over_since.is_some_and(|since| since.elapsed() >= MOST_COUNTING)
    }

    /// Counts a pair's candidates; those that are left come into the block.
    fn pair(&mut self, pair: Pair, row: usize, parts: &[ScreenedAccesses<'_>]) {
        let models = self.asked.contest.models.len();
        let stopped = self.limits.reached().is_some();
        let begin = self.block.len();
        for part in parts {
            let count = part.accesses.len() as u64;
            let counts = &mut self.comparison.rows[row].1;
            counts.add(count, part.refuted_by);
            if part.refuted_by.is_some() || models == 0 {
                self.progress.done += count;
            } else if stopped {
                (0..models).for_each(|model| counts.add_said(model, Said::Unknown, count));
            } else {
                let triple = |remote: &_| Triple { first: pair.first, remote: *remote, second: pair.second };
                self.block.extend(part.accesses.iter().map(|remote| (row, triple(remote))));
            }
        }
        self.block[begin..].sort_unstable_by_key(|(_, triple)| triple.remote);
    }

    /// Asks every model about the block.
    fn settle(&mut self) -> anyhow::Result<()> {
        let block = std::mem::take(&mut self.block);
        self.size = (2 * self.size).min(LARGEST_BLOCK);
        let triples: Vec<Triple> = block.iter().map(|(_, triple)| *triple).collect();
        let mut said: Vec<Vec<Said>> = Vec::new();
        for (nth, model) in self.asked.contest.models.iter().enumerate() {
            let of_model = self.ask(nth, *model, &triples)?;
            for ((row, _), said) in block.iter().zip(&of_model) {
                self.comparison.rows[*row].1.add_said(nth, *said, 1);
            }
            said.push(of_model);
        }
        self.progress.done += block.len() as u64;
        self.listener.so_far(&self.comparison);
        let mut disagreements = self.disagreements(&triples, &said);
        self.find_reasons(&mut disagreements)?;
        disagreements.iter().try_for_each(|one| self.listener.disagreement(one))
    }

    /// What a model says of each candidate.
    fn ask(&mut self, nth: usize, model: Model, triples: &[Triple]) -> anyhow::Result<Vec<Said>> {
        let mut said = Vec::new();
        if self.limits.reached().is_none() && !triples.is_empty() {
            let start = Instant::now();
            let mut options = self.options(model);
            options.without.extend(SCREENS); // they have left these
            let by_order = options.question.independence == Independence::Conflict;
            let is_bounded = options.context_switches.is_some();
            said = if by_order && !is_bounded && options.strategy == Strategy::Demand {
                self.together(&options, nth, triples)
            } else {
                self.one_by_one(&options, triples)
            }?;
            self.comparison.times[nth] += start.elapsed();
        }
        said.resize(triples.len(), Said::Unknown);
        Ok(said)
    }

    /// Verdicts that hold whatever the accesses' values are: those of a pair together.
    fn together(&mut self, options: &Options, nth: usize, triples: &[Triple]) -> anyhow::Result<Vec<Said>> {
        let Limits { deadline, stop, .. } = self.limits;
        let view = TraceView { clocks: self.clocks, ..self.view };
        let constants = AnalysisContext::constants(view, options, self.limits);
        let filters = {
            let go_on = || self.limits.reached().is_none();
            Filters::within(view, self.asked.transactions, options, &constants, &go_on)
        };
        let stronger = TraceView { clocks: filters.clocks(), ..view };
        let context = AnalysisContext::new(stronger, self.asked.transactions, options, constants, deadline, stop)?;
        let mut progress = self.progress;
        verdicts(&context, &filters, &self.known[nth], triples, |more| {
            progress.done += more as u64;
            self.listener.progress(&progress);
        })
    }

    fn one_by_one(&mut self, options: &Options, triples: &[Triple]) -> anyhow::Result<Vec<Said>> {
        let Asked { trace, observed, transactions, .. } = self.asked;
        let mut sink = Verdicts { said: Vec::new(), progress: self.progress, listener: self.listener };
        let these = predict::Asked::These(triples);
        decide(trace, observed, transactions, options, these, self.limits.stop, &mut sink)?;
        Ok(sink.said)
    }

    /// The options of one model's run.
    fn options(&self, model: Model) -> Options {
        let mut options = self.asked.options.clone();
        options.question.model = model;
        if !model.has_values() {
            options.question.independence = Independence::Conflict;
        }
        options.per = Per::Event;
        options.verdicts_only = true;
        options.budget = self.limits.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        options
    }

    /// Where the reference is not agreed with.
    fn disagreements(&self, triples: &[Triple], said: &[Vec<Said>]) -> Vec<Disagreement> {
        let reference = self.asked.contest.reference_column();
        let disagreement = |(nth, triple): (usize, &Triple)| {
            let said: Vec<Said> = said.iter().map(|of_model| of_model[nth]).collect();
            let of_reference = *said.get(reference)?;
            let differs = |other: &Said| *other != Said::Unknown && *other != of_reference;
            let any = of_reference != Said::Unknown && said.iter().any(differs);
            any.then_some(Disagreement { triple: *triple, said, reason: None, off_path: None })
        };
        triples.iter().enumerate().filter_map(disagreement).collect()
    }

    /// Asks why the reference refutes what another model allows.
    fn find_reasons(&mut self, disagreements: &mut [Disagreement]) -> anyhow::Result<()> {
        let (view, Limits { deadline, stop, .. }) = (self.view, self.limits);
        let reference = self.asked.contest.reference_column();
        let options = &self.options(self.asked.contest.reference);
        let refuted = disagreements.iter_mut().filter(|one| one.said[reference] == Said::Infeasible);
        let mut asked: Vec<&mut Disagreement> = refuted.take(self.reasons).collect();
        self.reasons -= asked.len();
        if asked.is_empty() {
            return Ok(());
        }
        let share = asked.len().div_ceil(options.jobs.max(1)).max(1);
        let transactions = self.asked.transactions;
        let in_every_prefix = TraceView { clocks: self.clocks, ..view };
        let constants = AnalysisContext::constants(in_every_prefix, options, self.limits);
        let apart_options = ApartOptions::new(options);
        let both = (options, &apart_options);
        let opened = OpenTries::in_trace(view.trace);
        let on_every_path = OpenTries::view(opened.as_ref(), in_every_prefix);
        let apart =
            &Apart::new((in_every_prefix, on_every_path), transactions, both, constants.clone(), deadline, stop)?;
        let context = &AnalysisContext::new(in_every_prefix, transactions, options, constants, deadline, stop)?;
        let work = asked.chunks_mut(share).map(|share| {
            move || {
                let explainer = Explainer::new(view, options, deadline, stop);
                let (mut solver, mut questions) = (SolverWorker::of_remarks(context), Questions::new(apart));
                share.iter_mut().try_for_each(|one| {
                    one.reason = Some(explainer.refutation(one.triple)?);
                    one.off_path = questions.kind(&mut solver, one.triple)?;
                    anyhow::Ok(())
                })
            }
        });
        pool::all(work, || ())
    }
}

/// Takes the decisions of one model on a block.
struct Verdicts<'v> {
    said: Vec<Said>,
    progress: Progress,
    listener: &'v mut dyn Listener,
}

impl Sink for Verdicts<'_> {
    fn decision(&mut self, decision: &Decision) -> anyhow::Result<()> {
        self.said.push(Said::from_verdict(&decision.verdict));
        Ok(())
    }

    fn progress(&mut self, of_block: &Progress) {
        let feasible = of_block.feasible;
        self.listener.progress(&Progress { done: self.progress.done + of_block.done, feasible, ..self.progress });
    }
}

//! From a trace to decisions: candidates go through the filters, and the solver decides the rest.
//!
//! Candidates go through in chunks: filters first, then the solver threads, then out in order, so that any number of
//! them passes in bounded memory. With [`Per::Location`] a class is done at its first feasible candidate, and a
//! witness found without a solver spares the class the solver.

mod by_remote_class;
mod by_states;
mod observed;
mod stages;
mod totals;

pub use totals::{Counted, OffPathCounts, Progress, Refuted, Sink, Tally, Totals};

use crate::candidates::{Candidates, Class};
use crate::context::AnalysisContext;
use crate::filters::{Filters, Judgement};
use crate::known_states::KnownStates;
use crate::open_tries::OpenTries;
use crate::options::{CandidateSet, Options, Per, Strategy, not_of_paper};
use crate::reachable::{FEW_STATES, MANY_STATES};
use crate::verdict::{Decider, Decision, Limit, OffPath, RestsOn, Verdict};
use crate::workers::{self, Apart, ApartOptions, Family, Report};
use foretrace_checker::Witness;
use foretrace_encodings::{TraceView, paper};
use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_solve::{KnownOrder, Limits};
use foretrace_trace::{EventId, Feasibility, Independence, Model, Observed, Trace, Transaction, Triple};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::Scope;
use std::time::{Duration, Instant};

type FxIndexMap<K, V> = IndexMap<K, V, FxBuildHasher>;

/// Candidates held at once where a class is done at its first witness.
const LARGE_CHUNK: usize = 1 << 20;
/// Steps of witnesses held at once where every candidate may have one.
const MOST_STEPS: usize = 1 << 22;
/// Before easy questions, `predict` looks at states only if this many candidates are open. Before hard questions it always does.
const WORTH_STATES: usize = 32;

/// How many candidates go through at a time.
fn chunk_size(per: Per, events: usize) -> usize {
    match per {
        Per::Location => LARGE_CHUNK,
        Per::Event => (MOST_STEPS / events.max(1)).clamp(64, 1 << 14),
    }
}

/// Decides the candidates of a trace.
///
/// # Errors
/// What the sink says; a schedule that the checker refuses; a query that cannot be written; what the strategy `paper` has
/// no formula for.
pub fn predict(
    trace: &Trace,
    observed: &Observed,
    transactions: &[Transaction],
    options: &Options,
    stop: &AtomicBool,
    sink: &mut dyn Sink,
) -> anyhow::Result<Totals> {
    decide(trace, observed, transactions, options, Asked::All, stop, sink)
}

/// Which candidates are decided.
#[derive(Clone, Copy, Debug)]
pub enum Asked<'t> {
    /// Those that the options name, and wider ones where guarded independence needs them.
    All,
    /// Those that the options name and no others.
    Named,
    /// These.
    These(&'t [Triple]),
}

/// Decides some of the candidates of a trace.
///
/// # Errors
/// As [`predict`].
pub fn decide(
    trace: &Trace,
    observed: &Observed,
    transactions: &[Transaction],
    options: &Options,
    asked: Asked<'_>,
    stop: &AtomicBool,
    sink: &mut dyn Sink,
) -> anyhow::Result<Totals> {
    let start = Instant::now();
    let options = &with_strategy(trace, options)?;
    let trace_index = TraceIndex::new(trace);
    let clocks = MustHappenBefore::new(trace, &trace_index);
    let view = TraceView { trace, trace_index: &trace_index, observed, clocks: &clocks };
    let deadline = options.budget.map(|budget| start + budget);
    let limits = Limits { timeout: options.timeout, deadline, work: None, stop };
    let constants = AnalysisContext::constants(view, options, limits);
    let context = AnalysisContext::new(view, transactions, options, constants, deadline, stop)?;
    let apart_options = ApartOptions::new(options);
    let opened;
    let apart = match tells_apart(options) {
        true => {
            let asked = (options, &apart_options);
            opened = OpenTries::in_trace(trace);
            let on_every_path = OpenTries::view(opened.as_ref(), view);
            let constants = context.constants.clone();
            let apart = Apart::new((view, on_every_path), transactions, asked, constants, deadline, stop)?;
            Some(apart.with_states_of(&context))
        }
        false => None,
    };
    let candidates = Candidates::new(trace, &trace_index, transactions);
    let filters = Filters::within(view, transactions, options, &context.constants, &|| limits.reached().is_none());
    let count = match asked {
        Asked::All | Asked::Named => candidates.count(options.candidates),
        Asked::These(triples) => triples.len() as u64,
    };
    let mut run = Run::new(&context, filters, count, sink);
    std::thread::scope(|scope| {
        let mut workers = SolverWorkers::new(scope, &context, apart.as_ref());
        run.all(&candidates, asked, &mut workers)?;
        let mut totals = std::mem::take(&mut run.totals);
        totals.filters = run.filters.report();
        totals.transactions = transactions.len();
        totals.elapsed = start.elapsed();
        totals.interrupted = stop.load(Ordering::Relaxed);
        run.sink.finished(&totals);
        Ok(totals)
    })
}

/// Whether there is more to say of infeasible candidates.
pub(crate) fn tells_apart(options: &Options) -> bool {
    options.off_path && !is_free(options)
}

/// Whether infeasible is impossible: no prefix shows the candidate though reads may return anything.
fn is_free(options: &Options) -> bool {
    options.question.model == Model::Cam && options.question.feasibility == Feasibility::Prefix
}

/// The options with what the strategy takes for granted.
fn with_strategy(trace: &Trace, options: &Options) -> anyhow::Result<Options> {
    let mut options = options.clone();
    if options.strategy == Strategy::Paper {
        paper::supports(trace, options.question)?;
        options.without.extend(not_of_paper());
    }
    Ok(options)
}

/// The solver threads of a run, each started when it is first needed.
struct SolverWorkers<'scope, 'env, 'a> {
    scope: &'scope Scope<'scope, 'env>,
    context: &'scope AnalysisContext<'a>,
    apart: Option<&'scope Apart<'a>>,
    families: Vec<Option<Sender<Family>>>,
    sender: Sender<Report>,
    reports: Receiver<Report>,
}

impl<'scope, 'env, 'a: 'scope> SolverWorkers<'scope, 'env, 'a> {
    fn new(
        scope: &'scope Scope<'scope, 'env>,
        context: &'scope AnalysisContext<'a>,
        apart: Option<&'scope Apart<'a>>,
    ) -> Self {
        let (sender, reports) = channel();
        SolverWorkers { scope, context, apart, families: vec![None; context.options.jobs.max(1)], sender, reports }
    }

    /// Gives the batches to the worker whose turn it is.
    fn send(&mut self, nth: usize, family: Family) -> anyhow::Result<()> {
        let worker = nth % self.families.len();
        let (scope, context, apart, sender) = (self.scope, self.context, self.apart, &self.sender);
        let start = || {
            let (families, receiver) = channel();
            let sender = sender.clone();
            scope.spawn(move || workers::run(context, apart, receiver, sender));
            families
        };
        let sent = self.families[worker].get_or_insert_with(start).send(family);
        sent.map_err(|_| anyhow::anyhow!("internal error: a solver thread is gone"))
    }
}

/// What the filters say of a candidate: some of them, in their order.
type Judge<'r> = fn(&Filters<'r>, Triple) -> Option<Judgement>;

/// A run in progress.
struct Run<'r, 'a> {
    context: &'r AnalysisContext<'a>,
    filters: Filters<'r>,
    sink: &'r mut dyn Sink,
    totals: Totals,
    counted: Counted,
    progress: Progress,
    classes: FxHashMap<Class, bool>,
    /// Under guarded independence, by start of transaction and remote access: a candidate with it, and whether one is
    /// feasible.
    around: FxIndexMap<(EventId, EventId), (Triple, bool)>,
    /// Whether candidates whose remote access wrote what was there wait until the others are decided, and those that do.
    postpones: bool,
    postponed: Vec<Triple>,
    states: KnownStates<'r, 'a>,
    /// Orders that solver threads found, in an order that does not depend on time.
    known: BTreeSet<KnownOrder>,
    /// Since when the run's limit is known to be reached.
    over_since: Option<Instant>,
    /// Whether a solver thread was given up.
    given_up: bool,
}

impl<'r, 'a> Run<'r, 'a> {
    fn new(context: &'r AnalysisContext<'a>, filters: Filters<'r>, count: u64, sink: &'r mut dyn Sink) -> Run<'r, 'a> {
        let totals = Totals { candidates: count, ..Totals::default() };
        Run {
            context,
            filters,
            sink,
            totals,
            counted: Counted::default(),
            progress: Progress { candidates: count, ..Progress::default() },
            classes: FxHashMap::default(),
            around: FxIndexMap::default(),
            postpones: context.options.wants_effect,
            postponed: Vec::new(),
            states: KnownStates::new(context),
            known: BTreeSet::new(),
            over_since: None,
            given_up: false,
        }
    }

    fn all(
        &mut self,
        candidates: &Candidates<'_>,
        asked: Asked<'_>,
        workers: &mut SolverWorkers<'_, '_, '_>,
    ) -> anyhow::Result<()> {
        let set = self.context.options.candidates;
        let guarded = self.context.options.question.independence == Independence::Guarded;
        let asks_all = matches!(asked, Asked::All) && self.context.options.per == Per::Location;
        if asks_all && !guarded && self.context.options.failed {
            self.observed_first(candidates, workers)?;
        }
        match asked {
            Asked::All if guarded && set == CandidateSet::Adjacent => {
                self.stream(&mut candidates.triples(set), workers, Some(candidates))?;
                self.wider(candidates, workers)?;
            }
            Asked::All | Asked::Named => self.by_remote_class(candidates, workers)?,
            Asked::These(triples) => self.stream(&mut triples.iter().copied(), workers, None)?,
        }
        if std::mem::take(&mut self.postpones) {
            let postponed = std::mem::take(&mut self.postponed);
            self.progress.done = self.progress.done.saturating_sub(postponed.len() as u64); // they come again
            self.totals.skipped = self.totals.skipped.saturating_sub(postponed.len() as u64);
            self.stream(&mut postponed.into_iter(), workers, None)?;
        }
        self.totals.classes += self.classes.len();
        std::mem::take(&mut self.counted).into_totals(&mut self.totals);
        Ok(())
    }

    /// A neighbouring pair can be independent where a wider one is not: those around a remote access with which no
    /// neighbouring pair is feasible.
    fn wider(&mut self, candidates: &Candidates<'_>, workers: &mut SolverWorkers<'_, '_, '_>) -> anyhow::Result<()> {
        let unsettled: Vec<Triple> =
            self.around.drain(..).filter(|(_, (_, feasible))| !feasible).map(|(_, (triple, _))| triple).collect();
        let mut wider = unsettled.into_iter().flat_map(|adjacent| candidates.wider(adjacent));
        self.stream(&mut wider, workers, None)
    }

    fn stream(
        &mut self,
        mut triples: &mut dyn Iterator<Item = Triple>,
        workers: &mut SolverWorkers<'_, '_, '_>,
        watched: Option<&Candidates<'_>>,
    ) -> anyhow::Result<()> {
        let size = self.chunk_size();
        let mut chunk = Chunk::default();
        while self.context.limits().reached().is_none() {
            for triple in (&mut triples).take(size) {
                if self.context.limits().reached().is_some() {
                    break;
                }
                let slot = self.filter(triple, Filters::judge);
                chunk.push(triple, slot);
                self.tick(1);
            }
            if chunk.slots.is_empty() {
                break;
            }
            self.settle(&mut chunk, workers, watched)?;
        }
        self.totals.unreached = self.progress.candidates.saturating_sub(self.progress.done);
        Ok(())
    }

    fn chunk_size(&self) -> usize {
        chunk_size(self.context.options.per, self.context.view.trace.events.len())
    }

    /// Has the solver decide what the filters left open, and hands all decisions on.
    fn settle(
        &mut self,
        chunk: &mut Chunk<'_>,
        workers: &mut SolverWorkers<'_, '_, '_>,
        watched: Option<&Candidates<'_>>,
    ) -> anyhow::Result<()> {
        let Chunk { triples, mut slots } = std::mem::take(chunk);
        for stage in Stage::ALL {
            if self.is_over() {
                break;
            }
            match stage {
                Stage::Easy => self.by_states(&triples, &mut slots, WORTH_STATES)?,
                Stage::Hard => {
                    self.states.may_make(MANY_STATES);
                    self.by_states(&triples, &mut slots, 1)?;
                    self.states.may_make(FEW_STATES);
                }
                _ => {}
            }
            let families = self.families_of(stage, &triples, &slots);
            self.solve(families, &mut slots, workers)?;
        }
        let is_over = self.is_over();
        if let Some(candidates) = watched {
            triples.iter().zip(&slots).for_each(|(triple, slot)| self.watch(candidates, *triple, slot));
        }
        for (triple, slot) in triples.into_iter().zip(slots) {
            match slot {
                Slot::Decided(mut decision) => {
                    if is_free(self.context.options) {
                        decision.off_path = None;
                    }
                    self.counted.count(&decision);
                    self.sink.decision(&decision)?;
                }
                Slot::Open if is_over && !self.is_found(triple) => {
                    let limit = self.context.limits().reached().unwrap_or(Limit::Budget);
                    let decision = Decision::unknown(self.context.view.trace, triple, limit);
                    self.counted.count(&decision);
                    self.sink.decision(&decision)?;
                }
                Slot::Refuted(refuted) => self.hand_on(&refuted)?,
                Slot::Open | Slot::Skipped => self.totals.skipped += 1,
            }
        }
        Ok(())
    }

    /// Whether nothing more is to be asked.
    fn is_over(&self) -> bool {
        self.given_up || self.context.limits().reached().is_some()
    }

    /// Notes with which remote accesses a transaction has a feasible neighbouring pair.
    fn watch(&mut self, candidates: &Candidates<'_>, triple: Triple, slot: &Slot<'_>) {
        let Some(transaction) = candidates.transaction_of(triple) else { return };
        let feasible = matches!(slot, Slot::Decided(decision) if matches!(decision.verdict, Verdict::Feasible(_)));
        let entry = self.around.entry((transaction.first, triple.remote)).or_insert((triple, false));
        entry.1 |= feasible;
    }

    /// The cheap stages.
    fn filter(&mut self, triple: Triple, judge: Judge<'r>) -> Slot<'static> {
        if self.is_done(self.context.class(triple)) {
            return Slot::Skipped;
        }
        if self.postpones && self.postponed.len() < MOST_POSTPONED && self.has_no_effect(triple) {
            self.postponed.push(triple);
            return Slot::Skipped;
        }
        let start = Instant::now();
        let Some(judgement) = judge(&self.filters, triple) else { return Slot::Open };
        let decision = match judgement {
            Judgement::Feasible { witness } => {
                workers::feasible(triple, self.context.simplify(*witness, None), Decider::EarlyWitness)
            }
            Judgement::Infeasible { by, rests_on_pin } => {
                let rests_on = rests_on_pin.then_some(RestsOn::Pin);
                workers::without_witness(self.context, triple, Verdict::Infeasible, by, rests_on)
            }
        };
        self.counted.tally(decision.decided_by).time += start.elapsed();
        self.note(&decision);
        Slot::Decided(Box::new(decision))
    }

    /// Whether the class is done; notes the class.
    fn is_done(&mut self, class: Class) -> bool {
        if class.is_one_candidate() {
            self.totals.classes += 1;
            return false;
        }
        let found = self.classes.entry(class).or_insert(false);
        *found && self.context.options.per == Per::Location
    }

    /// Has the solver work on batches.
    fn solve(
        &mut self,
        families: Vec<Family>,
        slots: &mut [Slot<'_>],
        workers: &mut SolverWorkers<'_, '_, '_>,
    ) -> anyhow::Result<()> {
        if self.given_up {
            return Ok(());
        }
        let mut waiting = families.len();
        let known: Arc<[KnownOrder]> = self.known.iter().copied().collect();
        for (nth, family) in families.into_iter().enumerate() {
            workers.send(nth, Family { known: Arc::clone(&known), ..family })?;
        }
        while waiting > 0 {
            let Some(report) = self.report(workers)? else {
                self.given_up = true;
                return Ok(());
            };
            let (place, time) = match report {
                Report::Failed(error) => return Err(error),
                Report::Done(found) => {
                    self.known.extend(found);
                    waiting -= 1;
                    continue;
                }
                Report::InVain(time) => {
                    self.counted.tally(Decider::Smt).time += time;
                    continue;
                }
                Report::Decided(place, decision, time) => {
                    self.note(&decision);
                    slots[place] = Slot::Decided(decision);
                    (place, time)
                }
                Report::Guarded(place, guarded, witness, time) => {
                    slots[place].set_guarded(guarded, witness);
                    (place, time)
                }
                Report::OffPath(place, off_path) => {
                    slots[place].set_off_path(off_path);
                    continue;
                }
            };
            debug_assert!(place < slots.len());
            self.counted.tally(Decider::Smt).time += time;
            self.sink.progress(&self.progress);
        }
        Ok(())
    }

    /// What a solver thread has to say next; nothing where the run's limit is reached and none says so in time.
    fn report(&mut self, workers: &SolverWorkers<'_, '_, '_>) -> anyhow::Result<Option<Report>> {
        loop {
            match workers.reports.recv_timeout(LOOK) {
                Ok(report) => return Ok(Some(report)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(error) => return Err(error.into()),
            }
            if self.over_since.is_none() && self.context.limits().reached().is_some() {
                self.over_since = Some(Instant::now());
            }
            if self.over_since.is_some_and(|since| since.elapsed() >= MOST_OVERDUE) {
                return Ok(None);
            }
        }
    }

    /// Whether a candidate of the class is known to be feasible, and this is all that is asked.
    fn is_found(&self, triple: Triple) -> bool {
        self.context.options.per == Per::Location && self.classes.get(&self.context.class(triple)) == Some(&true)
    }

    /// Takes note of a feasible candidate.
    fn note(&mut self, decision: &Decision) {
        if matches!(decision.verdict, Verdict::Feasible(_)) {
            self.progress.feasible += 1;
            if let Some(found) = self.classes.get_mut(&self.context.class(decision.triple)) {
                *found = true;
            }
        }
    }

    /// Whether remote wrote in the recorded run what was there before.
    fn has_no_effect(&self, triple: Triple) -> bool {
        let TraceView { trace, trace_index, observed, .. } = self.context.view;
        let Some(var) = trace.event(triple.remote).op.var() else { return false };
        let writes = &trace_index.writes[var.index()];
        let before = writes[..writes.partition_point(|write| *write < triple.remote)].last();
        let value = before.map_or(trace.vars[var.index()].init.as_ref(), |write| observed.written(*write));
        value.is_some() && value == observed.written(triple.remote)
    }

    /// So many more candidates are through the filters.
    fn tick(&mut self, count: u64) {
        let before = self.progress.done;
        self.progress.done += count;
        self.progress.classes = self.totals.classes + self.classes.len();
        if before / 64 != self.progress.done / 64 {
            self.sink.progress(&self.progress);
        }
    }
}

/// Candidates without an effect that wait for others.
const MOST_POSTPONED: usize = 1 << 20;

/// How often the clock is looked at while solver threads work.
const LOOK: Duration = Duration::from_millis(50);

/// How long solver threads have to end their work when the run's limit is reached.
const MOST_OVERDUE: Duration = Duration::from_millis(400);

/// What goes through together, in the order of the candidates.
#[derive(Default)]
struct Chunk<'b> {
    /// Per slot: the candidate, the first one where there are several.
    triples: Vec<Triple>,
    slots: Vec<Slot<'b>>,
}

impl<'b> Chunk<'b> {
    fn push(&mut self, triple: Triple, slot: Slot<'b>) {
        self.triples.push(triple);
        self.slots.push(slot);
    }
}

/// What solver threads are asked of a chunk.
#[derive(Clone, Copy)]
enum Stage {
    Easy,
    OffPath,
    Hard,
    Guarded,
}

impl Stage {
    /// In this order: what is infeasible by the hard questions may be off the path, too.
    const ALL: [Stage; 5] = [Stage::Easy, Stage::OffPath, Stage::Hard, Stage::Guarded, Stage::OffPath];
}

/// What is known of a candidate of the chunk at hand, or of several.
enum Slot<'b> {
    Open,
    Skipped,
    Decided(Box<Decision>),
    Refuted(Refuted<'b>),
}

impl Slot<'_> {
    fn is_not_guarded(&self) -> bool {
        matches!(self, Slot::Decided(decision) if decision.guarded == Some(false))
    }

    fn is_unasked(&self) -> bool {
        matches!(self, Slot::Decided(decision) if matches!(decision.off_path, Some(OffPath::Unasked(None))))
    }

    /// Takes the answer to whether the candidate is off the path.
    fn set_off_path(&mut self, off_path: Option<OffPath>) {
        let Slot::Decided(decision) = self else { return };
        decision.off_path = off_path;
    }

    /// Takes the answer to whether the candidate is feasible under guarded independence, too: with a witness that says
    /// more than the one there is.
    fn set_guarded(&mut self, guarded: Option<bool>, witness: Option<Box<Witness>>) {
        let Slot::Decided(decision) = self else { return };
        decision.guarded = guarded;
        let uses_freed =
            |verdict: &Verdict| matches!(verdict, Verdict::Feasible(w) if !w.run().uses_after_free.is_empty());
        if let Some(witness) = witness.filter(|_| !uses_freed(&decision.verdict)) {
            decision.rests_on = RestsOn::of_run(witness.run());
            decision.verdict = Verdict::Feasible(witness);
        }
    }
}

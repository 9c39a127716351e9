//! Solver threads: each has its own session and decides its share of the candidates in order.
//!
//! The class of a candidate decides its worker, whichever worker is free, so that a run's output does not depend on timing.

mod deciding;
mod finding_orders;
mod off_path;
mod orders;
mod together;

pub(crate) use off_path::{Apart, ApartOptions, Questions};
use orders::Orders;
use together::Together;

use crate::context::AnalysisContext;
use crate::filters::regions_by_thread;
use crate::kept_session::KeptSession;
use crate::options::{Options, Strategy};
use crate::refuted_sections::RefutedSections;
use crate::schedule_from_assignment::{complete_in_order, schedule_from_assignment, without_marks};
use crate::verdict::{Decider, Decision, Limit, OffPath, RestsOn, Verdict};
use anyhow::Context;
use foretrace_checker::Witness;
use foretrace_encodings::{Encoder, TraceView, smtlib};
use foretrace_solve::{Answer, KnownOrder, Limits, REMARK_WORK, Session, decide_by_paper, interruptible};
use foretrace_trace::{EventId, Feasibility, Independence, Pattern, Triple, Value, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

/// Candidates of one class, in order, with their place among the candidates asked.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    /// The candidates.
    pub(crate) triples: Vec<(usize, Triple)>,
    /// What is asked of them.
    pub(crate) task: Task,
}

impl Batch {
    /// Has the candidates asked first whose last access the recorded run makes first, of these the nearest to the recorded order.
    pub(crate) fn shortest_first(&mut self) {
        self.triples.sort_by_key(|(_, triple)| (triple.first.max(triple.remote).max(triple.second), triple.distance()));
    }

    /// Has the candidates asked first that are nearest to the recorded order.
    pub(crate) fn nearest_first(&mut self) {
        self.triples.sort_by_key(|(_, triple)| triple.distance());
    }
}

/// Batches that one worker decides one after the other, since what it finds of one says something of the others. They share places.
#[derive(Clone, Debug)]
pub(crate) struct Family {
    /// The batches.
    pub(crate) batches: Vec<Batch>,
    /// Orders that workers found in earlier stages.
    pub(crate) known: Arc<[KnownOrder]>,
}

/// What a worker is asked of a candidate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Task {
    /// Is it feasible?
    Decide {
        /// Whether the first feasible one settles the rest.
        stop_at_feasible: bool,
        /// What it may cost.
        effort: Effort,
    },
    /// It is feasible: is it so under guarded independence, too?
    Guarded,
    /// It is infeasible: is it impossible, or only off the path?
    OffPath {
        /// Whether the first one that is interrupted by remote settles the rest.
        stop_at_after_remote: bool,
    },
}

/// What a class may cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effort {
    /// Little for each candidate: nothing is said of those that are not easy.
    Easy,
    /// Each so much time, and all undecided ones together no more than the class's share of the run's time.
    Hard {
        /// The share.
        share: Duration,
        /// The time of each.
        query: Duration,
    },
}

/// What a worker has to say.
pub(crate) enum Report {
    /// A candidate was decided, in this time.
    Decided(usize, Box<Decision>, Duration),
    /// Whether a feasible candidate is so under guarded independence, with a witness where it is; `None`: not decided.
    Guarded(usize, Option<bool>, Option<Box<Witness>>, Duration),
    /// Whether an infeasible candidate is off the path; `None`: it is impossible.
    OffPath(usize, Option<OffPath>),
    /// Questions took this time and came to nothing.
    InVain(Duration),
    /// The batches of a family are done; these orders were found.
    Done(Vec<KnownOrder>),
    /// The run must end: something that cannot be happened.
    Failed(anyhow::Error),
}

/// What a remark on a verdict may cost in terms, as a part of what a verdict may.
const REMARK: usize = 30;

/// A class of little interest gets this part of a query's time. So does each, in a run without a time limit, once a worker has spent the time of a
/// query in vain: others will hardly be easier.
pub(crate) const PART_FOR_LITTLE: u32 = 10;

/// Decides families until there are no more.
pub(crate) fn run<'a, 'b>(
    context: &'b AnalysisContext<'a>,
    apart: Option<&'b Apart<'a>>,
    families: Receiver<Family>,
    reports: Sender<Report>,
) {
    interruptible(context.stop, || {
        let mut worker = SolverWorker::new(context);
        let mut questions = apart.map(Questions::new);
        let TraceView { trace, trace_index, .. } = context.view;
        let refuted = RefutedSections::new(trace, Arc::new(regions_by_thread(trace, trace_index)));
        for family in families {
            let done = decide_family(&mut worker, &mut questions, (&family, &refuted), &reports);
            if let Err(error) = done {
                let _ = reports.send(Report::Failed(error)); // nobody listens after a failure elsewhere
                break;
            }
            if reports.send(Report::Done(worker.orders.take_new())).is_err() {
                break;
            }
        }
    });
}

fn decide_family<'a, 'b>(
    worker: &mut SolverWorker<'a, 'b>,
    questions: &mut Option<Questions<'a, 'b>>,
    (family, refuted): (&Family, &RefutedSections<'_>),
    reports: &Sender<Report>,
) -> anyhow::Result<()> {
    let decided = family.batches.iter().filter(|batch| matches!(batch.task, Task::Decide { .. }));
    let candidates = decided.flat_map(|batch| batch.triples.iter().copied());
    let mut together = Together::new(worker.context, candidates, refuted);
    worker.learn(&family.known);
    worker.orders.forget_asked();
    for batch in &family.batches {
        match (batch.task, &mut *questions) {
            (Task::OffPath { stop_at_after_remote }, Some(questions)) => {
                questions.batch(worker, &batch.triples, stop_at_after_remote, reports)?;
            }
            _ => worker.batch(batch, &mut together, reports)?,
        }
    }
    Ok(())
}

/// A thread's solver, with what it has learnt.
pub(crate) struct SolverWorker<'a, 'b> {
    context: &'b AnalysisContext<'a>,
    /// Variables for which it could not be told whether a candidate is guarded-dependent: values have too many sources.
    hopeless: FxHashSet<VarId>,
    session: KeptSession<'b>,
    /// Orders that every prefix is known to keep.
    known: Vec<KnownOrder>,
    /// Those that were found for candidates.
    orders: Orders,
    /// What each query may cost besides time.
    work: Option<u32>,
    /// The time that hard questions took and left open.
    in_vain: Duration,
}

/// What there is to say of several remote accesses together.
pub(crate) enum RemoteAnswer {
    /// A schedule that shows a candidate with one of them.
    Shown(Box<Witness>),
    /// None of them can interrupt the pair.
    None,
    /// It could not be told.
    Unknown,
}

/// What there is to say of a prefix that is to end in a certain way.
pub(crate) enum PrefixAnswer {
    /// Its steps in order.
    Order(Vec<EventId>),
    /// There is none.
    None,
    /// It could not be told.
    Unknown,
}

/// What there is to say of orders.
pub(crate) enum OrdersAnswer {
    /// Every prefix keeps them.
    All,
    /// The steps of a prefix that does not, in order.
    Broken(Vec<EventId>),
    /// It could not be told.
    Unknown,
}

impl<'a, 'b> SolverWorker<'a, 'b> {
    pub(crate) fn new(context: &'b AnalysisContext<'a>) -> SolverWorker<'a, 'b> {
        SolverWorker {
            context,
            hopeless: FxHashSet::default(),
            session: KeptSession::default(),
            known: Vec::new(),
            orders: Orders::default(),
            work: None,
            in_vain: Duration::ZERO,
        }
    }

    /// A worker whose queries are remarks on verdicts that stand: they end after so much work, whatever the machine.
    pub(crate) fn of_remarks(context: &'b AnalysisContext<'a>) -> SolverWorker<'a, 'b> {
        SolverWorker::with_work(context, REMARK_WORK)
    }

    /// A worker whose queries end after so much work.
    pub(crate) fn with_work(context: &'b AnalysisContext<'a>, work: u32) -> SolverWorker<'a, 'b> {
        SolverWorker { work: Some(work), ..SolverWorker::new(context) }
    }

    /// From now on queries end after so much work.
    pub(crate) fn may_work(&mut self, work: u32) {
        self.work = Some(work);
    }

    /// Whether the later event can come after the earlier one, at the end of a prefix.
    pub(crate) fn after(&mut self, earlier: EventId, later: EventId) -> PrefixAnswer {
        let limits = self.limits(self.context.options.timeout);
        if limits.reached().is_some() {
            return PrefixAnswer::Unknown;
        }
        self.prefix(|session| session.decide_after(earlier, later, limits))
    }

    /// Whether a branch can go the other way after some prefix.
    pub(crate) fn other_way(&mut self, branch: EventId) -> PrefixAnswer {
        let limits = self.limits(self.context.options.timeout);
        if limits.reached().is_some() {
            return PrefixAnswer::Unknown;
        }
        self.prefix(|session| session.decide_other_way(branch, limits))
    }

    fn prefix(&mut self, decide: impl FnOnce(&mut Session<'_>) -> Answer) -> PrefixAnswer {
        match self.in_session(1, decide) {
            Answer::Feasible(assignment) => PrefixAnswer::Order(without_marks(self.context.view, assignment.order)),
            Answer::Infeasible { .. } => PrefixAnswer::None,
            Answer::Unknown(_) => PrefixAnswer::Unknown,
        }
    }

    /// Whether any of these remote accesses, at least one, can interrupt a pair, under conflict independence. It may take one of so
    /// many parts of a query's time.
    pub(crate) fn any(
        &mut self,
        first: EventId,
        remotes: &[EventId],
        second: EventId,
        part: u32,
    ) -> anyhow::Result<RemoteAnswer> {
        let limits = self.limits(self.context.options.timeout / part);
        if limits.reached().is_some() {
            return Ok(RemoteAnswer::Unknown);
        }
        Ok(match self.in_session(1, |session| session.decide_any(first, remotes, second, limits)) {
            Answer::Feasible(assignment) => {
                RemoteAnswer::Shown(Box::new(self.witness_of_any(first, remotes, second, &assignment.order)?.1))
            }
            Answer::Infeasible { .. } => RemoteAnswer::None,
            Answer::Unknown(_) => RemoteAnswer::Unknown,
        })
    }

    /// The checked schedule of a solver's assignment for any of these remote accesses, and the candidate that it shows.
    fn witness_of_any(
        &self,
        first: EventId,
        remotes: &[EventId],
        second: EventId,
        order: &[EventId],
    ) -> anyhow::Result<(Triple, Witness)> {
        let schedule = self.schedule(Triple { first, remote: remotes[0], second }, order);
        let place = |event: EventId| schedule.iter().position(|other| *other == event);
        let (from, to) = (place(first), place(second));
        let between = |remote: &&EventId| place(**remote).is_some_and(|at| from < Some(at) && Some(at) < to);
        let triple = Triple { first, remote: *remotes.iter().find(between).unwrap_or(&remotes[0]), second };
        Ok((triple, self.checked(triple, None, &schedule)?))
    }

    /// Whether every prefix keeps these orders, each (earlier, later), at least one.
    pub(crate) fn orders(&mut self, orders: &[(EventId, EventId)], part: u32) -> OrdersAnswer {
        let limits = self.limits(self.context.options.timeout / part);
        if limits.reached().is_some() {
            return OrdersAnswer::Unknown;
        }
        match self.in_session(1, |session| session.decide_orders(orders, limits)) {
            Answer::Feasible(assignment) => OrdersAnswer::Broken(without_marks(self.context.view, assignment.order)),
            Answer::Infeasible { .. } => OrdersAnswer::All,
            Answer::Unknown(_) => OrdersAnswer::Unknown,
        }
    }

    /// From now on every prefix is known to keep these orders.
    pub(crate) fn know(&mut self, orders: &[(EventId, EventId)]) {
        for (earlier, later) in orders.iter().copied() {
            let order = KnownOrder { earlier, later, rests_on_pin: false }; // no question is about that
            self.known.push(order);
            if let Some(session) = self.session.current() {
                session.know_order(order);
            }
        }
    }

    fn batch(&mut self, batch: &Batch, together: &mut Together<'_>, reports: &Sender<Report>) -> anyhow::Result<()> {
        match batch.task {
            Task::Decide { stop_at_feasible, effort } => {
                self.decide_batch(batch, (effort, stop_at_feasible), together, reports)
            }
            Task::OffPath { .. } => {
                for (place, _) in &batch.triples {
                    if reports.send(Report::OffPath(*place, Some(OffPath::Unasked(None)))).is_err() {
                        break;
                    }
                }
                Ok(())
            }
            Task::Guarded => {
                for (place, triple) in &batch.triples {
                    let start = Instant::now();
                    let (guarded, witness) = self.guarded(*triple)?;
                    if reports.send(Report::Guarded(*place, guarded, witness, start.elapsed())).is_err() {
                        break;
                    }
                }
                Ok(())
            }
        }
    }

    /// Whether a candidate is feasible under guarded independence, too. This is a remark on a verdict that stands, so it
    /// gets a thirtieth of a query's terms, little work, and one failure for each variable.
    fn guarded(&mut self, triple: Triple) -> anyhow::Result<(Option<bool>, Option<Box<Witness>>)> {
        let trace = self.context.view.trace;
        let Some(var) = trace.event(triple.first).op.var().filter(|var| !self.hopeless.contains(var)) else {
            return Ok((None, None));
        };
        for pattern in triple.patterns(trace) {
            self.work = Some(REMARK_WORK);
            let answer = self.ask(triple, Some(pattern), self.context.options.timeout, REMARK);
            self.work = None;
            match answer? {
                Answer::Feasible(assignment) => {
                    let witness = self.witness(triple, Some(pattern), &assignment.order)?;
                    return Ok((witness.guarded_dependent(), Some(Box::new(witness))));
                }
                // With more context switches it may be.
                Answer::Infeasible { .. } if self.context.options.context_switches.is_some() => {
                    return Ok((None, None));
                }
                Answer::Infeasible { .. } => {}
                Answer::Unknown(_) => {
                    self.hopeless.insert(var);
                    return Ok((None, None));
                }
            }
        }
        Ok((Some(false), None))
    }

    fn decide(&mut self, triple: Triple, timeout: Duration) -> anyhow::Result<Decision> {
        let bound = self.context.options.context_switches.map(Limit::ContextSwitches);
        let mut verdict = bound.clone().map_or(Verdict::Infeasible, Verdict::Unknown);
        let mut rests_on = None;
        let patterns = self.patterns(triple);
        for pattern in patterns {
            match self.ask(triple, pattern, timeout, 1)? {
                Answer::Feasible(assignment) => {
                    let witness = self.witness(triple, pattern, &assignment.order)?;
                    return Ok(feasible(triple, witness, Decider::Smt));
                }
                Answer::Infeasible { .. } if bound.is_some() => {}
                Answer::Infeasible { rests_on_pin: true } => rests_on = Some(RestsOn::Pin),
                Answer::Infeasible { rests_on_pin: false } => {}
                Answer::Unknown(limit) => verdict = Verdict::Unknown(limit),
            }
        }
        if matches!(verdict, Verdict::Unknown(_)) {
            rests_on = None;
        }
        Ok(without_witness(self.context, triple, verdict, Decider::Smt, rests_on))
    }

    /// What is asked of a candidate, one after the other: each pattern that fits, under guarded independence.
    fn patterns(&self, triple: Triple) -> Vec<Option<Pattern>> {
        match self.context.options.question.independence {
            Independence::Guarded => triple.patterns(self.context.view.trace).map(Some).collect(),
            Independence::Conflict => vec![None],
        }
    }

    fn ask(
        &mut self,
        triple: Triple,
        pattern: Option<Pattern>,
        timeout: Duration,
        part: usize,
    ) -> anyhow::Result<Answer> {
        let limits = self.limits(timeout);
        if let Some(limit) = limits.reached() {
            return Ok(Answer::Unknown(limit));
        }
        if self.context.options.strategy == Strategy::Paper {
            return Ok(decide_by_paper(self.context.view, triple, pattern, limits, self.context.options.seed));
        }
        if let Some(dir) = &self.context.options.dump_smt2 {
            dump(self.context, triple, pattern, dir)?;
        }
        Ok(self.in_session(part, |session| session.decide(triple, pattern, limits)))
    }

    fn limits(&self, timeout: Duration) -> Limits<'b> {
        Limits { timeout, work: self.work, ..self.context.limits() }
    }

    /// Has the session decide something.
    fn in_session(&mut self, part: usize, decide: impl FnOnce(&mut Session<'b>) -> Answer) -> Answer {
        let (context, known) = (self.context, &self.known);
        let make = || {
            let Options { order, seed, most_terms, .. } = *context.options;
            let (view, rules) = context.encoded();
            let mut session = Session::new(view, rules, &context.constants, order, seed).with_room(most_terms);
            known.iter().for_each(|order| session.know_order(*order));
            session
        };
        self.session.ask(make, |session| {
            session.spend_at_most(part);
            decide(session)
        })
    }

    /// Whether the session is small enough for this part.
    fn has_room(&mut self, part: usize) -> bool {
        self.session.current().is_none_or(|session| session.has_room(part))
    }

    /// The checked schedule of a solver's assignment.
    fn witness(&self, triple: Triple, pattern: Option<Pattern>, order: &[EventId]) -> anyhow::Result<Witness> {
        self.checked(triple, pattern, &self.schedule(triple, order))
    }

    fn schedule(&self, triple: Triple, order: &[EventId]) -> Vec<EventId> {
        let order = without_marks(self.context.view, order.to_vec());
        let options = self.context.options;
        match options.question.feasibility {
            Feasibility::Complete if options.context_switches.is_some() => complete_in_order(self.context.view, &order),
            feasibility => schedule_from_assignment(self.context.view, &order, triple.second, feasibility),
        }
    }

    /// A solver's schedule, checked. One that does not pass is a bug, and ends the run.
    fn checked(&self, triple: Triple, pattern: Option<Pattern>, schedule: &[EventId]) -> anyhow::Result<Witness> {
        match self.context.checker.check(triple, schedule) {
            Ok(witness) => Ok(self.context.simplify(witness, pattern)),
            Err(error) => {
                let kept = std::env::temp_dir().join("foretrace-contradiction");
                let path = dump(self.context, triple, pattern, &kept)?;
                anyhow::bail!(
                    "internal contradiction: the solver calls {triple} feasible, the checker refuses its schedule \
                     ({error}); schedule {schedule:?}; the query is kept in {}",
                    path.display()
                )
            }
        }
    }
}

/// The decision that a checked witness makes.
pub(crate) fn feasible(triple: Triple, witness: Witness, decided_by: Decider) -> Decision {
    Decision {
        triple,
        pattern: witness.pattern(),
        guarded: witness.guarded_dependent(),
        rests_on: RestsOn::of_run(witness.run()),
        verdict: Verdict::Feasible(Box::new(witness)),
        off_path: None,
        decided_by,
    }
}

/// The decision that a candidate is infeasible.
fn infeasible(context: &AnalysisContext<'_>, triple: Triple, rests_on_pin: bool) -> Decision {
    let rests_on = rests_on_pin.then_some(RestsOn::Pin);
    without_witness(context, triple, Verdict::Infeasible, Decider::Smt, rests_on)
}

/// A decision without a witness.
pub(crate) fn without_witness(
    context: &AnalysisContext<'_>,
    triple: Triple,
    verdict: Verdict,
    decided_by: Decider,
    rests_on: Option<RestsOn>,
) -> Decision {
    let decision = Decision { rests_on, ..Decision::without_witness(context.view.trace, triple, verdict, decided_by) };
    match decision.verdict {
        Verdict::Infeasible if context.view.trace_index.has_tries => {
            Decision { off_path: Some(OffPath::Unasked(None)), ..decision } // a try that fails may open what locks forbid
        }
        _ => decision,
    }
}

/// Writes one query, by itself, as SMT-LIB 2; returns where.
fn dump(
    context: &AnalysisContext<'_>,
    triple: Triple,
    pattern: Option<Pattern>,
    dir: &Path,
) -> anyhow::Result<std::path::PathBuf> {
    let constants: &FxHashMap<EventId, Value> = &context.constants;
    let (view, rules) = context.encoded();
    let mut encoder = Encoder::new(view, rules, constants);
    let query = encoder.query(triple, pattern);
    let suffix = pattern.map_or(String::new(), |pattern| format!("-{pattern}"));
    let path = dir.join(format!("{}-{}-{}{suffix}.smt2", triple.first, triple.remote, triple.second));
    let written = std::fs::create_dir_all(dir).and_then(|()| std::fs::write(&path, smtlib::script(&encoder, &query)));
    written.with_context(|| path.display().to_string())?;
    Ok(path)
}

//! Decides whether a candidate that no prefix of the model shows is impossible or off the path.
//!
//! The first question: does synchronisation alone forbid it, or does some prefix show it when reads may return anything? The second
//! question: does the model have a prefix that holds first and then remote, and not second? The verdict stands without the answers, so each
//! search is small: filters first, then a solver for a bounded number of steps. Both questions are about prefixes, also if the candidate
//! was asked about with complete feasibility: a shorter run may show what no complete run shows.

use super::{REMARK, Report, SolverWorker};
use crate::context::AnalysisContext;
use crate::filters::{Filters, Judgement};
use crate::known_states::{KnownStates, Said};
use crate::options::{Options, Strategy};
use crate::schedule::{simplify_interruption, simplify_with};
use crate::schedule_from_assignment::schedule_from_assignment;
use crate::verdict::{Limit, OffPath, Verdict};
use foretrace_checker::{CheckError, Interruption, Witness};
use foretrace_encodings::TraceView;
use foretrace_solve::{Answer, interruptible};
use foretrace_trace::{EventId, Feasibility, Independence, Model, Pattern, Question, Transaction, Triple, Value};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// The options of both questions.
pub(crate) struct ApartOptions {
    free: Options,
    model: Options,
}

impl ApartOptions {
    pub(crate) fn new(options: &Options) -> ApartOptions {
        let asked = |question: Question| Options {
            question,
            strategy: Strategy::Demand,
            context_switches: None,
            dump_smt2: None,
            without: if options.strategy == Strategy::Paper { BTreeSet::new() } else { options.without.clone() },
            ..options.clone()
        };
        let feasibility = Feasibility::Prefix;
        let free = Question { model: Model::Cam, feasibility, independence: Independence::Conflict };
        // Which of its witnesses are worth simplifying is decided here.
        let free = Options { verdicts_only: true, ..asked(free) };
        ApartOptions { free, model: asked(Question { feasibility, ..options.question }) }
    }
}

/// What all threads of a run share to tell impossible candidates from others.
pub(crate) struct Apart<'a> {
    transactions: &'a [Transaction],
    /// Free reads.
    free: AnalysisContext<'a>,
    free_filters: OnceLock<Filters<'a>>,
    no_constants: FxHashMap<EventId, Value>,
    /// The model that was asked about.
    model: AnalysisContext<'a>,
    model_filters: OnceLock<Filters<'a>>,
    /// Whether the run's own solver sessions can be asked about prefixes of the model.
    shares_sessions: bool,
}

impl<'a> Apart<'a> {
    /// Takes the facts of the trace, and those that hold on every path.
    ///
    /// # Errors
    /// Where the trace knows too little for the question.
    pub(crate) fn new(
        (view, on_every_path): (TraceView<'a>, TraceView<'a>),
        transactions: &'a [Transaction],
        (asked, options): (&Options, &'a ApartOptions),
        constants: FxHashMap<EventId, Value>,
        deadline: Option<Instant>,
        stop: &'a AtomicBool,
    ) -> Result<Apart<'a>, CheckError> {
        let context =
            |view, options, constants| AnalysisContext::new(view, transactions, options, constants, deadline, stop);
        Ok(Apart {
            transactions,
            free: context(on_every_path, &options.free, FxHashMap::default())?,
            free_filters: OnceLock::new(),
            no_constants: FxHashMap::default(),
            model: context(view, &options.model, constants)?,
            model_filters: OnceLock::new(),
            shares_sessions: asked.question.feasibility == Feasibility::Prefix && asked.strategy == Strategy::Demand,
        })
    }

    /// The same, which goes by what the run finds out of the trace's states.
    pub(crate) fn with_states_of(mut self, run: &AnalysisContext<'_>) -> Apart<'a> {
        self.model.more_states_than = Arc::clone(&run.more_states_than);
        self
    }

    /// The filters whose refutations hold on every path.
    pub(crate) fn free_filters(&self) -> &Filters<'a> {
        let AnalysisContext { view, options, .. } = &self.free;
        let go_on = || self.free.limits().reached().is_none();
        let make = || Filters::within(*view, self.transactions, options, &self.no_constants, &go_on);
        self.free_filters.get_or_init(make)
    }

    fn model_filters(&self) -> &Filters<'a> {
        let AnalysisContext { view, options, constants, .. } = &self.model;
        let go_on = || self.model.limits().reached().is_none();
        let make = || Filters::within(*view, self.transactions, options, constants, &go_on);
        self.model_filters.get_or_init(make)
    }
}

/// Asks the questions: one thread's workers for them.
pub(crate) struct Questions<'a, 'b> {
    apart: &'b Apart<'a>,
    free: SolverWorker<'a, 'b>,
    own: SolverWorker<'a, 'b>,
    /// By first and remote: how late second may come without a prefix that leaves it out, and the prefix for all later ones.
    known: FxHashMap<(EventId, EventId), Known>,
    states: KnownStates<'b, 'a>,
    /// Of the class that is asked about: a prefix up to here was too large for a remark.
    too_large: Option<EventId>,
}

/// What is known of prefixes with first and remote, for positions of second in its thread.
#[derive(Default)]
struct Known {
    /// There is none for second up to here.
    none_up_to: Option<usize>,
    /// This one will do for second from here on.
    from: Option<(usize, Vec<EventId>)>,
}

/// What there is to say of an interruption.
enum Interrupted {
    Shown(Box<Witness<Interruption>>),
    Never,
    Unknown,
}

/// Candidates of a class that are found off the path, and none of them after remote, before the others of the class are left as not
/// told apart.
const MOST_IN_VAIN: usize = 16;
/// Of longer witnesses only the first of a class is simplified and kept: that takes longer than to find it, and much memory.
const MOST_STEPS_KEPT: usize = 10_000;

impl<'a, 'b> Questions<'a, 'b> {
    pub(crate) fn new(apart: &'b Apart<'a>) -> Questions<'a, 'b> {
        let (free, own) = (SolverWorker::of_remarks(&apart.free), SolverWorker::of_remarks(&apart.model));
        let states = KnownStates::new(&apart.model);
        Questions { apart, free, own, known: FxHashMap::default(), states, too_large: None }
    }

    /// Asks about candidates of one class, in this order.
    pub(super) fn batch(
        &mut self,
        worker: &mut SolverWorker<'a, 'b>,
        triples: &[(usize, Triple)],
        stop_at_after_remote: bool,
        reports: &Sender<Report>,
    ) -> anyhow::Result<()> {
        let mut in_vain = 0;
        for (place, triple) in triples {
            if self.apart.free.limits().reached().is_some() {
                break;
            }
            let answer = self.ask(worker, *triple)?.map(|off_path| self.kept(off_path, in_vain == 0));
            in_vain += usize::from(answer.is_some());
            let is_after_remote = matches!(answer, Some(OffPath::AfterRemote(_)));
            let settled = stop_at_after_remote && (is_after_remote || in_vain >= MOST_IN_VAIN);
            if reports.send(Report::OffPath(*place, answer)).is_err() || settled {
                break;
            }
        }
        self.known.clear();
        self.too_large = None;
        Ok(())
    }

    /// The kind of an infeasible candidate; nothing where it is impossible.
    pub(crate) fn kind(
        &mut self,
        worker: &mut SolverWorker<'a, 'b>,
        triple: Triple,
    ) -> anyhow::Result<Option<&'static str>> {
        let answer = match self.apart.free.limits().reached() {
            Some(_) => Some(OffPath::Unasked(None)),
            None => interruptible(self.apart.free.stop, || self.ask(worker, triple))?,
        };
        Ok(answer.map(|off_path| off_path.name()))
    }

    /// What an infeasible candidate is, with a witness that is not simplified; nothing where it is impossible.
    fn ask(&mut self, worker: &mut SolverWorker<'a, 'b>, triple: Triple) -> anyhow::Result<Option<OffPath>> {
        let witness = match self.apart.free_filters().judge(triple) {
            Some(Judgement::Infeasible { .. }) => return Ok(None),
            Some(Judgement::Feasible { witness }) => witness,
            None => match self.free.decide(triple, self.free.context.options.timeout)?.verdict {
                Verdict::Infeasible => return Ok(None),
                Verdict::Unknown(_) => return Ok(Some(OffPath::Unasked(None))),
                Verdict::Feasible(witness) => witness,
            },
        };
        Ok(Some(match self.interrupted(worker, triple)? {
            Interrupted::Shown(interruption) => OffPath::AfterRemote(interruption),
            Interrupted::Never => OffPath::BeforeRemote(witness),
            Interrupted::Unknown => OffPath::Unasked(Some(witness)),
        }))
    }

    /// What a report gets of an answer: a simpler witness, or none if it is long and not the first of its class.
    fn kept(&self, off_path: OffPath, is_first: bool) -> OffPath {
        let AnalysisContext { view, checker, .. } = &self.apart.free;
        let is_kept = |witness: &Witness| is_first || witness.schedule().len() <= MOST_STEPS_KEPT;
        let simpler = |witness: Witness| Box::new(simplify_with(checker, view.trace, Feasibility::Prefix, witness));
        match off_path {
            OffPath::BeforeRemote(witness) if is_kept(&witness) => OffPath::BeforeRemote(simpler(*witness)),
            OffPath::Unasked(Some(witness)) if is_kept(&witness) => OffPath::Unasked(Some(simpler(*witness))),
            OffPath::BeforeRemote(_) | OffPath::Unasked(_) => OffPath::Unasked(None),
            OffPath::AfterRemote(_) => off_path,
        }
    }

    /// Whether a prefix of the model holds first and then remote, and not second.
    fn interrupted(&mut self, worker: &mut SolverWorker<'a, 'b>, triple: Triple) -> anyhow::Result<Interrupted> {
        let model = &self.apart.model;
        let at = model.view.trace_index.position(triple.second);
        let known = self.known.entry((triple.first, triple.remote)).or_default();
        if known.none_up_to.is_some_and(|to| at <= to) {
            return Ok(Interrupted::Never);
        }
        let checked = |schedule: &[EventId]| model.checker.check(Interruption(triple), schedule);
        if let Some((_, schedule)) = known.from.as_ref().filter(|(from, _)| at >= *from)
            && let Ok(interruption) = checked(schedule)
        {
            return Ok(Interrupted::Shown(Box::new(interruption)));
        }
        let filters = self.apart.model_filters();
        let answer = match filters.refutes_interruption(triple) {
            true => Interrupted::Never,
            false => match filters.interruption(triple) {
                Some(interruption) => Interrupted::Shown(Box::new(interruption)),
                None => match self.states.interruption(triple) {
                    Said::Shown(schedule) => Interrupted::Shown(Box::new(self.simple(triple, &schedule)?)),
                    Said::Never => Interrupted::Never,
                    Said::Nothing => self.by_solver(worker, triple)?,
                },
            },
        };
        let known = self.known.entry((triple.first, triple.remote)).or_default();
        match &answer {
            Interrupted::Shown(interruption) => known.from = Some((at, interruption.schedule().to_vec())),
            Interrupted::Never => known.none_up_to = known.none_up_to.max(Some(at)),
            Interrupted::Unknown => {}
        }
        Ok(answer)
    }

    fn by_solver(&mut self, worker: &mut SolverWorker<'a, 'b>, triple: Triple) -> anyhow::Result<Interrupted> {
        let end = triple.first.max(triple.remote);
        if self.too_large.is_some_and(|too_large| end >= too_large) {
            return Ok(Interrupted::Unknown);
        }
        let worker = if self.apart.shares_sessions && worker.has_room(super::REMARK) { worker } else { &mut self.own };
        let mut answer = Interrupted::Never;
        for pattern in worker.patterns(triple) {
            match worker.ask_interruption(triple, pattern) {
                Answer::Feasible(assignment) => {
                    return Ok(Interrupted::Shown(Box::new(self.checked(triple, &assignment.order)?)));
                }
                Answer::Infeasible { .. } => {}
                Answer::Unknown(limit) => {
                    if limit == Limit::Size {
                        self.too_large = Some(self.too_large.map_or(end, |known| known.min(end)));
                    }
                    answer = Interrupted::Unknown;
                }
            }
        }
        Ok(answer)
    }

    /// The solver's schedule, checked.
    fn checked(&self, triple: Triple, order: &[EventId]) -> anyhow::Result<Witness<Interruption>> {
        self.simple(triple, &schedule_from_assignment(self.apart.model.view, order, triple.remote, Feasibility::Prefix))
    }

    /// A schedule, checked, with fewer events where those will do. One that does not pass is a bug, and ends the run.
    fn simple(&self, triple: Triple, schedule: &[EventId]) -> anyhow::Result<Witness<Interruption>> {
        let AnalysisContext { view, checker, .. } = &self.apart.model;
        let simple = simplify_interruption(checker, view.trace, triple, schedule);
        simple.map_err(|error| {
            anyhow::anyhow!(
                "internal contradiction: a search says that {triple} is interrupted, the checker refuses its schedule \
                 ({error}); schedule {schedule:?}"
            )
        })
    }
}

impl SolverWorker<'_, '_> {
    /// Whether a prefix of the model holds first and then remote, and not second; for the work of a remark.
    fn ask_interruption(&mut self, triple: Triple, pattern: Option<Pattern>) -> Answer {
        let before = self.work.replace(foretrace_solve::REMARK_WORK);
        let limits = self.limits(self.context.options.timeout);
        let answer = match limits.reached() {
            Some(limit) => Answer::Unknown(limit),
            None => self.in_session(REMARK, |session| session.decide_interruption(triple, pattern, limits)),
        };
        self.work = before;
        answer
    }
}

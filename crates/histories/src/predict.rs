//! The job: explores the schedules of a trace, judges each history once, and makes a witness of the first that is not linearizable.

use crate::context::Context;
use crate::performed::{CallsOrReturns, Came, Performed, in_order};
use crate::run::{Way, perform};
use crate::shorten::shortened;
use crate::stepper::Stepper;
use foretrace_checker::{CheckError, Checker, PerformedOperations, PerformedStep, Run, Witness, run_schedule};
use foretrace_explore::{Ended, System, Tally, bounded};
use foretrace_linearizability::{History, Verdict, read_order};
use foretrace_trace::{
    EventId, Feasibility, Independence, Model, Observed, Op, Question, Semantics, Trace, Unsupported,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::sync::Arc;

/// What is asked.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// Its recorded order, run.
    pub observed: &'a Observed,
    /// What reads return in other schedules: a model that knows the results of operations.
    pub model: Model,
    /// Whether a history is linearizable.
    pub judge: &'a dyn Fn(&History) -> Verdict,
    /// At most this many histories are looked at.
    pub most_histories: u64,
    /// Hears now and then how many histories and steps there were.
    pub progress: &'a dyn Fn(u64, u64),
    /// Asked now and then whether to go on.
    pub go_on: &'a dyn Fn() -> bool,
}

/// A history that is not linearizable, and its proof.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The schedule, checked.
    pub witness: Witness<PerformedOperations>,
    /// Its history; times are places in the schedule.
    pub history: History,
    /// Whether it is that of the recorded order.
    pub observed: bool,
}

/// A schedule after which a thread goes on elsewhere than in the recorded run: only the program can tell what it gives there.
#[derive(Clone, Debug)]
pub struct Departure {
    /// The schedule up to there, run.
    pub run: Run,
    /// Its calls and returns, checked.
    pub performed: Vec<PerformedStep>,
    /// Its history; times are places in the schedule.
    pub history: History,
    /// The thread's next event of the recorded run, which does not come.
    pub event: EventId,
}

/// Most departures that are kept, and most of one event.
const MOST_DEPARTURES: (usize, usize) = (20, 3);

/// Why nothing was decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Undecided {
    /// The time limit, or Ctrl-C.
    Limit,
    /// The search came to the largest number of histories.
    Histories,
    /// The judge left one open.
    Judge,
}

/// What was found.
#[derive(Clone, Debug)]
pub enum Decision {
    /// Some schedule has a history that is not linearizable.
    Violated(Box<Violation>),
    /// No schedule of the recorded path has one. With `leaves_path` the program may go on elsewhere in another schedule; what it does there is
    /// not known.
    Holds {
        /// Whether a schedule may leave the recorded path.
        leaves_path: bool,
    },
    /// Not all was explored or judged, and nothing was found.
    Unknown(Undecided),
}

/// What was found, and how much was looked at.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// What was found.
    pub decision: Decision,
    /// Schedules that leave the recorded path, where nothing is violated: some of those that were explored.
    pub departures: Vec<Departure>,
    /// How many different histories schedules have, as far as that was explored; only those that are not weaker than others count.
    pub histories: u64,
    /// Steps taken.
    pub steps: u64,
    /// States that were reached another way, too.
    pub redundant: u64,
}

/// Why nothing can be predicted.
#[derive(Debug, thiserror::Error)]
pub enum PredictError {
    /// The trace knows too little for the model.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The checker refused a schedule: a defect of foretrace.
    #[error("internal error: the checker refuses the schedule of a predicted history: {0}")]
    Refused(#[from] CheckError),
    /// A schedule that was found fails no more when it is run again: a defect of foretrace.
    #[error("internal error: the schedule of a predicted history does not run as it was found")]
    Lost,
}

/// Whether some schedule of a trace has a history that is not linearizable: the recorded order first, then all others.
///
/// # Errors
/// Where the model asks for more than the trace knows.
pub fn predict(asked: Asked<'_>) -> Result<Prediction, PredictError> {
    let semantics = Semantics::new(asked.trace, asked.observed, asked.model)?;
    let context = Context::new(asked.trace, &semantics);
    let judge = Judge::new(&context, asked.judge);
    let is_found = |groups: &[CallsOrReturns]| judge.verdict(groups) == Verdict::NotLinearizable;
    let recorded: Vec<EventId> = asked.trace.iter().map(|(id, _)| id).collect();
    let fails = |way: Way| up_to_failure(&context, &judge, way);
    if let Some(way) = perform(&context, &recorded).and_then(fails) {
        let decision = Decision::Violated(Box::new(violation(asked, way, true)?));
        return Ok(Prediction { decision, departures: Vec::new(), histories: 1, steps: 0, redundant: 0 });
    }
    let start = Stepper::new(&context, &is_found, false);
    let mut seen: FxHashSet<Performed> = FxHashSet::default();
    let mut found: Option<Vec<(usize, usize)>> = start.found().then(Vec::new);
    let mut is_full = false;
    let mut departing = Departing::default();
    let (count, told) = (Cell::new(0), Cell::new(0));
    let mut go_on = |tally: &Tally| {
        if tally.steps >> 10 > told.get() {
            told.set(tally.steps >> 10);
            (asked.progress)(count.get(), tally.steps);
        }
        (asked.go_on)()
    };
    let (tally, ended) = bounded(&start, u32::MAX, &mut go_on, &mut |end, path| {
        if end.found() {
            found = Some(path.to_vec());
            return ControlFlow::Break(());
        }
        let is_new = seen.insert(end.performed().clone());
        count.set(seen.len() as u64);
        for event in end.leaving() {
            context.leaves_path.set(true);
            departing.add(event, is_new, path);
        }
        is_full = count.get() >= asked.most_histories;
        if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let along = |path: &[(usize, usize)]| {
        let mut state = Stepper::new(&context, &is_found, true);
        path.iter().for_each(|(thread, choice)| state.step(*thread, *choice));
        perform(&context, &state.into_schedule()).ok_or(PredictError::Lost)
    };
    let decision = match (found, ended) {
        (Some(path), _) => {
            let way = along(&path).map(fails)?.ok_or(PredictError::Lost)?;
            let way = shortened(&context, way, &fails, asked.go_on);
            Decision::Violated(Box::new(violation(asked, way, false)?))
        }
        (None, Ended::Limit) => Decision::Unknown(Undecided::Limit),
        (None, _) if is_full => Decision::Unknown(Undecided::Histories),
        (None, _) if judge.left_open.get() => Decision::Unknown(Undecided::Judge),
        (None, _) => Decision::Holds { leaves_path: context.leaves_path.get() },
    };
    let Tally { steps, redundant, .. } = tally;
    let is_violated = matches!(decision, Decision::Violated(_));
    let histories = seen.len() as u64 + u64::from(is_violated);
    let departing = if is_violated { Vec::new() } else { departing.ways };
    let departures = departing.into_iter().map(|(event, path)| departure(asked, along(&path)?, event));
    Ok(Prediction {
        departures: departures.collect::<Result<_, PredictError>>()?,
        decision,
        histories,
        steps,
        redundant,
    })
}

/// The departure that a way leads to. What it performs is checked up to the last call or return.
fn departure(asked: Asked<'_>, way: Way, event: EventId) -> Result<Departure, PredictError> {
    let run = run_schedule(asked.trace, asked.observed, asked.model, &way.schedule)?;
    let last = way.performed.last().map(|step| step.event);
    let end = way.schedule.iter().position(|event| Some(*event) == last).map_or(0, |place| place + 1);
    let until = Way { schedule: way.schedule[..end].to_vec(), performed: way.performed.clone() };
    let history = violation(asked, until, false)?.history;
    Ok(Departure { run, performed: way.performed, history, event })
}

/// Ways of an exploration that leave the recorded path.
#[derive(Default)]
struct Departing {
    ways: Vec<(EventId, Vec<(usize, usize)>)>,
}

impl Departing {
    /// Keeps a way, if there are few of this event; another one of it only where its history is new.
    fn add(&mut self, event: EventId, is_new: bool, path: &[(usize, usize)]) {
        let known = self.ways.iter().filter(|(other, _)| *other == event).count();
        let (most, most_of_event) = MOST_DEPARTURES;
        if self.ways.len() < most && known < most_of_event && (known == 0 || is_new) {
            self.ways.push((event, path.to_vec()));
        }
    }
}

/// All that schedules of a trace show of its operations.
#[derive(Clone, Debug)]
pub struct Every {
    /// The histories of those that go as far as they can.
    pub histories: Vec<Performed>,
    /// Whether one may leave the recorded path.
    pub leaves_path: bool,
    /// How much was explored.
    pub tally: Tally,
}

/// All histories of the schedules of a trace that go as far as they can, without those that ask for less than one of these.
///
/// # Errors
/// Where the model asks for more than the trace knows.
pub fn every_history(trace: &Trace, observed: &Observed, model: Model) -> Result<Every, Unsupported> {
    let semantics = Semantics::new(trace, observed, model)?;
    let context = Context::new(trace, &semantics);
    let mut seen: FxHashSet<Performed> = FxHashSet::default();
    let start = Stepper::new(&context, &|_| false, false);
    let (tally, _) = bounded(&start, u32::MAX, &mut |_| true, &mut |end, _| {
        seen.insert(end.performed().clone());
        if end.leaving().next().is_some() {
            context.leaves_path.set(true);
        }
        ControlFlow::Continue(())
    });
    let mut histories: Vec<Performed> = seen.into_iter().collect();
    histories.sort_unstable();
    Ok(Every { histories, leaves_path: context.leaves_path.get(), tally })
}

/// A way up to the first return at which its history fails, if there is one.
fn up_to_failure(context: &Context<'_>, judge: &Judge<'_>, way: Way) -> Option<Way> {
    let mut performed = Performed::default();
    for (number, step) in way.performed.iter().enumerate() {
        let op = &context.trace.event(step.event).op;
        let (Op::Call { object, .. } | Op::Return { object, .. }) = op else { continue };
        let is_return = matches!(op, Op::Return { .. });
        let object = context.object(*object);
        let came = Came { event: step.event, result: step.result.as_deref().map(Arc::from) };
        performed.add(object, is_return, came);
        if is_return && judge.verdict(performed.of_object(object)) == Verdict::NotLinearizable {
            let end = way.schedule.iter().position(|event| *event == step.event)?;
            return Some(Way { schedule: way.schedule[..=end].to_vec(), performed: way.performed[..=number].to_vec() });
        }
    }
    None
}

/// The checked violation that a way shows.
fn violation(asked: Asked<'_>, way: Way, observed: bool) -> Result<Violation, CheckError> {
    let Way { schedule, performed } = way;
    let results: FxHashMap<EventId, Option<String>> =
        performed.iter().map(|step| (step.event, step.result.clone())).collect();
    let question =
        Question { model: asked.model, feasibility: Feasibility::Prefix, independence: Independence::Conflict };
    let checker = Checker::new(asked.trace, asked.observed, &[], question)?;
    let history =
        read_order(asked.trace, schedule.iter().copied(), |event| results.get(&event).cloned().unwrap_or_default());
    let witness = checker.check(PerformedOperations { steps: performed }, &schedule)?;
    Ok(Violation { witness, history, observed })
}

/// Judges the history of each object once.
struct Judge<'a> {
    trace: &'a Trace,
    judge: &'a dyn Fn(&History) -> Verdict,
    known: RefCell<FxHashMap<Vec<CallsOrReturns>, Verdict>>,
    left_open: Cell<bool>,
}

impl<'a> Judge<'a> {
    fn new(context: &'a Context<'_>, judge: &'a dyn Fn(&History) -> Verdict) -> Judge<'a> {
        Judge { trace: context.trace, judge, known: RefCell::default(), left_open: Cell::new(false) }
    }

    fn verdict(&self, groups: &[CallsOrReturns]) -> Verdict {
        if let Some(known) = self.known.borrow().get(groups) {
            return *known;
        }
        let results: FxHashMap<EventId, Option<String>> =
            in_order(groups).map(|came| (came.event, came.result.as_deref().map(str::to_string))).collect();
        let order = in_order(groups).map(|came| came.event);
        let history = read_order(self.trace, order, |event| results.get(&event).cloned().unwrap_or_default());
        let verdict = (self.judge)(&history);
        self.left_open.set(self.left_open.get() || verdict == Verdict::Unknown);
        self.known.borrow_mut().insert(groups.to_vec(), verdict);
        verdict
    }
}

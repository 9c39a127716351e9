//! The judge of schedules: runs one step by step and says whether it shows the violation.
//!
//! It shares nothing with the encodings and is the only one that can make a [`Witness`]: what is reported as feasible
//! has passed here.

use crate::dependence::{Access, first_depends, second_depends};
use crate::unseen::{Unseen, UnseenOrders};
use foretrace_trace::{
    BadStep, Effect, EventId, Feasibility, Independence, Model, NoCandidate, Observed, Op, Pattern, Question,
    Semantics, Trace, Transaction, Triple, Unsupported, Value,
};
use std::sync::Arc;

/// One event of a schedule that was run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The event.
    pub event: EventId,
    /// The value that it read, where the model and the trace know it.
    pub read: Option<Value>,
    /// The value that it wrote, likewise.
    pub written: Option<Value>,
}

/// A schedule that was run: it is a prefix.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Run {
    /// Its events with their values.
    pub steps: Vec<Step>,
    /// Whether it holds all events of the trace.
    pub complete: bool,
    /// The accesses to variables whose memory was given back before.
    pub uses_after_free: Vec<EventId>,
    /// Whether it holds a write by code that was not recorded.
    pub passes_external: bool,
    /// The first order of the observed run that it does not keep and that code which the trace does not show may ask for.
    pub unseen: Option<Unseen>,
}

/// A checked proof that a candidate is feasible. Copies share the schedule, since a schedule of 10⁵ events takes about 10 MB.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Witness {
    triple: Triple,
    pattern: Pattern,
    guarded_dependent: Option<bool>,
    schedule: Arc<[EventId]>,
    run: Arc<Run>,
}

impl Witness {
    /// The candidate.
    pub fn triple(&self) -> Triple {
        self.triple
    }

    /// The first pattern that the schedule shows.
    pub fn pattern(&self) -> Pattern {
        self.pattern
    }

    /// The events, in order.
    pub fn schedule(&self) -> &[EventId] {
        &self.schedule
    }

    /// The same with values, and what else was seen on the way.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Whether the accesses are guarded dependent, too, in one of the patterns that fit; nothing where values are
    /// not known.
    pub fn guarded_dependent(&self) -> Option<bool> {
        self.guarded_dependent
    }
}

/// A checked proof that a candidate's pair is interrupted: a prefix that holds first and then remote, which depend on each
/// other, and not second. It says nothing of what comes after remote.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interruption {
    triple: Triple,
    schedule: Arc<[EventId]>,
    run: Arc<Run>,
}

impl Interruption {
    /// The candidate.
    pub fn triple(&self) -> Triple {
        self.triple
    }

    /// The events, in order; remote is the last.
    pub fn schedule(&self) -> &[EventId] {
        &self.schedule
    }

    /// The same with values, and what else was seen on the way.
    pub fn run(&self) -> &Run {
        &self.run
    }
}

/// Why a schedule proves nothing.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CheckError {
    /// The trace knows too little for the model.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// Guarded independence is about values that the model does not have.
    #[error("guarded independence needs a model with values (ctp or mcm), found {0}")]
    NoValues(Model),
    /// The triple is no candidate.
    #[error("{triple} is no candidate: {reason}")]
    NoCandidate {
        /// The triple.
        triple: Triple,
        /// Why.
        reason: NoCandidate,
    },
    /// The schedule is no prefix.
    #[error(transparent)]
    Step(#[from] BadStep),
    /// An event of the candidate is missing.
    #[error("the schedule has no event {0}")]
    Missing(EventId),
    /// The candidate's events are there in another order.
    #[error("the events of {0} do not come in this order")]
    Order(Triple),
    /// A prefix must end at what it shows.
    #[error("the schedule goes on after event {last}, with {events} more")]
    GoesOn {
        /// The last event that is asked for.
        last: EventId,
        /// How many come after it.
        events: usize,
    },
    /// A prefix that ends with the interruption holds the end of the pair.
    #[error("the schedule holds event {0}, expected one in which it is still to come")]
    TooFar(EventId),
    /// More context switches than were asked for.
    #[error(
        "the schedule has {found} context switches between event {first} and event {last}, expected at most {most}"
    )]
    ContextSwitches {
        /// The violation's first access.
        first: EventId,
        /// Its last one.
        last: EventId,
        /// How many there are between them.
        found: u32,
        /// How many there may be.
        most: u32,
    },
    /// Not all events are there.
    #[error("the schedule has {found} of {expected} events")]
    Incomplete {
        /// The schedule's length.
        found: usize,
        /// The trace's length.
        expected: usize,
    },
    /// With these values the order of the accesses makes no difference.
    #[error("the accesses of {0} are independent with the values of the schedule")]
    Independent(Triple),
}

/// Checks schedules of one trace for one question.
pub struct Checker<'t> {
    semantics: Semantics<'t>,
    transactions: &'t [Transaction],
    unseen: UnseenOrders,
    question: Question,
    most_switches: Option<u32>,
}

impl<'t> Checker<'t> {
    /// A checker for a question that can be asked of this trace.
    pub fn new(
        trace: &'t Trace,
        observed: &'t Observed,
        transactions: &'t [Transaction],
        question: Question,
    ) -> Result<Checker<'t>, CheckError> {
        if question.independence == Independence::Guarded && !question.model.has_values() {
            return Err(CheckError::NoValues(question.model));
        }
        let semantics = Semantics::new(trace, observed, question.model)?;
        Ok(Checker { semantics, transactions, unseen: UnseenOrders::of(trace), question, most_switches: None })
    }

    /// The same that refuses violations with more context switches than this between their first and their last access.
    pub fn within(self, most_switches: Option<u32>) -> Checker<'t> {
        Checker { most_switches, ..self }
    }

    /// Whether the schedule shows that the candidate is feasible.
    pub fn check(&self, triple: Triple, schedule: &[EventId]) -> Result<Witness, CheckError> {
        let trace = self.semantics.trace();
        let candidate = triple.candidate(trace, self.transactions);
        let fits = candidate.map_err(|reason| CheckError::NoCandidate { triple, reason })?;
        self.shape(triple, schedule)?;
        let mut accesses = Accesses::new(triple);
        let see = |event: EventId, effect: &Effect| accesses.see(&self.semantics, event, effect);
        let run = run(&self.semantics, &self.unseen, schedule, see)?;
        let guarded = accesses.guarded_pattern(trace);
        let pattern = match self.question.independence {
            Independence::Conflict => fits,
            Independence::Guarded => guarded.flatten().ok_or(CheckError::Independent(triple))?,
        };
        let guarded_dependent = guarded.map(|pattern| pattern.is_some());
        Ok(Witness { triple, pattern, guarded_dependent, schedule: schedule.into(), run: run.into() })
    }

    /// Whether the schedule shows first and then remote, dependent on each other, ends there, and does not hold second.
    ///
    /// # Errors
    /// What is wrong with the schedule.
    pub fn check_interruption(&self, triple: Triple, schedule: &[EventId]) -> Result<Interruption, CheckError> {
        let trace = self.semantics.trace();
        let candidate = triple.candidate(trace, self.transactions);
        candidate.map_err(|reason| CheckError::NoCandidate { triple, reason })?;
        let place = |event| schedule.iter().position(|e| *e == event).ok_or(CheckError::Missing(event));
        let (first, remote) = (place(triple.first)?, place(triple.remote)?);
        if schedule.contains(&triple.second) {
            return Err(CheckError::TooFar(triple.second));
        }
        if first > remote {
            return Err(CheckError::Order(triple));
        }
        if remote + 1 < schedule.len() {
            return Err(CheckError::GoesOn { last: triple.remote, events: schedule.len() - remote - 1 });
        }
        let mut accesses = Accesses::new(triple);
        let see = |event: EventId, effect: &Effect| accesses.see(&self.semantics, event, effect);
        let run = run(&self.semantics, &self.unseen, schedule, see)?;
        if self.question.independence == Independence::Guarded && !accesses.first_depends(trace) {
            return Err(CheckError::Independent(triple));
        }
        Ok(Interruption { triple, schedule: schedule.into(), run: run.into() })
    }

    /// The three events are there in their order, and the schedule ends where it must.
    fn shape(&self, triple: Triple, schedule: &[EventId]) -> Result<(), CheckError> {
        let place = |event| schedule.iter().position(|e| *e == event).ok_or(CheckError::Missing(event));
        let (first, remote, second) = (place(triple.first)?, place(triple.remote)?, place(triple.second)?);
        if !(first < remote && remote < second) {
            return Err(CheckError::Order(triple));
        }
        if let Some(most) = self.most_switches {
            let found = context_switches(self.semantics.trace(), &schedule[first..=second]);
            if found > most {
                return Err(CheckError::ContextSwitches { first: triple.first, last: triple.second, found, most });
            }
        }
        let (found, expected) = (schedule.len(), self.semantics.trace().events.len());
        match self.question.feasibility {
            Feasibility::Prefix if second + 1 < found => {
                Err(CheckError::GoesOn { last: triple.second, events: found - second - 1 })
            }
            Feasibility::Complete if found < expected => Err(CheckError::Incomplete { found, expected }),
            _ => Ok(()),
        }
    }
}

/// How often a schedule goes from one thread to another; also where the first one could not go on.
pub fn context_switches(trace: &Trace, schedule: &[EventId]) -> u32 {
    schedule.windows(2).filter(|pair| trace.event(pair[0]).thread != trace.event(pair[1]).thread).count() as u32
}

/// Whether the schedule shows that the candidate is feasible; [`Checker`] where there are many.
pub fn check(
    trace: &Trace,
    observed: &Observed,
    transactions: &[Transaction],
    question: Question,
    triple: Triple,
    schedule: &[EventId],
) -> Result<Witness, CheckError> {
    Checker::new(trace, observed, transactions, question)?.check(triple, schedule)
}

/// Runs a schedule without a candidate in mind: is it a prefix in this model, and what do its events read and write?
pub fn run_schedule(trace: &Trace, observed: &Observed, model: Model, schedule: &[EventId]) -> Result<Run, CheckError> {
    Ok(run(&Semantics::new(trace, observed, model)?, &UnseenOrders::of(trace), schedule, |_, _| {})?)
}

fn run(
    semantics: &Semantics<'_>,
    unseen: &UnseenOrders,
    schedule: &[EventId],
    mut see: impl FnMut(EventId, &Effect),
) -> Result<Run, BadStep> {
    let trace = semantics.trace();
    let mut freed = vec![false; trace.vars.len()];
    let mut run = Run { unseen: unseen.first_left_out(trace, schedule), ..Run::default() };
    let end = semantics.run(schedule, |event, effect| {
        see(event, effect);
        let op = &trace.event(event).op;
        run.passes_external |= op.is_external();
        if let Op::Free { vars } = op {
            vars.iter().for_each(|var| freed[var.index()] = true);
        }
        if op.var().is_some_and(|var| freed[var.index()]) {
            run.uses_after_free.push(event);
        }
        run.steps.push(step(semantics, event, effect));
    })?;
    run.complete = semantics.is_complete(&end);
    Ok(run)
}

fn step(semantics: &Semantics<'_>, event: EventId, effect: &Effect) -> Step {
    let op = &semantics.trace().event(event).op;
    let value = |cell, wanted: bool| op.var().filter(|_| wanted).and_then(|var| semantics.value(var, cell)).cloned();
    Step { event, read: value(&effect.before, op.reads()), written: value(&effect.after, op.writes()) }
}

/// The values of the candidate's three accesses, as far as they are known.
struct Accesses {
    triple: Triple,
    values: [Option<Access<Value>>; 3],
}

impl Accesses {
    fn new(triple: Triple) -> Accesses {
        Accesses { triple, values: [None, None, None] }
    }

    fn see(&mut self, semantics: &Semantics<'_>, event: EventId, effect: &Effect) {
        let Triple { first, remote, second } = self.triple;
        let Some(place) = [first, remote, second].into_iter().position(|e| e == event) else { return };
        let op = &semantics.trace().event(event).op;
        let Some(var) = op.var() else { return };
        let Some(before) = semantics.value(var, &effect.before).cloned() else { return };
        let after = if op.writes() { semantics.value(var, &effect.after).cloned() } else { Some(before.clone()) };
        self.values[place] = after.map(|after| Access { before, after });
    }

    /// Whether first and remote are guarded dependent in one of the patterns that fit.
    fn first_depends(&self, trace: &Trace) -> bool {
        let [Some(first), Some(remote), _] = &self.values else { return false };
        self.triple.patterns(trace).any(|pattern| first_depends(pattern, first, remote))
    }

    /// The first pattern in which the accesses are guarded dependent, if any is; nothing where values are missing.
    fn guarded_pattern(&self, trace: &Trace) -> Option<Option<Pattern>> {
        let [Some(first), Some(remote), Some(second)] = &self.values else { return None };
        let dependent = |p: &Pattern| first_depends(*p, first, remote) && second_depends(*p, remote, second);
        Some(self.triple.patterns(trace).find(dependent))
    }
}

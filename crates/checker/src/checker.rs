//! The judge of schedules: runs one step by step and says whether it shows what is claimed of it.
//!
//! It shares nothing with the encodings and is the only one that can make a [`Witness`]: what is reported as feasible
//! has passed here. What can be claimed is in [`crate::property`].

use crate::dependence::Access;
use crate::error::CheckError;
use crate::property::{Asked, Property};
use crate::run::{Run, run};
use crate::unseen::UnseenOrders;
use foretrace_trace::{
    Blocked, Effect, EventId, Independence, Observed, Pattern, Question, Semantics, Trace, Transaction, Triple, Value,
};
use std::sync::Arc;

/// A checked proof that a schedule shows a property. Copies share the schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Witness<P: Property = Triple> {
    claim: P,
    shown: P::Shown,
    run: Arc<Run>,
}

impl<P: Property> Witness<P> {
    /// What the schedule shows.
    pub fn claim(&self) -> &P {
        &self.claim
    }

    /// The events, in order.
    pub fn schedule(&self) -> &[EventId] {
        self.run.schedule()
    }

    /// The same with values, and what else was seen on the way.
    pub fn run(&self) -> &Run {
        &self.run
    }
}

impl Witness {
    /// The first pattern that the schedule shows.
    pub fn pattern(&self) -> Pattern {
        self.shown.pattern
    }

    /// Whether the accesses are guarded dependent, too, in one of the patterns that fit; nothing where values are
    /// not known.
    pub fn guarded_dependent(&self) -> Option<bool> {
        self.shown.guarded_dependent
    }
}

/// Checks schedules of one trace for one question.
pub struct Checker<'t> {
    semantics: Semantics<'t>,
    unseen: UnseenOrders,
    asked: Asked<'t>,
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
        let asked = Asked { trace, transactions, question, most_switches: None };
        Ok(Checker { semantics, unseen: UnseenOrders::in_trace(trace), asked })
    }

    /// The same that refuses violations with more context switches than this between their first and their last access.
    pub fn within(self, most_switches: Option<u32>) -> Checker<'t> {
        Checker { asked: Asked { most_switches, ..self.asked }, ..self }
    }

    /// Whether the schedule is a prefix that shows what is claimed.
    ///
    /// # Errors
    /// What is wrong with the schedule, or with the claim.
    pub fn check<P: Property>(&self, claim: P, schedule: &[EventId]) -> Result<Witness<P>, CheckError> {
        claim.stands_in(&self.asked, schedule)?;
        let watched = claim.watched();
        let mut values = vec![None; watched.len()];
        let see = |event: EventId, effect: &Effect| {
            if let Some(place) = watched.iter().position(|one| *one == event) {
                values[place] = access(&self.semantics, event, effect);
            }
        };
        let (run, end) = run(&self.semantics, &self.unseen, schedule, see)?;
        if let Some(event) = claim.left_false()
            && !matches!(self.semantics.enabled(&end, event), Err(Blocked::False { .. }))
        {
            return Err(CheckError::NotFalse(event));
        }
        let shown = claim.shown_by(&self.asked, &values)?;
        Ok(Witness { claim, shown, run: run.into() })
    }
}

/// The values of an access, where both are known; what a definition defines is its value before and after.
fn access(semantics: &Semantics<'_>, event: EventId, effect: &Effect) -> Option<Access<Value>> {
    let op = &semantics.trace().event(event).op;
    let Some(var) = op.var() else {
        let defined = effect.defined()?.clone();
        return Some(Access { before: defined.clone(), after: defined });
    };
    let before = semantics.value(var, &effect.before)?.clone();
    let after = if op.writes() { semantics.value(var, &effect.after)?.clone() } else { before.clone() };
    Some(Access { before, after })
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

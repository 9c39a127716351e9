//! The back-end `sat`: a plain SAT solver with the theory of schedules, for queries that leave no value to solve for.

mod clauses;
mod parts;
mod sources;
mod theory;

use super::backend::{Backend, Outcome, Unsupported, Until, fixed_order};
use super::interrupt::watched;
use batsat::{Callbacks, Lit, SolverInterface, lbool};
use clauses::{Clauses, Literals};
use foretrace_encodings::{Atom, Duty};
use foretrace_trace::{EventId, Structure, TermId, Terms, Trace};
use parts::Parts;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a search goes on before it is watched for the user's wish to stop.
const QUICK: Duration = Duration::from_millis(100);

/// After so many conflicts what was learned costs more than making a new solver: it speaks of other choices of sources.
const WORN: u64 = 20;

/// Ends a search at a point in time, or when it is told to.
#[derive(Default)]
struct Alarm {
    end: Option<Instant>,
    stopped: Arc<AtomicBool>,
}

impl Callbacks for Alarm {
    fn stop(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) || self.end.is_some_and(|end| Instant::now() >= end)
    }
}

/// A SAT solver with the theory of schedules.
pub(super) struct Sat<'a> {
    parts: Parts<'a>,
    literals: Literals,
    selector: Option<Lit>,
    /// Besides the selector.
    assumed: Option<Lit>,
    places: FxHashMap<EventId, i64>,
}

impl<'a> Sat<'a> {
    /// A solver for constraints of this trace.
    pub(super) fn new(trace: &'a Trace, structure: &'a Structure, seed: u32) -> Sat<'a> {
        let parts = Parts::new(trace, structure, seed);
        Sat { parts, literals: Literals::default(), selector: None, assumed: None, places: FxHashMap::default() }
    }
}

impl Backend for Sat<'_> {
    fn assert(&mut self, terms: &Terms<Atom>, term: TermId) -> Result<(), Unsupported> {
        match fixed_order(terms, term) {
            None => self.literals.assert(terms, term, &mut self.parts),
            Some((before, after)) => {
                let (before, after) = (self.parts.place(before), self.parts.place(after));
                self.parts.contradiction |= self.parts.theory.schedules.order.add_fixed(before, after).is_err();
                Ok(())
            }
        }
    }

    fn tell(&mut self, duty: &Duty) -> Result<(), Unsupported> {
        self.parts.tell(duty);
        Ok(())
    }

    fn is_worn(&self) -> bool {
        self.parts.solver.num_conflicts() > WORN
    }

    fn begin(&mut self, terms: &Terms<Atom>, goals: &[TermId]) -> Result<(), Unsupported> {
        let selector = self.parts.fresh();
        self.selector = Some(selector);
        self.parts.theory.query = Some(selector);
        for goal in goals {
            let goal = self.literals.of(terms, *goal, &mut self.parts)?;
            self.parts.clause(&[!selector, goal]);
        }
        Ok(())
    }

    fn ask(&mut self, terms: &Terms<Atom>, assumed: Option<TermId>, until: Until<'_>) -> Outcome {
        self.assumed = match assumed.map(|term| self.literals.of(terms, term, &mut self.parts)).transpose() {
            Ok(assumed) => assumed,
            Err(Unsupported) => return Outcome::Undecided(Some("values".into())),
        };
        let assumptions: Vec<Lit> = self.selector.into_iter().chain(self.assumed).collect();
        let parts = &mut self.parts;
        parts.solver.cb_mut().stopped.store(false, Ordering::Relaxed);
        parts.contradiction |= parts.theory.schedules.settle().is_err();
        while let Some(implied) = parts.theory.next_implied() {
            parts.clause(&[implied]);
        }
        if parts.contradiction {
            return Outcome::Unsat;
        }
        let solver = &mut parts.solver;
        solver.cb_mut().end = Some(until.deadline.min(Instant::now() + QUICK));
        let mut answer = solver.solve_limited_th(&mut parts.theory, &assumptions);
        if answer == lbool::UNDEF {
            solver.cb_mut().end = Some(until.deadline);
            let stopped = solver.cb_mut().stopped.clone();
            let stop = move || stopped.store(true, Ordering::Relaxed);
            answer = watched(until.stop, stop, || solver.solve_limited_th(&mut parts.theory, &assumptions));
        }
        if answer == lbool::FALSE {
            return Outcome::Unsat;
        }
        if answer != lbool::TRUE {
            return Outcome::Undecided(None);
        }
        self.places = parts.theory.found.drain(..).zip(0..).collect();
        Outcome::Sat
    }

    fn may_need_assumed(&self) -> bool {
        let in_core = |literal: Lit| self.parts.solver.unsat_core_contains_var(literal.var());
        !self.parts.contradiction && self.assumed.is_none_or(in_core)
    }

    fn end(&mut self) {
        if let Some(selector) = self.selector.take() {
            self.parts.clause(&[!selector]);
            for tried in std::mem::take(&mut self.parts.theory.tries) {
                self.parts.clause(&[tried]);
            }
        }
    }

    fn is_true(&mut self, terms: &Terms<Atom>, term: TermId) -> bool {
        if let Some(constant) = terms.as_const(term) {
            return constant.is_true();
        }
        let literal = self.literals.of(terms, term, &mut self.parts); // one that is new has no value: false will do
        literal.is_ok_and(|literal| self.parts.solver.value_lit(literal) == lbool::TRUE)
    }

    fn place(&self, step: EventId) -> i64 {
        self.places.get(&step).copied().unwrap_or(0)
    }

    #[cfg(test)]
    fn value(&mut self, terms: &Terms<Atom>, term: TermId) -> foretrace_trace::Value {
        self.is_true(terms, term).into()
    }
}

//! The back-end `sat`: a plain SAT solver with the order theory, for queries that leave no value to solve for.

mod clauses;
mod theory;

use super::backend::{Backend, Outcome, Unsupported, Until};
use super::partial_order::{PartialOrder, Place};
use super::propagated::fixed_order;
use batsat::{Callbacks, Lit, Solver, SolverInterface, SolverOpts, lbool};
use clauses::{Clauses, Literals};
use foretrace_encodings::Atom;
use foretrace_trace::{EventId, Structure, TermId, Terms, Trace};
use rustc_hash::FxHashMap;
use std::time::{Duration, Instant};
use theory::OrderTheory;

/// How long the solver works between two looks at the user's wish to stop.
const SLICE: Duration = Duration::from_millis(100);

/// Ends a search at a point in time.
struct Alarm(Option<Instant>);

impl Callbacks for Alarm {
    fn stop(&self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }
}

/// A SAT solver with the order theory.
pub(super) struct Sat<'a> {
    parts: Parts<'a>,
    literals: Literals,
    selector: Option<Lit>,
    places: FxHashMap<EventId, i64>,
}

struct Parts<'a> {
    trace: &'a Trace,
    structure: &'a Structure,
    solver: Solver<Alarm>,
    theory: OrderTheory,
    /// Whether orders that always hold make a cycle.
    contradiction: bool,
    clause: Vec<Lit>,
}

impl<'a> Sat<'a> {
    /// A solver for constraints of this trace.
    pub(super) fn new(trace: &'a Trace, structure: &'a Structure, seed: u32) -> Sat<'a> {
        let mut options = SolverOpts::default();
        options.random_seed += f64::from(seed);
        let parts = Parts {
            trace,
            structure,
            solver: Solver::new(options, Alarm(None)),
            theory: OrderTheory::new(PartialOrder::new(trace.threads.len())),
            contradiction: false,
            clause: Vec::new(),
        };
        Sat { parts, literals: Literals::default(), selector: None, places: FxHashMap::default() }
    }
}

impl Parts<'_> {
    fn place(&self, step: EventId) -> Place {
        Place::of(self.trace, self.structure, step)
    }
}

impl Clauses for Parts<'_> {
    fn fresh(&mut self) -> Lit {
        Lit::new(self.solver.new_var(lbool::UNDEF, true), true)
    }

    fn before(&mut self, a: EventId, b: EventId) -> Lit {
        let observed = !self.fresh(); // the solver tries false first
        let (a, b) = (self.place(a), self.place(b));
        self.theory.add_atom(a, b, observed);
        observed
    }

    fn clause(&mut self, literals: &[Lit]) {
        self.clause.clear();
        self.clause.extend_from_slice(literals);
        self.solver.add_clause_reuse(&mut self.clause);
    }
}

impl Backend for Sat<'_> {
    fn assert(&mut self, terms: &Terms<Atom>, term: TermId) -> Result<(), Unsupported> {
        match fixed_order(terms, term) {
            None => self.literals.assert(terms, term, &mut self.parts),
            Some((before, after)) => {
                let (before, after) = (self.parts.place(before), self.parts.place(after));
                self.parts.contradiction |= self.parts.theory.order.add_fixed(before, after).is_err();
                Ok(())
            }
        }
    }

    fn begin(&mut self, terms: &Terms<Atom>, goals: &[TermId]) -> Result<(), Unsupported> {
        let selector = self.parts.fresh();
        self.selector = Some(selector);
        for goal in goals {
            let goal = self.literals.of(terms, *goal, &mut self.parts)?;
            self.parts.clause(&[!selector, goal]);
        }
        Ok(())
    }

    fn ask(&mut self, terms: &Terms<Atom>, assumed: Option<TermId>, until: Until<'_>) -> Outcome {
        let mut assumptions: Vec<Lit> = self.selector.into_iter().collect();
        if let Some(term) = assumed {
            match self.literals.of(terms, term, &mut self.parts) {
                Ok(literal) => assumptions.push(literal),
                Err(Unsupported) => return Outcome::Undecided(Some("values".into())),
            }
        }
        let parts = &mut self.parts;
        while let Some(implied) = parts.theory.next_implied() {
            parts.clause(&[implied]);
        }
        if parts.contradiction {
            return Outcome::Unsat;
        }
        loop {
            parts.solver.cb_mut().0 = Some(until.deadline.min(Instant::now() + SLICE));
            let answer = parts.solver.solve_limited_th(&mut parts.theory, &assumptions);
            if answer == lbool::FALSE {
                return Outcome::Unsat;
            }
            if answer == lbool::TRUE {
                self.places = parts.theory.found.drain(..).zip(0..).collect();
                return Outcome::Sat;
            }
            if until.is_over() {
                return Outcome::Undecided(None);
            }
        }
    }

    fn end(&mut self) {
        if let Some(selector) = self.selector.take() {
            self.parts.clause(&[!selector]);
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

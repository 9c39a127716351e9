//! The back-end `sat`: a plain SAT solver with the theory of schedules, and tables of values.

mod clause_target;
mod clauses;
mod parts;
mod sources;
mod theory;
mod timed;
mod values;

use super::backend::{Backend, Outcome, Unsupported, Until, fixed_order};
use batsat::{Lit, SolverInterface, lbool};
use clause_target::Clauses;
use clauses::Literals;
use foretrace_encodings::{Atom, Obligation};
use foretrace_index::TraceIndex;
#[cfg(test)]
use foretrace_trace::Node;
use foretrace_trace::{EventId, TermId, Terms, Trace};
use parts::Parts;
use rustc_hash::FxHashMap;
use timed::Timed;
use values::{Constraint, Refined};

/// How often the values of one query's assignments are refined before another solver is asked.
const MOST_ROUNDS: usize = 2_000;

/// After this many conflicts, learned clauses cost more than a new solver does: they speak of other choices of sources.
const WORN: u64 = 20;

/// A SAT solver with the theory of schedules.
pub(super) struct Sat<'a> {
    parts: Parts<'a>,
    literals: Literals,
    selector: Option<Lit>,
    /// The goals of the query begun in which values are spoken of.
    goals: Vec<Constraint>,
    /// Besides the selector.
    assumed: Option<Lit>,
    places: FxHashMap<EventId, i64>,
}

impl<'a> Sat<'a> {
    /// A solver for constraints of this trace.
    pub(super) fn new(trace: &'a Trace, trace_index: &'a TraceIndex, seed: u32) -> Sat<'a> {
        let parts = Parts::new(trace, trace_index, seed);
        Sat {
            parts,
            literals: Literals::default(),
            selector: None,
            goals: Vec::new(),
            assumed: None,
            places: FxHashMap::default(),
        }
    }
}

impl Parts<'_> {
    /// Whether the last assignment makes the literal true, or a read found what it says.
    fn is_true(&self, literal: Lit) -> bool {
        self.solver.value_lit(literal) == lbool::TRUE || self.theory.sources_found.contains_key(&literal)
    }

    /// Looks for an assignment, its values left out.
    fn solve(&mut self, assumptions: &[Lit], until: Until<'_>) -> Outcome {
        self.spent = 0;
        self.contradiction |= self.theory.schedules.settle().is_err();
        while let Some(implied) = self.theory.next_implied() {
            self.clause(&[implied]);
        }
        if self.contradiction {
            return Outcome::Unsat;
        }
        let alarm = self.solver.cb().clone();
        let mut theory = Timed::new(&mut self.theory, until, alarm);
        let answer = self.solver.solve_limited_th(&mut theory, assumptions);
        self.spent = theory.asked();
        match answer {
            answer if answer == lbool::FALSE => Outcome::Unsat,
            answer if answer == lbool::TRUE => Outcome::Sat,
            _ => Outcome::Undecided(None),
        }
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

    fn post(&mut self, obligation: &Obligation) -> Result<(), Unsupported> {
        self.parts.post(obligation);
        Ok(())
    }

    fn is_worn(&self) -> bool {
        // What the rows of tables say is of use to every query.
        !self.literals.has_rows() && self.parts.solver.num_conflicts() > WORN
    }

    fn begin(&mut self, terms: &Terms<Atom>, goals: &[TermId]) -> Result<(), Unsupported> {
        let selector = self.parts.fresh();
        self.selector = Some(selector);
        self.parts.theory.query = Some(selector);
        for goal in goals {
            let literal = self.literals.literal_of(terms, *goal, &mut self.parts)?;
            self.parts.clause(&[!selector, literal]);
            self.goals.extend(self.literals.constraint(terms, *goal));
        }
        Ok(())
    }

    fn ask(&mut self, terms: &Terms<Atom>, assumed: Option<TermId>, mut until: Until<'_>) -> Outcome {
        self.assumed = match assumed.map(|term| self.literals.literal_of(terms, term, &mut self.parts)).transpose() {
            Ok(assumed) => assumed,
            Err(Unsupported) => return Outcome::Beyond,
        };
        let assumptions: Vec<Lit> = self.selector.into_iter().chain(self.assumed).collect();
        for round in 0..MOST_ROUNDS {
            if until.is_over() || until.work == Some(0) {
                return Outcome::Undecided(None);
            }
            let outcome = self.parts.solve(&assumptions, until);
            until.work = until.work.map(|work| work.saturating_sub(self.parts.spent));
            if outcome != Outcome::Sat {
                return outcome;
            }
            match self.literals.refine(terms, &self.goals, &|literal| self.parts.is_true(literal)) {
                Refined::Holds => {
                    self.places = self.parts.theory.found.drain(..).zip(0..).collect();
                    return Outcome::Sat;
                }
                Refined::TooLarge => break,
                Refined::RuledOut { rows, sources } => {
                    tracing::trace!(round, rows = rows.len(), "refined");
                    self.parts.theory.choose_for_all(&sources); // a row is of use where the source was decided
                    let added = rows.into_iter().try_for_each(|row| self.literals.add_row(terms, row, &mut self.parts));
                    if added.is_err() {
                        break;
                    }
                }
            }
        }
        Outcome::Beyond
    }

    fn may_need_assumed(&self) -> bool {
        let in_core = |literal: Lit| self.parts.solver.unsat_core_contains_var(literal.var());
        !self.parts.contradiction && self.assumed.is_none_or(in_core)
    }

    fn end(&mut self) {
        let (solver, theory) = (&self.parts.solver, &self.parts.theory);
        let (conflicts, decisions) = (solver.num_conflicts(), solver.num_decisions());
        tracing::trace!(conflicts, decisions, chosen = theory.chosen_for(), "searched");
        self.goals.clear();
        if let Some(selector) = self.selector.take() {
            self.parts.clause(&[!selector]);
            for forgotten in self.parts.theory.end_query() {
                self.parts.clause(&[forgotten]);
            }
        }
    }

    fn is_true(&mut self, terms: &Terms<Atom>, term: TermId) -> bool {
        if let Some(constant) = terms.as_const(term) {
            return constant.is_true();
        }
        let literal = self.literals.literal_of(terms, term, &mut self.parts); // one that is new has no value: false will do
        literal.is_ok_and(|literal| self.parts.is_true(literal))
    }

    fn place(&self, step: EventId) -> i64 {
        self.places.get(&step).copied().unwrap_or(i64::MAX) // after the prefix
    }

    #[cfg(test)]
    fn value(&mut self, terms: &Terms<Atom>, term: TermId) -> foretrace_trace::Value {
        let Node::Leaf(Atom::Value { at, sort }) = terms.node(term) else { return self.is_true(terms, term).into() };
        let found = self.literals.found(terms, *at, &|literal| self.parts.is_true(literal));
        found.unwrap_or(foretrace_trace::Value::zero(*sort)) // one that is no part of the prefix
    }
}

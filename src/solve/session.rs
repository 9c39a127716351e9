//! An incremental solver over one trace's constraints: asserted once, each candidate a set of assumptions.

use super::lower::Lowering;
use super::order::{DifferenceLogic, OrderTheory};
use crate::limit::Limit;
use foretrace_encodings::{Encoder, Facts, Query, Rule, Rules};
use foretrace_trace::{EventId, Pattern, Sort, Trace, Triple, Value};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use z3::ast::Bool;
use z3::{Model, Params, SatResult, Solver};

/// Terms of one session: about a gigabyte with what Z3 makes of them.
const MOST_TERMS: usize = 4_000_000;

#[cfg(test)]
mod tests;

/// What bounds a query.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// Time of one query.
    pub timeout: Duration,
    /// When the run must be over.
    pub deadline: Option<Instant>,
    /// Set when the user stops the run.
    pub stop: &'a AtomicBool,
}

impl Limits<'_> {
    /// The limit that is reached already, if one is.
    pub fn reached(&self) -> Option<Limit> {
        if self.stop.load(Ordering::Relaxed) {
            return Some(Limit::Interrupted);
        }
        self.deadline.filter(|deadline| Instant::now() >= *deadline).map(|_| Limit::Budget)
    }

    /// The limit that encoding a query since `began` has reached, if one is.
    pub(crate) fn of_encoding(&self, began: Instant, terms: usize) -> Option<Limit> {
        if terms > MOST_TERMS {
            return Some(Limit::Size);
        }
        let late = began.elapsed() > self.timeout;
        self.reached().or(late.then_some(Limit::Timeout))
    }

    pub(super) fn of_query(&self) -> Duration {
        let rest = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        rest.map_or(self.timeout, |rest| rest.min(self.timeout)).max(Duration::from_millis(1))
    }

    /// Asks a solver under these assumptions, for as long as a query may take.
    pub(super) fn check(&self, solver: &Solver, assumptions: &[Bool]) -> SatResult {
        let mut params = Params::new();
        let millis = u32::try_from(self.of_query().as_millis()).unwrap_or(u32::MAX);
        params.set_u32("timeout", millis);
        solver.set_params(&params);
        solver.check_assumptions(assumptions)
    }

    /// The limit for which a solver did not decide its last query.
    pub(super) fn of_unknown(&self, solver: &Solver) -> Limit {
        if let Some(limit) = self.reached() {
            return limit;
        }
        match solver.get_reason_unknown() {
            Some(reason) if reason != "timeout" && reason != "canceled" => Limit::Solver(reason),
            _ => Limit::Timeout,
        }
    }
}

/// What a solver says of a query.
#[derive(Debug)]
pub enum Answer {
    /// There is a prefix.
    Feasible(Assignment),
    /// There is none; whether that rests on pinned values.
    Infeasible {
        /// Without the pins there would be one, or it could not be told.
        rests_on_pin: bool,
    },
    /// Not decided.
    Unknown(Limit),
}

impl Answer {
    fn kind(&self) -> &'static str {
        match self {
            Answer::Feasible(_) => "feasible",
            Answer::Infeasible { .. } => "infeasible",
            Answer::Unknown(_) => "unknown",
        }
    }
}

/// The part of a solver's assignment from which a schedule is made.
#[derive(Clone, Debug, Default)]
pub struct Assignment {
    /// The steps of the prefix that order atoms speak of, in order.
    pub order: Vec<EventId>,
}

/// A solver with the constraints of one trace.
pub struct Session<'a> {
    encoder: Encoder<'a>,
    lowering: Lowering<DifferenceLogic>,
    solver: Solver,
    asserted: usize,
    queries: u64,
    has_pins: bool,
    usable: bool,
}

impl<'a> Session<'a> {
    /// A session without constraints yet.
    pub fn new(facts: Facts<'a>, rules: Rules, constants: &'a FxHashMap<EventId, Value>, seed: u32) -> Session<'a> {
        let solver = Solver::new();
        solver.set_params(&parameters(facts.trace, false, seed));
        Session {
            encoder: Encoder::new(facts, rules, constants),
            lowering: Lowering::new(DifferenceLogic::default()),
            solver,
            asserted: 0,
            queries: 0,
            has_pins: false,
            usable: true,
        }
    }

    /// Whether the session can take more queries. After one that was too large to encode it cannot.
    pub fn is_usable(&self) -> bool {
        self.usable
    }

    /// The encoder, for its size and facts.
    pub fn encoder(&self) -> &Encoder<'a> {
        &self.encoder
    }

    /// Decides a candidate; with a pattern, under guarded independence for that pattern.
    pub fn decide(&mut self, triple: Triple, guarded: Option<Pattern>, limits: Limits<'_>) -> Answer {
        let began = Instant::now();
        let mut reached = None;
        let query = self.encoder.query_while(triple, guarded, &mut |terms| {
            reached = limits.of_encoding(began, terms);
            reached.is_none()
        });
        let Some(query) = query else {
            self.usable = false;
            return Answer::Unknown(reached.unwrap_or(Limit::Size));
        };
        let encoded = began.elapsed();
        if query.goals.contains(&self.encoder.build().falsity()) {
            return Answer::Infeasible { rests_on_pin: false };
        }
        let added = self.encoder.constraints().len() - self.asserted;
        self.assert_new();
        let selector = self.select(&query);
        let asserted = began.elapsed() - encoded;
        let pins = self.lowering.boolean(&self.encoder.build().terms, query.pins);
        let answer = limits.check(&self.solver, &[selector.clone(), pins]);
        let answer = match answer {
            SatResult::Sat => self.assignment(),
            SatResult::Unknown => Answer::Unknown(limits.of_unknown(&self.solver)),
            SatResult::Unsat => {
                let without_pins = || limits.check(&self.solver, std::slice::from_ref(&selector));
                Answer::Infeasible { rests_on_pin: self.has_pins && without_pins() != SatResult::Unsat }
            }
        };
        self.solver.assert(selector.not()); // the query is done: let the solver forget it
        tracing::debug!(
            %triple,
            cone = self.encoder.cone_size(),
            constraints = self.asserted,
            added,
            encode = ?encoded,
            assert = ?asserted,
            solve = ?(began.elapsed() - encoded - asserted),
            "{}",
            answer.kind()
        );
        answer
    }

    fn assert_new(&mut self) {
        let build = self.encoder.build();
        for constraint in &self.encoder.constraints()[self.asserted..] {
            self.has_pins |= constraint.rule() == Rule::Pins;
            let term = self.lowering.boolean(&build.terms, constraint.term);
            self.solver.assert(&term);
        }
        self.asserted = self.encoder.constraints().len();
    }

    /// A fresh literal that implies the query's goals.
    fn select(&mut self, query: &Query) -> Bool {
        let selector = Bool::new_const(format!("query{}", self.queries));
        self.queries += 1;
        for goal in &query.goals {
            let goal = self.lowering.boolean(&self.encoder.build().terms, *goal);
            self.solver.assert(selector.implies(&goal));
        }
        selector
    }

    fn assignment(&mut self) -> Answer {
        let Some(model) = self.solver.get_model() else {
            return Answer::Unknown(Limit::Solver("satisfiable without an assignment".into()));
        };
        let steps: Vec<EventId> = self.encoder.ordered().collect();
        let mut placed: Vec<(i64, EventId)> = Vec::with_capacity(steps.len());
        for step in steps {
            if self.is_included(step, &model) {
                placed.push((self.lowering.order.place(step, &model), step));
            }
        }
        placed.sort_unstable();
        Answer::Feasible(Assignment { order: placed.into_iter().map(|(_, step)| step).collect() })
    }

    fn is_included(&mut self, step: EventId, model: &Model) -> bool {
        let Some(term) = self.encoder.inclusion_term(step) else { return false };
        let term = self.lowering.boolean(&self.encoder.build().terms, term);
        model.eval(&term, true).and_then(|value| value.as_bool()).unwrap_or(false)
    }
}

/// Z3's dense decision procedure for difference logic keeps a matrix of the order variables: up to this many events of
/// a trace it is many times faster than the others on traces full of locks.
const MOST_FOR_DENSE: usize = 4_000;

/// The parameters of a solver for constraints with integers besides places if variables or `other_integers` bring them;
/// measured on the real traces (`docs/measurements.md`).
pub(super) fn parameters(trace: &Trace, other_integers: bool, seed: u32) -> Params {
    const SIMPLEX: u32 = 2;
    const DENSE_DIFFERENCE_LOGIC: u32 = 3;
    let integers = other_integers || trace.vars.iter().any(|var| var.sort == Some(Sort::Int));
    let dense = !integers && trace.events.len() <= MOST_FOR_DENSE;
    let mut params = Params::new();
    params.set_u32("arith.solver", if dense { DENSE_DIFFERENCE_LOGIC } else { SIMPLEX });
    params.set_u32("relevancy", 0); // ground constraints only: relevancy prunes nothing
    params.set_u32("random_seed", seed);
    params
}

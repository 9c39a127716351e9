//! The back-end `idl`: order by difference logic in Z3, the paper's way and the reference. Explanations use it, too.

use super::backend::{Backend, Outcome, Unsupported, Until};
use super::lower::Lowering;
use super::order::OrderTheory;
use foretrace_encodings::Atom;
use foretrace_trace::{EventId, Sort, TermId, Terms, Trace};
use rustc_hash::FxHashMap;
use z3::ast::{Bool, Int};
use z3::{Model, Params, SatResult, Solver};

/// An integer a step (Fusion, section 4.3).
///
/// `before(a, b)` is `o_a ≤ o_b`. Two steps may share a number: they are then in observed order, so that one
/// atom decides a pair, and the observed run is where the solver starts.
#[derive(Default)]
pub(super) struct Numbers(FxHashMap<EventId, Int>);

impl Numbers {
    fn time_of(&mut self, step: EventId) -> Int {
        self.0.entry(step).or_insert_with(|| Int::new_const(format!("o{step}"))).clone()
    }
}

impl OrderTheory for Numbers {
    fn before(&mut self, a: EventId, b: EventId) -> Bool {
        let (a, b) = (self.time_of(a), self.time_of(b));
        a.le(&b)
    }
}

/// Z3's solver with a number for each step.
pub(super) struct DifferenceLogic {
    lowering: Lowering<Numbers>,
    solver: Solver,
    selector: Option<Bool>,
    queries: u64,
    model: Option<Model>,
}

impl DifferenceLogic {
    /// A solver for constraints of this trace.
    pub(super) fn new(trace: &Trace, seed: u32) -> DifferenceLogic {
        let solver = Solver::new();
        solver.set_params(&parameters(trace, false, seed));
        DifferenceLogic { lowering: Lowering::new(Numbers::default()), solver, selector: None, queries: 0, model: None }
    }
}

impl Backend for DifferenceLogic {
    fn assert(&mut self, terms: &Terms<Atom>, term: TermId) -> Result<(), Unsupported> {
        let term = self.lowering.boolean(terms, term);
        self.solver.assert(&term);
        Ok(())
    }

    fn begin(&mut self, terms: &Terms<Atom>, goals: &[TermId]) -> Result<(), Unsupported> {
        let selector = Bool::new_const(format!("query{}", self.queries));
        self.queries += 1;
        for goal in goals {
            let goal = self.lowering.boolean(terms, *goal);
            self.solver.assert(selector.implies(&goal));
        }
        self.selector = Some(selector);
        Ok(())
    }

    fn ask(&mut self, terms: &Terms<Atom>, assumed: Option<TermId>, until: Until<'_>) -> Outcome {
        let assumed = assumed.map(|term| self.lowering.boolean(terms, term));
        let assumptions: Vec<Bool> = self.selector.iter().cloned().chain(assumed).collect();
        match check(&self.solver, &assumptions, until) {
            SatResult::Unsat => Outcome::Unsat,
            SatResult::Unknown => Outcome::Undecided(self.solver.get_reason_unknown()),
            SatResult::Sat => {
                self.model = self.solver.get_model();
                match self.model {
                    Some(_) => Outcome::Sat,
                    None => Outcome::Undecided(Some("satisfiable without an assignment".into())),
                }
            }
        }
    }

    fn end(&mut self) {
        if let Some(selector) = self.selector.take() {
            self.solver.assert(selector.not()); // the query is done: let the solver forget it
        }
    }

    fn is_true(&mut self, terms: &Terms<Atom>, term: TermId) -> bool {
        let term = self.lowering.boolean(terms, term);
        let value = self.model.as_ref().and_then(|model| model.eval(&term, true));
        value.and_then(|value| value.as_bool()).unwrap_or(false)
    }

    fn place(&self, step: EventId) -> i64 {
        let (Some(number), Some(model)) = (self.lowering.order.0.get(&step), &self.model) else { return 0 };
        model.eval(number, true).and_then(|value| value.as_i64()).unwrap_or(0)
    }

    #[cfg(test)]
    fn value(&mut self, terms: &Terms<Atom>, term: TermId) -> foretrace_trace::Value {
        let sort = terms.sort(term);
        let term = self.lowering.term(terms, term);
        let value = self.model.as_ref().and_then(|model| model.eval(&term, true));
        super::lower::value(sort, value.expect("with completion every term has a value"))
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

/// Asks a solver under these assumptions.
pub(super) fn check(solver: &Solver, assumptions: &[Bool], until: Until<'_>) -> SatResult {
    let mut params = Params::new();
    params.set_u32("timeout", until.millis());
    params.set_u32("rlimit", until.z3_steps());
    solver.set_params(&params);
    solver.check_assumptions(assumptions)
}

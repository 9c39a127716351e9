//! How the order atom is decided. Verdicts may not depend on it.

use foretrace_trace::EventId;
use rustc_hash::FxHashMap;
use z3::Model;
use z3::ast::{Bool, Int};

/// Decides order atoms between steps.
pub(super) trait OrderTheory {
    /// "`a` comes before `b`", for `a` earlier than `b` in the observed order. Its negation means the opposite.
    fn before(&mut self, a: EventId, b: EventId) -> Bool;

    /// The step's place under a solver's assignment; equal ones are in observed order.
    fn place(&self, step: EventId, model: &Model) -> i64;
}

/// Difference logic: an integer a step, the paper's way (Fusion, section 4.3).
///
/// `before(a, b)` is `o_a ≤ o_b`. Two steps may share a number: they are then in observed order, so that one
/// atom decides a pair, and the observed run is where the solver starts.
#[derive(Default)]
pub(super) struct DifferenceLogic {
    variables: FxHashMap<EventId, Int>,
}

impl DifferenceLogic {
    fn variable(&mut self, step: EventId) -> Int {
        self.variables.entry(step).or_insert_with(|| Int::new_const(format!("o{step}"))).clone()
    }
}

impl OrderTheory for DifferenceLogic {
    fn before(&mut self, a: EventId, b: EventId) -> Bool {
        let (a, b) = (self.variable(a), self.variable(b));
        a.le(&b)
    }

    fn place(&self, step: EventId, model: &Model) -> i64 {
        let Some(variable) = self.variables.get(&step) else { return 0 };
        model.eval(variable, true).and_then(|value| value.as_i64()).unwrap_or(0)
    }
}

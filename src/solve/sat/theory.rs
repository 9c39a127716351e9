//! The order theory as the SAT solver sees it.

use crate::solve::partial_order::{AtomId, PartialOrder, Place};
use batsat::{Lit, Theory, TheoryArg, Var, lbool};
use foretrace_trace::EventId;

/// The order theory, with a literal for each of its atoms.
pub(super) struct OrderTheory {
    pub(super) order: PartialOrder,
    /// Per atom: true where the pair is in observed order.
    literals: Vec<Lit>,
    /// By number of variable.
    atoms: Vec<Option<AtomId>>,
    /// How much of the trail the theory has seen, now and when each level began.
    seen: usize,
    seen_before: Vec<usize>,
    /// The order of the last assignment.
    pub(super) found: Vec<EventId>,
    explanation: Vec<Lit>,
}

impl OrderTheory {
    pub(super) fn new(order: PartialOrder) -> OrderTheory {
        OrderTheory {
            order,
            literals: Vec::new(),
            atoms: Vec::new(),
            seen: 0,
            seen_before: Vec::new(),
            found: Vec::new(),
            explanation: Vec::new(),
        }
    }

    /// An atom for a pair, the earlier one first, and its literal.
    pub(super) fn add_atom(&mut self, earlier: Place, later: Place, literal: Lit) {
        let atom = self.order.add_atom(earlier, later);
        self.literals.push(literal);
        let number = literal.var().idx() as usize;
        self.atoms.resize(self.atoms.len().max(number + 1), None);
        self.atoms[number] = Some(atom);
    }

    /// The next literal that the order implies.
    pub(super) fn next_implied(&mut self) -> Option<Lit> {
        self.order.next_implied().map(|(atom, value)| self.literal(atom, value))
    }

    fn atom_of(&self, var: Var) -> Option<AtomId> {
        self.atoms.get(var.idx() as usize).copied().flatten()
    }

    fn literal(&self, atom: AtomId, value: bool) -> Lit {
        let literal = self.literals[atom as usize];
        if value { literal } else { !literal }
    }

    /// Takes in what was decided since; false where it cannot be.
    fn take_in(&mut self, solver: &mut TheoryArg) -> bool {
        while let Some(literal) = solver.model().get(self.seen).copied() {
            self.seen += 1;
            let Some(atom) = self.atom_of(literal.var()) else { continue };
            let value = literal == self.literals[atom as usize];
            if let Err(cycle) = self.order.assign(atom, value) {
                let clause: Vec<Lit> = cycle.into_iter().map(|atom| !self.assigned(atom)).collect();
                solver.raise_conflict(&clause, true);
                return false;
            }
            while let Some(implied) = self.next_implied() {
                if solver.value(implied.var()) == lbool::UNDEF && !solver.propagate(implied) {
                    return false;
                }
            }
        }
        true
    }

    /// The literal of a decided atom that is true.
    fn assigned(&self, atom: AtomId) -> Lit {
        self.literal(atom, self.order.value(atom).unwrap_or(true))
    }
}

impl Theory for OrderTheory {
    fn final_check(&mut self, solver: &mut TheoryArg) {
        if self.take_in(solver) {
            self.found = self.order.linear_extension();
        }
    }

    fn create_level(&mut self) {
        self.seen_before.push(self.seen);
        self.order.push();
    }

    fn pop_levels(&mut self, levels: usize) {
        let kept = self.seen_before.len().saturating_sub(levels);
        if let Some(seen) = self.seen_before.drain(kept..).next() {
            self.seen = seen;
        }
        self.order.pop(levels);
    }

    fn n_levels(&self) -> usize {
        self.seen_before.len()
    }

    fn partial_check(&mut self, solver: &mut TheoryArg) {
        self.take_in(solver);
    }

    fn explain_propagation(&mut self, literal: Lit) -> &[Lit] {
        let atom = self.atom_of(literal.var()).expect("the theory implied it");
        let reasons = self.order.explain(atom, literal == self.literals[atom as usize]);
        self.explanation = reasons.into_iter().map(|atom| self.assigned(atom)).collect();
        &self.explanation
    }
}

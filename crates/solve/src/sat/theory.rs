//! The theory of schedules as the SAT solver sees it.

use super::sources::{Found, Sources, Step};
use crate::partial_order::{AtomId, Conflict, NodeId, StepPosition};
use crate::schedules::{Executed, Schedules, Split};
use batsat::{Lit, Theory, TheoryArg, Var, lbool};
use foretrace_trace::EventId;
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::collections::BTreeSet;

type FxIndexMap<K, V> = IndexMap<K, V, FxBuildHasher>;

/// The theory of schedules, with a literal for each of its atoms.
pub(super) struct ScheduleTheory {
    pub(super) schedules: Schedules,
    /// Per atom: where it is true; of an order atom, where the pair is in observed order.
    literals: Vec<Lit>,
    /// By number of variable.
    atoms: Vec<Option<AtomId>>,
    /// How much of the trail the theory has seen, now and when each level began.
    seen: usize,
    seen_before: Vec<usize>,
    /// Per read, and per wake: its signals.
    pub(super) sources: FxIndexMap<EventId, Sources>,
    /// Reads of which several constraints say which sources they may have.
    several: Vec<EventId>,
    /// The query that is asked, and what was tried for it.
    pub(super) query: Option<Lit>,
    tries: Vec<Lit>,
    /// Pairs of steps that had to be decided for it.
    pairs: FxIndexMap<Split, Lit>,
    /// Reads, and wakes, that the solver has to choose a source for: what they find by themselves did not do.
    chosen_for: BTreeSet<EventId>,
    /// The order of the last assignment, and what the other reads found in it.
    pub(super) found: Vec<EventId>,
    pub(super) sources_found: FxHashMap<Lit, EventId>,
    explanation: Vec<Lit>,
}

impl ScheduleTheory {
    pub(super) fn new(schedules: Schedules) -> ScheduleTheory {
        ScheduleTheory {
            schedules,
            literals: Vec::new(),
            atoms: Vec::new(),
            seen: 0,
            seen_before: Vec::new(),
            sources: FxIndexMap::default(),
            several: Vec::new(),
            query: None,
            tries: Vec::new(),
            pairs: FxIndexMap::default(),
            chosen_for: BTreeSet::new(),
            found: Vec::new(),
            sources_found: FxHashMap::default(),
            explanation: Vec::new(),
        }
    }

    /// Unless one of these literals holds, the read needs one of these sources.
    pub(super) fn demand(&mut self, read: EventId, unless: Vec<Lit>, sources: Vec<Lit>) {
        if self.sources[&read].demand(unless, sources) == 2 {
            self.several.push(read);
        }
    }

    /// An order atom for a pair, the earlier one first, and its literal.
    pub(super) fn add_order(&mut self, earlier: StepPosition, later: StepPosition, literal: Lit) {
        let atom = self.schedules.add_atom(earlier, later);
        self.named(atom, literal);
    }

    /// Gives the newest atom its literal.
    pub(super) fn named(&mut self, atom: AtomId, literal: Lit) -> AtomId {
        debug_assert_eq!(atom as usize, self.literals.len());
        self.literals.push(literal);
        let number = literal.var().idx() as usize;
        self.atoms.resize(self.atoms.len().max(number + 1), None);
        self.atoms[number] = Some(atom);
        atom
    }

    /// The next literal that the order implies.
    pub(super) fn next_implied(&mut self) -> Option<Lit> {
        self.schedules.order.next_implied().map(|(atom, value)| self.literal(atom, value))
    }

    /// The literals that hold from now on, so that nothing of what was tried for the query is decided for another one.
    pub(super) fn end_query(&mut self) -> Vec<Lit> {
        self.chosen_for.clear();
        let untold = self.pairs.drain(..).map(|(_, literal)| !literal);
        self.tries.drain(..).chain(untold).collect()
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
            if let Err(conflict) = self.schedules.assign(atom, value) {
                self.refuse(conflict, solver);
                return false;
            }
            while let Some((atom, value)) = self.schedules.order.next_implied() {
                let implied = self.literal(atom, value);
                let known = solver.value(implied.var());
                if known == lbool::UNDEF {
                    if !solver.propagate(implied) {
                        return false;
                    }
                } else if known != lbool::new(implied.sign()) {
                    let reasons = self.schedules.explain(atom, value);
                    let mut clause = self.negated(reasons);
                    clause.push(implied);
                    solver.raise_conflict(&clause, true);
                    return false;
                }
            }
        }
        true
    }

    fn refuse(&mut self, conflict: Conflict, solver: &mut TheoryArg) {
        let conflict = self.schedules.without_weaker(conflict);
        let mut clause = self.negated(conflict);
        if clause.is_empty() {
            // Nothing at all is possible, so any clause will do.
            clause.extend(solver.model().last().map(|last| !*last));
        }
        solver.raise_conflict(&clause, true);
    }

    /// The literals that are false under these decided atoms.
    fn negated(&self, atoms: Vec<AtomId>) -> Vec<Lit> {
        atoms.into_iter().map(|atom| !self.assigned(atom)).collect()
    }

    /// The literal of a decided atom that is true.
    fn assigned(&self, atom: AtomId) -> Lit {
        self.literal(atom, self.schedules.order.value(atom).unwrap_or(true))
    }

    /// For how many reads and wakes the solver had to choose a source.
    pub(super) fn chosen_for(&self) -> usize {
        self.chosen_for.len()
    }

    /// Has the solver choose a source from now on where one of these was only found.
    pub(super) fn choose_for_all(&mut self, sources: &[Lit]) {
        let found = sources.iter().filter_map(|source| self.sources_found.get(source));
        self.chosen_for.extend(found.copied());
    }

    /// Whether every read that a source is to be chosen for, and that needs one, has one. For those that have none the solver
    /// tries one next.
    fn choose_sources(&mut self, solver: &mut TheoryArg) -> bool {
        let mut chosen = true;
        if let Some(clause) = self.several.iter().find_map(|read| self.sources[read].refused(solver)) {
            solver.raise_conflict(&clause, true);
            return false;
        }
        let Some(query) = self.query else { return true };
        for read in &self.chosen_for {
            match self.sources[read].choose(query, solver, &self.schedules) {
                Step::Done => continue,
                Step::Implied => return false,
                Step::Try(none) => self.tries.push(none),
                Step::Refuse(clause) => {
                    solver.raise_conflict(&clause, true);
                    return false;
                }
            }
            chosen = false;
        }
        chosen
    }

    /// Lets the other reads have what they find in this execution. For those that cannot a source is chosen from now on.
    fn take_found(&mut self, Executed { order, found }: Executed, solver: &mut TheoryArg) {
        self.sources_found.clear();
        let before = self.chosen_for.len();
        for (read, write) in found {
            match self.sources[&read].fits(write, solver) {
                Found::Unneeded => {}
                Found::Fits(literal) => {
                    self.sources_found.insert(literal, read);
                }
                Found::Misfits => {
                    self.chosen_for.insert(read);
                }
            }
        }
        self.found = order;
        if self.chosen_for.len() > before {
            self.choose_sources(solver);
        }
    }

    /// Has the solver decide pairs: for each that one of the two comes first.
    fn decide(&mut self, splits: Vec<Split>, solver: &mut TheoryArg) {
        assert!(!splits.is_empty(), "internal error: no step can happen, and no pair is undecided");
        for (a, b) in splits {
            let ways = [self.before(b, a, solver), self.before(a, b, solver)];
            let clause: Vec<Lit> = self.query.iter().map(|query| !*query).chain(ways).collect();
            if ways.iter().all(|way| solver.value(way.var()) != lbool::UNDEF) {
                return solver.raise_conflict(&clause, true); // neither is said, so a lemma would come too late
            }
            solver.add_theory_lemma(&clause);
        }
    }

    /// The literal that is only true where one step comes before another, and tried false first.
    fn before(&mut self, a: NodeId, b: NodeId, solver: &mut TheoryArg) -> Lit {
        if let Some(literal) = self.pairs.get(&(a, b)) {
            return *literal;
        }
        let literal = solver.mk_new_lit();
        let atom = self.schedules.add_split(a, b);
        self.named(atom, literal);
        self.pairs.insert((a, b), literal);
        literal
    }
}

impl Theory for ScheduleTheory {
    fn final_check(&mut self, solver: &mut TheoryArg) {
        if self.take_in(solver) && self.choose_sources(solver) {
            match self.schedules.execute() {
                Ok(executed) => self.take_found(executed, solver),
                Err(splits) => self.decide(splits, solver),
            }
        }
    }

    fn create_level(&mut self) {
        self.seen_before.push(self.seen);
        self.schedules.push();
    }

    fn pop_levels(&mut self, levels: usize) {
        let kept = self.seen_before.len().saturating_sub(levels);
        if let Some(seen) = self.seen_before.drain(kept..).next() {
            self.seen = seen;
        }
        self.schedules.pop(levels);
    }

    fn n_levels(&self) -> usize {
        self.seen_before.len()
    }

    fn partial_check(&mut self, solver: &mut TheoryArg) {
        self.take_in(solver);
    }

    fn explain_propagation(&mut self, literal: Lit) -> &[Lit] {
        let atom = self.atom_of(literal.var()).expect("the theory implied it");
        let reasons = self.schedules.explain(atom, literal == self.literals[atom as usize]);
        self.explanation = reasons.into_iter().map(|atom| self.assigned(atom)).collect();
        &self.explanation
    }
}

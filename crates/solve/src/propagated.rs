//! The back-end `order`: values by Z3, order by our theory in Z3's user propagator.

use super::backend::{Backend, Outcome, Unsupported, Until, fixed_order};
use super::lower::Lowering;
use super::order::OrderTheory;
use super::partial_order::{AtomId, PartialOrder, StepPosition};
use super::raw::{Consequence, RawModel, Theory, TheorySolver};
use foretrace_encodings::Atom;
use foretrace_index::TraceIndex;
use foretrace_trace::{EventId, Node, TermId, Terms, Trace};
use rustc_hash::FxHashMap;
use z3::SatResult;
use z3::ast::{Bool, Dynamic};

/// The order theory as Z3 sees it. Z3 tries false first, so its atoms say that a pair is *not* in observed order.
struct Propagator {
    order: PartialOrder,
    /// What each of Z3's atoms means.
    meanings: Vec<Meaning>,
    /// Z3's atom for each of the order's.
    numbers: Vec<u32>,
    /// Whether the prefix holds an event, as far as was said last.
    included: FxHashMap<EventId, bool>,
    /// The last assignment.
    found: Found,
}

#[derive(Clone, Copy)]
enum Meaning {
    Reversed(AtomId),
    /// Of no interest to the order, but read off at the end: Z3 takes longer to make a model than to find one.
    Included(EventId),
}

#[derive(Default)]
struct Found {
    order: Vec<EventId>,
    included: FxHashMap<EventId, bool>,
}

impl Propagator {
    /// A new atom of the order; its number as Z3's.
    fn add_atom(&mut self, a: StepPosition, b: StepPosition) {
        let atom = self.order.add_atom(a, b);
        self.numbers.push(self.meanings.len() as u32);
        self.meanings.push(Meaning::Reversed(atom));
    }
}

impl Theory for Propagator {
    fn push(&mut self) {
        self.order.push();
    }

    fn pop(&mut self, levels: usize) {
        self.order.pop(levels);
    }

    fn fixed(&mut self, atom: u32, value: bool, consequences: &mut Vec<Consequence>) {
        let atom = match self.meanings[atom as usize] {
            Meaning::Reversed(atom) => atom,
            Meaning::Included(event) => {
                self.included.insert(event, value);
                return;
            }
        };
        let as_numbers =
            |numbers: &[u32], atoms: Vec<AtomId>| atoms.iter().map(|atom| numbers[*atom as usize]).collect();
        if let Err(cycle) = self.order.assign(atom, !value) {
            consequences.push(Consequence { because: as_numbers(&self.numbers, cycle), then: None });
            return;
        }
        while let Some((atom, value)) = self.order.next_implied() {
            let because = as_numbers(&self.numbers, self.order.explain(atom, value));
            consequences.push(Consequence { because, then: Some((self.numbers[atom as usize], !value)) });
        }
    }

    fn complete(&mut self) {
        self.found = Found { order: self.order.linear_extension(), included: self.included.clone() };
    }
}

/// Atoms without meaning to Z3 for pairs of steps.
#[derive(Default)]
struct Pairs {
    /// Those that the theory does not know yet.
    new: Vec<(EventId, EventId, Bool)>,
    new_included: Vec<(EventId, Bool)>,
}

impl OrderTheory for Pairs {
    fn before(&mut self, a: EventId, b: EventId) -> Bool {
        let reversed = Bool::new_const(format!("r{a}-{b}"));
        let before = reversed.not();
        self.new.push((a, b, reversed));
        before
    }

    fn included(&mut self, event: EventId, term: &Bool) {
        self.new_included.push((event, term.clone()));
    }
}

/// Z3's solver with the order theory.
pub(super) struct Propagated<'a> {
    trace: &'a Trace,
    trace_index: &'a TraceIndex,
    lowering: Lowering<Pairs>,
    solver: TheorySolver<Propagator>,
    /// Orders that always hold and that the theory does not know yet.
    fixed: Vec<(EventId, EventId)>,
    selector: Option<Bool>,
    queries: u64,
    model: Option<RawModel>,
    included: FxHashMap<EventId, bool>,
    places: FxHashMap<EventId, i64>,
}

impl<'a> Propagated<'a> {
    /// A solver for constraints of this trace.
    pub(super) fn new(trace: &'a Trace, trace_index: &'a TraceIndex, seed: u32) -> Propagated<'a> {
        let solver = TheorySolver::new(Propagator {
            order: PartialOrder::new(trace.threads.len()),
            meanings: Vec::new(),
            numbers: Vec::new(),
            included: FxHashMap::default(),
            found: Found::default(),
        });
        solver.set(&[("relevancy", 0), ("random_seed", seed)]);
        Propagated {
            trace,
            trace_index,
            lowering: Lowering::new(Pairs::default()),
            solver,
            fixed: Vec::new(),
            selector: None,
            queries: 0,
            model: None,
            included: FxHashMap::default(),
            places: FxHashMap::default(),
        }
    }

    /// Z3's assignment, made when first asked for.
    fn model(&mut self) -> Option<&RawModel> {
        if self.model.is_none() {
            self.model = self.solver.model();
        }
        self.model.as_ref()
    }

    /// Tells the theory of new orders and atoms. Z3 takes back the last search at an assertion, and only then the theory can
    /// learn anything for good.
    fn tell_theory(&mut self) -> bool {
        let Pairs { new, new_included } = &self.lowering.order;
        if self.fixed.is_empty() && new.is_empty() && new_included.is_empty() {
            return true;
        }
        let truth = Bool::from_bool(true);
        self.solver.assert(&truth);
        if !self.solver.with_theory(|theory| theory.order.is_at_base()) {
            return false; // interrupted: Z3 heeds no assertion
        }
        let place = |step| StepPosition::of_step(self.trace, self.trace_index, step);
        let mut contradiction = false;
        self.solver.with_theory(|theory| {
            for (before, after) in self.fixed.drain(..) {
                contradiction |= theory.order.add_fixed(place(before), place(after)).is_err();
            }
        });
        for (a, b, reversed) in self.lowering.order.new.drain(..) {
            self.solver.with_theory(|theory| theory.add_atom(place(a), place(b)));
            self.solver.register(&reversed);
        }
        for (event, term) in self.lowering.order.new_included.drain(..) {
            self.solver.with_theory(|theory| theory.meanings.push(Meaning::Included(event)));
            self.solver.register(&term);
        }
        if contradiction {
            self.solver.assert(&truth.not());
        }
        let next = |theory: &mut Propagator| {
            theory.order.next_implied().map(|(atom, value)| (theory.numbers[atom as usize], !value))
        };
        while let Some((atom, value)) = self.solver.with_theory(next) {
            self.solver.assert(&self.solver.literal(atom, value));
        }
        true
    }
}

impl Backend for Propagated<'_> {
    fn assert(&mut self, terms: &Terms<Atom>, term: TermId) -> Result<(), Unsupported> {
        match fixed_order(terms, term) {
            Some(fixed) => self.fixed.push(fixed),
            None => {
                let term = self.lowering.boolean(terms, term);
                self.solver.assert(&term);
            }
        }
        Ok(())
    }

    fn begin(&mut self, terms: &Terms<Atom>, goals: &[TermId]) -> Result<(), Unsupported> {
        let selector = Bool::new_const(format!("query{}", self.queries));
        self.queries += 1;
        for goal in goals {
            let goal = self.lowering.boolean(terms, *goal);
            self.solver.assert(&selector.implies(&goal));
        }
        self.selector = Some(selector);
        Ok(())
    }

    fn ask(&mut self, terms: &Terms<Atom>, assumed: Option<TermId>, until: Until<'_>) -> Outcome {
        let assumed = assumed.map(|term| self.lowering.boolean(terms, term));
        if !self.tell_theory() {
            return Outcome::Undecided(None);
        }
        self.solver.set(&[("timeout", until.millis()), ("rlimit", until.z3_steps())]);
        let assumptions: Vec<Bool> = self.selector.iter().cloned().chain(assumed).collect();
        match self.solver.check(&assumptions) {
            SatResult::Unsat => Outcome::Unsat,
            SatResult::Unknown => Outcome::Undecided(Some(self.solver.reason_unknown())),
            SatResult::Sat => {
                self.model = None;
                let found = self.solver.with_theory(|theory| std::mem::take(&mut theory.found));
                self.places = found.order.into_iter().zip(0..).collect();
                self.included = found.included;
                Outcome::Sat
            }
        }
    }

    fn end(&mut self) {
        if let Some(selector) = self.selector.take() {
            self.solver.assert(&selector.not()); // the query is done: let the solver forget it
        }
    }

    fn is_true(&mut self, terms: &Terms<Atom>, term: TermId) -> bool {
        match terms.node(term) {
            Node::Const(constant) => constant.is_true(),
            Node::Leaf(Atom::Included(event)) if self.included.contains_key(event) => self.included[event],
            _ => {
                let term = Dynamic::from(self.lowering.boolean(terms, term));
                let value = self.model().and_then(|model| model.value(&term));
                value.and_then(|value| value.as_bool()).and_then(|value| value.as_bool()).unwrap_or(false)
            }
        }
    }

    fn place(&self, step: EventId) -> i64 {
        self.places.get(&step).copied().unwrap_or(0)
    }

    #[cfg(test)]
    fn value(&mut self, terms: &Terms<Atom>, term: TermId) -> foretrace_trace::Value {
        let sort = terms.sort(term);
        let term = self.lowering.term(terms, term);
        let value = self.model().and_then(|model| model.value(&term));
        super::lower::value(sort, value.expect("with completion every term has a value"))
    }
}

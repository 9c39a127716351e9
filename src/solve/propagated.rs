//! The back-end `order`: values by Z3, order by our theory in Z3's user propagator.

use super::backend::{Backend, Outcome, Unsupported, Until};
use super::lower::Lowering;
use super::order::OrderTheory;
use super::partial_order::{PartialOrder, Place};
use super::raw::{Consequence, RawModel, Theory, TheorySolver};
use foretrace_encodings::Atom;
use foretrace_trace::{EventId, Func, Node, Structure, TermId, Terms, Trace};
use rustc_hash::FxHashMap;
use z3::SatResult;
use z3::ast::{Bool, Dynamic};

/// The order theory as Z3 sees it. Z3 tries false first, so its atoms say that a pair is *not* in observed order.
struct Propagator {
    order: PartialOrder,
    found: Vec<EventId>,
}

impl Theory for Propagator {
    fn push(&mut self) {
        self.order.push();
    }

    fn pop(&mut self, levels: usize) {
        self.order.pop(levels);
    }

    fn fixed(&mut self, atom: u32, reversed: bool, consequences: &mut Vec<Consequence>) {
        if let Err(because) = self.order.assign(atom, !reversed) {
            consequences.push(Consequence { because, then: None });
            return;
        }
        while let Some((atom, value)) = self.order.next_implied() {
            let because = self.order.explain(atom, value);
            consequences.push(Consequence { because, then: Some((atom, !value)) });
        }
    }

    fn complete(&mut self) {
        self.found = self.order.linear_extension();
    }
}

/// Atoms without meaning to Z3 for pairs of steps.
#[derive(Default)]
struct Pairs {
    /// Those that the theory does not know yet.
    new: Vec<(EventId, EventId, Bool)>,
}

impl OrderTheory for Pairs {
    fn before(&mut self, a: EventId, b: EventId) -> Bool {
        let reversed = Bool::new_const(format!("r{a}-{b}"));
        let before = reversed.not();
        self.new.push((a, b, reversed));
        before
    }
}

/// Z3's solver with the order theory.
pub(super) struct Propagated<'a> {
    trace: &'a Trace,
    structure: &'a Structure,
    lowering: Lowering<Pairs>,
    solver: TheorySolver<Propagator>,
    /// Orders that always hold and that the theory does not know yet.
    fixed: Vec<(EventId, EventId)>,
    selector: Option<Bool>,
    queries: u64,
    model: Option<RawModel>,
    places: FxHashMap<EventId, i64>,
}

impl<'a> Propagated<'a> {
    /// A solver for constraints of this trace.
    pub(super) fn new(trace: &'a Trace, structure: &'a Structure, seed: u32) -> Propagated<'a> {
        let theory = Propagator { order: PartialOrder::new(trace.threads.len()), found: Vec::new() };
        let solver = TheorySolver::new(theory);
        solver.set(&[("relevancy", 0), ("random_seed", seed)]);
        Propagated {
            trace,
            structure,
            lowering: Lowering::new(Pairs::default()),
            solver,
            fixed: Vec::new(),
            selector: None,
            queries: 0,
            model: None,
            places: FxHashMap::default(),
        }
    }

    /// Tells the theory of new orders and atoms. Z3 takes back the last search at an assertion, and only then the theory can
    /// learn anything for good.
    fn tell_theory(&mut self) -> bool {
        if self.fixed.is_empty() && self.lowering.order.new.is_empty() {
            return true;
        }
        let truth = Bool::from_bool(true);
        self.solver.assert(&truth);
        if !self.solver.with_theory(|theory| theory.order.is_at_base()) {
            return false; // interrupted: Z3 heeds no assertion
        }
        let place = |step| Place::of(self.trace, self.structure, step);
        let mut contradiction = false;
        self.solver.with_theory(|theory| {
            for (before, after) in self.fixed.drain(..) {
                contradiction |= theory.order.add_fixed(place(before), place(after)).is_err();
            }
        });
        for (a, b, reversed) in self.lowering.order.new.drain(..) {
            self.solver.with_theory(|theory| theory.order.add_atom(place(a), place(b)));
            self.solver.register(&reversed);
        }
        if contradiction {
            self.solver.assert(&truth.not());
        }
        while let Some((atom, value)) = self.solver.with_theory(|theory| theory.order.next_implied()) {
            self.solver.assert(&self.solver.literal(atom, !value));
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
        self.solver.set(&[("timeout", until.millis())]);
        let assumptions: Vec<Bool> = self.selector.iter().cloned().chain(assumed).collect();
        match self.solver.check(&assumptions) {
            SatResult::Unsat => Outcome::Unsat,
            SatResult::Unknown => Outcome::Undecided(Some(self.solver.reason_unknown())),
            SatResult::Sat => {
                self.model = self.solver.model();
                let found = self.solver.with_theory(|theory| std::mem::take(&mut theory.found));
                self.places = found.into_iter().zip(0..).collect();
                match self.model {
                    Some(_) => Outcome::Sat,
                    None => Outcome::Undecided(Some("satisfiable without an assignment".into())),
                }
            }
        }
    }

    fn end(&mut self) {
        if let Some(selector) = self.selector.take() {
            self.solver.assert(&selector.not()); // the query is done: let the solver forget it
        }
    }

    fn is_true(&mut self, terms: &Terms<Atom>, term: TermId) -> bool {
        let term = Dynamic::from(self.lowering.boolean(terms, term));
        let value = self.model.as_ref().and_then(|model| model.value(&term));
        value.and_then(|value| value.as_bool()).and_then(|value| value.as_bool()).unwrap_or(false)
    }

    fn place(&self, step: EventId) -> i64 {
        self.places.get(&step).copied().unwrap_or(0)
    }

    #[cfg(test)]
    fn value(&mut self, terms: &Terms<Atom>, term: TermId) -> foretrace_trace::Value {
        let sort = terms.sort(term);
        let term = self.lowering.term(terms, term);
        let value = self.model.as_ref().and_then(|model| model.value(&term));
        super::lower::value(sort, value.expect("with completion every term has a value"))
    }
}

/// The order that a constraint asks for, where it is nothing but that: earlier, later.
pub(super) fn fixed_order(terms: &Terms<Atom>, term: TermId) -> Option<(EventId, EventId)> {
    match terms.node(term) {
        Node::Leaf(Atom::Before(a, b)) => Some((*a, *b)),
        Node::App(Func::Not, args) => match terms.node(args[0]) {
            Node::Leaf(Atom::Before(a, b)) => Some((*b, *a)),
            _ => None,
        },
        _ => None,
    }
}

//! Φ = Φ_PO ∧ Φ_VD ∧ Φ_PI ∧ Φ_AV of one candidate.

use super::atom::{Atom, Cell};
use super::cells::{Cells, Finds};
use crate::term::Builder;
use crate::view::TraceView;
use foretrace_trace::{EventId, Func, Op, Pattern, Sort, SyncId, SyncKind, TermId, Triple, Value};

/// The formula of one candidate over the whole trace.
pub struct Formula<'a> {
    pub(super) view: TraceView<'a>,
    triple: Triple,
    /// The arena of the terms.
    pub build: Builder<Atom>,
    /// The conjuncts, all of which hold for a witness.
    pub conjuncts: Vec<TermId>,
    /// g(t) of each event.
    pub path: Vec<TermId>,
    /// Whether some conjunct mentions [`Atom::Pins`].
    pub has_pins: bool,
    cells: Cells,
}

/// One choice of a π-function: a definition with the value that it gives; none is t_first, which gives the initial one.
struct Choice {
    at: Option<EventId>,
    /// What the use's name equals if it is chosen; false where the definition cannot be chosen.
    gives: TermId,
}

impl<'a> Formula<'a> {
    /// The formula; with a pattern, under guarded independence for that pattern. `None` where `go_on`, told the number of
    /// terms so far, says no.
    pub fn new(
        view: TraceView<'a>,
        triple: Triple,
        guarded: Option<Pattern>,
        go_on: &mut dyn FnMut(usize) -> bool,
    ) -> Option<Formula<'a>> {
        let mut formula = Formula {
            view,
            triple,
            build: Builder::default(),
            conjuncts: Vec::new(),
            path: Vec::new(),
            has_pins: false,
            cells: Cells::new(view),
        };
        formula.path_conditions();
        formula.program_order();
        formula.variable_definitions();
        formula.violation(guarded);
        formula.pi_functions(guarded, go_on)?;
        Some(formula)
    }

    fn assert(&mut self, term: TermId) {
        if term != self.build.truth() {
            self.conjuncts.push(term);
        }
    }

    /// HB(a, b), folded within a thread.
    fn before(&mut self, a: EventId, b: EventId) -> TermId {
        if self.view.trace.event(a).thread == self.view.trace.event(b).thread {
            return self.build.boolean(self.view.trace_index.position(a) < self.view.trace_index.position(b));
        }
        self.build.atom(Atom::HappensBefore(a, b))
    }

    /// Φ_PO. The orders within a thread are asserted here, and folded everywhere else.
    fn program_order(&mut self) {
        for (id, _) in self.view.trace.iter() {
            for needed in self.needed_by(id) {
                let order = self.build.atom(Atom::HappensBefore(needed, id));
                self.assert(order);
            }
        }
    }

    /// Φ_VD: each name equals its expression. Constants need no name.
    fn variable_definitions(&mut self) {
        for (id, event) in self.view.trace.iter() {
            if let Op::Let { expr, .. } = event.op {
                let sort = self.view.trace.terms.sort(expr);
                let name = self.build.atom(Atom::Definition { at: id, cell: None, sort });
                let value = self.translate(expr);
                self.define(name, value);
            }
            for cell in self.cells.defined_by(self.view, id) {
                let name = self.defined(id, cell);
                let value = self.assigned(id, cell);
                if name != value {
                    self.define(name, value);
                }
            }
        }
    }

    fn define(&mut self, name: TermId, value: TermId) {
        let equal = self.build.apply(Func::Eq, &[name, value]);
        self.assert(equal);
    }

    /// The name of a definition, or its value where that is constant.
    fn defined(&mut self, at: EventId, cell: Cell) -> TermId {
        let value = self.assigned(at, cell);
        if self.build.terms.as_const(value).is_some() {
            return value;
        }
        let sort = self.sort(cell);
        self.build.atom(Atom::Definition { at, cell: Some(cell), sort })
    }

    /// The right-hand side of a definition.
    fn assigned(&mut self, at: EventId, cell: Cell) -> TermId {
        let op = &self.view.trace.event(at).op;
        match (op, cell) {
            (_, Cell::Var(_)) => self.written(at),
            (Op::Post { .. }, _) => self.count_changed(at, cell, Func::Add),
            (Op::Down { .. }, _) => self.count_changed(at, cell, Func::Sub),
            (Op::Signal { cond }, Cell::Signalled(_, thread)) if self.cells.has_choice(*cond) => {
                let number = self.build.terms.constant(Value::int(thread.0));
                let choice = self.build.atom(Atom::Choice(at));
                let chosen = self.build.apply(Func::Eq, &[choice, number]);
                let old = self.value_used(at, cell);
                self.build.or([chosen, old])
            }
            (Op::Signal { .. } | Op::Broadcast { .. }, _) => self.build.truth(),
            _ => self.build.falsity(),
        }
    }

    fn count_changed(&mut self, at: EventId, cell: Cell, by: Func) -> TermId {
        let old = self.value_used(at, cell);
        let one = self.build.terms.constant(Value::int(1));
        self.build.apply(by, &[old, one])
    }

    /// What a write stores.
    fn written(&mut self, write: EventId) -> TermId {
        if let Some(expr) = self.view.trace.event(write).op.written() {
            return self.translate(expr);
        }
        let value = self.view.observed.written(write).cloned();
        self.build.terms.constant(value.expect("a symbolic trace knows what is written"))
    }

    /// The name of a use.
    pub(super) fn value_used(&mut self, at: EventId, cell: Cell) -> TermId {
        let sort = self.sort(cell);
        self.build.atom(Atom::Use { at, cell, sort })
    }

    fn sort(&self, cell: Cell) -> Sort {
        match cell {
            Cell::Var(var) => self.view.trace.vars[var.index()].sort.expect("a symbolic trace has sorts"),
            Cell::Count(_) => Sort::Int,
            Cell::Signalled(..) => Sort::Bool,
        }
    }

    fn initial(&mut self, cell: Cell) -> TermId {
        let value = match cell {
            Cell::Var(var) => self.view.trace.vars[var.index()].init.clone().expect("a symbolic trace has values"),
            Cell::Count(sem) => match self.view.trace.syncs[sem.index()].kind {
                SyncKind::Semaphore { init } => Value::int(init),
                _ => Value::int(0),
            },
            Cell::Signalled(..) => Value::Bool(false),
        };
        self.build.terms.constant(value)
    }

    /// Φ_PI of every use.
    fn pi_functions(&mut self, guarded: Option<Pattern>, go_on: &mut dyn FnMut(usize) -> bool) -> Option<()> {
        for (id, _) in self.view.trace.iter() {
            let mut used = self.cells.used_by(self.view, id);
            used.extend(self.used_before_write(id, guarded));
            for cell in used {
                let choices = self.choices(id, cell);
                self.pi_function(id, choices, go_on)?;
            }
        }
        for (at, lock, finds) in self.cells.lock_uses.clone() {
            let choices = self.lock_choices(at, lock, finds);
            self.pi_function(at, choices, go_on)?;
        }
        Some(())
    }

    /// Guarded independence compares a write with the value just before it: that is a use, too.
    fn used_before_write(&self, id: EventId, guarded: Option<Pattern>) -> Option<Cell> {
        let [first, remote, second] = guarded?.writes();
        let asks = id == self.triple.first && first && !remote || id == self.triple.remote && remote && !second;
        let op = &self.view.trace.event(id).op;
        op.var().filter(|_| asks && !op.reads()).map(Cell::Var)
    }

    fn choices(&mut self, at: EventId, cell: Cell) -> Vec<Choice> {
        let definitions = self.cells.definitions.get(&cell).cloned().unwrap_or_default();
        let name = self.value_used(at, cell);
        let mut choices = Vec::new();
        for definition in self.most_recent(at, definitions) {
            let value = match definition {
                Some(definition) => self.defined(definition, cell),
                None => self.initial(cell),
            };
            choices.push(Choice { at: definition, gives: self.build.apply(Func::Eq, &[name, value]) });
        }
        choices
    }

    fn lock_choices(&mut self, at: EventId, lock: SyncId, finds: Finds) -> Vec<Choice> {
        let changes = self.cells.lock_changes.get(&lock).cloned().unwrap_or_default();
        let (trace, thread) = (self.view.trace, self.view.trace.event(at).thread);
        let possible = |definition: Option<EventId>| match (definition, finds) {
            (None, finds) => finds == Finds::Free,
            (Some(at), Finds::Free) => !changes[&at],
            (Some(at), Finds::Own) => changes[&at] && trace.event(at).thread == thread,
            (Some(at), Finds::Taken) => changes[&at] && trace.event(at).thread != thread,
        };
        let found = self.most_recent(at, changes.keys().copied().collect());
        found.into_iter().map(|at| Choice { at, gives: self.build.boolean(possible(at)) }).collect()
    }

    /// Definition 3: the most recent definition of the use's own thread (t_first where there is none), and all of others.
    fn most_recent(&self, at: EventId, definitions: Vec<EventId>) -> Vec<Option<EventId>> {
        let (trace, trace_index) = (self.view.trace, self.view.trace_index);
        let is_own = |other: &EventId| trace.event(*other).thread == trace.event(at).thread;
        let (own, others): (Vec<EventId>, Vec<EventId>) = definitions.into_iter().partition(is_own);
        let latest = own.into_iter().rfind(|other| trace_index.position(*other) < trace_index.position(at));
        std::iter::once(latest).chain(others.into_iter().map(Some)).collect()
    }

    /// HB(t_c', t) ∨ ⋁ᵢ (v' = vᵢ) ∧ g(tᵢ) ∧ HB(tᵢ, t) ∧ ⋀ⱼ (HB(tⱼ, tᵢ) ∨ HB(t, tⱼ)).
    fn pi_function(&mut self, at: EventId, choices: Vec<Choice>, go_on: &mut dyn FnMut(usize) -> bool) -> Option<()> {
        let mut ways = vec![self.before(self.triple.second, at)];
        if ways[0] == self.build.truth() {
            return Some(());
        }
        for chosen in 0..choices.len() {
            if choices[chosen].gives != self.build.falsity() {
                ways.push(self.choose(at, &choices, chosen));
            }
            go_on(self.build.terms.len()).then_some(())?;
        }
        let term = self.junction(Func::Or, ways);
        self.assert(term);
        Some(())
    }

    fn choose(&mut self, at: EventId, choices: &[Choice], chosen: usize) -> TermId {
        let mut parts = vec![choices[chosen].gives];
        if let Some(definition) = choices[chosen].at {
            parts.push(self.path[definition.index()]);
            parts.push(self.before(definition, at));
        }
        for other in choices.iter().filter_map(|choice| choice.at).filter(|other| Some(*other) != choices[chosen].at) {
            let earlier = match choices[chosen].at {
                Some(definition) => self.before(other, definition),
                None => self.build.falsity(),
            };
            let later = self.before(at, other);
            parts.push(self.build.or([earlier, later]));
        }
        self.junction(Func::And, parts)
    }

    /// Parts are many and seldom equal: unlike the builder's own, this does not compare them with each other.
    fn junction(&mut self, func: Func, mut parts: Vec<TermId>) -> TermId {
        let neutral = self.build.boolean(func == Func::And);
        let absorbing = self.build.not(neutral);
        if parts.contains(&absorbing) {
            return absorbing;
        }
        parts.retain(|part| *part != neutral);
        match parts[..] {
            [] => neutral,
            [only] => only,
            _ => self.build.terms.app(func, &parts).expect("all parts are Boolean"),
        }
    }

    /// Φ_AV of the candidate.
    fn violation(&mut self, guarded: Option<Pattern>) {
        let Triple { first, remote, second } = self.triple;
        for event in [first, remote, second] {
            self.assert(self.path[event.index()]);
        }
        for (earlier, later) in [(first, remote), (remote, second)] {
            let order = self.before(earlier, later);
            self.assert(order);
        }
        if let Some(pattern) = guarded {
            let [f, r, s] = pattern.writes();
            for pair in [((first, f), (remote, r)), ((remote, r), (second, s))] {
                let dependent = self.dependent(pair.0, pair.1);
                self.assert(dependent);
            }
        }
    }

    /// ¬c_G, rules 4a and 4b of Definition 2.
    fn dependent(&mut self, (a, a_writes): (EventId, bool), (b, b_writes): (EventId, bool)) -> TermId {
        let cell = Cell::Var(self.view.trace.event(a).op.var().expect("a candidate is made of accesses"));
        let left = if a_writes { self.written(a) } else { self.value_used(a, cell) };
        let right = if b_writes { self.written(b) } else { self.value_used(a, cell) };
        let equal = self.build.apply(Func::Eq, &[left, right]);
        self.build.not(equal)
    }
}

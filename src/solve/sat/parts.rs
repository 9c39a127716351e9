//! The SAT solver with its theory, and how what constraints speak of becomes literals.
//!
//! Two kinds of variables are never decided, only forced: whether the prefix holds an event, and whether a read takes its value
//! from a source. What is not forced is false, so that the prefix is as short as it can be. For that to be a model no
//! clause may leave it open which of several of them is true: such a clause speaks of *choices*, variables that are decided
//! and imply them.
//!
//! Where a read has several sources they are tried one after the other, as they are told: "none of the first n" is a
//! variable for each n, which the solver tries to have false first.

use super::Alarm;
use super::clauses::Clauses;
use super::theory::ScheduleTheory;
use crate::solve::partial_order::{AtomId, Place};
use crate::solve::schedules::{Member, Schedules};
use batsat::{Lit, Solver, SolverInterface, SolverOpts, lbool};
use foretrace_encodings::{Atom, Duty, Part};
use foretrace_trace::{EventId, Structure, Trace};
use rustc_hash::FxHashMap;

/// The sources of a read, with their literals.
struct Sources {
    literals: Vec<(Option<EventId>, Lit)>,
    /// That the read needs one.
    needed: Option<Lit>,
}

/// The solver, its theory, and the literals of leaves.
pub(super) struct Parts<'a> {
    trace: &'a Trace,
    structure: &'a Structure,
    pub(super) solver: Solver<Alarm>,
    pub(super) theory: ScheduleTheory,
    /// Whether orders that always hold make a cycle.
    pub(super) contradiction: bool,
    clause: Vec<Lit>,
    /// By number of variable: whether it is never decided.
    forced: Vec<bool>,
    choices: FxHashMap<Lit, Lit>,
    included: FxHashMap<EventId, (Lit, AtomId)>,
    sources: FxHashMap<EventId, Sources>,
}

impl<'a> Parts<'a> {
    pub(super) fn new(trace: &'a Trace, structure: &'a Structure, seed: u32) -> Parts<'a> {
        let mut options = SolverOpts::default();
        options.random_seed += f64::from(seed);
        Parts {
            trace,
            structure,
            solver: Solver::new(options, Alarm(None)),
            theory: ScheduleTheory::new(Schedules::new(trace.threads.len())),
            contradiction: false,
            clause: Vec::new(),
            forced: Vec::new(),
            choices: FxHashMap::default(),
            included: FxHashMap::default(),
            sources: FxHashMap::default(),
        }
    }

    pub(super) fn place(&self, step: EventId) -> Place {
        Place::of(self.trace, self.structure, step)
    }

    /// Tells the theory what it has to see to.
    pub(super) fn tell(&mut self, duty: &Duty) {
        match duty {
            Duty::Region { region, start, end } => {
                let (start, end) = (self.member(start), end.map(|end| self.member(&end)));
                self.theory.schedules.add_region(region.lock, region.shared, start, end);
            }
            Duty::Write { var, write } => {
                let member = self.member(write);
                self.theory.schedules.add_write(write.event, *var, member);
            }
            Duty::Read { var, at, step, sources } => {
                let member = self.member(&Part { event: *at, step: *step, included: None });
                self.theory.schedules.add_read(*at, *var, member);
                let literals = sources.iter().map(|source| self.source(*at, source.as_ref())).collect();
                self.sources.insert(*at, Sources { literals, needed: None });
            }
        }
    }

    fn member(&mut self, part: &Part) -> Member {
        let included = part.included.map(|event| (self.structure.position[event.index()], self.included(event).1));
        let position = self.structure.position[part.event.index()];
        Member { place: self.place(part.step), position, included }
    }

    fn source(&mut self, at: EventId, write: Option<&Part>) -> (Option<EventId>, Lit) {
        let literal = self.forced();
        let source = write.map(|write| write.event);
        let atom = self.theory.schedules.add_source(at, source);
        self.theory.named(atom, literal);
        if let Some(event) = write.and_then(|write| write.included) {
            let included = self.included(event).0;
            self.clause(&[!literal, included]);
        }
        (source, literal)
    }

    /// The literal and the atom of "the prefix holds this event".
    fn included(&mut self, event: EventId) -> (Lit, AtomId) {
        if let Some(known) = self.included.get(&event) {
            return *known;
        }
        let literal = self.forced();
        let thread = self.trace.event(event).thread.0;
        let atom = self.theory.schedules.add_included(thread, self.structure.position[event.index()]);
        self.theory.named(atom, literal);
        self.included.insert(event, (literal, atom));
        (literal, atom)
    }

    /// A new variable that is never decided.
    fn forced(&mut self) -> Lit {
        let var = self.solver.new_var(lbool::UNDEF, false);
        let number = var.idx() as usize;
        self.forced.resize(self.forced.len().max(number + 1), false);
        self.forced[number] = true;
        Lit::new(var, true)
    }

    /// Whether nothing but a clause makes the literal true.
    fn is_forced(&self, literal: Lit) -> bool {
        literal.sign() && self.forced.get(literal.var().idx() as usize).copied().unwrap_or(false)
    }

    /// A literal that is decided and implies this one.
    fn choice(&mut self, literal: Lit) -> Lit {
        if let Some(choice) = self.choices.get(&literal) {
            return *choice;
        }
        let choice = self.fresh();
        self.clause(&[!choice, literal]);
        self.choices.insert(literal, choice);
        choice
    }

    /// The literal of "the read needs a source", which has the solver look for one.
    fn needed(&mut self, at: EventId) -> Lit {
        let sources = &self.sources[&at];
        if let Some(needed) = sources.needed {
            return needed;
        }
        let literals: Vec<Lit> = sources.literals.iter().map(|(_, literal)| *literal).collect();
        let needed = self.forced();
        let mut none_yet = needed;
        for (nth, literal) in literals.iter().enumerate() {
            if nth > 0 {
                self.clause(&[!*literal, none_yet]);
            }
            if nth + 1 == literals.len() {
                self.clause(&[!none_yet, *literal]);
                break;
            }
            let none = self.fresh();
            self.clause(&[!none_yet, *literal, none]);
            self.clause(&[!*literal, !none]);
            if nth > 0 {
                self.clause(&[none_yet, !none]);
            }
            none_yet = none;
        }
        self.sources.get_mut(&at).expect("it was there above").needed = Some(needed);
        needed
    }
}

impl Clauses for Parts<'_> {
    fn fresh(&mut self) -> Lit {
        Lit::new(self.solver.new_var(lbool::UNDEF, true), true)
    }

    fn leaf(&mut self, atom: &Atom) -> Lit {
        match atom {
            Atom::Included(event) => self.included(*event).0,
            Atom::ReadsFrom { at, write } => {
                let sources = self.sources.get(at).into_iter().flat_map(|sources| &sources.literals);
                let found = sources.filter(|(source, _)| source == write).map(|(_, literal)| *literal).next();
                found.unwrap_or_else(|| self.fresh())
            }
            _ => self.fresh(),
        }
    }

    fn has_one_source(&self, at: EventId) -> bool {
        self.sources.contains_key(&at)
    }

    fn some_source(&mut self, unless: &[Lit], at: EventId, sources: &[Option<EventId>]) {
        let mut clause = unless.to_vec();
        if let [source] = sources {
            clause.push(self.leaf(&Atom::ReadsFrom { at, write: *source }));
            return self.clause(&clause);
        }
        clause.push(self.needed(at));
        self.clause(&clause);
        let others = self.sources[&at].literals.iter().filter(|(source, _)| !sources.contains(source));
        for literal in others.map(|(_, literal)| *literal).collect::<Vec<_>>() {
            clause.pop();
            clause.push(!literal);
            self.clause(&clause);
        }
    }

    fn before(&mut self, a: EventId, b: EventId) -> Lit {
        let observed = !self.fresh(); // the solver tries false first
        let (a, b) = (self.place(a), self.place(b));
        self.theory.add_order(a, b, observed);
        observed
    }

    fn clause(&mut self, literals: &[Lit]) {
        let open = literals.iter().filter(|literal| self.is_forced(**literal)).count() > 1;
        let mut clause = std::mem::take(&mut self.clause);
        clause.clear();
        for literal in literals {
            clause.push(if open && self.is_forced(*literal) { self.choice(*literal) } else { *literal });
        }
        self.solver.add_clause_reuse(&mut clause);
        self.clause = clause;
    }
}

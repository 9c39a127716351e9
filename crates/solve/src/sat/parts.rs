//! The SAT solver with its theory, and the literals for the atoms of constraints.
//!
//! Two kinds of variables are never decided, only forced: whether the prefix holds an event, and whether a read takes its value from a
//! source. Variables that are not forced are false, so that the prefix is as short as possible. For that to be a model, no clause may leave
//! open which of several such variables is true: such a clause is over *choices*, variables that are decided and imply them.
//!
//! The clauses that say which sources a read may have are the exception: the theory ensures that one is chosen ([`super::sources`]).

use super::clause_target::Clauses;
use super::sources::Sources;
use super::theory::ScheduleTheory;
use super::timed::Alarm;
use crate::partial_order::{AtomId, StepPosition};
use crate::schedules::{Member, Schedules, WakeId};
use batsat::{Lit, Solver, SolverInterface, SolverOpts, lbool};
use foretrace_encodings::{Atom, Obligation, Participant};
use foretrace_index::TraceIndex;
use foretrace_trace::{EventId, SyncId, Trace};
use rustc_hash::FxHashMap;

/// The solver, its theory, and the literals of leaves.
pub(super) struct Parts<'a> {
    trace: &'a Trace,
    trace_index: &'a TraceIndex,
    pub(super) solver: Solver<Alarm>,
    pub(super) theory: ScheduleTheory,
    /// How many questions the theory was asked in the last search.
    pub(super) spent: u32,
    /// Whether orders that always hold make a cycle.
    pub(super) contradiction: bool,
    clause: Vec<Lit>,
    /// By number of variable: whether it is never decided.
    forced: Vec<bool>,
    choices: FxHashMap<Lit, Lit>,
    included: FxHashMap<EventId, (Lit, AtomId)>,
}

impl<'a> Parts<'a> {
    pub(super) fn new(trace: &'a Trace, trace_index: &'a TraceIndex, seed: u32) -> Parts<'a> {
        let mut options = SolverOpts::default();
        options.random_seed += f64::from(seed);
        Parts {
            trace,
            trace_index,
            solver: Solver::new(options, Alarm::default()),
            theory: ScheduleTheory::new(Schedules::new(trace.threads.len())),
            spent: 0,
            contradiction: false,
            clause: Vec::new(),
            forced: Vec::new(),
            choices: FxHashMap::default(),
            included: FxHashMap::default(),
        }
    }

    pub(super) fn place(&self, step: EventId) -> StepPosition {
        StepPosition::of_step(self.trace, self.trace_index, step)
    }

    /// Tells the theory what it has to see to.
    pub(super) fn post(&mut self, obligation: &Obligation) {
        match obligation {
            Obligation::Region { region, start, end } => {
                let (start, end) = (self.member(start), end.map(|end| self.member(&end)));
                self.theory.schedules.add_region(region.lock, region.shared, start, end);
            }
            Obligation::Wake { cond, wait, wake, signals } => self.wake(*cond, wait, wake, signals),
            Obligation::Write { var, write } => {
                let member = self.member(write);
                self.theory.schedules.add_write(write.event, *var, member);
            }
            Obligation::Read { var, at, step, sources } => {
                let member = self.member(&Participant { event: *at, step: *step, included: None });
                self.theory.schedules.add_read(*at, *var, member);
                self.theory.sources.insert(*at, Sources::new(sources));
            }
        }
    }

    fn wake(&mut self, cond: SyncId, wait: &Participant, wake: &Participant, signals: &[(Participant, bool)]) {
        let (waiting, woken) = (self.member(wait), self.member(wake));
        let id = self.theory.schedules.add_wake(wake.event, cond, waiting, woken);
        let parts: Vec<Option<Participant>> = signals.iter().map(|(signal, _)| Some(*signal)).collect();
        self.theory.sources.insert(wake.event, Sources::new(&parts));
        let literals: Vec<Lit> =
            signals.iter().map(|(signal, serves_all)| self.signal((wake.event, id), signal, *serves_all)).collect();
        let unless: Vec<Lit> = wake.included.map(|event| !self.included(event).0).into_iter().collect();
        self.some_of(&unless, wake.event, literals);
    }

    /// That a wake has this signal.
    fn signal(&mut self, (wake, id): (EventId, WakeId), signal: &Participant, serves_all: bool) -> Lit {
        let (literal, since) = (self.forced(), self.forced());
        let member = self.member(signal);
        let [atom, since_wait] = self.theory.schedules.add_release(id, signal.event, member, serves_all);
        self.theory.named(atom, literal);
        self.theory.named(since_wait, since);
        self.clause(&[!literal, since]);
        if let Some(included) = signal.included {
            let included = self.included(included).0;
            self.clause(&[!literal, included]);
        }
        self.theory.sources[&wake].name(Some(signal.event), literal, atom);
        literal
    }

    /// Unless one of these literals holds, the event has one of these sources.
    fn some_of(&mut self, unless: &[Lit], at: EventId, sources: Vec<Lit>) {
        self.add_clause(unless.iter().chain(&sources).copied());
        if sources.len() > 1 {
            let needed = self.needed(at);
            self.add_clause(unless.iter().copied().chain([needed]));
        }
        self.theory.demand(at, unless.to_vec(), sources);
    }

    fn member(&mut self, part: &Participant) -> Member {
        let included = part.included.map(|event| (self.trace_index.position[event.index()], self.included(event).1));
        let position = self.trace_index.position[part.event.index()];
        Member { place: self.place(part.step), position, included }
    }

    /// The literal of "the read takes its value from there", if that source was told.
    fn source(&mut self, at: EventId, write: Option<EventId>) -> Option<Lit> {
        let (part, known) = self.theory.sources.get(&at)?.find(write)?;
        if known.is_some() {
            return known;
        }
        let literal = self.forced();
        let atom = self.theory.schedules.add_source(at, write);
        self.theory.named(atom, literal);
        self.theory.sources[&at].name(write, literal, atom);
        if let Some(included) = part.and_then(|part| part.included) {
            let included = self.included(included).0;
            self.clause(&[!literal, included]);
        }
        Some(literal)
    }

    /// The literal and the atom of "the prefix holds this event".
    fn included(&mut self, event: EventId) -> (Lit, AtomId) {
        if let Some(known) = self.included.get(&event) {
            return *known;
        }
        let literal = self.forced();
        let thread = self.trace.event(event).thread.0;
        let atom = self.theory.schedules.add_included(thread, self.trace_index.position[event.index()]);
        self.theory.named(atom, literal);
        self.included.insert(event, (literal, atom));
        (literal, atom)
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

    /// The literal of "the read needs a source".
    fn needed(&mut self, at: EventId) -> Lit {
        if let Some(needed) = self.theory.sources[&at].needed {
            return needed;
        }
        let needed = self.forced();
        self.theory.sources[&at].needed = Some(needed);
        needed
    }

    fn add_clause(&mut self, literals: impl IntoIterator<Item = Lit>) {
        let mut clause = std::mem::take(&mut self.clause);
        clause.clear();
        clause.extend(literals);
        self.solver.add_clause_reuse(&mut clause);
        self.clause = clause;
    }
}

impl Clauses for Parts<'_> {
    fn fresh(&mut self) -> Lit {
        Lit::new(self.solver.new_var(lbool::UNDEF, true), true)
    }

    fn forced(&mut self) -> Lit {
        let var = self.solver.new_var(lbool::UNDEF, false);
        let number = var.idx() as usize;
        self.forced.resize(self.forced.len().max(number + 1), false);
        self.forced[number] = true;
        Lit::new(var, true)
    }

    fn leaf(&mut self, atom: &Atom) -> Lit {
        match atom {
            Atom::Included(event) => self.included(*event).0,
            Atom::ReadsFrom { at, write } => self.source(*at, *write).unwrap_or_else(|| self.fresh()),
            _ => self.fresh(),
        }
    }

    fn has_one_source(&self, at: EventId) -> bool {
        self.theory.sources.contains_key(&at)
    }

    fn some_source(&mut self, unless: &[Lit], at: EventId, sources: &[Option<EventId>]) {
        let literals: Vec<Lit> =
            sources.iter().map(|write| self.leaf(&Atom::ReadsFrom { at, write: *write })).collect();
        self.some_of(unless, at, literals);
    }

    fn before(&mut self, a: EventId, b: EventId) -> Lit {
        let observed = !self.fresh(); // the solver tries false first
        let (a, b) = (self.place(a), self.place(b));
        self.theory.add_order(a, b, observed);
        observed
    }

    fn clause(&mut self, literals: &[Lit]) {
        let open = literals.iter().filter(|literal| self.is_forced(**literal)).count() > 1;
        let chosen: Vec<Lit> = literals
            .iter()
            .map(|literal| if open && self.is_forced(*literal) { self.choice(*literal) } else { *literal })
            .collect();
        self.add_clause(chosen);
    }
}

//! The interface between a session and its solver. Verdicts do not depend on the choice of the solver.

use foretrace_encodings::{Atom, Obligation};
use foretrace_trace::{EventId, Func, Node, TermId, Terms};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What a solver says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// There is an assignment.
    Sat,
    /// There is none.
    Unsat,
    /// Neither was found out, and why, where it is not for the time.
    Undecided(Option<String>),
    /// The solver's way with values does not lead there: another one is to be asked.
    Beyond,
}

/// The solver cannot speak of what the term speaks of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Unsupported;

/// When a search must end.
#[derive(Clone, Copy)]
pub(super) struct Until<'a> {
    pub(super) deadline: Instant,
    /// How many steps it may take, where that is bounded.
    pub(super) work: Option<u32>,
    pub(super) stop: &'a AtomicBool,
}

impl Until<'_> {
    pub(super) fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || Instant::now() >= self.deadline
    }

    /// The bound as Z3 has it, by its own count of steps; none is 0.
    pub(super) fn z3_steps(&self) -> u32 {
        const STEPS_OF_Z3: u32 = 1_000;
        self.work.map_or(0, |work| work.saturating_mul(STEPS_OF_Z3))
    }

    /// What is left in milliseconds, at least one.
    pub(super) fn millis(&self) -> u32 {
        let rest = self.deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        u32::try_from(rest.as_millis()).unwrap_or(u32::MAX)
    }
}

/// An incremental solver of constraints.
pub(super) trait Backend {
    /// Adds a constraint that holds for every query.
    fn assert(&mut self, terms: &Terms<Atom>, term: TermId) -> Result<(), Unsupported>;

    /// Sees to something from now on. Only what an encoder for schedules speaks of.
    fn post(&mut self, _: &Obligation) -> Result<(), Unsupported> {
        Err(Unsupported)
    }

    /// Whether what it learned costs it more than it gains: a new one that is told the same should go on.
    fn is_worn(&self) -> bool {
        false
    }

    /// Begins a query with these goals.
    fn begin(&mut self, terms: &Terms<Atom>, goals: &[TermId]) -> Result<(), Unsupported>;

    /// Decides the query begun, with one more assumption where there is one.
    fn ask(&mut self, terms: &Terms<Atom>, assumed: Option<TermId>, until: Until<'_>) -> Outcome;

    /// Whether there might be an assignment without what was assumed, after there was none with it.
    fn may_need_assumed(&self) -> bool {
        true
    }

    /// Ends the query begun.
    fn end(&mut self);

    /// Whether a Boolean term is true under the last assignment.
    fn is_true(&mut self, terms: &Terms<Atom>, term: TermId) -> bool;

    /// The step's place under the last assignment; equal ones are in observed order.
    fn place(&self, step: EventId) -> i64;

    /// The value of a term under the last assignment.
    #[cfg(test)]
    fn value(&mut self, terms: &Terms<Atom>, term: TermId) -> foretrace_trace::Value;
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

//! Ends a search in time: the solver often calls the theory, which then looks at the clock and at the flag.
//! Cutting the search into timed pieces instead would give other assignments on a slower machine.

use super::theory::ScheduleTheory;
use crate::backend::Until;
use batsat::{Callbacks, Lit, Theory, TheoryArg};
use std::cell::Cell;
use std::rc::Rc;

/// How many questions go by between two looks.
const SELDOM: u32 = 32;

/// Whether the solver is to end its search.
#[derive(Clone, Default)]
pub(super) struct Alarm(Rc<Cell<bool>>);

impl Alarm {
    pub(super) fn set(&self, rings: bool) {
        self.0.set(rings);
    }
}

impl Callbacks for Alarm {
    fn stop(&self) -> bool {
        self.0.get()
    }
}

/// The theory, and when the search is over.
pub(super) struct Timed<'t> {
    theory: &'t mut ScheduleTheory,
    until: Until<'t>,
    alarm: Alarm,
    asked: u32,
}

impl<'t> Timed<'t> {
    pub(super) fn new(theory: &'t mut ScheduleTheory, until: Until<'t>, alarm: Alarm) -> Timed<'t> {
        alarm.set(until.is_over());
        Timed { theory, until, alarm, asked: 0 }
    }

    /// How many questions there were.
    pub(super) fn asked(&self) -> u32 {
        self.asked
    }

    fn look(&mut self) {
        self.asked += 1;
        let is_spent = self.until.work.is_some_and(|work| self.asked > work);
        if is_spent || self.asked.is_multiple_of(SELDOM) && self.until.is_over() {
            self.alarm.set(true);
        }
    }
}

impl Theory for Timed<'_> {
    fn final_check(&mut self, solver: &mut TheoryArg) {
        self.look();
        self.theory.final_check(solver);
    }

    fn create_level(&mut self) {
        self.theory.create_level();
    }

    fn pop_levels(&mut self, levels: usize) {
        self.theory.pop_levels(levels);
    }

    fn n_levels(&self) -> usize {
        self.theory.n_levels()
    }

    fn partial_check(&mut self, solver: &mut TheoryArg) {
        self.look();
        self.theory.partial_check(solver);
    }

    fn explain_propagation(&mut self, literal: Lit) -> &[Lit] {
        self.theory.explain_propagation(literal)
    }
}

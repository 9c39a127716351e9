//! Runs that show what no run has shown: a call that comes out otherwise, a thread that is held at a place, two places in the other order.
//!
//! This is steering by coverage. There are few places even if there are many interleavings, so the search ends for larger programs, too. What
//! concerns the program's own code comes first: libraries have many more places. A failure that needs several changes at once may be missed,
//! unless each of them shows something new.

use super::execution::{Execution, Taken};
use super::executions::Executions;
use super::holds::{Hold, calls_of_own_code, conflicting_later, holds};
use super::outcomes::Outcomes;
use super::reversals::{Pair, meetings, reversed};
use super::schedule::Then;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::rc::Rc;

/// Sees a run, and the path of a thread whose wait in the kernel ended by its time limit there.
pub type Each<'e> = dyn FnMut(&Rc<Execution>, Option<String>) -> ControlFlow<()> + 'e;

/// Runs that wait to be looked at: each keeps its recording.
const MOST_WAITING: usize = 64;
/// Others make at most so many times the records of the run while a thread is held: one that waits for it in a loop makes no end of them.
const HELD_TIMES: u64 = 2;
/// And at least so many.
const HELD_LEAST: u64 = 2_000;

/// Makes runs that show something new, until there are none or `each`, which sees all runs, wants no more.
pub fn cover(executions: &mut Executions<'_>, each: &mut Each<'_>) {
    let mut search = Search {
        executions,
        each,
        outcomes: Outcomes::default(),
        seen: FxHashSet::default(),
        tried: FxHashSet::default(),
        held: FxHashSet::default(),
        waiting: Vec::new(),
        held_in: VecDeque::new(),
        libraries: VecDeque::new(),
    };
    let _ = search.all(); // what ends it, the caller knows
}

/// A run, how many of its steps were forced, and how many orders it was the first to show.
struct Known {
    run: Rc<Execution>,
    forced: usize,
    new: usize,
}

struct Search<'s, 'e> {
    executions: &'s mut Executions<'e>,
    each: &'s mut Each<'s>,
    outcomes: Outcomes,
    /// Pairs that runs have shown, and those that were forced.
    seen: FxHashSet<Pair>,
    tried: FxHashSet<Pair>,
    /// Where threads were held.
    held: FxHashSet<(u64, u64)>,
    /// Runs that nothing has been tried on, those whose threads were held, and those of which what concerns the program's own code was tried.
    waiting: Vec<Known>,
    held_in: VecDeque<Known>,
    libraries: VecDeque<Known>,
}

impl Search<'_, '_> {
    fn all(&mut self) -> ControlFlow<()> {
        let Some(first) = self.executions.along(&[], None) else { return ControlFlow::Break(()) };
        (self.each)(&first, None)?;
        let new = self.learn(&first);
        self.wait(first, 0, new);
        loop {
            if let Some(known) = self.next() {
                self.outcomes_of(&known)?;
                self.holds_of(&known, true)?;
                self.held_in.push_back(known);
            } else if let Some(known) = self.held_in.pop_front() {
                self.reversals_of(&known, true)?;
                if self.libraries.len() < MOST_WAITING {
                    self.libraries.push_back(known);
                }
            } else if let Some(known) = self.libraries.pop_front() {
                self.reversals_of(&known, false)?;
                self.holds_of(&known, false)?;
            } else {
                return ControlFlow::Continue(());
            }
        }
    }

    /// The run that nothing has been tried on and that showed most.
    fn next(&mut self) -> Option<Known> {
        let most = self.waiting.iter().enumerate().rev().max_by_key(|(_, known)| known.new)?.0;
        Some(self.waiting.remove(most))
    }

    fn outcomes_of(&mut self, known: &Known) -> ControlFlow<()> {
        for wanted in self.outcomes.wanted(&known.run, known.forced) {
            let late = |run: &Execution| wanted.late_in(run);
            if let Some(other) = self.run(&wanted.steps, Then::Step(wanted.last), &late)? {
                let new = self.learn(&other);
                self.wait(other, wanted.steps.len() + 1, new);
            }
        }
        ControlFlow::Continue(())
    }

    fn holds_of(&mut self, Known { run, forced, .. }: &Known, first: bool) -> ControlFlow<()> {
        let records = (HELD_TIMES * run.steps.len() as u64).max(HELD_LEAST);
        let is_own = self.is_own(run);
        for Hold { thread, before, places, is_first } in holds(run, *forced, &is_own) {
            if is_first != first || !self.held.insert(places) {
                continue;
            }
            let steps = &run.steps[..before];
            let Some(other) = self.run(steps, Then::Hold(thread, records), &|_| None)? else { continue };
            let new = self.learn(&other);
            if new > 0 {
                self.wait(other, before, new);
            }
        }
        ControlFlow::Continue(())
    }

    fn reversals_of(&mut self, Known { run, .. }: &Known, first: bool) -> ControlFlow<()> {
        let called = calls_of_own_code(run, &self.is_own(run), &conflicting_later(run));
        for meeting in meetings(run) {
            let wanted = (meeting.pair.1, meeting.pair.0);
            let is_first = called[meeting.earlier] || called[meeting.later];
            if is_first != first || self.seen.contains(&wanted) || self.tried.contains(&wanted) {
                continue;
            }
            let Some((steps, last)) = reversed(run, &meeting) else { continue };
            self.tried.insert(wanted);
            let Some(other) = self.run(&steps, Then::Step(last), &|_| None)? else { continue };
            let new = self.learn(&other);
            if new > 0 {
                self.wait(other, steps.len() + 1, new);
            }
        }
        ControlFlow::Continue(())
    }

    fn is_own(&mut self, run: &Execution) -> Vec<bool> {
        run.steps.iter().map(|step| self.executions.is_own(step.place)).collect()
    }

    fn wait(&mut self, run: Rc<Execution>, forced: usize, new: usize) {
        if self.waiting.len() + self.held_in.len() < MOST_WAITING {
            self.waiting.push(Known { run, forced, new });
        }
    }

    /// A run along these steps and what follows, if the program follows them. Whose wait ended by its limit, `late` says.
    fn run(
        &mut self,
        steps: &[Taken],
        next: Then,
        late: &dyn Fn(&Execution) -> Option<usize>,
    ) -> ControlFlow<(), Option<Rc<Execution>>> {
        if self.executions.is_at_end() {
            return ControlFlow::Break(());
        }
        let run = self.executions.along(steps, Some(next));
        if let Some(run) = &run {
            let late = late(run).map(|thread| self.executions.threads.path(thread).to_string());
            (self.each)(run, late)?;
        }
        ControlFlow::Continue(run)
    }

    /// Takes note of what the run shows; of how many orders it is the first to show.
    fn learn(&mut self, run: &Execution) -> usize {
        self.outcomes.see(run);
        let before = self.seen.len();
        self.seen.extend(meetings(run).iter().map(|meeting| meeting.pair));
        self.seen.len() - before
    }
}

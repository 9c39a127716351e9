//! Runs that show what no run has shown: a call that comes out otherwise, a thread that is held at a place, two places in the other order.
//!
//! This is steering by coverage. There are few places even if there are many interleavings, so the search ends for larger programs, too. What
//! concerns the program's own code comes first: libraries have many more places. A failure that needs several changes at once may be missed,
//! unless each of them shows something new.

use super::execution::{Execution, Taken};
use super::executions::Executions;
use super::given_back::given_back;
use super::holds::{Hold, Looked};
use super::outcomes::Outcomes;
use super::reversals::{Meeting, Pair, meetings, reversed};
use super::schedule::Then;
use super::spin::repeats;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::rc::Rc;

/// Sees a run, and the path of a thread whose wait in the kernel ended by its time limit there.
pub type Each<'e> = dyn FnMut(&Rc<Execution>, Option<String>) -> ControlFlow<()> + 'e;

/// Steps of all runs that wait to be looked at, which also keep their recordings; but so many runs may wait in any case.
const MOST_STEPS: usize = 1_000_000;
const LEAST_WAITING: usize = 16;
/// Holds are tried again after other orders until there are so many times as many runs as before: there is no end of orders in a large program.
const AGAIN_TIMES: u64 = 3;
/// Others make at most so many times the records of the run while a thread is held: one that waits for it in a loop makes no end of them.
const HELD_TIMES: u64 = 2;
/// And at least so many.
const HELD_LEAST: u64 = 2_000;

/// Makes runs that show something new, until there are none or `each`, which sees all runs, wants no more.
pub fn cover(executions: &mut Executions<'_>, each: &mut Each<'_>) {
    executions.ask_for_writers();
    let mut search = Search {
        executions,
        each,
        outcomes: Outcomes::default(),
        shown: FxHashSet::default(),
        seen: FxHashSet::default(),
        tried: FxHashSet::default(),
        held: FxHashSet::default(),
        held_after: FxHashSet::default(),
        most_again: 0,
        classes: FxHashSet::default(),
        of_freed: VecDeque::new(),
        places_of_freed: FxHashSet::default(),
        waiting: Vec::new(),
        held_in: VecDeque::new(),
        with_calls: VecDeque::new(),
        again: VecDeque::new(),
        libraries: VecDeque::new(),
    };
    let _ = search.all(); // what ends it, the caller knows
}

/// A run, how many of its steps were forced, and how many orders it was the first to show; none of the very first run, which shows all of its.
#[derive(Clone)]
struct Known {
    looked: Rc<Looked>,
    forced: usize,
    new: usize,
    /// Whether a thread was held in it, or in the run that it comes from.
    is_held: bool,
}

struct Search<'s, 'e> {
    executions: &'s mut Executions<'e>,
    each: &'s mut Each<'s>,
    outcomes: Outcomes,
    /// Pairs that runs have shown, those of runs in which no thread was held, and those that were forced.
    shown: FxHashSet<Pair>,
    seen: FxHashSet<Pair>,
    tried: FxHashSet<Pair>,
    /// Where threads were held, and after which orders.
    held: FxHashSet<(u64, u64)>,
    held_after: FxHashSet<((u64, u64), u64)>,
    /// Runs after which holds are not tried again after other orders.
    most_again: u64,
    /// Classes of equivalent runs.
    classes: FxHashSet<u64>,
    /// Holds before accesses of memory that another thread frees later, which come first: there are few, and each tells of a use after free. The
    /// places of those that were found.
    of_freed: VecDeque<(Rc<Looked>, Hold)>,
    places_of_freed: FxHashSet<(u64, u64)>,
    /// Runs with holds that are still to be tried, those with none left, those of which pairs in the program's own code were reversed, too, and those
    /// whose holds were tried again after other orders.
    waiting: Vec<(Known, VecDeque<Hold>)>,
    /// Runs whose calls are still to come out otherwise.
    with_calls: VecDeque<Known>,
    held_in: VecDeque<Known>,
    again: VecDeque<Known>,
    libraries: VecDeque<Known>,
}

impl Search<'_, '_> {
    fn all(&mut self) -> ControlFlow<()> {
        let Some(first) = self.executions.along(&[], None) else { return ControlFlow::Break(()) };
        (self.each)(&first, None)?;
        self.learn(&first, false);
        let looked = self.look(&first);
        self.wait(Known { looked, forced: 0, new: 0, is_held: false });
        loop {
            if let Some((looked, hold)) = self.of_freed.pop_front() {
                self.hold(&looked, &hold)?;
            } else if let Some((known, hold)) = self.next_hold(true) {
                self.hold(&known.looked, &hold)?;
            } else if let Some(known) = self.with_calls.pop_front() {
                self.outcomes_of(&known)?;
            } else if let Some((known, hold)) = self.next_hold(false) {
                self.hold(&known.looked, &hold)?;
            } else if let Some(known) = self.next_to_reverse() {
                self.reversals_of(&known, true)?;
                self.again.push_back(known);
            } else if let Some(known) = self.again.pop_front() {
                if self.most_again == 0 {
                    self.most_again = AGAIN_TIMES * self.executions.runs;
                }
                for hold in known.looked.holds_after(known.forced, true) {
                    if self.executions.runs < self.most_again {
                        self.hold(&known.looked, hold)?;
                    }
                }
                self.libraries.push_back(known);
            } else if let Some(known) = self.libraries.pop_front() {
                self.reversals_of(&known, false)?;
                for hold in known.looked.holds_after(known.forced, false) {
                    self.hold(&known.looked, hold)?;
                }
            } else {
                return ControlFlow::Continue(());
            }
        }
    }

    /// The next hold in the run that showed most, of those that have one: near code of the program's writer, or anywhere.
    fn next_hold(&mut self, near: bool) -> Option<(Known, Hold)> {
        loop {
            let fits = |(_, holds): &(Known, VecDeque<Hold>)| !near || holds.front().is_some_and(|hold| hold.is_near);
            let fitting = self.waiting.iter().enumerate().rev().filter(|(_, waiting)| fits(waiting));
            let most = fitting.max_by_key(|(_, (known, _))| known.new)?.0;
            let (known, holds) = &mut self.waiting[most];
            match holds.pop_front() {
                Some(hold) if self.held.contains(&hold.places) => {}
                Some(hold) => return Some((known.clone(), hold)),
                None => {
                    let (known, _) = self.waiting.remove(most);
                    self.held_in.push_back(known);
                }
            }
        }
    }

    /// The next run whose holds were tried. Each two places are reversed once, and where threads were held less is as usual.
    fn next_to_reverse(&mut self) -> Option<Known> {
        let usual = self.held_in.iter().position(|known| !known.is_held);
        self.held_in.remove(usual.unwrap_or(0))
    }

    fn outcomes_of(&mut self, known: &Known) -> ControlFlow<()> {
        for wanted in self.outcomes.wanted(&known.looked.run, known.forced) {
            let late = |run: &Execution| wanted.late_in(run);
            if let Some(other) = self.run(&wanted.steps, wanted.last, &late)? {
                let new = self.learn(&other, known.is_held);
                let looked = self.look(&other);
                self.wait(Known { looked, forced: wanted.steps.len() + 1, new, is_held: known.is_held });
            }
        }
        ControlFlow::Continue(())
    }

    fn look(&mut self, run: &Rc<Execution>) -> Rc<Looked> {
        let steps = run.steps.iter().zip(&run.in_written);
        let is_own: Vec<bool> = steps.map(|(step, written)| *written || self.executions.is_own(step.place)).collect();
        let repeats = repeats(&run.steps, &mut self.executions.objects);
        let given_back = given_back(run, |frees| self.executions.objects.pieces(frees));
        let looked = Rc::new(Looked::at(run.clone(), &is_own, &repeats, &given_back));
        // The run may have been forced to go that way after such an access: holds before that count, too.
        for hold in &looked.of_freed {
            if self.places_of_freed.insert(hold.places) {
                self.of_freed.push_back((looked.clone(), hold.clone()));
            }
        }
        looked
    }

    fn hold(&mut self, looked: &Looked, hold: &Hold) -> ControlFlow<()> {
        let run = &looked.run;
        self.held.insert(hold.places);
        if !self.held_after.insert((hold.places, hold.order)) {
            return ControlFlow::Continue(());
        }
        let records = (HELD_TIMES * run.steps.len() as u64).max(HELD_LEAST);
        let held = Then::Hold(hold.thread, records);
        let Some(other) = self.run(&run.steps[..hold.before], held, &|_| None)? else {
            return ControlFlow::Continue(());
        };
        let new = self.learn(&other, true);
        let looked = self.look(&other);
        if self.classes.insert(looked.class) || new > 0 {
            self.wait(Known { looked, forced: hold.before, new, is_held: true });
        }
        ControlFlow::Continue(())
    }

    fn reversals_of(&mut self, Known { looked, is_held, .. }: &Known, first: bool) -> ControlFlow<()> {
        let run = &looked.run;
        for meeting in meetings(run) {
            let wanted = (meeting.pair.1, meeting.pair.0);
            if looked.is_first(&meeting) != first || self.seen.contains(&wanted) || self.tried.contains(&wanted) {
                continue;
            }
            let Some((steps, last)) = reversed(run, &meeting) else { continue };
            self.tried.insert(wanted);
            let Some(other) = self.run(&steps, Then::Step(last), &|_| None)? else { continue };
            let new = self.learn(&other, *is_held);
            if new > 0 {
                let looked = self.look(&other);
                self.wait(Known { looked, forced: steps.len() + 1, new, is_held: *is_held });
            }
        }
        ControlFlow::Continue(())
    }

    /// Has a run wait that showed something new.
    fn wait(&mut self, known: Known) {
        while self.is_full() {
            // Those of which most was tried have least to show.
            if self.libraries.pop_back().or_else(|| self.again.pop_back()).is_none() {
                break;
            }
        }
        if !self.is_full() {
            self.with_calls.push_back(known.clone());
            let holds = known.looked.holds_after(known.forced, true).cloned().collect();
            self.waiting.push((known, holds));
        }
    }

    fn is_full(&self) -> bool {
        let queues = self.with_calls.iter().chain(&self.held_in).chain(&self.again).chain(&self.libraries);
        let kept = self.waiting.iter().map(|(known, _)| known).chain(queues).map(|known| known.looked.run.steps.len());
        let (runs, steps) = kept.fold((0, 0), |(runs, steps), own| (runs + 1, steps + own));
        runs >= LEAST_WAITING && steps >= MOST_STEPS
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

    /// Takes note of what the run shows; of how many orders it is the first to show. In a run that holds a thread two places come in some order
    /// since much else did, so that they are still reversed alone.
    fn learn(&mut self, run: &Execution, is_held: bool) -> usize {
        self.outcomes.see(run);
        let (shown, seen) = (self.shown.len(), self.seen.len());
        for Meeting { pair, .. } in meetings(run) {
            self.shown.insert(pair);
            if !is_held {
                self.seen.insert(pair);
            }
        }
        if is_held { self.shown.len() - shown } else { self.seen.len() - seen }
    }
}

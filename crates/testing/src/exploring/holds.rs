//! Places before which a thread is held until no other can go on.
//!
//! A run of delay bounding (Emmi, Qadeer and Rakamarić, "Delay-Bounded Scheduling", POPL 2011): one thread loses its turn once, and all others
//! go as far as they can. So whole operations of other threads come between two accesses, which reversed pairs do one by one. Holds are of use
//! before accesses that another thread's later ones conflict with, and before those of memory that another thread gives back later.

use super::bare::bare;
use super::execution::{Execution, Taken};
use super::reversals::{Meeting, meets_at};
use foretrace_runtime::record::Kind;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// Two places in the program.
type Places = (u64, u64);

/// A hold.
#[derive(Clone)]
pub struct Hold {
    /// The thread.
    pub thread: usize,
    /// The step before which it is held.
    pub before: usize,
    /// The place of its last step in the program's own code, and the place before which it stands: each two are tried once.
    pub places: Places,
    /// The order of conflicting steps before it, as a number: each two places are tried again after other orders.
    pub order: u64,
    /// Whether it comes first: it stands in the program's own code or where that has just called a library, and what it did since the hold
    /// before may have been seen by others.
    pub is_first: bool,
    /// Whether it comes first of these: the own code is that of the program's writer, not what a crate has made of it.
    pub is_near: bool,
    /// When it comes among those at the same two places after the same conflicting step: the first of them, the last one, then the one in the
    /// middle, and so on by halves.
    pub turn: u32,
}

/// What is asked of a run again and again.
pub struct Looked {
    /// The run.
    pub run: Rc<Execution>,
    /// Of each step, whether it is in the program's own code, or the first of its thread that matters after some of that.
    called: Vec<bool>,
    /// The holds that may change what it does.
    holds: Vec<Hold>,
    /// Those of them before accesses of memory that another thread gives back later, in no order with them.
    pub of_freed: Vec<Hold>,
    /// The order of its conflicting steps, as a number: equal for equivalent executions.
    pub class: u64,
}

impl Looked {
    /// At a run of which `is_own` says which steps are in the program's own code, `repeats` which belong to rounds of loops that found the same
    /// as the round before, and `given_back` which access memory that another thread gives back later, in no order with them.
    pub fn at(run: Rc<Execution>, is_own: &[bool], repeats: &[bool], given_back: &[bool]) -> Looked {
        let mut matters = conflicting_later(&run);
        matters.iter_mut().zip(given_back).for_each(|(matters, given_back)| *matters |= given_back);
        let called = calls_of_own_code(&run, is_own, &matters);
        let called_near = calls_of_own_code(&run, &run.in_written, &matters);
        let orders = classes(&run, repeats);
        let mut holds = holds(&run, is_own, (&matters, &called, &orders));
        holds.iter_mut().for_each(|hold| hold.is_near = hold.is_first && called_near[hold.before]);
        let bare = bare(&run);
        holds.sort_by_key(|hold| (!hold.is_near, !bare[hold.before], hold.turn));
        let of_freed = holds.iter().filter(|hold| given_back[hold.before]).cloned().collect();
        Looked { called, holds, of_freed, class: orders.last().copied().unwrap_or(0), run }
    }

    /// The holds after so many steps that come first, or the others.
    pub fn holds_after(&self, after: usize, first: bool) -> impl Iterator<Item = &Hold> {
        self.holds.iter().filter(move |hold| hold.before >= after && hold.is_first == first)
    }

    /// Whether a meeting comes first: one of its steps is called by the program's own code.
    pub fn is_first(&self, meeting: &Meeting) -> bool {
        self.called[meeting.earlier] || self.called[meeting.later]
    }
}

/// The holds that may change what a run does. Of each step is known whether it matters, whether own code calls it, and the order before it.
fn holds(run: &Execution, is_own: &[bool], (matters, called, orders): (&[bool], &[bool], &[u64])) -> Vec<Hold> {
    let mut last_own: FxHashMap<usize, u64> = FxHashMap::default();
    let mut was_fresh: FxHashMap<usize, bool> = FxHashMap::default();
    let mut users: FxHashMap<u64, (Two, bool)> = FxHashMap::default();
    let mut last_conflicting: FxHashMap<usize, u64> = FxHashMap::default();
    let mut same: FxHashMap<(Option<u64>, Places), Vec<usize>> = FxHashMap::default();
    let mut found = Vec::new();
    for (before, step) in run.steps.iter().enumerate() {
        if let Some((object, changes)) = concerns(step) {
            let (users, is_filled) = users.entry(object).or_default();
            *is_filled |= changes;
            // A thread that fills memory of its own is held before it begins with that. What it finds there first, others have left.
            let is_fresh = *is_filled && users.iter().flatten().all(|user| *user == step.thread);
            note(users, step.thread);
            if matters[before] {
                let goes_on_filling = was_fresh.insert(step.thread, is_fresh).unwrap_or(false) && is_fresh;
                let places = (last_own.get(&step.thread).copied().unwrap_or(0), step.place);
                let is_first = called[before] && !goes_on_filling;
                let after = last_conflicting.insert(step.thread, step.place);
                same.entry((after, places)).or_default().push(found.len());
                found.push(Hold {
                    thread: step.thread,
                    before,
                    places,
                    order: orders[before],
                    is_first,
                    is_near: false,
                    turn: 0,
                });
            }
        }
        if is_own[before] {
            last_own.insert(step.thread, step.place);
        }
    }
    // What a loop does late in a run may show what its first rounds do not.
    for same in same.into_values() {
        same.iter().enumerate().for_each(|(at, hold)| found[*hold].turn = turn(at, same.len() - 1));
    }
    found
}

/// When one of several comes: the first, the last one, then the one in the middle, and so on by halves.
fn turn(at: usize, last: usize) -> u32 {
    let (mut low, mut high) = (0, last);
    if at == low {
        return 0;
    }
    let mut turn = 1;
    while at != high {
        let middle = low.midpoint(high);
        if at <= middle {
            high = middle
        } else {
            low = middle
        }
        turn += 1;
    }
    turn
}

/// The order of conflicting steps before each step of an execution, and at its end, as a number. How often a thread went through a loop in which it
/// waits makes no difference.
fn classes(run: &Execution, repeats: &[bool]) -> Vec<u64> {
    // Of each object, its last change, and the uses since then.
    let mut objects: FxHashMap<u64, (u64, u64)> = FxHashMap::default();
    let mut taken: FxHashMap<usize, u64> = FxHashMap::default();
    let mut classes: Vec<u64> = vec![0];
    for (step, repeats) in run.steps.iter().zip(repeats) {
        let mut class = *classes.last().unwrap_or(&0);
        if let Some((object, changes)) = concerns(step).filter(|_| !repeats) {
            let taken = taken.entry(step.thread).or_default();
            *taken += 1;
            let (last, uses) = objects.entry(object).or_default();
            let own = hash((step.thread, *taken, step.place, *last, if changes { *uses } else { 0 }));
            class = class.wrapping_add(own);
            (*last, *uses) = if changes { (own, 0) } else { (*last, uses.wrapping_add(own)) };
        }
        classes.push(class);
    }
    classes
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Of each step, whether it is in the program's own code, or the first of its thread that matters after some of that.
fn calls_of_own_code(run: &Execution, is_own: &[bool], matters: &[bool]) -> Vec<bool> {
    let mut comes_from_own: FxHashMap<usize, bool> = FxHashMap::default();
    let steps = run.steps.iter().zip(is_own).zip(matters);
    let called = steps.map(|((step, own), matters)| {
        let from_own = comes_from_own.entry(step.thread).or_insert(true);
        *from_own |= own;
        if *matters { std::mem::replace(from_own, *own) } else { *own }
    });
    called.collect()
}

/// Of each step, whether a later one of another thread conflicts with it.
fn conflicting_later(run: &Execution) -> Vec<bool> {
    // Of each object, who uses it later, and who changes it.
    let mut later: FxHashMap<u64, (Two, Two)> = FxHashMap::default();
    let mut conflicts = vec![false; run.steps.len()];
    for (index, step) in run.steps.iter().enumerate().rev() {
        let Some((object, changes)) = concerns(step) else { continue };
        let (uses, changed) = later.entry(object).or_default();
        let others = if changes { *uses } else { *changed };
        conflicts[index] = others.iter().flatten().any(|thread| *thread != step.thread);
        note(uses, step.thread);
        if changes {
            note(changed, step.thread);
        }
    }
    conflicts
}

/// The first two threads of some: enough to know whether another one is among them.
type Two = [Option<usize>; 2];

fn note(threads: &mut Two, thread: usize) {
    if !threads.contains(&Some(thread))
        && let Some(free) = threads.iter_mut().find(|known| known.is_none())
    {
        *free = Some(thread);
    }
}

/// What a step uses, conditions and counts included, and whether it changes that.
pub(super) fn concerns(step: &Taken) -> Option<(u64, bool)> {
    let is_other = (Kind::Acquire..=Kind::BarrierInit).contains(&step.kind) && step.words[0] != 0;
    meets_at(step).or_else(|| is_other.then_some((step.words[0], true)))
}

#[cfg(test)]
mod tests {
    use super::super::execution::step;
    use super::*;

    /// Thread 1 reads and writes words that thread 2 writes later.
    fn run(in_written: [bool; 3]) -> Rc<Execution> {
        let own = [Kind::Load4, Kind::Load4, Kind::Store4].into_iter().zip([128, 256, 512]);
        let own = own.enumerate().map(|(place, (kind, word))| step(1, kind, place as u64, word, 0));
        let other = [128, 256, 512].map(|word| step(2, Kind::Store4, 20, word, 1));
        Rc::new(Execution::of_steps(own.chain(other).collect(), in_written.into_iter().chain([false; 3]).collect()))
    }

    fn looked(run: &Rc<Execution>, is_own: [bool; 3], repeats: [bool; 6]) -> Looked {
        let is_own: Vec<bool> = is_own.into_iter().chain([false; 3]).collect();
        Looked::at(run.clone(), &is_own, &repeats, &[false; 6])
    }

    fn places(looked: &Looked, first: bool) -> Vec<(usize, bool)> {
        looked.holds_after(0, first).map(|hold| (hold.before, hold.is_near)).collect()
    }

    #[test]
    fn holds_near_code_of_the_programs_writer_come_first() {
        let all_own = looked(&run([true, false, false]), [true; 3], [false; 6]);
        assert_eq!(places(&all_own, true), [(0, true), (1, true), (2, false)], "a crate made the last of its own code");
        let called = looked(&run([false, true, false]), [false, true, false], [false; 6]);
        assert_eq!(places(&called, true), [(0, true), (1, true), (2, true)], "a thread begins in code that counts");
        assert!(places(&called, false).is_empty());
    }

    /// What a thread reads first others have left, even if no run shows who did: it fills nothing.
    #[test]
    fn two_reads_in_a_row_are_two_places_to_hold() {
        assert_eq!(places(&looked(&run([true; 3]), [true; 3], [false; 6]), true).len(), 3);
    }

    #[test]
    fn holds_at_the_same_places_take_turns_by_halves() {
        assert_eq!((0..9).map(|at| turn(at, 8)).collect::<Vec<_>>(), [0, 4, 3, 4, 2, 4, 3, 4, 1]);
        let rounds = |thread, kind, seen| (1..6).map(move |round| step(thread, kind, 1, 128 * round, seen));
        let rounds = rounds(1, Kind::Load4, 0).chain(rounds(2, Kind::Store4, 1));
        let run = Rc::new(Execution::of_steps(rounds.collect(), vec![true; 10]));
        let looked = Looked::at(run, &[true; 10], &[false; 10], &[false; 10]);
        let places: Vec<_> = looked.holds_after(0, true).map(|hold| hold.before).collect();
        assert_eq!(
            places,
            [0, 1, 4, 2, 3],
            "the first has another place before it, and of the others the last one comes second"
        );
    }

    /// No later access conflicts with it; the other thread only frees the memory.
    #[test]
    fn an_access_of_memory_that_is_given_back_is_a_place_to_hold() {
        let own =
            [Kind::Load4, Kind::Load4].into_iter().zip([128, 256]).map(|(kind, word)| step(1, kind, word, word, 0));
        let run = Rc::new(Execution::of_steps(own.collect(), vec![true; 2]));
        let looked = |given_back: [bool; 2]| Looked::at(run.clone(), &[true; 2], &[false; 2], &given_back);
        assert!(places(&looked([false; 2]), true).is_empty());
        let found = looked([false, true]);
        assert_eq!(places(&found, true), [(1, true)]);
        assert_eq!(found.of_freed.iter().map(|hold| hold.before).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn rounds_that_repeat_make_no_other_class() {
        let asks = |rounds: usize| -> Rc<Execution> {
            let own = (0..rounds).map(|_| step(1, Kind::Load4, 0, 128, 0)).chain([step(2, Kind::Store4, 20, 128, 1)]);
            Rc::new(Execution::of_steps(own.collect(), vec![true; rounds + 1]))
        };
        let class = |rounds: usize, repeated: usize| {
            let repeats: Vec<bool> = (0..=rounds).map(|at| at >= rounds - repeated && at < rounds).collect();
            Looked::at(asks(rounds), &vec![true; rounds + 1], &repeats, &vec![false; rounds + 1]).class
        };
        assert_eq!(class(1, 0), class(3, 2));
        assert_ne!(class(1, 0), class(3, 0), "each of these found something of its own");
    }
}

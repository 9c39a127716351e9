//! Places before which a thread is held until no other can go on.
//!
//! A run of delay bounding (Emmi, Qadeer and Rakamarić, "Delay-Bounded Scheduling", POPL 2011): one thread loses its turn once, and all others
//! go as far as they can. So whole operations of other threads come between two accesses, which reversed pairs do one by one. Holds are of use
//! before accesses that another thread's later ones conflict with.

use super::execution::{Execution, Taken};
use super::reversals::meets_at;
use foretrace_runtime::record::Kind;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// A hold.
pub struct Hold {
    /// The thread.
    pub thread: usize,
    /// The step before which it is held.
    pub before: usize,
    /// The place of its last step in the program's own code, and the place before which it stands: each two are tried once.
    pub places: (u64, u64),
    /// The order of conflicting steps before it, as a number: each two places are tried again after other orders.
    pub order: u64,
    /// Whether it comes first: it stands in the program's own code or where that has just called a library, and what it did since the hold
    /// before may have been seen by others.
    pub is_first: bool,
}

/// The holds after so many steps that may change what a run does; `is_own` says which steps are in the program's own code.
pub fn holds(run: &Execution, after: usize, is_own: &[bool]) -> Vec<Hold> {
    let matters = conflicting_later(run);
    let called = calls_of_own_code(run, is_own, &matters);
    let orders = classes(run);
    let mut last_own: FxHashMap<usize, u64> = FxHashMap::default();
    let mut was_fresh: FxHashMap<usize, bool> = FxHashMap::default();
    let mut users: FxHashMap<u64, Two> = FxHashMap::default();
    let mut found = Vec::new();
    for (before, step) in run.steps.iter().enumerate() {
        if let Some((object, _)) = concerns(step) {
            let users = users.entry(object).or_default();
            // A thread that fills memory of its own is held before it begins with that.
            let is_fresh = users.iter().flatten().all(|user| *user == step.thread);
            note(users, step.thread);
            if matters[before] {
                let goes_on_filling = was_fresh.insert(step.thread, is_fresh).unwrap_or(false) && is_fresh;
                if before >= after {
                    let places = (last_own.get(&step.thread).copied().unwrap_or(0), step.place);
                    let is_first = called[before] && !goes_on_filling;
                    found.push(Hold { thread: step.thread, before, places, order: orders[before], is_first });
                }
            }
        }
        if is_own[before] {
            last_own.insert(step.thread, step.place);
        }
    }
    found
}

/// The order of conflicting steps of an execution, as a number: equal for equivalent executions.
pub fn class(run: &Execution) -> u64 {
    classes(run).last().copied().unwrap_or(0)
}

/// The same before each step, and at the end.
fn classes(run: &Execution) -> Vec<u64> {
    // Of each object, its last change, and the uses since then.
    let mut objects: FxHashMap<u64, (u64, u64)> = FxHashMap::default();
    let mut classes: Vec<u64> = vec![0];
    for step in &run.steps {
        let mut class = *classes.last().unwrap_or(&0);
        if let Some((object, changes)) = concerns(step) {
            let (last, uses) = objects.entry(object).or_default();
            let own = hash((step.thread, step.at, step.place, *last, if changes { *uses } else { 0 }));
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
pub fn calls_of_own_code(run: &Execution, is_own: &[bool], matters: &[bool]) -> Vec<bool> {
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
pub fn conflicting_later(run: &Execution) -> Vec<bool> {
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
fn concerns(step: &Taken) -> Option<(u64, bool)> {
    let is_other = (Kind::Acquire..=Kind::BarrierInit).contains(&step.kind) && step.words[0] != 0;
    meets_at(step).or_else(|| is_other.then_some((step.words[0], true)))
}

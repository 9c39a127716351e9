//! Accesses without care of other threads: a thread uses memory that it has used before, others use it, too, and no lock is ever held there.
//! Memory that one thread fills counts from when another one uses it (after Savage et al., "Eraser", TOCS 1997).

use super::execution::{Execution, Taken};
use super::reversals::{Held, meets_at};
use foretrace_runtime::record::Kind;
use rustc_hash::FxHashMap;

/// What is known of a word of memory.
#[derive(Default)]
struct Word {
    threads: Vec<usize>,
    /// Another thread may have used it.
    is_shared: bool,
    /// At some access since then a lock was held, or it was read and written in one step.
    is_guarded: bool,
}

impl Word {
    /// Whether the thread of an access has used it before, and others may have, too.
    fn meets(&mut self, step: &Taken, writes: bool, is_locked: bool) -> bool {
        let is_known = self.threads.contains(&step.thread);
        let is_new = self.threads.iter().all(|thread| *thread == step.thread);
        if !is_known {
            self.threads.push(step.thread);
        }
        // What a thread reads first others have left.
        self.is_shared |= !is_new || !writes && !is_known;
        if !self.is_shared {
            return false;
        }
        self.is_guarded |= is_locked || (Kind::Update1..=Kind::Failed8).contains(&step.kind);
        is_known
    }
}

/// Of each step, whether it is such an access.
pub fn bare(run: &Execution) -> Vec<bool> {
    let mut words: FxHashMap<u64, Word> = FxHashMap::default();
    let mut held: FxHashMap<usize, Held> = FxHashMap::default();
    let mut met = Vec::with_capacity(run.steps.len());
    for (index, step) in run.steps.iter().enumerate() {
        let held = held.entry(step.thread).or_default();
        held.goes_on(index, step);
        let used = meets_at(step).filter(|_| step.kind.size() > 0);
        met.push(used.filter(|(word, writes)| words.entry(*word).or_default().meets(step, *writes, held.any())));
    }
    met.into_iter().map(|used| used.is_some_and(|(word, _)| !words[&word].is_guarded)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::execution::step;
    use super::*;

    const WORD: u64 = 128;

    fn told(steps: &[(usize, Kind, u64)]) -> Vec<bool> {
        let steps = steps
            .iter()
            .enumerate()
            .map(|(place, (thread, kind, object))| step(*thread, *kind, place as u64, *object, 0));
        let steps: Vec<_> = steps.collect();
        let in_written = vec![true; steps.len()];
        bare(&Execution::of_steps(steps, in_written))
    }

    #[test]
    fn an_update_without_a_lock_is_bare() {
        let update = |thread| [(thread, Kind::Load4, WORD), (thread, Kind::Store4, WORD)];
        assert_eq!(told(&[update(1), update(2)].concat()), [false, true, false, true]);
    }

    #[test]
    fn an_update_with_a_lock_is_not_bare() {
        let update = |thread| {
            let access = |kind| [(thread, Kind::Acquire, 1024), (thread, kind, WORD), (thread, Kind::Release, 1024)];
            [access(Kind::Load4), access(Kind::Store4)].concat()
        };
        assert_eq!(told(&[update(1), update(2)].concat()), [false; 12]);
    }

    #[test]
    fn memory_that_is_handed_over_full_is_not_bare() {
        let filled = [(1, Kind::Store4, WORD), (1, Kind::Load4, WORD), (1, Kind::Store4, WORD)];
        assert_eq!(told(&[&filled[..], &[(2, Kind::Load4, WORD)]].concat()), [false; 4]);
    }

    #[test]
    fn an_atomic_count_is_not_bare() {
        let count = |thread| [(thread, Kind::Load4, WORD), (thread, Kind::Update4, WORD)];
        assert_eq!(told(&[count(1), count(2)].concat()), [false; 4]);
    }
}

//! Accesses of memory that another thread gives back later, where nothing orders the two: a thread that is held before such an access uses
//! freed memory. What orders steps is what conflicts, in the order in which it came: the happens-before relation of an execution (Flanagan and
//! Godefroid, "Dynamic Partial-Order Reduction for Model Checking Software", POPL 2005, section 2.2).

use super::clocks::{Clock, join, take_step};
use super::execution::{Execution, Taken};
use super::holds::concerns;
use super::reversals::{BYTES_OF_WORD, meets_at};
use foretrace_runtime::record::Kind;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// What comes before the last change of an object, and before the uses so far.
#[derive(Default)]
struct Uses {
    change: Clock,
    all: Clock,
}

/// What comes before what among the steps so far.
#[derive(Default)]
struct Order {
    threads: FxHashMap<usize, Clock>,
    objects: FxHashMap<u64, Uses>,
}

impl Order {
    /// A thread takes a step. Gives how many steps of each thread come before its next one.
    fn push(&mut self, step: &Taken) -> &Clock {
        let mut clock = self.threads.remove(&step.thread).unwrap_or_default();
        if let Some(ended) = step.other.filter(|_| step.kind == Kind::Join).and_then(|other| self.threads.get(&other)) {
            join(&mut clock, ended);
        }
        if let Some((object, changes)) = concerns(step) {
            let uses = self.objects.entry(object).or_default();
            join(&mut clock, if changes { &uses.all } else { &uses.change });
            take_step(&mut clock, step.thread);
            join(&mut uses.all, &clock);
            if changes {
                uses.change.clone_from(&clock);
            }
        } else {
            take_step(&mut clock, step.thread);
        }
        if let Some(started) = step.other.filter(|_| step.kind == Kind::Fork) {
            self.threads.insert(started, clock.clone());
        }
        self.threads.entry(step.thread).insert_entry(clock).into_mut()
    }
}

/// Of each step, whether it is such an access. `pieces` tells address and bytes of what is given back after a step.
pub fn given_back<'p>(run: &Execution, pieces: impl Fn(u32) -> &'p [(u64, u64)]) -> Vec<bool> {
    let mut order = Order::default();
    // Of each word of memory that was not given back since, the accesses: the step, and how many its thread has taken up to it.
    let mut accesses: BTreeMap<u64, Vec<(usize, u32)>> = BTreeMap::new();
    let mut found = vec![false; run.steps.len()];
    for (index, step) in run.steps.iter().enumerate() {
        let clock = order.push(step);
        if let Some((word, _)) = meets_at(step).filter(|_| step.kind.size() > 0) {
            accesses.entry(word).or_default().push((index, clock[step.thread]));
        }
        for (address, bytes) in pieces(step.frees) {
            let words = address / BYTES_OF_WORD..address.saturating_add(*bytes).div_ceil(BYTES_OF_WORD);
            let of_piece: Vec<u64> = accesses.range(words).map(|(word, _)| *word).collect();
            for (access, taken) in of_piece.iter().filter_map(|word| accesses.remove(word)).flatten() {
                let is_before = clock.get(run.steps[access].thread).is_some_and(|known| *known >= taken);
                found[access] |= !is_before;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::execution::step;
    use super::*;

    const BLOCK: (u64, u64) = (128, 16);

    /// Which of these steps come without order before the block is given back: by the thread of the last step, after it.
    fn told(mut steps: Vec<Taken>) -> Vec<bool> {
        steps.last_mut().expect("a step").frees = 1;
        let in_written = vec![true; steps.len()];
        given_back(&Execution::of_steps(steps, in_written), |frees| if frees == 1 { &[BLOCK] } else { &[] })
    }

    #[test]
    fn what_nothing_orders_is_found() {
        let (head, value) = (512, 136);
        let reads = step(1, Kind::Load8, 1, value, 0);
        let takes = step(2, Kind::Store8, 2, head, 0);
        assert_eq!(told(vec![reads, takes]), [true, false]);
        // The reader says that it is done, and who gives back has seen that.
        let says = step(1, Kind::Store8, 3, head, 1);
        let sees = step(2, Kind::Load8, 4, head, 1);
        assert_eq!(told(vec![reads, says, sees]), [false; 3]);
        // It said so before it read.
        assert_eq!(told(vec![says, reads, sees]), [false, true, false]);
        // Reads of one word order nothing.
        assert_eq!(told(vec![reads, step(1, Kind::Load8, 3, head, 1), sees]), [true, false, false]);
    }

    #[test]
    fn only_others_memory_counts() {
        let beyond = BLOCK.0 + BLOCK.1;
        assert_eq!(told(vec![step(1, Kind::Load8, 1, beyond, 0), step(2, Kind::Store8, 2, 512, 0)]), [false; 2]);
        assert_eq!(told(vec![step(2, Kind::Load8, 1, 128, 0), step(2, Kind::Store8, 2, 512, 0)]), [false; 2]);
    }

    #[test]
    fn the_start_and_the_end_of_threads_order() {
        let other = |kind, of| Taken { other: Some(of), ..step(1, kind, 9, 0, 0) };
        let reads = |thread| step(thread, Kind::Load8, 1, 128, 0);
        let frees = step(2, Kind::Store8, 2, 512, 0);
        assert_eq!(told(vec![reads(1), other(Kind::Fork, 2), frees]), [false; 3]);
        assert_eq!(told(vec![other(Kind::Fork, 2), reads(1), frees]), [false, true, false]);
        let frees = step(1, Kind::Store8, 2, 512, 0);
        assert_eq!(told(vec![other(Kind::Fork, 2), reads(2), other(Kind::Join, 2), frees]), [false; 4]);
    }
}

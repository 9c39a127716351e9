//! How far each thread should get: where all get so far, there is a signal for each wake, with as few wakes as possible.

use super::{Act, Goal, Sum, WakeSearch};

/// Steps of one sharing of signals beyond which it is left.
const MOST_STEPS: usize = 1 << 20;

/// How far a thread may go on: for so many signals, and so many wakes, up to so many stretches.
struct Offer {
    signals: usize,
    wakes: u32,
    to: usize,
}

impl WakeSearch {
    /// How many of its stretches each thread does: what the candidate asks for, then those whose signals are needed. Nothing where
    /// there are not enough.
    pub(super) fn targets(&self, goal: &Goal) -> Option<Vec<usize>> {
        let mut targets = vec![0; self.threads.len()];
        targets[goal.local] = goal.before_second.stretches;
        targets[goal.remote] = goal.after_remote.stretches;
        loop {
            let before = targets.clone();
            self.add_starts_and_joins(&mut targets);
            for cond in 0..self.sums.len() {
                self.add_signallers(cond, goal, &mut targets)?;
            }
            if targets == before {
                return Some(targets);
            }
        }
    }

    fn add_starts_and_joins(&self, targets: &mut [usize]) {
        for thread in 0..targets.len() {
            if let Some((parent, stretch)) = self.starts[thread].filter(|_| targets[thread] > 0) {
                targets[parent] = targets[parent].max(stretch + 1);
            }
            for act in self.threads[thread][..targets[thread]].iter().flat_map(|stretch| &stretch.acts) {
                if let Act::Join { child } = act {
                    targets[*child] = self.threads[*child].len();
                }
            }
        }
    }

    /// Lets threads go on until there are as many signals as wakes of a condition variable, with the fewest new wakes of any.
    fn add_signallers(&self, cond: usize, goal: &Goal, targets: &mut [usize]) -> Option<()> {
        let sum = |what: fn(&Sum) -> u32| -> u32 {
            self.sums[cond].iter().zip(&*targets).map(|(sums, target)| what(&sums[*target])).sum()
        };
        let wakes = sum(|sum| sum.wakes) + u32::from(goal.last_wake == Some(cond));
        let missing = wakes.saturating_sub(sum(|sum| sum.signals)) as usize;
        if missing == 0 {
            return Some(());
        }
        // For each number of signals the fewest wakes, with how far the threads looked at so far go for that.
        let mut least: Vec<Option<(u32, Vec<usize>)>> = vec![None; missing + 1];
        least[0] = Some((0, Vec::new()));
        for (thread, target) in targets.iter().enumerate() {
            let offers = self.offers(cond, thread, *target, if thread == goal.local { 0 } else { missing });
            if offers.len().saturating_mul(missing) > MOST_STEPS {
                return None;
            }
            let best = |wanted: usize| {
                let with = |offer: &Offer| {
                    let (wakes, others) = least[wanted.saturating_sub(offer.signals)].as_ref()?;
                    Some((wakes + offer.wakes, others, offer.to))
                };
                let (wakes, others, to) = offers.iter().filter_map(with).min_by_key(|(wakes, ..)| *wakes)?;
                Some((wakes, others.iter().copied().chain([to]).collect()))
            };
            least = (0..=missing).map(best).collect();
        }
        targets.copy_from_slice(&least.pop()??.1);
        Some(())
    }

    /// How far a thread may go on from its target for signals of a condition variable, at most so many.
    fn offers(&self, cond: usize, thread: usize, target: usize, most: usize) -> Vec<Offer> {
        let sums = &self.sums[cond][thread];
        let wakes = |to: usize| self.wakes(thread, to) - self.wakes(thread, target);
        let offer =
            |to: usize| Offer { signals: (sums[to].signals - sums[target].signals) as usize, wakes: wakes(to), to };
        let more = (target + 1..sums.len()).filter(|to| sums[*to].signals > sums[to - 1].signals).take(most);
        std::iter::once(target).chain(more).map(offer).collect()
    }

    /// How many signals a thread's first so many stretches need.
    pub(super) fn wakes(&self, thread: usize, stretches: usize) -> u32 {
        self.sums.iter().map(|sums| sums[thread][stretches].wakes).sum()
    }
}

//! Chooses the thread that takes the next step.

use foretrace_trace::random::Random;

/// How a run chooses among the threads that can take a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// At random, each with the same chance at every step; the same seed gives the same run in every version.
    Random(u64),
    /// Each thread runs for as long as it can, then the first declared one that can; a wait times out only where no
    /// thread can do anything else.
    Serial,
}

/// A scheduler at work.
#[derive(Clone)]
pub(super) struct Choice {
    scheduler: Scheduler,
    random: Random,
    current: Option<usize>,
    /// Where every choice is said in advance: which, and what was chosen of how many so far.
    script: Option<Script>,
    /// Which waiter the next signal releases, where that was decided.
    decided: Option<usize>,
}

/// Choices that are said in advance; the first of those that there are where it says no more.
#[derive(Clone, Default)]
pub(super) struct Script {
    /// The choices.
    pub wanted: Vec<usize>,
    /// What was chosen, of how many, where there was a choice.
    pub made: Vec<(usize, usize)>,
}

impl Script {
    fn choose(&mut self, count: usize) -> Option<usize> {
        if count < 2 {
            return (count == 1).then_some(0);
        }
        let chosen = self.wanted.get(self.made.len()).copied().unwrap_or(0).min(count - 1);
        self.made.push((chosen, count));
        Some(chosen)
    }
}

impl Choice {
    pub(super) fn new(scheduler: Scheduler) -> Choice {
        let seed = match scheduler {
            Scheduler::Random(seed) => seed,
            Scheduler::Serial => 0,
        };
        Choice { scheduler, random: Random::new(seed), current: None, script: None, decided: None }
    }

    /// Makes the choices that are wanted.
    pub(super) fn scripted(wanted: Vec<usize>) -> Choice {
        Choice { script: Some(Script { wanted, made: Vec::new() }), ..Choice::new(Scheduler::Serial) }
    }

    /// What was chosen, of how many, by a script.
    pub(super) fn made(self) -> Vec<(usize, usize)> {
        self.script.map(|script| script.made).unwrap_or_default()
    }

    /// The thread that takes the next step, of those that can (`ready`, ascending) and those that can only let a
    /// wait time out.
    pub(super) fn thread(&mut self, ready: &[usize], timeouts: &[usize]) -> Option<usize> {
        if let Some(script) = &mut self.script {
            let chosen = script.choose(ready.len() + timeouts.len())?;
            return ready.get(chosen).or_else(|| timeouts.get(chosen - ready.len())).copied();
        }
        let chosen = match self.scheduler {
            Scheduler::Random(_) => {
                let chosen = self.below(ready.len() + timeouts.len())?;
                ready.get(chosen).or_else(|| timeouts.get(chosen - ready.len())).copied()
            }
            Scheduler::Serial => {
                let stay = self.current.filter(|current| ready.contains(current));
                stay.or_else(|| ready.first().copied()).or_else(|| timeouts.first().copied())
            }
        };
        self.current = chosen;
        chosen
    }

    /// Decides which waiter the next signal releases.
    pub(super) fn decide(&mut self, waiter: usize) {
        self.decided = Some(waiter);
    }

    /// Which of `count` waiters a signal releases.
    pub(super) fn waiter(&mut self, count: usize) -> Option<usize> {
        if let Some(decided) = self.decided.take() {
            return (decided < count).then_some(decided);
        }
        if let Some(script) = &mut self.script {
            return script.choose(count);
        }
        match self.scheduler {
            Scheduler::Random(_) => self.below(count),
            Scheduler::Serial => (count > 0).then_some(0),
        }
    }

    /// A number below `count`.
    fn below(&mut self, count: usize) -> Option<usize> {
        (count > 0).then(|| ((u128::from(self.random.bits()) * count as u128) >> 64) as usize)
    }
}

//! Runs in which a call comes out otherwise than it did in every run so far: a wait ends by its time limit although another thread would
//! end it, or does, a moment later; a try finds the lock taken, or free.
//!
//! Orders of accesses do not show these. The order of two sections of a lock says nothing of a try inside of the other section, and a wait
//! that is ended in time is ended in every order. There are few such calls in the code, so there is one run for each place of a call and
//! each way in which it may come out.

use super::execution::{Execution, Taken};
use super::schedule::{Forced, TURN, Then};
use foretrace_runtime::record::{Kind, TRIED};
use rustc_hash::{FxHashMap, FxHashSet};

/// A call, by its place, and how it comes out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// A wait for a condition ends by its limit.
    Late(u64),
    /// So does one, and a signal comes before the thread has its mutex again.
    LateForSignal(u64),
    /// So does a wait in the kernel, which has no record: it lies between these two places.
    LateBetween(u64, u64),
    /// A try finds the lock taken.
    Taken(u64),
    /// A try finds the lock free.
    Free(u64),
}

/// A schedule by which a call should come out like this.
pub struct Wanted {
    outcome: Outcome,
    /// The steps before the last one.
    pub steps: Vec<Taken>,
    /// The last one.
    pub last: Then,
}

impl Wanted {
    /// The thread whose wait in the kernel ended by its limit in the run along this schedule.
    pub fn late_in(&self, run: &Execution) -> Option<usize> {
        let Then::Step(Forced { thread, .. }) = self.last else { return None };
        let is_followed = run.steps.get(self.steps.len()).is_some_and(|step| step.thread == thread);
        (is_followed && matches!(self.outcome, Outcome::LateBetween(..))).then_some(thread)
    }
}

/// What a run shows of calls that have two outcomes.
#[derive(Default)]
pub struct Outcomes {
    known: FxHashSet<Outcome>,
}

/// Counted records by which a turn may seem longer or shorter than it was.
const NEAR: u64 = 2;
/// Steps at the end of a turn that are the same again and again, if it ended for that, and the most steps of a round.
const REPEATED: usize = 48;
const LONGEST_ROUND: usize = 16;

/// A lock that is held: by whom, and since which step.
type Holders = FxHashMap<u64, (usize, usize)>;

impl Outcomes {
    /// What the run shows counts as seen.
    pub fn see(&mut self, run: &Execution) {
        self.known.extend(run.steps.iter().filter_map(shown));
    }

    /// Schedules by which calls of the run should come out as in no run so far. Its first steps, so many, were forced.
    pub fn wanted(&mut self, run: &Execution, forced: usize) -> Vec<Wanted> {
        let mut wanted = Vec::new();
        let mut holders = Holders::default();
        let mut waits: FxHashMap<usize, usize> = FxHashMap::default();
        for (index, step) in run.steps.iter().enumerate() {
            let other = match step.kind {
                Kind::Wait => {
                    waits.insert(step.thread, index);
                    None
                }
                Kind::Wake if step.words[1] & TRIED != 0 && shown(step).is_none() => {
                    wanted.extend(self.late_for_signal(run, index));
                    waits.get(&step.thread).and_then(|wait| self.late(run, *wait, Outcome::Late(step.place)))
                }
                kind if kind.size() > 0 => self.sleeps_after(run, index, forced).and_then(|before| {
                    let places = Outcome::LateBetween(run.steps[before].place, step.place);
                    self.late(run, before, places)
                }),
                Kind::Busy if step.other.is_none() => holders
                    .get(&step.words[0])
                    .and_then(|(_, since)| self.earlier(run, *since, index, Outcome::Free(step.place))),
                Kind::Acquire | Kind::WriteLock if step.words[1] & TRIED != 0 => self.inside(run, index),
                _ => None,
            };
            wanted.extend(other);
            match step.kind {
                Kind::Acquire | Kind::WriteLock => _ = holders.insert(step.words[0], (step.thread, index)),
                Kind::Release | Kind::WriteUnlock => _ = holders.remove(&step.words[0]),
                _ => {}
            }
        }
        wanted
    }

    fn is_new(&mut self, outcome: Outcome) -> bool {
        self.known.insert(outcome)
    }

    /// The thread goes on right after this step, where it waits.
    fn late(&mut self, run: &Execution, wait: usize, outcome: Outcome) -> Option<Wanted> {
        let last = go_on(run.steps[wait].thread);
        self.is_new(outcome).then(|| Wanted { outcome, steps: run.steps[..=wait].to_vec(), last })
    }

    /// The thread that a signal woke here comes back at the same moment, but its limit was over before the signal.
    fn late_for_signal(&mut self, run: &Execution, wake: usize) -> Option<Wanted> {
        let step = &run.steps[wake];
        let outcome = Outcome::LateForSignal(step.place);
        if !self.is_new(outcome) {
            return None;
        }
        let mut steps = run.steps[..wake].to_vec();
        let wakes_it = |other: &&mut Taken| other.kind == Kind::Signal && other.other == Some(step.thread);
        if let Some(signal) = steps.iter_mut().rev().find(wakes_it) {
            signal.other = None;
        }
        Some(Wanted { outcome, steps, last: Then::Late(step.thread) })
    }

    /// Where the thread of this step waited in the kernel before it, if it may have: the step before. Other threads had the turn in between,
    /// which they get where the thread waits or its turn is over.
    fn sleeps_after(&self, run: &Execution, index: usize, forced: usize) -> Option<usize> {
        let step = &run.steps[index];
        let goes_on = index > 0 && run.steps[index - 1].thread == step.thread;
        if goes_on || step.kind.size() == 0 {
            return None; // before any search: runs have many steps in a row
        }
        let before = run.steps[..index].iter().rposition(|other| other.thread == step.thread)?;
        if before + 1 < forced {
            return None;
        }
        let turn = run.steps[..=before].iter().rev().take_while(|other| other.thread == step.thread);
        let records = run.steps[before].at + 1 - turn.last().map_or(0, |first| first.at);
        let beyond = (records + NEAR) % TURN; // the last of a turn may have taken no effect
        let is_over = records > NEAR && beyond <= 2 * NEAR;
        let own = run.steps[..=before].iter().rev().take_while(|other| other.thread == step.thread);
        (!is_over && !repeats(own)).then_some(before)
    }

    /// The thread of a try comes to it before the step by which another thread takes the lock.
    fn earlier(&mut self, run: &Execution, before: usize, try_: usize, outcome: Outcome) -> Option<Wanted> {
        let steps = pulled_before(run, before, try_)?;
        let last = go_on(run.steps[try_].thread);
        self.is_new(outcome).then_some(Wanted { outcome, steps, last })
    }

    /// The thread of a try comes to it while another thread holds the lock.
    fn inside(&mut self, run: &Execution, try_: usize) -> Option<Wanted> {
        let step = &run.steps[try_];
        let outcome = Outcome::Taken(step.place);
        let takes = |other: &Taken| {
            let takes = matches!(other.kind, Kind::Acquire | Kind::WriteLock);
            takes && other.words[0] == step.words[0] && other.thread != step.thread
        };
        let last = go_on(step.thread);
        let earlier = run.steps[..try_].iter().rposition(takes);
        let later = || Some(try_ + run.steps[try_..].iter().position(takes)?);
        let steps = match earlier.and_then(|taken| pulled_before(run, taken + 1, try_)) {
            Some(steps) => steps,
            None => {
                let taken = later()?;
                let holder = run.steps[taken].thread;
                let is_start = |step: &Taken| step.kind == Kind::Fork && step.other == Some(holder);
                if run.steps[try_..taken].iter().any(is_start) {
                    return None;
                }
                let own = run.steps[try_..=taken].iter().filter(|step| step.thread == holder);
                run.steps[..try_].iter().chain(own).copied().collect()
            }
        };
        self.is_new(outcome).then_some(Wanted { outcome, steps, last })
    }
}

/// The thread takes the next step.
fn go_on(thread: usize) -> Then {
    Then::Step(Forced { thread, wakes: None })
}

/// Whether the last steps of a thread, the latest first, are the same again and again: the runtime has ended its turn, which it looks at every
/// 64 counted records.
fn repeats<'s>(latest_first: impl Iterator<Item = &'s Taken>) -> bool {
    let same = |one: &Taken, other: &Taken| (one.kind, one.place, one.words) == (other.kind, other.place, other.words);
    let last: Vec<&Taken> = latest_first.take(REPEATED).collect();
    let is_round = |length: usize| last.iter().zip(&last[length..]).all(|(one, other)| same(one, other));
    last.len() == REPEATED && (1..=LONGEST_ROUND).any(is_round)
}

/// How a call came out that may come out in two ways.
fn shown(step: &Taken) -> Option<Outcome> {
    let tried = step.words[1] & TRIED != 0;
    match step.kind {
        Kind::Wake if step.is_late() => Some(Outcome::Late(step.place)),
        Kind::Busy if step.other.is_none() => Some(Outcome::Taken(step.place)),
        Kind::Acquire | Kind::WriteLock if tried => Some(Outcome::Free(step.place)),
        _ => None,
    }
}

/// The steps before this one, then those of the thread of the later one up to that; nothing where that thread starts too late.
pub fn pulled_before(run: &Execution, before: usize, later: usize) -> Option<Vec<Taken>> {
    let thread = run.steps[later].thread;
    let is_start = |step: &Taken| step.kind == Kind::Fork && step.other == Some(thread);
    if run.steps[before..later].iter().any(is_start) {
        return None;
    }
    let own = run.steps[before..later].iter().filter(|step| step.thread == thread);
    Some(run.steps[..before].iter().chain(own).copied().collect())
}

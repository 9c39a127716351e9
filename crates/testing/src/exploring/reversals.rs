//! Runs in which two places of the code come in an order that no run has shown yet.
//!
//! Each run has pairs of places at which two threads access the same memory, or take the same lock, one after the other. A run is made for
//! each pair that has come in one order only: it follows a known run up to the first of the two, then lets the other thread come to its
//! place first. New pairs of that run are looked at in turn. This is steering by coverage. There are few pairs of places even if there are
//! many interleavings, so the search ends for larger programs, too. A failure that needs several reversed orders may be missed.
//!
//! First come the runs in which calls come out otherwise (`outcomes.rs`).

use super::execution::{Execution, Taken};
use super::executions::Executions;
use super::outcomes::{Outcomes, pulled_before};
use super::schedule::Forced;
use foretrace_runtime::record::Kind;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::rc::Rc;

/// Two places in the order in which two threads came by.
type Pair = (u64, u64);

/// Sees a run, and the path of a thread whose wait in the kernel ended by its time limit there.
pub type Each<'e> = dyn FnMut(&Rc<Execution>, Option<String>) -> ControlFlow<()> + 'e;

/// Runs that wait to be looked at: each keeps its recording.
const MOST_WAITING: usize = 64;

/// Makes runs with new orders of pairs, and new outcomes of calls, until there are none or `each`, which sees all runs, wants no more.
pub fn reverse_pairs(executions: &mut Executions<'_>, each: &mut Each<'_>) {
    let mut search = Search { executions, each, outcomes: Outcomes::default(), seen: FxHashSet::default() };
    let _ = search.all(); // what ends it, the caller knows
}

struct Search<'s, 'e> {
    executions: &'s mut Executions<'e>,
    each: &'s mut Each<'s>,
    outcomes: Outcomes,
    seen: FxHashSet<Pair>,
}

impl Search<'_, '_> {
    fn all(&mut self) -> ControlFlow<()> {
        let Some(first) = self.executions.along(&[], None) else { return ControlFlow::Break(()) };
        (self.each)(&first, None)?;
        self.learn(&first);
        let mut tried: FxHashSet<Pair> = FxHashSet::default();
        let mut waiting = VecDeque::from([(first, 0)]);
        while let Some((run, forced)) = waiting.pop_front() {
            for wanted in self.outcomes.wanted(&run, forced) {
                let late = |run: &Execution| wanted.late_in(run);
                if let Some(other) = self.run(&wanted.steps, wanted.last, &late)? {
                    self.learn(&other);
                    if waiting.len() < MOST_WAITING {
                        waiting.push_back((other, wanted.steps.len() + 1));
                    }
                }
            }
            for meeting in meetings(&run) {
                let wanted = (meeting.pair.1, meeting.pair.0);
                if self.seen.contains(&wanted) || tried.contains(&wanted) {
                    continue;
                }
                let Some((steps, last)) = reversed(&run, &meeting) else { continue };
                tried.insert(wanted);
                let Some(other) = self.run(&steps, last, &|_| None)? else { continue };
                if self.learn(&other) && waiting.len() < MOST_WAITING {
                    waiting.push_back((other, steps.len() + 1));
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// A run along these steps and one more, if the program follows them. Whose wait ended by its limit, `late` says.
    fn run(
        &mut self,
        steps: &[Taken],
        last: Forced,
        late: &dyn Fn(&Execution) -> Option<usize>,
    ) -> ControlFlow<(), Option<Rc<Execution>>> {
        if self.executions.is_at_end() {
            return ControlFlow::Break(());
        }
        let run = self.executions.along(steps, Some(last));
        if let Some(run) = &run {
            let late = late(run).map(|thread| self.executions.threads.path(thread).to_string());
            (self.each)(run, late)?;
        }
        ControlFlow::Continue(run)
    }

    /// Takes note of what the run shows; whether it shows an order that no run has shown before.
    fn learn(&mut self, run: &Execution) -> bool {
        self.outcomes.see(run);
        let before = self.seen.len();
        self.seen.extend(meetings(run).iter().map(|meeting| meeting.pair));
        self.seen.len() > before
    }
}

/// Two steps of different threads, one after the other, at the same memory or lock.
struct Meeting {
    pair: Pair,
    later: usize,
    /// Before which step the later one is to come: where the thread of the earlier one took the first lock that it holds there.
    before: usize,
}

/// Where two threads meet in an execution.
fn meetings(run: &Execution) -> Vec<Meeting> {
    let mut last: FxHashMap<u64, Vec<(usize, usize, bool)>> = FxHashMap::default();
    let mut held: FxHashMap<usize, Vec<(u64, usize)>> = FxHashMap::default();
    let mut outermost: Vec<usize> = Vec::with_capacity(run.steps.len());
    let mut found = Vec::new();
    for (index, step) in run.steps.iter().enumerate() {
        let locks = held.entry(step.thread).or_default();
        match step.kind {
            Kind::Acquire | Kind::WriteLock | Kind::ReadLock => locks.push((step.words[0], index)),
            Kind::Release | Kind::WriteUnlock | Kind::ReadUnlock => locks.retain(|(lock, _)| *lock != step.words[0]),
            _ => {}
        }
        outermost.push(locks.first().map_or(index, |(_, from)| *from));
        let Some((object, changes)) = meets_at(step) else { continue };
        let known = last.entry(object).or_default();
        for (thread, earlier, changed) in known.iter() {
            if *thread != step.thread && (changes || *changed) {
                let pair = (run.steps[*earlier].place, step.place);
                found.push(Meeting { pair, later: index, before: outermost[*earlier] });
            }
        }
        known.retain(|(thread, ..)| *thread != step.thread);
        known.push((step.thread, index, changes));
    }
    found
}

/// Memory or a lock that a step uses, and whether it changes that.
fn meets_at(step: &Taken) -> Option<(u64, bool)> {
    const BYTES_OF_WORD: u64 = 8;
    match step.kind {
        Kind::Acquire | Kind::WriteLock => Some((step.words[0], true)),
        Kind::ReadLock => Some((step.words[0], false)),
        kind if kind.size() > 0 => Some((step.words[0] / BYTES_OF_WORD, step.writes())),
        _ => None,
    }
}

/// The steps of an execution up to a meeting, then those of the other thread up to its place; the last one apart. Nothing where that
/// thread starts too late.
fn reversed(run: &Execution, meeting: &Meeting) -> Option<(Vec<Taken>, Forced)> {
    let thread = run.steps[meeting.later].thread;
    let steps = pulled_before(run, meeting.before, meeting.later)?;
    Some((steps, Forced { thread, wakes: None }))
}

//! Runs in which two places of the code come in an order that no run has shown yet.
//!
//! Each run has pairs of places at which two threads access the same memory, or take the same lock, one after the other. A run is made for
//! each pair that has come in one order only: it follows a known run up to the first of the two, then lets the other thread come to its
//! place first. New pairs of that run are looked at in turn. This is steering by coverage. There are few pairs of places even if there are
//! many interleavings, so the search ends for larger programs, too. A failure that needs several reversed orders may be missed.

use super::execution::{Execution, Taken};
use super::executions::Executions;
use super::schedule::Forced;
use foretrace_runtime::record::Kind;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::rc::Rc;

/// Two places in the order in which two threads came by.
type Pair = (u64, u64);

/// Runs that wait to be looked at: each keeps its recording.
const MOST_WAITING: usize = 64;

/// Makes runs with new orders of pairs until there are none or `each`, which sees all runs, wants no more.
pub fn reverse_pairs(executions: &mut Executions<'_>, each: &mut dyn FnMut(&Rc<Execution>) -> ControlFlow<()>) {
    let Some(first) = executions.along(&[], None) else { return };
    if each(&first).is_break() {
        return;
    }
    let mut seen: FxHashSet<Pair> = meetings(&first).iter().map(|meeting| meeting.pair).collect();
    let mut tried: FxHashSet<Pair> = FxHashSet::default();
    let mut waiting = VecDeque::from([first]);
    while let Some(run) = waiting.pop_front() {
        for meeting in meetings(&run) {
            let wanted = (meeting.pair.1, meeting.pair.0);
            if executions.is_at_end() {
                return;
            }
            if seen.contains(&wanted) || tried.contains(&wanted) {
                continue;
            }
            let Some((steps, last)) = reversed(&run, &meeting) else { continue };
            tried.insert(wanted);
            let Some(other) = executions.along(&steps, Some(last)) else { continue };
            if each(&other).is_break() {
                return;
            }
            let before = seen.len();
            seen.extend(meetings(&other).iter().map(|meeting| meeting.pair));
            if seen.len() > before && waiting.len() < MOST_WAITING {
                waiting.push_back(other);
            }
        }
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
    let is_start = |step: &Taken| step.kind == Kind::Fork && step.other == Some(thread);
    if run.steps[meeting.before..meeting.later].iter().any(is_start) {
        return None;
    }
    let own = run.steps[meeting.before..meeting.later].iter().filter(|step| step.thread == thread);
    let steps = run.steps[..meeting.before].iter().chain(own).copied().collect();
    Some((steps, Forced { thread, wakes: None }))
}

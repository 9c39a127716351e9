//! Orders of a trace's events in which code holds a lock, for the program to try.

use crate::enforce::run;
use crate::guard::Guarded;
use foretrace_trace::{EventId, Op, Trace, Unsupported};
use rustc_hash::FxHashMap;

/// An order (of other events, the recorded one) as it comes out where code holds a lock: who needs the lock waits until no other thread has it.
pub fn with_lock(trace: &Trace, guarded: &Guarded, order: &[EventId]) -> Result<Vec<EventId>, Unsupported> {
    let mut ranks = vec![u32::MAX; trace.events.len()];
    for (rank, event) in (0..).zip(order) {
        ranks[event.index()] = rank;
    }
    let made = &guarded.trace;
    // A step of the lock that was put in comes with the event that needs the lock: the next one where it takes, the last one where it gives.
    let mut last = vec![u32::MAX; made.threads.len()];
    let mut taking: Vec<Vec<EventId>> = vec![Vec::new(); made.threads.len()];
    let mut listed = Vec::with_capacity(made.events.len());
    for (id, event) in made.iter() {
        let thread = event.thread.index();
        match (guarded.old_of(id), &event.op) {
            (Some(old), _) => {
                last[thread] = ranks[old.index()];
                listed.extend(taking[thread].drain(..).chain([id]).map(|step| (last[thread], step)));
            }
            (None, Op::Acquire { .. }) => taking[thread].push(id),
            (None, _) => listed.push((last[thread], id)),
        }
    }
    listed.retain(|(rank, _)| *rank != u32::MAX);
    listed.sort_unstable();
    let order: Vec<EventId> = listed.into_iter().map(|(_, step)| step).collect();
    let came = run(made, &guarded.observed, &order, |_, _| None)?;
    // The program still has the steps of the lock that fell away: each comes right after what its thread did before.
    let mut fell_away: FxHashMap<EventId, Vec<EventId>> = FxHashMap::default();
    let mut before: Vec<Option<EventId>> = vec![None; trace.threads.len()];
    for (id, event) in trace.iter() {
        let before = &mut before[event.thread.index()];
        match (guarded.new_of(id), *before) {
            (None, Some(before)) => fell_away.entry(before).or_default().push(id),
            _ => *before = Some(id),
        }
    }
    let of_program = came.into_iter().filter_map(|step| guarded.old_of(step));
    Ok(of_program.flat_map(|old| [old].into_iter().chain(fell_away.remove(&old).unwrap_or_default())).collect())
}

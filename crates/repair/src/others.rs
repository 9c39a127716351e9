//! The other accesses of the variables that a section is to protect, and the locks that are held there.

use crate::enforce::Whole;
use foretrace_trace::{EventId, Op, SyncId, Trace, VarId};
use rustc_hash::FxHashSet;

/// The accesses of variables, inside of stretches and outside.
#[derive(Clone, Default, Debug)]
pub struct Others {
    /// Accesses outside of the stretches, while other threads may run.
    pub outside: Vec<EventId>,
    /// Locks that would do for the stretches, since all accesses outside hold them: first those that accesses inside hold,
    /// too, so that holding on to them is enough.
    pub locks: Vec<SyncId>,
}

/// Looks at who accesses variables.
pub fn others(trace: &Trace, stretches: &[Whole], vars: &[VarId]) -> Others {
    let vars: FxHashSet<VarId> = vars.iter().copied().collect();
    let mut held: Vec<Vec<(SyncId, bool)>> = vec![Vec::new(); trace.threads.len()];
    let mut alone = Alone::new(trace);
    let mut by_thread: Vec<Vec<Whole>> = vec![Vec::new(); trace.threads.len()];
    for stretch in stretches {
        by_thread[trace.event(stretch.0).thread.index()].push(*stretch);
    }
    by_thread.iter_mut().for_each(|stretches| stretches.sort_unstable());
    let mut outside = Vec::new();
    let mut of_outside: Option<Vec<SyncId>> = None;
    let mut of_inside: Vec<SyncId> = Vec::new();
    for (id, event) in trace.iter() {
        let held = &mut held[event.thread.index()];
        alone.step(&event.op);
        match event.op {
            Op::Acquire { lock } | Op::Wake { lock, .. } => held.push((lock, false)),
            Op::AcquireShared { lock } => held.push((lock, true)),
            Op::Release { lock } | Op::ReleaseShared { lock } | Op::Wait { lock, .. } => {
                if let Some(position) = held.iter().rposition(|(own, _)| *own == lock) {
                    held.remove(position);
                }
            }
            _ => {}
        }
        if event.op.var().is_none_or(|var| !vars.contains(&var)) || alone.is_so() {
            continue;
        }
        let keeps_out = |(_, shared): &&(SyncId, bool)| !shared || !event.op.writes();
        let locks: Vec<SyncId> = held.iter().filter(keeps_out).map(|(lock, _)| *lock).collect();
        let own = &by_thread[event.thread.index()];
        let before = own.partition_point(|(first, _)| *first <= id);
        if own[..before].last().is_some_and(|(_, last)| id <= *last) {
            of_inside.extend(locks);
            continue;
        }
        outside.push(id);
        match &mut of_outside {
            None => of_outside = Some(locks),
            Some(known) => known.retain(|lock| locks.contains(lock)),
        }
    }
    let inside: FxHashSet<SyncId> = of_inside.iter().copied().collect();
    let mut locks = of_outside.unwrap_or(of_inside);
    locks.sort_unstable_by_key(|lock| (!inside.contains(lock), *lock));
    locks.dedup();
    Others { outside, locks }
}

/// Whether a single thread runs: what it does then needs no lock.
struct Alone {
    running: usize,
}

impl Alone {
    /// At the start all run that no fork starts.
    fn new(trace: &Trace) -> Alone {
        let forks = trace.events.iter().filter(|event| matches!(event.op, Op::Fork { .. })).count();
        Alone { running: trace.threads.len().saturating_sub(forks) }
    }

    fn step(&mut self, op: &Op) {
        match op {
            Op::Fork { .. } => self.running += 1,
            Op::Join { .. } => self.running = self.running.saturating_sub(1),
            _ => {}
        }
    }

    fn is_so(&self) -> bool {
        self.running <= 1
    }
}

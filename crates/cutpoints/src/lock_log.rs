//! The locks that each thread takes and releases, in order. Nested takes of one lock count as one; a wait is a gap.

use crate::locks::{Change, LockState, LockStates, NOTHING, StateId, Taken};
use foretrace_trace::{EventId, Op, SyncId, SyncKind, ThreadId, Trace};

/// One change of what a thread holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub event: EventId,
    pub change: Change,
    /// What the thread holds right after.
    pub after: StateId,
    /// What it holds right after, with what it takes until it gives each lock back.
    pub ahead: StateId,
}

/// The changes of each thread.
#[derive(Debug)]
pub(crate) struct LockLog {
    threads: Vec<Vec<Entry>>,
    /// Per thread: what is still to be given back before its first change. Nothing, in a valid trace.
    start: StateId,
}

impl LockLog {
    pub fn new(trace: &Trace, states: &mut LockStates) -> LockLog {
        let mut holding: Vec<Holding> = trace.threads.iter().map(|_| Holding::default()).collect();
        let mut threads: Vec<Vec<Entry>> = vec![Vec::new(); trace.threads.len()];
        for (id, event) in trace.iter() {
            let thread = event.thread.index();
            let Some(change) = holding[thread].change(trace, &event.op) else { continue };
            let before = threads[thread].last().map_or(NOTHING, |entry| entry.after);
            let after = states.after(before, change);
            threads[thread].push(Entry { event: id, change, after, ahead: NOTHING });
        }
        for own in &mut threads {
            let mut ahead = states.for_ever(own.last().map_or(NOTHING, |entry| entry.after));
            for entry in own.iter_mut().rev() {
                entry.ahead = ahead;
                ahead = states.ahead_of(ahead, entry.change);
            }
        }
        LockLog { threads, start: NOTHING }
    }

    /// A thread's changes.
    pub fn of_thread(&self, thread: ThreadId) -> &[Entry] {
        &self.threads[thread.index()]
    }

    /// A thread's changes after `event`.
    pub fn after(&self, thread: ThreadId, event: EventId) -> &[Entry] {
        let own = self.of_thread(thread);
        &own[own.partition_point(|entry| entry.event <= event)..]
    }

    /// The last change of a thread up to `event`, that included.
    pub fn last_until(&self, thread: ThreadId, event: EventId) -> Option<&Entry> {
        let own = self.of_thread(thread);
        own[..own.partition_point(|entry| entry.event <= event)].last()
    }

    /// A thread's changes after `first`, if there is one, up to `last`; none without a last.
    pub fn within(&self, thread: ThreadId, first: Option<EventId>, last: Option<EventId>) -> &[Entry] {
        let own = self.of_thread(thread);
        let from = first.map_or(0, |first| own.partition_point(|entry| entry.event <= first));
        let to = last.map_or(0, |last| own.partition_point(|entry| entry.event <= last));
        &own[from.min(to)..to]
    }

    /// Where a thread holds a lock right after `event`: the take before which it last held none.
    pub fn last_take_from_nothing(&self, thread: ThreadId, event: EventId) -> Option<EventId> {
        let until = self.within(thread, None, Some(event));
        if until.last().is_none_or(|entry| entry.after == NOTHING) {
            return None;
        }
        let free = until.iter().rposition(|entry| entry.after == NOTHING);
        Some(until[free.map_or(0, |free| free + 1)].event)
    }

    /// What a thread takes after `from` and before `to`.
    pub fn taken_between(&self, thread: ThreadId, from: EventId, to: EventId) -> Vec<Taken> {
        let later = self.after(thread, from).iter().take_while(|entry| entry.event < to);
        later.filter(|entry| matches!(entry.change, Change::Take(_))).map(|entry| entry.change.taken()).collect()
    }

    /// Of the locks that a thread holds right after `event`: with which event it gives each back.
    pub fn releases_after(&self, thread: ThreadId, event: EventId, held: &LockState) -> Vec<(EventId, Taken)> {
        let later = self.after(thread, event);
        let release = |taken: Taken| later.iter().find(|entry| entry.change == Change::Give(taken));
        held.0.iter().filter_map(|held| Some((release(held.taken)?.event, held.taken))).collect()
    }

    /// Of a stretch that starts without locks: what is held at its end, with the event that took it.
    pub fn held_at_end(entries: &[Entry]) -> Vec<(Taken, EventId)> {
        let mut held: Vec<(Taken, EventId)> = Vec::new();
        for entry in entries {
            match entry.change {
                Change::Take(taken) => held.push((taken, entry.event)),
                Change::Give(taken) => held.retain(|(other, _)| *other != taken),
            }
        }
        held
    }

    /// The last event of a stretch that gives back a lock that cannot be held together with this one.
    pub fn last_release(entries: &[Entry], taken: Taken) -> Option<EventId> {
        let is_release = |entry: &&Entry| matches!(entry.change, Change::Give(given) if given.excludes(taken));
        entries.iter().rev().find(is_release).map(|entry| entry.event)
    }

    /// What a thread holds right after `event`, and the same with what it takes until it gives each lock back.
    pub fn states_at(&self, thread: ThreadId, event: EventId) -> (StateId, StateId) {
        self.last_until(thread, event).map_or((NOTHING, self.start), |entry| (entry.after, entry.ahead))
    }
}

/// What one thread holds while the trace is read, with the depth of each nest.
#[derive(Default)]
struct Holding {
    held: Vec<(Taken, u32)>,
    /// How deep the lock was held that a wait gave back, by condition variable.
    waiting: Vec<(SyncId, u32)>,
}

impl Holding {
    fn change(&mut self, trace: &Trace, op: &Op) -> Option<Change> {
        match *op {
            Op::Acquire { lock } => {
                let nests = matches!(trace.syncs[lock.index()].kind, SyncKind::Mutex { recursive: true });
                self.take(Taken { lock, shared: false }, nests, 1)
            }
            Op::AcquireShared { lock } => self.take(Taken { lock, shared: true }, true, 1),
            Op::Release { lock } => self.give(Taken { lock, shared: false }, 1),
            Op::ReleaseShared { lock } => self.give(Taken { lock, shared: true }, 1),
            Op::Wait { cond, lock } => {
                let taken = Taken { lock, shared: false };
                let depth = self.held.iter().find(|(held, _)| *held == taken).map_or(1, |(_, depth)| *depth);
                self.waiting.retain(|(other, _)| *other != cond);
                self.waiting.push((cond, depth));
                self.give(taken, depth)
            }
            Op::Wake { cond, lock, .. } => {
                let depth = self.waiting.iter().find(|(other, _)| *other == cond).map_or(1, |(_, depth)| *depth);
                self.take(Taken { lock, shared: false }, false, depth)
            }
            Op::OnceBegin { once } => self.take(Taken { lock: once, shared: false }, false, 1),
            Op::OnceEnd { once } | Op::OnceFail { once } => self.give(Taken { lock: once, shared: false }, 1),
            _ => None,
        }
    }

    fn take(&mut self, taken: Taken, nests: bool, depth: u32) -> Option<Change> {
        if let Some((_, levels)) = self.held.iter_mut().find(|(held, _)| nests && *held == taken) {
            *levels += depth;
            return None;
        }
        self.held.push((taken, depth));
        Some(Change::Take(taken))
    }

    fn give(&mut self, taken: Taken, levels: u32) -> Option<Change> {
        let place = self.held.iter().rposition(|(held, _)| *held == taken)?;
        let depth = &mut self.held[place].1;
        *depth = depth.saturating_sub(levels);
        (*depth == 0).then(|| {
            self.held.swap_remove(place);
            Change::Give(taken)
        })
    }
}

//! The state after dropped events: what threads hold and wait for, and what was initialised.
//!
//! This state becomes events before the kept ones, and no schedule may put them later. So a trace that begins there has the executions of
//! the whole trace in which all dropped events come first, in the recorded order. A waiter that a signal released before needs no signal
//! any more; its wake says so.

use crate::op::{Op, WakeCause};
use crate::trace::{Event, EventId, SyncId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

/// What went by has left this.
#[derive(Default)]
pub(super) struct Past {
    /// In an order in which the events can come.
    pub carried: Vec<Carried>,
    /// Per condition variable: how many waiters were released whose wakes had not come.
    released: FxHashMap<SyncId, u32>,
    /// The threads that were between wait and wake.
    waiting: FxHashSet<ThreadId>,
}

/// An event that stands for what its thread has open.
#[derive(Clone)]
pub(super) struct Carried {
    /// The number of the event that opened it.
    pub number: EventId,
    /// What is open. Its thread is that of the stream.
    pub event: Event,
}

impl Past {
    /// Whether some waiter was released, and it is not known which.
    pub fn is_unsure(&self) -> bool {
        self.released.values().any(|released| *released > 0)
    }

    /// Whether this wake, which has just come, is by a signal that went by.
    pub fn releases(&mut self, thread: ThreadId, cond: SyncId) -> bool {
        let is_waiting = self.waiting.remove(&thread);
        let left = self.released.get_mut(&cond).filter(|left| is_waiting && **left > 0);
        left.map(|left| *left -= 1).is_some()
    }

    /// The past when the first `gone` of these events are gone, each with its number; and the places of the wakes among the others that need
    /// no signal any more. `named` gives the stream's thread that one of theirs is.
    pub fn after(
        &self,
        events: &[(EventId, &Event)],
        gone: usize,
        named: &dyn Fn(ThreadId) -> ThreadId,
    ) -> (Past, Vec<usize>) {
        let mut open = OpenThings::default();
        events[..gone].iter().for_each(|(number, event)| open.event(*number, event));
        let waiters = waiters_after(events, gone);
        let mut carried = open.carried();
        carried.iter_mut().for_each(|one| one.event.thread = named(one.event.thread));
        let mut past = Past { carried, released: self.released.clone(), waiting: FxHashSet::default() };
        let mut free = Vec::new();
        for waiter in waiters {
            past.waiting.insert(named(waiter.thread));
            match waiter.wake {
                Some(wake) if waiter.released => free.push(wake),
                None if waiter.released => *past.released.entry(waiter.cond).or_default() += 1,
                _ => {}
            }
        }
        (past, free)
    }
}

/// What threads have open.
#[derive(Default)]
struct OpenThings {
    threads: FxHashMap<ThreadId, Vec<Open>>,
    /// Initialisations that are done.
    done: Vec<[Carried; 2]>,
}

/// Something that a thread has open, since the event of this number.
struct Open {
    number: EventId,
    event: Event,
    /// Of a wait: how often the lock was held.
    levels: usize,
}

impl OpenThings {
    fn event(&mut self, number: EventId, event: &Event) {
        let plain = |op: Op| Event { op, at: None, part: None, tried: false, ..event.clone() };
        let own = self.threads.entry(event.thread).or_default();
        let mut close = |is_it: &dyn Fn(&Op) -> bool| {
            let at = own.iter().rposition(|open| is_it(&open.event.op));
            at.map(|at| own.remove(at))
        };
        match &event.op {
            Op::Begin { .. }
            | Op::Call { .. }
            | Op::Acquire { .. }
            | Op::AcquireShared { .. }
            | Op::OnceBegin { .. } => {
                own.push(Open { number, event: plain(event.op.clone()), levels: 0 });
            }
            Op::End { .. } => drop(close(&|op| matches!(op, Op::Begin { .. }))),
            Op::Return { object, method, .. } => {
                close(&|op| matches!(op, Op::Call { object: of, method: by, .. } if (of, by) == (object, method)));
            }
            Op::Release { lock } => drop(close(&|op| *op == Op::Acquire { lock: *lock })),
            Op::ReleaseShared { lock } => drop(close(&|op| *op == Op::AcquireShared { lock: *lock })),
            Op::OnceFail { once } => drop(close(&|op| *op == Op::OnceBegin { once: *once })),
            Op::OnceEnd { once } => {
                let begun = close(&|op| *op == Op::OnceBegin { once: *once });
                let begun = begun.map_or_else(|| plain(Op::OnceBegin { once: *once }), |open| open.event);
                let both = [begun, plain(event.op.clone())];
                self.done.push(both.map(|event| Carried { number, event }));
            }
            Op::Wait { lock, .. } => {
                let before = own.len();
                own.retain(|open| open.event.op != Op::Acquire { lock: *lock });
                let levels = before - own.len();
                own.push(Open { number, event: plain(event.op.clone()), levels });
            }
            Op::Wake { lock, .. } => {
                let levels = close(&|op| matches!(op, Op::Wait { .. })).map_or(1, |wait| wait.levels);
                for _ in 0..levels {
                    own.push(Open { number, event: plain(Op::Acquire { lock: *lock }), levels: 0 });
                }
            }
            Op::Read { .. } | Op::Write { .. } | Op::Rmw { .. } | Op::Let { .. } | Op::Assume { .. } => {}
            Op::Busy { .. } | Op::Signal { .. } | Op::Broadcast { .. } | Op::OncePass { .. } => {}
            Op::Post { .. } | Op::Down { .. } | Op::Arrive { .. } | Op::Depart { .. } => {}
            Op::Fork { .. } | Op::Join { .. } | Op::Free { .. } | Op::Unseen { .. } | Op::Fail { .. } => {}
        }
    }

    /// Events that open it all: first of threads that wait, since others may hold the lock that they gave back.
    fn carried(self) -> Vec<Carried> {
        let since = |own: &[Open]| {
            let wait = own.iter().find(|open| matches!(open.event.op, Op::Wait { .. }));
            wait.map_or(EventId(u32::MAX), |wait| wait.number)
        };
        let mut threads: Vec<(EventId, ThreadId, Vec<Open>)> =
            self.threads.into_iter().map(|(thread, own)| (since(&own), thread, own)).collect();
        threads.sort_unstable_by_key(|(since, thread, _)| (*since, *thread));
        let opened = threads.into_iter().flat_map(|(_, _, own)| own).flat_map(|Open { number, event, levels }| {
            let lock = match event.op {
                Op::Wait { lock, .. } => Some(Op::Acquire { lock }),
                _ => None,
            };
            let taken = lock.into_iter().flat_map(move |op| std::iter::repeat_n(op, levels));
            let taken: Vec<Event> = taken.map(|op| Event { op, ..event.clone() }).collect();
            taken.into_iter().chain([event]).map(move |event| Carried { number, event })
        });
        self.done.into_iter().flatten().chain(opened).collect()
    }
}

/// A thread between its wait and its wake.
struct Waiter {
    thread: ThreadId,
    cond: SyncId,
    /// Its wake, where that is known.
    wake: Option<usize>,
    /// Before this event it needs a signal.
    deadline: usize,
    released: bool,
}

/// The waiters where the first events are gone. A signal goes to the waiter that needs one first, as in the run of a schedule.
fn waiters_after(events: &[(EventId, &Event)], gone: usize) -> Vec<Waiter> {
    let mut wakes: FxHashMap<usize, usize> = FxHashMap::default();
    let mut next: FxHashMap<ThreadId, usize> = FxHashMap::default();
    for (at, (_, event)) in events.iter().enumerate().rev() {
        match event.op {
            Op::Wake { .. } => drop(next.insert(event.thread, at)),
            Op::Wait { .. } => {
                if let Some(wake) = next.remove(&event.thread) {
                    wakes.insert(at, wake);
                }
            }
            _ => {}
        }
    }
    let mut waiters: Vec<Waiter> = Vec::new();
    for (at, (_, event)) in events[..gone].iter().enumerate() {
        match event.op {
            Op::Wait { cond, .. } => {
                let wake = wakes.get(&at).copied();
                let needs = |wake: &usize| matches!(events[*wake].1.op, Op::Wake { cause: None, .. });
                let deadline = wake.filter(needs).unwrap_or(usize::MAX);
                waiters.push(Waiter { thread: event.thread, cond, wake, deadline, released: false });
            }
            Op::Wake { .. } => waiters.retain(|waiter| waiter.thread != event.thread),
            Op::Signal { cond } => {
                let open = waiters.iter_mut().filter(|waiter| waiter.cond == cond && !waiter.released);
                if let Some(first) = open.min_by_key(|waiter| waiter.deadline) {
                    first.released = true;
                }
            }
            Op::Broadcast { cond } => {
                waiters.iter_mut().filter(|waiter| waiter.cond == cond).for_each(|waiter| waiter.released = true);
            }
            _ => {}
        }
    }
    waiters
}

/// The wake no longer needs a signal.
pub(super) fn free(event: &mut Event) {
    if let Op::Wake { cause: cause @ None, .. } = &mut event.op {
        *cause = Some(WakeCause::Spurious);
    }
}

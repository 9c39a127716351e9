//! What a thread opens and closes: transactions, operations, locks, waits; and what rounds of barriers hold.

use super::naming::{a_kind, sync, thread};
use crate::error::{Problem, quoted};
use crate::op::Op;
use crate::trace::{Event, EventId, NameId, SyncId, SyncKind, ThreadId, Trace};
use rustc_hash::FxHashMap;

/// What every thread has open.
#[derive(Default)]
pub(super) struct Blocks {
    threads: Vec<Open>,
    arrived: FxHashMap<(SyncId, u64), u64>,
}

/// What one thread has open.
#[derive(Clone, Default)]
struct Open {
    transactions: u64,
    operations: Vec<(Option<NameId>, NameId)>,
    locks: FxHashMap<SyncId, Held>,
    waiting: Option<Waiting>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Held {
    exclusive: u64,
    shared: u64,
}

#[derive(Clone, Copy)]
struct Waiting {
    since: EventId,
    cond: SyncId,
    lock: SyncId,
    depth: u64,
}

impl Blocks {
    /// There are this many threads.
    pub(super) fn know(&mut self, threads: usize) {
        self.threads.resize(threads, Open::default());
    }

    pub(super) fn check(&mut self, trace: &Trace, id: EventId, event: &Event) -> Result<(), Problem> {
        if let Op::Arrive { barrier, round } = event.op {
            self.arrive(trace, barrier, round)?;
        }
        self.threads[event.thread.index()].check(trace, id, event)?;
        if let Op::Join { child } = event.op {
            self.threads[child.index()] = Open::default(); // it has no more events
        }
        Ok(())
    }

    fn arrive(&mut self, trace: &Trace, barrier: SyncId, round: u64) -> Result<(), Problem> {
        let SyncKind::Barrier { parties: Some(parties) } = trace.syncs[barrier.index()].kind else { return Ok(()) };
        let arrived = self.arrived.entry((barrier, round)).or_default();
        *arrived += 1;
        if *arrived > parties {
            let found = format!("arrive number {arrived} in round {round} of barrier {}", sync(trace, barrier));
            return Err(Problem::new(found, format!("at most {parties}, one of each party")));
        }
        Ok(())
    }
}

impl Open {
    fn check(&mut self, trace: &Trace, id: EventId, event: &Event) -> Result<(), Problem> {
        if let Some(waiting) = self.waiting {
            may_happen_in_wait(trace, event, waiting)?;
        }
        match event.op {
            Op::Begin { .. } => self.transactions += 1,
            Op::End { .. } => self.end(trace, event)?,
            Op::Call { object, method, .. } => self.operations.push((object, method)),
            Op::Return { object, method, .. } => self.close_operation(trace, event.thread, object, method)?,
            Op::Acquire { lock } => self.acquire(trace, event, lock)?,
            Op::AcquireShared { lock } => self.acquire_shared(trace, event, lock)?,
            Op::OnceBegin { once } => self.acquire(trace, event, once)?,
            Op::OnceEnd { once } | Op::OnceFail { once } => self.held(trace, event, once)?.exclusive -= 1,
            Op::Release { lock } => self.held(trace, event, lock)?.exclusive -= 1,
            Op::ReleaseShared { lock } => self.shared(trace, event, lock)?.shared -= 1,
            Op::Wait { cond, lock } => {
                let depth = std::mem::take(&mut self.held(trace, event, lock)?.exclusive);
                self.waiting = Some(Waiting { since: id, cond, lock, depth });
            }
            Op::Wake { by, .. } => self.wake(trace, id, event, by)?,
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, trace: &Trace, event: &Event) -> Result<(), Problem> {
        let Some(open) = self.transactions.checked_sub(1) else {
            let found = format!("an `end` where {} has no transaction open", thread(trace, event.thread));
            return Err(Problem::new(found, "a `begin` before"));
        };
        self.transactions = open;
        Ok(())
    }

    /// Operations that an exception left open end with the one around them.
    fn close_operation(
        &mut self,
        trace: &Trace,
        by: ThreadId,
        object: Option<NameId>,
        method: NameId,
    ) -> Result<(), Problem> {
        let Some(call) = self.operations.iter().rposition(|open| *open == (object, method)) else {
            let method = quoted(trace.names.text(method));
            let found = format!("a `return` of {method} where {} has no such operation open", thread(trace, by));
            return Err(Problem::new(found, "a `call` of the same object and method before"));
        };
        self.operations.truncate(call);
        Ok(())
    }

    fn acquire(&mut self, trace: &Trace, event: &Event, lock: SyncId) -> Result<(), Problem> {
        let held = self.locks.entry(lock).or_default();
        let recursive = trace.syncs[lock.index()].kind == SyncKind::Mutex { recursive: true };
        if *held != Held::default() && !recursive {
            return Err(already_held(trace, event, lock));
        }
        held.exclusive += 1;
        Ok(())
    }

    fn acquire_shared(&mut self, trace: &Trace, event: &Event, lock: SyncId) -> Result<(), Problem> {
        let held = self.locks.entry(lock).or_default();
        if held.exclusive > 0 {
            return Err(already_held(trace, event, lock));
        }
        held.shared += 1;
        Ok(())
    }

    /// The exclusively held lock that the event needs.
    fn held(&mut self, trace: &Trace, event: &Event, lock: SyncId) -> Result<&mut Held, Problem> {
        let held = self.locks.get_mut(&lock).filter(|held| held.exclusive > 0);
        held.ok_or_else(|| not_held(trace, event, lock, "does not hold"))
    }

    fn shared(&mut self, trace: &Trace, event: &Event, lock: SyncId) -> Result<&mut Held, Problem> {
        let held = self.locks.get_mut(&lock).filter(|held| held.shared > 0);
        held.ok_or_else(|| not_held(trace, event, lock, "does not share"))
    }

    /// A wake, which [`may_happen_in_wait`] has let pass if there is a wait.
    fn wake(&mut self, trace: &Trace, id: EventId, event: &Event, by: Option<EventId>) -> Result<(), Problem> {
        let Some(waiting) = self.waiting.take() else {
            let found = format!("a `wake` where {} does not wait", thread(trace, event.thread));
            return Err(Problem::new(found, "a `wait` before"));
        };
        self.locks.entry(waiting.lock).or_default().exclusive = waiting.depth;
        by.map_or(Ok(()), |by| check_waker(trace, id, waiting, by))
    }
}

/// While a thread waits, transactions may end and start, the run may fail, and a signal handler of the thread may access memory, give and
/// take what other threads wait for, but no lock; else the wake comes.
fn may_happen_in_wait(trace: &Trace, event: &Event, waiting: Waiting) -> Result<(), Problem> {
    let fits = match event.op {
        Op::Wake { cond, lock, .. } => (cond, lock) == (waiting.cond, waiting.lock),
        Op::Begin { .. } | Op::End { .. } | Op::Fail { .. } => true,
        Op::Read { .. } | Op::Write { .. } | Op::Rmw { .. } | Op::Let { .. } | Op::Assume { .. } => true,
        Op::Post { .. } | Op::Down { .. } | Op::Arrive { .. } | Op::Depart { .. } => true,
        Op::Unseen { .. } | Op::Free { .. } | Op::Call { .. } | Op::Return { .. } => true,
        _ => false,
    };
    if fits {
        return Ok(());
    }
    let on = match event.op {
        Op::Wake { cond, lock, .. } => format!(" on {} with {}", sync(trace, cond), sync(trace, lock)),
        _ => String::new(),
    };
    let found =
        format!("{}{on} while {} waits since event {}", a_kind(event), thread(trace, event.thread), waiting.since);
    let expected = format!("a `wake` on {} with {}", sync(trace, waiting.cond), sync(trace, waiting.lock));
    Err(Problem::new(found, expected))
}

fn check_waker(trace: &Trace, id: EventId, waiting: Waiting, by: EventId) -> Result<(), Problem> {
    let waker = (by < id).then(|| &trace.event(by).op);
    let fits = match waker {
        Some(Op::Signal { cond } | Op::Broadcast { cond }) => *cond == waiting.cond && by > waiting.since,
        _ => false,
    };
    if fits {
        return Ok(());
    }
    let what = match waker {
        Some(op) => format!("`by` event {by}, a `{}`", op.kind()),
        None => format!("`by` event {by}, which is not before"),
    };
    let expected = format!("a `signal` or `broadcast` of {} since event {}", sync(trace, waiting.cond), waiting.since);
    Err(Problem::new(what, expected))
}

fn already_held(trace: &Trace, event: &Event, lock: SyncId) -> Problem {
    let kind = trace.syncs[lock.index()].kind.name();
    let found = format!("{} of {kind} {} by {}", a_kind(event), sync(trace, lock), thread(trace, event.thread));
    let expected = match event.op {
        Op::OnceBegin { .. } => "an initialisation that the thread is not at",
        _ => "a lock that the thread does not have, or a recursive mutex",
    };
    Problem::new(format!("{found}, which has it already"), expected)
}

fn not_held(trace: &Trace, event: &Event, lock: SyncId, how: &str) -> Problem {
    let kind = trace.syncs[lock.index()].kind.name();
    let found =
        format!("{} of {kind} {} by {}, which {how} it", a_kind(event), sync(trace, lock), thread(trace, event.thread));
    let expected = match event.op {
        Op::OnceEnd { .. } | Op::OnceFail { .. } => "a `once_begin` of the thread before",
        _ => "a lock that the thread has",
    };
    Problem::new(found, expected)
}

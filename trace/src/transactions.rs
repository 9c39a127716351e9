//! What counts as a transaction: which stretches of a thread are meant to be atomic.

use crate::op::Op;
use crate::trace::{EventId, NameId, ThreadId, Trace};
use crate::violation::{Pattern, Triple};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What counts as a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Atomic {
    /// From `begin` to `end`; nested ones belong to the outermost.
    Marked,
    /// Each outermost critical section without a `wait` in it.
    LockRegions,
    /// Each operation on a concurrent object, from `call` to `return`; nested ones belong to the outermost.
    Operations,
    /// Each thread as a whole.
    Threads,
}

impl fmt::Display for Atomic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Atomic::Marked => "marked",
            Atomic::LockRegions => "lock-regions",
            Atomic::Operations => "operations",
            Atomic::Threads => "threads",
        })
    }
}

/// A stretch of one thread that is meant to be atomic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transaction {
    /// The thread.
    pub thread: ThreadId,
    /// Its first event.
    pub first: EventId,
    /// Its last event; the thread's last one where the run ended inside.
    pub last: EventId,
    /// A name for it: the label of its `begin`, the method of its `call`.
    pub label: Option<NameId>,
}

impl Transaction {
    /// Whether an event of `thread` belongs to it.
    pub fn contains(&self, thread: ThreadId, event: EventId) -> bool {
        self.thread == thread && self.first <= event && event <= self.last
    }
}

/// What an event means for the transaction that its thread is in.
enum Mark {
    /// One opens, within another or on its own.
    Open(Option<NameId>),
    /// The innermost open one closes.
    Close,
    /// The outermost open one is no transaction after all.
    Spoil,
    None,
}

impl Atomic {
    /// The transactions of a trace, by first event; no two of one thread overlap.
    pub fn transactions(self, trace: &Trace) -> Vec<Transaction> {
        if self == Atomic::Threads {
            return whole_threads(trace);
        }
        let mut open: Vec<Option<Open>> = trace.threads.iter().map(|_| None).collect();
        let mut transactions = Vec::new();
        for (id, event) in trace.iter() {
            let current = &mut open[event.thread.index()];
            match self.mark(&event.op) {
                Mark::Open(label) => match current {
                    Some(open) => open.depth += 1,
                    None => *current = Some(Open { first: id, last: id, label, depth: 1, spoiled: false }),
                },
                Mark::Close => {
                    if let Some(open) = current {
                        open.depth -= 1;
                        open.last = id;
                    }
                    transactions
                        .extend(current.take_if(|open| open.depth == 0).and_then(|open| open.done(event.thread)));
                }
                Mark::Spoil => {
                    if let Some(open) = current {
                        open.spoiled = true;
                    }
                }
                Mark::None => {}
            }
            if let Some(open) = &mut open[event.thread.index()] {
                open.last = id;
            }
        }
        for (thread, open) in open.into_iter().enumerate() {
            transactions.extend(open.and_then(|open| open.done(ThreadId::from_index(thread))));
        }
        transactions.sort_unstable_by_key(|transaction| transaction.first);
        transactions
    }

    fn mark(self, op: &Op) -> Mark {
        match (self, op) {
            (Atomic::Marked, Op::Begin { label }) => Mark::Open(*label),
            (Atomic::Marked, Op::End { .. }) => Mark::Close,
            (Atomic::LockRegions, Op::Acquire { .. } | Op::AcquireShared { .. }) => Mark::Open(None),
            (Atomic::LockRegions, Op::Release { .. } | Op::ReleaseShared { .. }) => Mark::Close,
            (Atomic::LockRegions, Op::Wait { .. }) => Mark::Spoil,
            (Atomic::Operations, Op::Call { method, .. }) => Mark::Open(Some(*method)),
            (Atomic::Operations, Op::Return { .. }) => Mark::Close,
            _ => Mark::None,
        }
    }
}

/// A transaction that a thread is in.
struct Open {
    first: EventId,
    last: EventId,
    label: Option<NameId>,
    depth: usize,
    spoiled: bool,
}

impl Open {
    fn done(self, thread: ThreadId) -> Option<Transaction> {
        let Open { first, last, label, spoiled, .. } = self;
        (!spoiled).then_some(Transaction { thread, first, last, label })
    }
}

fn whole_threads(trace: &Trace) -> Vec<Transaction> {
    let mut transactions: Vec<Option<Transaction>> = vec![None; trace.threads.len()];
    for (id, event) in trace.iter() {
        let whole = &mut transactions[event.thread.index()];
        let whole = whole.get_or_insert(Transaction { thread: event.thread, first: id, last: id, label: None });
        whole.last = id;
    }
    let mut transactions: Vec<Transaction> = transactions.into_iter().flatten().collect();
    transactions.sort_unstable_by_key(|transaction| transaction.first);
    transactions
}

/// Why three events are no candidate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoCandidate {
    /// An index that the trace does not have.
    #[error("the trace has no event {0}")]
    NoEvent(EventId),
    /// First and second are not two events of one transaction, in this order.
    #[error("first and second are not two events of one transaction, in this order")]
    NotOneTransaction,
    /// The remote access is of the same thread.
    #[error("the remote access is of the same thread")]
    SameThread,
    /// Not all three access the same variable.
    #[error("not all three access the same variable")]
    OtherVariable,
    /// A write by code that was not recorded is among them.
    #[error("event {0} is an external write")]
    External(EventId),
    /// Every order of the three is serializable.
    #[error("the accesses fit no pattern")]
    NoPattern,
}

impl Triple {
    /// Whether this is a candidate; its first fitting pattern.
    pub fn candidate(self, trace: &Trace, transactions: &[Transaction]) -> Result<Pattern, NoCandidate> {
        let Triple { first, remote, second } = self;
        let events = [first, remote, second];
        if let Some(missing) = events.into_iter().find(|event| event.index() >= trace.events.len()) {
            return Err(NoCandidate::NoEvent(missing));
        }
        let thread = trace.event(first).thread;
        let together = |transaction: &&Transaction| {
            transaction.contains(thread, first) && transaction.contains(trace.event(second).thread, second)
        };
        if first >= second || transactions.iter().find(together).is_none() {
            return Err(NoCandidate::NotOneTransaction);
        }
        if trace.event(remote).thread == thread {
            return Err(NoCandidate::SameThread);
        }
        let [var, rest @ ..] = events.map(|event| trace.event(event).op.var());
        if var.is_none() || rest.into_iter().any(|other| other != var) {
            return Err(NoCandidate::OtherVariable);
        }
        if let Some(external) = events.into_iter().find(|event| trace.event(*event).op.is_external()) {
            return Err(NoCandidate::External(external));
        }
        self.patterns(trace).next().ok_or(NoCandidate::NoPattern)
    }
}

//! Transactions: the stretches of a thread that are meant to be atomic.

use crate::op::{BlockKind, Op};
use crate::trace::{EventId, NameId, ThreadId, Trace};
use crate::violation::{Pattern, Triple};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What counts as a block that is meant to be atomic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Atomic {
    /// Marks, where there are any; else all blocks that the trace has; where it has none, its threads between forks and
    /// joins, with their critical sections.
    #[default]
    Auto,
    /// What the user marked.
    Marked,
    /// Each outermost critical section; a wait ends one, its wake starts another.
    #[serde(alias = "lock-regions")]
    Sections,
    /// Each outermost call of a function, where the trace has functions.
    Functions,
    /// Each innermost call of a function, where the trace has functions.
    InnerFunctions,
    /// Each turn of a loop, also of loops inside each other, where the trace has loops.
    Loops,
    /// Each operation on a concurrent object, from `call` to `return`; nested ones belong to the outermost.
    Operations,
    /// Each thread as a whole.
    Threads,
}

impl Atomic {
    /// All choices.
    pub const ALL: [Atomic; 8] = [
        Atomic::Auto,
        Atomic::Marked,
        Atomic::Sections,
        Atomic::Functions,
        Atomic::InnerFunctions,
        Atomic::Loops,
        Atomic::Operations,
        Atomic::Threads,
    ];

    /// The name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Atomic::Auto => "auto",
            Atomic::Marked => "marked",
            Atomic::Sections => "sections",
            Atomic::Functions => "functions",
            Atomic::InnerFunctions => "inner-functions",
            Atomic::Loops => "loops",
            Atomic::Operations => "operations",
            Atomic::Threads => "threads",
        }
    }

    /// What `auto` comes to for this trace: `marked` where it has marks.
    #[must_use]
    pub fn resolved(self, trace: &Trace) -> Atomic {
        let is_mark = |op: &Op| matches!(op, Op::Begin { kind: BlockKind::Mark, .. });
        match self {
            Atomic::Auto if trace.events.iter().any(|event| is_mark(&event.op)) => Atomic::Marked,
            other => other,
        }
    }
}

impl fmt::Display for Atomic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
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

/// How many of a choice's transactions access shared memory twice. Whatever others do between, one access alone is atomic.
pub fn count_of_several_accesses(trace: &Trace, transactions: &[Transaction]) -> usize {
    let mut of_thread = vec![Vec::new(); trace.threads.len()];
    for (position, transaction) in transactions.iter().enumerate().rev() {
        of_thread[transaction.thread.index()].push(position);
    }
    let mut accesses = vec![0_u32; transactions.len()];
    for (id, event) in trace.iter().filter(|(_, event)| event.op.var().is_some()) {
        let open = &mut of_thread[event.thread.index()];
        while open.last().is_some_and(|position| transactions[*position].last < id) {
            open.pop();
        }
        if let Some(position) = open.last().filter(|position| transactions[**position].first <= id) {
            accesses[*position] += 1;
        }
    }
    accesses.into_iter().filter(|count| *count > 1).count()
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

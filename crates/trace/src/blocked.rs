//! Why an event cannot come next in a prefix.

use crate::term::TermId;
use crate::trace::{EventId, SyncId, ThreadId, VarId};

/// Why an event cannot come next. [`crate::Semantics::explain`] says it in words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blocked {
    /// Another event of its thread comes first, or it is already in the prefix.
    NotNext,
    /// The fork that starts its thread has not happened.
    NotStarted {
        /// The fork.
        fork: EventId,
    },
    /// Its thread stopped at a read that returned something else than recorded.
    Stopped,
    /// Another thread is between two parts of one step.
    InsideGroup {
        /// That thread.
        thread: ThreadId,
    },
    /// A lock that must be free is taken or shared.
    NotFree {
        /// The lock.
        lock: SyncId,
        /// Who holds it, or the first of those who share it.
        by: ThreadId,
        /// Whether it is shared.
        shared: bool,
    },
    /// A lock that the thread must hold is not held by it.
    NotHeld {
        /// The lock.
        lock: SyncId,
        /// Whether it must be held as a share.
        shared: bool,
    },
    /// No other thread holds the lock that a try-lock failed on.
    NotBusy {
        /// The lock.
        lock: SyncId,
    },
    /// The thread to wake does not wait.
    NotWaiting {
        /// The condition variable.
        cond: SyncId,
    },
    /// No signal or broadcast released the waiter since its wait.
    NotSignalled {
        /// The condition variable.
        cond: SyncId,
    },
    /// A signal must release one of those that wait, and only one of those.
    NotReleasable {
        /// The condition variable.
        cond: SyncId,
    },
    /// The semaphore's count is 0.
    CountIsZero {
        /// The semaphore.
        sem: SyncId,
    },
    /// The initialisation that a thread goes past is not done.
    NotInitialised {
        /// What is initialised.
        once: SyncId,
    },
    /// The initialisation that a thread begins is done already.
    Initialised {
        /// What is initialised.
        once: SyncId,
    },
    /// Some recorded arrive of the barrier's round is missing.
    NotAllArrived {
        /// The barrier.
        barrier: SyncId,
        /// How many have arrived.
        arrived: u32,
        /// How many must.
        arrives: u32,
    },
    /// Some event of the thread to join is missing.
    NotFinished {
        /// That thread.
        child: ThreadId,
    },
    /// A guard or assume does not hold.
    False {
        /// The condition.
        condition: TermId,
    },
    /// The read returns something else than recorded, and must not.
    ReadsOther {
        /// The variable.
        var: VarId,
    },
    /// An expression's value is larger than foretrace computes with.
    TooLarge,
    /// The object is of a kind that has no such operation.
    WrongKind {
        /// The object.
        object: SyncId,
    },
}

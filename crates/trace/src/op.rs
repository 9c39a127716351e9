//! The operations of events.

use crate::ids::TermId;
use crate::ids::{EventId, NameId, SyncId, ThreadId, VarId};
use serde::{Deserialize, Serialize};

/// Why an assume stands in the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Why {
    /// The way that the execution took at a branch.
    Branch,
    /// A value that left what is tracked.
    Pin,
}

/// Why a waiter woke without a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WakeCause {
    /// Its time was over.
    Timeout,
    /// For no reason.
    Spurious,
}

/// What kind of block a `begin` opens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BlockKind {
    /// The user marked it.
    #[default]
    Mark,
    /// A critical section.
    Section,
    /// A turn of a loop.
    Loop,
    /// A call of a function, or an operation on a concurrent object.
    Function,
    /// A thread as a whole, or a stretch of it between forks and joins.
    Thread,
}

impl BlockKind {
    /// All kinds; their positions are what the binary form has.
    pub const ALL: [BlockKind; 5] =
        [BlockKind::Mark, BlockKind::Section, BlockKind::Loop, BlockKind::Function, BlockKind::Thread];

    /// The name in traces and reports.
    pub fn name(self) -> &'static str {
        match self {
            BlockKind::Mark => "mark",
            BlockKind::Section => "section",
            BlockKind::Loop => "loop",
            BlockKind::Function => "function",
            BlockKind::Thread => "thread",
        }
    }
}

/// What an event does. Values are literals in the trace's term arena.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Start of a block, which is meant to be atomic; blocks nest.
    Begin {
        /// Its label.
        label: Option<NameId>,
        /// What kind of block it is.
        kind: BlockKind,
    },
    /// End of the innermost open block.
    End {
        /// Its label.
        label: Option<NameId>,
    },
    /// `dst := var`.
    Read {
        /// The variable read.
        var: VarId,
        /// The local name that takes the value.
        dst: Option<NameId>,
        /// The value observed.
        value: Option<TermId>,
        /// What must hold for the event to happen; may mention `dst`.
        guard: Option<TermId>,
    },
    /// `var := expr`.
    Write {
        /// The variable written.
        var: VarId,
        /// What is written; always there in a symbolic trace.
        expr: Option<TermId>,
        /// The value observed.
        value: Option<TermId>,
        /// What must hold for the event to happen.
        guard: Option<TermId>,
        /// Memory changed by code that was not recorded: never part of a candidate.
        external: bool,
    },
    /// In one step `dst := var; var := expr`.
    Rmw {
        /// The variable read and written.
        var: VarId,
        /// The local name that takes the old value.
        dst: Option<NameId>,
        /// What is written; may mention `dst`; always there in a symbolic trace.
        expr: Option<TermId>,
        /// The old value observed.
        value: Option<TermId>,
        /// The new value observed.
        stored: Option<TermId>,
        /// What must hold for the event to happen; may mention `dst`.
        guard: Option<TermId>,
        /// Memory changed by code that was not recorded, in a way that depends on what it holds.
        external: bool,
    },
    /// `dst := expr`, thread-local.
    Let {
        /// The name defined.
        dst: NameId,
        /// Its value.
        expr: TermId,
    },
    /// `expr` holds.
    Assume {
        /// The condition.
        expr: TermId,
        /// Why it stands here.
        why: Why,
    },
    /// Take a mutex, or a rwlock exclusively.
    Acquire {
        /// The lock.
        lock: SyncId,
    },
    /// Give it back.
    Release {
        /// The lock.
        lock: SyncId,
    },
    /// Share a rwlock.
    AcquireShared {
        /// The lock.
        lock: SyncId,
    },
    /// Give a share back.
    ReleaseShared {
        /// The lock.
        lock: SyncId,
    },
    /// A try-lock that failed: another thread holds the lock.
    Busy {
        /// The lock.
        lock: SyncId,
    },
    /// Give `lock` back and start to wait on `cond`.
    Wait {
        /// The condition variable.
        cond: SyncId,
        /// The lock held.
        lock: SyncId,
    },
    /// Take `lock` again after a `Wait`.
    Wake {
        /// The condition variable.
        cond: SyncId,
        /// The lock.
        lock: SyncId,
        /// Why it woke, where no signal was needed.
        cause: Option<WakeCause>,
        /// The signal or broadcast that woke it in this run.
        by: Option<EventId>,
    },
    /// Release one of those that wait on `cond`, or nothing if none waits.
    Signal {
        /// The condition variable.
        cond: SyncId,
    },
    /// Release all that wait on `cond`.
    Broadcast {
        /// The condition variable.
        cond: SyncId,
    },
    /// Count up.
    Post {
        /// The semaphore.
        sem: SyncId,
    },
    /// Count down; enabled above zero.
    Down {
        /// The semaphore.
        sem: SyncId,
    },
    /// Come to a barrier.
    Arrive {
        /// The barrier.
        barrier: SyncId,
        /// Which of its rounds.
        round: u64,
    },
    /// Leave it; enabled when every recorded arrive of the round is done.
    Depart {
        /// The barrier.
        barrier: SyncId,
        /// Which of its rounds.
        round: u64,
    },
    /// Begin an initialisation that happens once; enabled while no thread is at it and none has ended.
    OnceBegin {
        /// What is initialised.
        once: SyncId,
    },
    /// End it: it is done for good.
    OnceEnd {
        /// What is initialised.
        once: SyncId,
    },
    /// Go on past it; enabled when it is done.
    OncePass {
        /// What is initialised.
        once: SyncId,
    },
    /// Give it up, so that it may be begun again.
    OnceFail {
        /// What is initialised.
        once: SyncId,
    },
    /// Start a thread.
    Fork {
        /// The thread.
        child: ThreadId,
    },
    /// Wait for a thread's last event.
    Join {
        /// The thread.
        child: ThreadId,
    },
    /// Start of an operation on a concurrent object.
    Call {
        /// The object.
        object: Option<NameId>,
        /// The operation.
        method: NameId,
        /// Its arguments, as compact JSON.
        args: Option<NameId>,
    },
    /// End of an operation.
    Return {
        /// The object.
        object: Option<NameId>,
        /// The operation.
        method: NameId,
        /// Its result, as compact JSON.
        value: Option<NameId>,
    },
    /// The memory of these variables and objects was given back.
    Free {
        /// The variables.
        vars: Box<[VarId]>,
        /// The synchronisation objects.
        syncs: Box<[SyncId]>,
        /// Code that was not recorded alone decided to do so, by a state that the trace does not have.
        external: bool,
    },
    /// Code ran here that may order threads in a way that the trace does not show.
    Unseen {
        /// What ran: a function's name, `assembly`.
        what: NameId,
        /// What it concerns: it orders its thread against other such events of the same object alone. Without one it may come after
        /// anything that other threads did before.
        object: Option<NameId>,
        /// The order of two such events matters only where both come.
        if_both: bool,
    },
    /// The failure that ended a failing run.
    Fail {
        /// What failed.
        reason: Option<NameId>,
    },
}

impl Op {
    /// The name that the format gives this kind of event.
    pub fn kind(&self) -> &'static str {
        match self {
            Op::Begin { .. } => "begin",
            Op::End { .. } => "end",
            Op::Read { .. } => "read",
            Op::Write { .. } => "write",
            Op::Rmw { .. } => "rmw",
            Op::Let { .. } => "let",
            Op::Assume { .. } => "assume",
            Op::Acquire { .. } => "acquire",
            Op::Release { .. } => "release",
            Op::AcquireShared { .. } => "acquire_shared",
            Op::ReleaseShared { .. } => "release_shared",
            Op::Busy { .. } => "busy",
            Op::Wait { .. } => "wait",
            Op::Wake { .. } => "wake",
            Op::Signal { .. } => "signal",
            Op::Broadcast { .. } => "broadcast",
            Op::Post { .. } => "post",
            Op::Down { .. } => "down",
            Op::Arrive { .. } => "arrive",
            Op::Depart { .. } => "depart",
            Op::OnceBegin { .. } => "once_begin",
            Op::OnceEnd { .. } => "once_end",
            Op::OncePass { .. } => "once_pass",
            Op::OnceFail { .. } => "once_fail",
            Op::Fork { .. } => "fork",
            Op::Join { .. } => "join",
            Op::Call { .. } => "call",
            Op::Return { .. } => "return",
            Op::Free { .. } => "free",
            Op::Unseen { .. } => "unseen",
            Op::Fail { .. } => "fail",
        }
    }

    /// Whether a call may have come back without it: a lock that was tried, a wait with a time limit, a failed try.
    pub fn can_be_tried(&self) -> bool {
        matches!(
            self,
            Op::Acquire { .. }
                | Op::AcquireShared { .. }
                | Op::Busy { .. }
                | Op::Wake { .. }
                | Op::Down { .. }
                | Op::Depart { .. }
                | Op::Join { .. }
        )
    }

    /// The shared variable that a `read`, `write` or `rmw` accesses.
    pub fn var(&self) -> Option<VarId> {
        match self {
            Op::Read { var, .. } | Op::Write { var, .. } | Op::Rmw { var, .. } => Some(*var),
            _ => None,
        }
    }

    /// The objects that it uses, whose memory must be there. The end of a wait and of a round of a barrier are no uses: who destroys these waits
    /// for that.
    pub fn used_syncs(&self) -> [Option<SyncId>; 2] {
        match *self {
            Op::Acquire { lock: object }
            | Op::Release { lock: object }
            | Op::AcquireShared { lock: object }
            | Op::ReleaseShared { lock: object }
            | Op::Busy { lock: object }
            | Op::Signal { cond: object }
            | Op::Broadcast { cond: object }
            | Op::Post { sem: object }
            | Op::Down { sem: object }
            | Op::Arrive { barrier: object, .. } => [Some(object), None],
            Op::Wait { cond, lock } => [Some(cond), Some(lock)],
            _ => [None; 2],
        }
    }

    /// Whether it uses memory that the other operation gives back: a variable or an object in it.
    pub fn uses_freed(&self, free: &Op) -> bool {
        let Op::Free { vars, syncs, .. } = free else { return false };
        !self.is_external() && self.var().is_some_and(|var| vars.contains(&var))
            || self.used_syncs().iter().flatten().any(|object| syncs.contains(object))
    }

    /// Whether it takes a shared variable's value.
    pub fn reads(&self) -> bool {
        matches!(self, Op::Read { .. } | Op::Rmw { .. })
    }

    /// Whether it changes a shared variable.
    pub fn writes(&self) -> bool {
        matches!(self, Op::Write { .. } | Op::Rmw { .. })
    }

    /// The variable that both access and one of them writes: the order of the two may matter. Whether it does with certain values is
    /// another question.
    pub fn conflict(&self, other: &Op) -> Option<VarId> {
        self.var().filter(|var| other.var() == Some(*var) && (self.writes() || other.writes()))
    }

    /// Whether it is a write by code that was not recorded.
    pub fn is_external(&self) -> bool {
        matches!(
            self,
            Op::Write { external: true, .. } | Op::Rmw { external: true, .. } | Op::Free { external: true, .. }
        )
    }

    /// What must hold for the event to happen: the guard of an access, the condition of an assume.
    pub fn condition(&self) -> Option<TermId> {
        match self {
            Op::Read { guard, .. } | Op::Write { guard, .. } | Op::Rmw { guard, .. } => *guard,
            Op::Assume { expr, .. } => Some(*expr),
            _ => None,
        }
    }

    /// What a `write` or `rmw` writes, where the trace says so.
    pub fn written(&self) -> Option<TermId> {
        match self {
            Op::Write { expr, .. } | Op::Rmw { expr, .. } => *expr,
            _ => None,
        }
    }

    /// The expression whose value the event writes or defines.
    pub fn computed(&self) -> Option<TermId> {
        match self {
            Op::Let { expr, .. } => Some(*expr),
            _ => self.written(),
        }
    }

    /// The local name that the event defines.
    pub fn dst(&self) -> Option<NameId> {
        match self {
            Op::Read { dst, .. } | Op::Rmw { dst, .. } => *dst,
            Op::Let { dst, .. } => Some(*dst),
            _ => None,
        }
    }
}

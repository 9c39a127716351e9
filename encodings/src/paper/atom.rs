//! What the paper's formulas speak of.

use foretrace_trace::{EventId, Leaf, Sort, SyncId, ThreadId, VarId};

/// A shared variable in the sense of the paper, the auxiliary ones of synchronisation included. (Locks are auxiliary
/// variables, too, but their values fold.)
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Cell {
    /// A variable of the trace.
    Var(VarId),
    /// The count of a semaphore.
    Count(SyncId),
    /// Whether this thread's wait on a condition variable was signalled.
    Signalled(SyncId, ThreadId),
}

/// An unknown of the formula.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Atom {
    /// HB(t, t'): the first event is executed before the second, O(t) < O(t').
    HappensBefore(EventId, EventId),
    /// The name that a use of a shared variable gets: the value of its π-function.
    Use {
        /// The event that uses it.
        at: EventId,
        /// The variable.
        cell: Cell,
        /// Its sort.
        sort: Sort,
    },
    /// The name that a definition gets.
    Definition {
        /// The event that defines it.
        at: EventId,
        /// The shared variable; none where a local name is defined.
        cell: Option<Cell>,
        /// Its sort.
        sort: Sort,
    },
    /// Which of the waiting threads a signal is for, by number.
    Choice(EventId),
    /// Values that left what is tracked are as observed.
    Pins,
}

impl Leaf for Atom {
    fn sort(&self) -> Sort {
        match self {
            Atom::Use { sort, .. } | Atom::Definition { sort, .. } => *sort,
            Atom::Choice(_) => Sort::Int,
            Atom::HappensBefore(..) | Atom::Pins => Sort::Bool,
        }
    }
}

//! The events of the walk as they come: of cells instead of variables, with bits instead of literals, and numbered without
//! the marks of transactions and the names that are put in later.

use foretrace_trace::{EventId, NameId, Op, TermId, ThreadId, TraceAssembler};

/// The events of the walk so far, and the trace's header in the making.
pub(crate) struct Draft {
    pub assembler: TraceAssembler,
    pub events: Vec<DraftEvent>,
}

/// An event whose terms mention events of the draft.
#[derive(Clone, Debug)]
pub(crate) struct DraftEvent {
    pub thread: ThreadId,
    pub op: DraftOp,
    pub loc: Option<NameId>,
    pub at: Option<u64>,
    pub part: Option<(u32, u32)>,
}

/// What an event does. An expression that is a constant is left out: the bits say it.
#[derive(Clone, Debug)]
pub(crate) enum DraftOp {
    Read { cell: u32, dst: NameId, bits: u64 },
    Write { cell: u32, expr: Option<TermId>, bits: u64, external: bool },
    Rmw { cell: u32, dst: NameId, expr: Option<TermId>, found: u64, stored: u64, guard: Option<TermId> },
    Other(Op),
}

impl DraftOp {
    /// The cell that it accesses.
    pub fn cell(&self) -> Option<u32> {
        match self {
            DraftOp::Read { cell, .. } | DraftOp::Write { cell, .. } | DraftOp::Rmw { cell, .. } => Some(*cell),
            DraftOp::Other(_) => None,
        }
    }

    /// Whether code that was not recorded did it.
    pub fn is_external(&self) -> bool {
        matches!(self, DraftOp::Write { external: true, .. })
    }

    /// The terms that it has.
    pub fn terms(&self) -> impl Iterator<Item = TermId> + use<> {
        let terms = match self {
            DraftOp::Read { .. } => [None, None],
            DraftOp::Write { expr, .. } => [*expr, None],
            DraftOp::Rmw { expr, guard, .. } => [*guard, *expr],
            DraftOp::Other(op) => [op.condition(), op.computed()],
        };
        terms.into_iter().flatten()
    }
}

impl Draft {
    /// The index of the next event.
    pub fn next(&self) -> EventId {
        EventId::from_index(self.events.len())
    }

    /// Adds an event.
    pub fn push(&mut self, event: DraftEvent) -> EventId {
        let id = self.next();
        self.events.push(event);
        id
    }
}

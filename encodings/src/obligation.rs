//! What a solver that knows schedules gets in place of constraints: which regions of locks, reads and writes take part.
//!
//! The solver must ensure what the constraints say that are left out (`NotBetween`, the order in `WrittenBefore`, `Exclusion`, `Signalled`,
//! `OwnSignal`). Regions of one lock that are part of the prefix do not overlap, unless both only share it. A `ReadsFrom` atom that is true
//! puts its write before the access, and every other write of the prefix before that write or after the access. Each wake of the prefix has
//! its signal.

use foretrace_index::Region;
use foretrace_trace::{EventId, SyncId, VarId};

/// An event that takes part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Participant {
    /// The event.
    pub event: EventId,
    /// Its step, as order atoms name it.
    pub step: EventId,
    /// The event whose `Included` atom says whether the prefix holds it; none where every execution does.
    pub included: Option<EventId>,
}

/// Something that the solver must see to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Obligation {
    /// A region of a lock does not overlap with those told before that it excludes.
    Region {
        /// The region.
        region: Region,
        /// Its start.
        start: Participant,
        /// Its end, where the run got there.
        end: Option<Participant>,
    },
    /// A wake needs one of these signals for itself, between its wait and itself, or one of these broadcasts.
    Wake {
        /// The condition variable.
        cond: SyncId,
        /// Where the wait begins.
        wait: Participant,
        /// The wake.
        wake: Participant,
        /// The likeliest first, and whether it is a broadcast.
        signals: Vec<(Participant, bool)>,
    },
    /// A write stands in no access's way to its source.
    Write {
        /// The variable.
        var: VarId,
        /// The write.
        write: Participant,
    },
    /// An access takes the value that it finds from one of these sources.
    Read {
        /// The variable.
        var: VarId,
        /// The access, and the step that it belongs to.
        at: EventId,
        /// Its step, as order atoms name it.
        step: EventId,
        /// The writes that are told already, none for the initial value; the likeliest first: what the run shows, then
        /// what is nearest to it.
        sources: Vec<Option<Participant>>,
    },
}

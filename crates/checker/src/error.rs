//! Why a schedule is refused.

use foretrace_trace::{BadStep, EventId, Model, NoCandidate, Triple, Unsupported};

/// Why a schedule proves nothing.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CheckError {
    /// The trace knows too little for the model.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// Guarded independence is about values that the model does not have.
    #[error("guarded independence needs a model with values (ctp or mcm), found {0}")]
    NoValues(Model),
    /// The triple is no candidate.
    #[error("{triple} is no candidate: {reason}")]
    NoCandidate {
        /// The triple.
        triple: Triple,
        /// Why.
        reason: NoCandidate,
    },
    /// The schedule is no prefix.
    #[error(transparent)]
    Step(#[from] BadStep),
    /// An event of the candidate is missing.
    #[error("the schedule has no event {0}")]
    Missing(EventId),
    /// The candidate's events are there in another order.
    #[error("the events of {0} do not come in this order")]
    Order(Triple),
    /// A prefix must end at what it shows.
    #[error("the schedule goes on after event {last}, with {events} more")]
    GoesOn {
        /// The last event that is asked for.
        last: EventId,
        /// How many come after it.
        events: usize,
    },
    /// A prefix that ends with the interruption holds the end of the pair.
    #[error("the schedule holds event {0}, expected one in which it is still to come")]
    TooFar(EventId),
    /// More context switches than were asked for.
    #[error(
        "the schedule has {found} context switches between event {first} and event {last}, expected at most {most}"
    )]
    ContextSwitches {
        /// The violation's first access.
        first: EventId,
        /// Its last one.
        last: EventId,
        /// How many there are between them.
        found: u32,
        /// How many there may be.
        most: u32,
    },
    /// Not all events are there.
    #[error("the schedule has {found} of {expected} events")]
    Incomplete {
        /// The schedule's length.
        found: usize,
        /// The trace's length.
        expected: usize,
    },
    /// The path is not one of the block, or the schedule does not keep its order.
    #[error("the schedule does not hold the path")]
    NotOnPath,
    /// The one event does not free what the other one uses, or one thread does both.
    #[error("event {access} is no use by another thread of what event {free} frees")]
    NoUseAfterFree {
        /// What is to free the memory.
        free: EventId,
        /// What is to use it.
        access: EventId,
    },
    /// The memory is freed only after that.
    #[error("event {access} uses the memory before event {free} frees it")]
    NotFreedBefore {
        /// What frees the memory.
        free: EventId,
        /// What uses it.
        access: EventId,
    },
    /// Another access uses the freed memory earlier.
    #[error("event {other} uses the freed memory before event {access} does")]
    UsedBefore {
        /// What is to use it.
        access: EventId,
        /// What uses it earlier.
        other: EventId,
    },
    /// It is no branch, or its thread does nothing before it.
    #[error("event {0} is no branch that another way can be taken at")]
    NoBranch(EventId),
    /// The branch goes the recorded way, or it cannot be told which way it goes.
    #[error("the condition of event {0} is not false after the schedule")]
    NotFalse(EventId),
    /// Results of operations are about values that the model does not have.
    #[error("results of operations need a model that knows them (ctp, mcm or avp), found {0}")]
    NoResults(Model),
    /// The operations are others, in another order, or give something else.
    #[error("the schedule does not perform the operations as claimed: event {0} differs")]
    NotPerformed(EventId),
    /// With these values the order of the accesses makes no difference.
    #[error("the accesses of {0} are independent with the values of the schedule")]
    Independent(Triple),
}

//! Where a constraint comes from: the instance of a rule, small enough to be named in a sentence.
//!
//! Unsatisfiable cores consist of origins. A core has all constraints of an origin, or none.

use crate::rules::Rule;
use foretrace_trace::EventId;

/// An instance of a rule.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Origin {
    /// One step comes before another, and is in every prefix that holds it: by program order, fork, join, barrier, or what happens once.
    Order {
        /// What comes first.
        earlier: EventId,
        /// What comes after it.
        later: EventId,
    },
    /// A step of several events happens as a whole, but for one that the prefix ends in.
    WholeStep(EventId),
    /// Some write, or the initial value, gives the value just before the access.
    SomeSource {
        /// The access.
        at: EventId,
    },
    /// Where a source gives the value just before the access, that value is what the source has.
    Gives {
        /// The access.
        at: EventId,
        /// The write, none for the initial value.
        source: Option<EventId>,
    },
    /// A write that gives the value comes before the access.
    WrittenBefore {
        /// The access.
        at: EventId,
        /// The write.
        source: EventId,
    },
    /// Where a source gives the value, another write does not come between.
    NotBetween {
        /// The access.
        at: EventId,
        /// The write, none for the initial value.
        source: Option<EventId>,
        /// The write that would take its place.
        other: EventId,
    },
    /// A read that its thread goes on from returns what it did in the run.
    Recorded {
        /// The read.
        read: EventId,
        /// The event that needs it.
        with: EventId,
    },
    /// A condition of the way that the execution took.
    Condition {
        /// The event that has it.
        about: EventId,
        /// Whether it pins a value that left what is tracked.
        pinned: bool,
    },
    /// Two regions of a lock do not overlap.
    Exclusion {
        /// The start of one, the lower of the two.
        one: EventId,
        /// The start of the other.
        other: EventId,
    },
    /// No initialisation begins after one that did not fail.
    LastAttempt {
        /// The start of one that failed.
        failed: EventId,
        /// The start of the one that did not.
        made: EventId,
    },
    /// A failed try finds the lock held.
    Busy(EventId),
    /// A wake has a signal.
    Signalled(EventId),
    /// No two wakes use up one signal.
    OwnSignal {
        /// A wake.
        one: EventId,
        /// Another.
        other: EventId,
    },
    /// A down has a token.
    Counted(EventId),
    /// No two downs take one token.
    OwnToken {
        /// A down.
        one: EventId,
        /// Another.
        other: EventId,
    },
    /// A violation path leads to an access of another thread only from somewhere.
    OnPath(EventId),
    /// A step lies in a stretch of its thread, between two context switches.
    Stretch(EventId),
}

impl Origin {
    /// The family that the instance belongs to.
    pub fn rule(self) -> Rule {
        match self {
            Origin::Order { .. } | Origin::WholeStep(_) => Rule::ProgramOrder,
            Origin::SomeSource { .. }
            | Origin::Gives { .. }
            | Origin::WrittenBefore { .. }
            | Origin::NotBetween { .. }
            | Origin::Recorded { .. } => Rule::ReadsFrom,
            Origin::Condition { pinned: false, .. } => Rule::Guards,
            Origin::Condition { pinned: true, .. } => Rule::Pins,
            Origin::Exclusion { .. } | Origin::Busy(_) => Rule::Locks,
            Origin::LastAttempt { .. } => Rule::Once,
            Origin::Signalled(_) | Origin::OwnSignal { .. } => Rule::ConditionVariables,
            Origin::Counted(_) | Origin::OwnToken { .. } => Rule::Semaphores,
            Origin::OnPath(_) | Origin::Stretch(_) => Rule::Violation,
        }
    }
}

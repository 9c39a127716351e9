//! Why there is no schedule for a cut-point.

use foretrace_trace::EventId;

/// Why there is no schedule for a cut-point.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WhyNot {
    /// An event cannot happen before the cut-point, and no thread can change that.
    #[error("event {event} cannot happen before the cut-point: {problem}")]
    Blocked {
        /// The event.
        event: EventId,
        /// Why.
        problem: String,
    },
    /// Two threads wait for each other.
    #[error("event {event} needs event {needs}, which needs the former's thread to go on")]
    Circle {
        /// An event.
        event: EventId,
        /// What it needs.
        needs: EventId,
    },
    /// What was made is no prefix: a defect of foretrace.
    #[error("the schedule that was made is no prefix: {0}")]
    Refused(String),
}

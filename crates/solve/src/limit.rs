//! Why a candidate was left undecided.

use std::fmt;

/// The limit that kept a candidate from being decided.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Limit {
    /// The query's time was over.
    Timeout,
    /// The share of the run's time that its class has was over.
    ClassShare,
    /// The run's time was over.
    Budget,
    /// The user stopped the run.
    Interrupted,
    /// The query has more constraints than fit.
    Size,
    /// There is no schedule with so few context switches; there may be one with more.
    ContextSwitches(u32),
    /// The solver gave up, for the reason that it gave.
    Solver(String),
}

impl Limit {
    /// Whether more time or memory would change nothing.
    pub fn is_answer(&self) -> bool {
        matches!(self, Limit::ContextSwitches(_))
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Timeout => f.write_str("time limit of the query"),
            Limit::ClassShare => f.write_str("time limit of its class"),
            Limit::Budget => f.write_str("time limit of the run"),
            Limit::Interrupted => f.write_str("interrupted"),
            Limit::Size => f.write_str("size limit of the query"),
            Limit::ContextSwitches(1) => f.write_str("not within 1 context switch"),
            Limit::ContextSwitches(most) => write!(f, "not within {most} context switches"),
            Limit::Solver(reason) => write!(f, "solver: {reason}"),
        }
    }
}

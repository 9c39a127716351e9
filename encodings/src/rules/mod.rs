//! One file per rule family. A rule turns facts of the trace into constraints; an analysis model is a choice of rules.

mod condition_variables;
mod guards;
mod implied;
mod known_values;
mod locks;
mod once;
mod other_way;
mod path;
mod program_order;
mod reads_from;
mod semaphores;
mod switches;
mod violation;

pub(crate) use known_values::KnownValues;
pub use path::Paths;
pub use violation::Query;

use foretrace_trace::{Feasibility, Model, Question};
use std::fmt;

/// The family that a constraint belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Rule {
    /// The order of a thread's events, fork before child, child before join, arrives before departs, an initialisation before those
    /// who go past it.
    ProgramOrder,
    /// What a read may return.
    ReadsFrom,
    /// Conditions of the way that the execution took.
    Guards,
    /// Values that left what is tracked.
    Pins,
    /// Locks, shared and exclusive, and failed tries; initialisations that exclude each other.
    Locks,
    /// What happens once: the initialisation that does not fail is the last.
    Once,
    /// A signal for every wake.
    ConditionVariables,
    /// A count above zero for every down, but for semaphores that are used as locks.
    Semaphores,
    /// The candidate itself.
    Violation,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Rule::ProgramOrder => "program order",
            Rule::ReadsFrom => "reads-from",
            Rule::Guards => "guards",
            Rule::Pins => "pins",
            Rule::Locks => "locks",
            Rule::Once => "once",
            Rule::ConditionVariables => "condition variables",
            Rule::Semaphores => "semaphores",
            Rule::Violation => "violation",
        })
    }
}

/// What the value of a read must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reads {
    /// Anything.
    Free,
    /// The latest value; conditions decide whether it will do.
    Latest,
    /// The recorded value.
    Recorded,
    /// That of the recorded write.
    SameWrite,
}

/// The rules that an analysis model consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// What reads return.
    pub reads: Reads,
    /// Whether every event takes part, not only a prefix.
    pub complete: bool,
    /// Most context switches between a violation's first and last access, where they are bounded; the facts then have the marks
    /// for it ([`crate::Marked`]).
    pub switches: Option<u32>,
    /// Families that are left out: for tests that show that each is needed.
    pub without: Vec<Rule>,
}

impl Rules {
    /// The rules of an analysis model. This is the only place that knows models by name.
    pub fn for_question(question: Question) -> Rules {
        let reads = match question.model {
            Model::Cam => Reads::Free,
            Model::Ctp => Reads::Latest,
            Model::Mcm => Reads::Recorded,
            Model::Avp => Reads::SameWrite,
        };
        Rules { reads, complete: question.feasibility == Feasibility::Complete, switches: None, without: Vec::new() }
    }

    /// The same within the bound on context switches, where there is one.
    pub fn within(self, switches: Option<u32>) -> Rules {
        Rules { switches, ..self }
    }
}

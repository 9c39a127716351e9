//! The parts of a question to a trace: candidate triple, analysis model, feasibility and independence.

use crate::op::Op;
use crate::trace::{Data, EventId, Trace};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a read must return in a prefix (`docs/trace-format.md`, *Executions of a trace*).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// Concurrent access model: reads return anything, guards are not looked at (Fusion, appendix A).
    Cam,
    /// Concurrent trace program: reads return the latest value, guards must hold (Fusion, section 2).
    Ctp,
    /// Maximal causal model: reads return the recorded value (Serbanuta, Chen and Rosu).
    Mcm,
    /// Almost view preserving: reads return what the same write wrote (TAS, section II.C).
    Avp,
}

impl Model {
    /// The least that a trace must know of values for this model.
    pub fn needs(self) -> Data {
        match self {
            Model::Cam | Model::Avp => Data::None,
            Model::Mcm => Data::Concrete,
            Model::Ctp => Data::Symbolic,
        }
    }

    /// Whether its prefixes determine what every read returns, as guarded independence needs.
    pub fn has_values(self) -> bool {
        matches!(self, Model::Ctp | Model::Mcm)
    }

    /// Whether its prefixes determine what operations give: by their expressions, or as recorded.
    pub fn knows_results(self) -> bool {
        self != Model::Cam
    }
}

/// Whether a violation may end the run or must be part of a whole one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Feasibility {
    /// Some prefix shows the violation (Fusion, section 5).
    Prefix,
    /// Some execution of all events shows it (Fusion, section 4).
    Complete,
}

/// When two accesses to one variable count as independent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Independence {
    /// Only when neither writes.
    Conflict,
    /// Also when the values make the order irrelevant (Fusion, Definition 2, rules 4a and 4b).
    Guarded,
}

macro_rules! display_as_lowercase {
    ($($name:ident),*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&format!("{self:?}").to_lowercase())
            }
        }
    )*};
}
display_as_lowercase!(Model, Feasibility, Independence);

/// A candidate: two accesses of one transaction and one of another thread in between.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Triple {
    /// The earlier access of the transaction.
    pub first: EventId,
    /// The other thread's access.
    pub remote: EventId,
    /// The later access of the transaction.
    pub second: EventId,
}

impl fmt::Display for Triple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}, {})", self.first, self.remote, self.second)
    }
}

/// Which of the three accesses read and write; unserializable combinations only.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Pattern {
    /// Read, remote write, read.
    #[serde(rename = "R-W-R")]
    Rwr,
    /// Read, remote write, write.
    #[serde(rename = "R-W-W")]
    Rww,
    /// Write, remote write, read.
    #[serde(rename = "W-W-R")]
    Wwr,
    /// Write, remote write, write.
    #[serde(rename = "W-W-W")]
    Www,
    /// Write, remote read, write.
    #[serde(rename = "W-R-W")]
    Wrw,
}

impl Pattern {
    /// All patterns, in the order in which a candidate that fits several is named.
    pub const ALL: [Pattern; 5] = [Pattern::Rwr, Pattern::Rww, Pattern::Wwr, Pattern::Www, Pattern::Wrw];

    /// Whether first, remote and second write (true) or read (false).
    pub fn writes(self) -> [bool; 3] {
        match self {
            Pattern::Rwr => [false, true, false],
            Pattern::Rww => [false, true, true],
            Pattern::Wwr => [true, true, false],
            Pattern::Www => [true, true, true],
            Pattern::Wrw => [true, false, true],
        }
    }

    /// The patterns that three accesses fit, in order; an `rmw` counts as a read and as a write.
    pub fn fitting(first: &Op, remote: &Op, second: &Op) -> impl Iterator<Item = Pattern> {
        let can = [first, remote, second].map(|op| (op.reads(), op.writes()));
        Pattern::ALL.into_iter().filter(move |pattern| {
            pattern.writes().iter().zip(can).all(|(write, (reads, writes))| if *write { writes } else { reads })
        })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Pattern::Rwr => "R-W-R",
            Pattern::Rww => "R-W-W",
            Pattern::Wwr => "W-W-R",
            Pattern::Www => "W-W-W",
            Pattern::Wrw => "W-R-W",
        })
    }
}

impl Triple {
    /// The patterns that the triple's accesses fit; none where it is no candidate by its kinds.
    pub fn patterns(self, trace: &Trace) -> impl Iterator<Item = Pattern> {
        let op = |event| &trace.event(event).op;
        Pattern::fitting(op(self.first), op(self.remote), op(self.second))
    }

    /// How far apart the accesses were in the recorded run, in events: the nearer, the less another schedule has to change.
    pub fn distance(self) -> u32 {
        let Triple { first, remote, second } = self;
        first.0.max(remote.0).max(second.0) - first.0.min(remote.0).min(second.0)
    }
}

/// The question that one analysis run asks of every candidate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Question {
    /// What reads return.
    pub model: Model,
    /// Prefix or complete.
    pub feasibility: Feasibility,
    /// When accesses depend on each other.
    pub independence: Independence,
}

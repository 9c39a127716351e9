//! What is said of a block, and by which choices.

use crate::segment::{Range, Segment};
use foretrace_checker::{ViolationPath, Witness};
use foretrace_trace::Model;
use std::time::Duration;

/// How blocks are judged.
#[derive(Clone, Debug)]
pub struct Choices {
    /// What reads return in the interleavings.
    pub model: Model,
    /// Explore the block's segment; else the whole trace.
    pub segment: bool,
    /// Prove what can be proved without exploring.
    pub static_check: bool,
    /// Explore one interleaving of each equivalence class; else all.
    pub reduction: bool,
    /// Try likely schedules before anything is explored.
    pub hunt: bool,
    /// Make the schedule of a violation short.
    pub shorten: bool,
    /// Most context switches between the first and the last access of a path, where they are bounded. All count, also those to
    /// another thread when one cannot go on.
    pub context_switches: Option<u32>,
    /// Time limit of one block.
    pub block_limit: Option<Duration>,
    /// Most steps of the exploration of one block: unlike time, the same on every machine.
    pub most_steps: Option<u64>,
}

impl Choices {
    /// Everything on, no limits.
    pub fn new(model: Model) -> Choices {
        Choices {
            model,
            segment: true,
            static_check: true,
            reduction: true,
            hunt: true,
            shorten: true,
            context_switches: None,
            block_limit: None,
            most_steps: None,
        }
    }
}

/// What was found of a block.
#[derive(Clone, Debug)]
pub enum Decision {
    /// No interleaving violates it, by the static check.
    Proved,
    /// No interleaving violates it: all were explored.
    Holds,
    /// No interleaving with at most this many context switches does. One with more may.
    NotWithin(u32),
    /// This interleaving does.
    Violated(Box<Violation>),
    /// The recorded order does not violate it, and nothing else was asked.
    NotObserved,
    /// The limit was reached.
    Limit,
    /// The witness that was found does not pass the checker: a defect of foretrace.
    Refused(String),
}

/// A violation, which the checker has run: a shortest violation path of a schedule, from the trace's start to where the path comes back.
pub type Violation = Witness<ViolationPath>;

/// How much was explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Explored {
    /// Interleavings that came to their end.
    pub interleavings: u64,
    /// Those given up half-way, since an equivalent one had been explored.
    pub redundant: u64,
    /// Steps taken.
    pub steps: u64,
}

/// What is said of a block.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The block's position among all.
    pub block: usize,
    /// What was found of the block itself, leaving out violations of the blocks inside of it.
    pub decision: Decision,
    /// The segment.
    pub segment: Segment,
    /// From where it was explored.
    pub start: Option<Range>,
    /// How much was explored.
    pub explored: Explored,
    /// Whether a solver has decided what exploration left open.
    pub by_solver: bool,
    /// Of a violated block: only attempts that it gives up are disturbed, which is proved.
    pub is_dropped: bool,
    /// How long it took.
    pub time: Duration,
}

impl Judgement {
    /// Whether no interleaving of the model violates the block itself.
    pub fn is_safe(&self) -> bool {
        matches!(self.decision, Decision::Proved | Decision::Holds)
    }

    /// Of a block that was not reached within the limit: nothing is known, not even its segment.
    pub fn not_reached(block: usize) -> Judgement {
        let range = Range { upper: Vec::new(), lower: Vec::new() };
        let segment = Segment { range, is_proved: false, leaving: Vec::new(), entering: Vec::new() };
        Judgement::unexplored(block, Decision::Limit, segment)
    }

    /// Of a block for which nothing was explored.
    pub(crate) fn unexplored(block: usize, decision: Decision, segment: Segment) -> Judgement {
        let (explored, time) = (Explored::default(), Duration::ZERO);
        Judgement { block, decision, segment, start: None, explored, by_solver: false, is_dropped: false, time }
    }
}

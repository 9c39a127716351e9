//! Verdicts on candidates: what decided each, and what it rests on.

pub use foretrace_solve::Limit;
use foretrace_trace::{Pattern, Trace, Triple};
use serde::Serialize;
use std::fmt;

/// The stage that decided a candidate, cheapest first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decider {
    /// Vector clocks: the order is impossible in every model.
    MustHappenBefore,
    /// Locksets and acquisition histories: no cut-point (Penelope, sections 3.2 and 4.1).
    CutPoints,
    /// The remote access lies outside of the transaction's trace atomicity segment (TAS, section III).
    Segment,
    /// A schedule that was built without a solver passed the checker.
    EarlyWitness,
    /// The forced orders of the candidate close to a cycle.
    EarlyRefutation,
    /// The states that prefixes reach, where they are few.
    States,
    /// The solver.
    Smt,
}

impl Decider {
    /// All stages in the order in which they are asked.
    pub const ALL: [Decider; 7] = [
        Decider::MustHappenBefore,
        Decider::CutPoints,
        Decider::Segment,
        Decider::EarlyWitness,
        Decider::EarlyRefutation,
        Decider::States,
        Decider::Smt,
    ];

    /// Whether it judges each candidate by itself, without a search.
    pub fn is_filter(self) -> bool {
        !matches!(self, Decider::States | Decider::Smt)
    }

    /// Whether what it refutes is infeasible in every model, whatever reads return.
    pub fn holds_in_every_model(self) -> bool {
        matches!(self, Decider::MustHappenBefore | Decider::CutPoints)
    }

    /// The name in reports and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Decider::MustHappenBefore => "must-happen-before",
            Decider::CutPoints => "cut-points",
            Decider::Segment => "segment",
            Decider::EarlyWitness => "early-witness",
            Decider::EarlyRefutation => "early-refutation",
            Decider::States => "states",
            Decider::Smt => "smt",
        }
    }
}

impl fmt::Display for Decider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What a verdict leans on that the program itself may not guarantee.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RestsOn {
    /// Infeasible only because a value that left what is tracked was pinned.
    Pin,
    /// Feasible by a prefix that goes past a write of unrecorded code.
    External,
    /// Feasible by a prefix that does not keep an order of the run which code that the trace does not show may ask for.
    Unseen,
}

impl RestsOn {
    /// What a feasible verdict leans on whose schedule runs so; the graver of two.
    pub fn of_run(run: &foretrace_checker::Run) -> Option<RestsOn> {
        let unseen = run.unseen.map(|_| RestsOn::Unseen);
        unseen.or(run.passes_external.then_some(RestsOn::External))
    }
}

/// Whether a candidate can happen.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// It can: here is the checked schedule.
    Feasible(Box<foretrace_checker::Witness>),
    /// It cannot, in the model asked about.
    Infeasible,
    /// Not decided.
    Unknown(Limit),
}

/// What is known of an infeasible candidate that is not known to be impossible: that some branch, guard, pin or value of this run
/// forbids it, or not even that.
#[derive(Clone, Debug)]
pub enum OffPath {
    /// Some prefix of the model holds first and then remote, which depend on each other, and not second: here it is.
    AfterRemote(Box<foretrace_checker::Witness<foretrace_checker::Interruption>>),
    /// There is no such prefix, but with free reads there is a schedule of all three: here it is.
    BeforeRemote(Box<foretrace_checker::Witness>),
    /// Not told apart: a limit was reached before, or it was not needed, since another candidate of the class is off the path. With free
    /// reads' schedule of all three where that was found.
    Unasked(Option<Box<foretrace_checker::Witness>>),
}

impl OffPath {
    /// The name in reports.
    pub fn name(&self) -> &'static str {
        match self {
            OffPath::AfterRemote(_) => "after-remote",
            OffPath::BeforeRemote(_) => "before-remote",
            OffPath::Unasked(_) => "unasked",
        }
    }

    /// The steps of the schedule, where there is one.
    pub fn run(&self) -> Option<&foretrace_checker::Run> {
        match self {
            OffPath::AfterRemote(interruption) => Some(interruption.run()),
            OffPath::BeforeRemote(witness) => Some(witness.run()),
            OffPath::Unasked(witness) => witness.as_ref().map(|witness| witness.run()),
        }
    }

    /// The schedule, where there is one.
    pub fn schedule(&self) -> Option<&[foretrace_trace::EventId]> {
        match self {
            OffPath::AfterRemote(interruption) => Some(interruption.schedule()),
            OffPath::BeforeRemote(witness) => Some(witness.schedule()),
            OffPath::Unasked(witness) => witness.as_ref().map(|witness| witness.schedule()),
        }
    }
}

/// A decided candidate.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The candidate.
    pub triple: Triple,
    /// The first pattern that is feasible; the first that fits where none is.
    pub pattern: Pattern,
    /// The verdict.
    pub verdict: Verdict,
    /// Who decided it.
    pub decided_by: Decider,
    /// Of an infeasible candidate: nothing where it is impossible, that is infeasible with free reads, too.
    pub off_path: Option<OffPath>,
    /// What the verdict leans on.
    pub rests_on: Option<RestsOn>,
    /// Whether a feasible candidate is so under guarded independence, too; `None` where that is not known or not asked.
    pub guarded: Option<bool>,
}

impl Decision {
    /// The decision that there is none.
    pub fn unknown(trace: &Trace, triple: Triple, limit: Limit) -> Decision {
        Decision::without_witness(trace, triple, Verdict::Unknown(limit), Decider::Smt)
    }

    /// A decision that has no schedule and leans on nothing.
    pub fn without_witness(trace: &Trace, triple: Triple, verdict: Verdict, decided_by: Decider) -> Decision {
        let pattern = triple.patterns(trace).next().expect("a candidate fits a pattern");
        let is_open = matches!(verdict, Verdict::Infeasible) && !decided_by.holds_in_every_model();
        let off_path = is_open.then_some(OffPath::Unasked(None));
        Decision { triple, pattern, verdict, decided_by, off_path, rests_on: None, guarded: None }
    }
}

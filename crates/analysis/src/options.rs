//! What an analysis run is asked to do.

use crate::blocks::NamedBlocks;
use crate::verdict::Decider;
pub use foretrace_solve::Order;
use foretrace_trace::{Atomic, Data, Feasibility, Independence, Model, Question};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Which triples are candidates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CandidateSet {
    /// Neighbouring accesses only; every violating prefix holds one of these (Penelope, sets AA and WW).
    Adjacent,
    /// Every triple.
    All,
}

/// When a class of candidates is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Per {
    /// At the first feasible triple of the same three source locations.
    Location,
    /// Never: every triple is decided.
    Event,
}

/// How candidates are decided. Verdicts do not depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strategy {
    /// Filters first, then constraints that grow with what the queries need, in one solver.
    Demand,
    /// The published method (Fusion): must-happen-before, then the formula of the whole trace, once for each candidate.
    Paper,
}

/// The options of `foretrace predict`.
#[derive(Clone, Debug)]
pub struct Options {
    /// Model, feasibility and independence.
    pub question: Question,
    /// What counts as a transaction.
    pub atomic: Atomic,
    /// Which triples are candidates.
    pub candidates: CandidateSet,
    /// Most context switches of a schedule between the violation's first and last access, where they are bounded.
    pub context_switches: Option<u32>,
    /// When a class is done.
    pub per: Per,
    /// How candidates are decided.
    pub strategy: Strategy,
    /// Filters that are switched off (never [`Decider::Smt`]).
    pub without: BTreeSet<Decider>,
    /// How order is decided.
    pub order: Order,
    /// Worker threads, at least 1.
    pub jobs: usize,
    /// Time limit of one solver query.
    pub timeout: Duration,
    /// Most terms of a solver's session: what needs more is not decided.
    pub most_terms: usize,
    /// Time limit of the whole run.
    pub budget: Option<Duration>,
    /// Whether infeasible candidates are told apart: impossible ones, and those that are only off this run's path.
    pub off_path: bool,
    /// Where each query is written as SMT-LIB 2.
    pub dump_smt2: Option<PathBuf>,
    /// The solver's random seed.
    pub seed: u32,
    /// Whether only verdicts are wanted: schedules stay as they were found, and nothing more is asked of feasible ones.
    pub verdicts_only: bool,
    /// Whether reports say how long things took; without it the same input gives the same bytes.
    pub times: bool,
    /// The blocks that classes are told apart by and reports name; without them, locations alone.
    pub blocks: Option<Arc<NamedBlocks>>,
    /// By place of the program's own code, where inside of a library its accesses happen, as far as that is known.
    pub inside: Arc<BTreeMap<String, String>>,
    /// Whether text reports show every class, also those of whole threads.
    pub all: bool,
    /// Whether candidates whose remote access wrote what was there come last: for those who want to see an effect.
    pub wants_effect: bool,
    /// Whether the recorded run failed: then what it shows itself is asked about first.
    pub failed: bool,
}

impl Options {
    /// The defaults for a trace with this data.
    pub fn new(data: Data) -> Options {
        Options {
            question: Question {
                model: strongest_model(data),
                feasibility: Feasibility::Prefix,
                independence: Independence::Conflict,
            },
            atomic: Atomic::Auto,
            candidates: CandidateSet::Adjacent,
            context_switches: None,
            per: Per::Location,
            strategy: Strategy::Demand,
            without: BTreeSet::new(),
            order: Order::Auto,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            timeout: Duration::from_secs(30),
            most_terms: foretrace_solve::MOST_TERMS,
            budget: None,
            off_path: false,
            dump_smt2: None,
            seed: 0,
            verdicts_only: false,
            times: false,
            blocks: None,
            inside: Arc::default(),
            all: false,
            wants_effect: false,
            failed: false,
        }
    }
}

/// The filters that the strategy `paper` does without: all but must-happen-before.
pub fn not_of_paper() -> BTreeSet<Decider> {
    let asked = [Decider::MustHappenBefore, Decider::Smt];
    Decider::ALL.into_iter().filter(|decider| !asked.contains(decider)).collect()
}

/// The model that sees most of what the data supports without a false alarm.
pub fn strongest_model(data: Data) -> Model {
    match data {
        Data::Symbolic => Model::Ctp,
        Data::Concrete => Model::Mcm,
        Data::None => Model::Avp,
    }
}

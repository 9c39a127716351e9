//! What people and programs get to see of a run: text, JSON, and one file per witness.
//!
//! A report shows as feasible only what comes with a [`foretrace_checker::Witness`], which only the checker can make.

mod annotations;
mod block;
mod block_comparison;
mod block_explanation;
mod block_repair;
mod class;
mod comparison;
mod explanation;
mod folding;
mod history;
mod json;
mod names;
mod needed;
mod not_repaired;
mod off_path;
mod other_way;
mod predicted;
mod repair;
mod repair_program;
mod saved;
mod sentence;
mod serializability;
mod style;
mod table;
mod text;
mod totals;
mod unseen_order;
mod use_after_free;
mod values;
mod why;
mod witness;

pub use annotations::AnnotationReport;
pub use block::BlockJson;
pub use block_comparison::BlockComparison;
pub use block_explanation::BlockExplanationReport;
pub use block_repair::{AsItIs, BlockRepair, BlockRuns};
pub use comparison::{ComparisonJson, ComparisonText};
pub use explanation::ExplanationReport;
pub use folding::{cut, short_name};
pub use foretrace_trace::write_whole;
pub use history::{HistoryJson, HistoryReport, OperationJson, SEQUENTIAL_RUNS, as_what, operation_json};
pub use json::JsonReport;
pub use names::{
    Names, SourceLine, below_crates, below_project, line_of, thread_called, thread_name, wrapped, wrapped_at,
};
pub use needed::{NeededRuns, write_needed};
pub use not_repaired::NotRepaired;
pub use other_way::write_other_way;
pub use predicted::{
    EnforcedBy, LockChoice, PredictedRepair, Proof, ProposedPatch, ProposedPatchJson, RepairRuns, RepairTarget,
    RepairTargets, predicted_json, write_predicted, write_predicted_one,
};
pub use repair::RepairReport;
pub use repair_program::{ProgramRepair, Proposed, RepairRound, Ways};
pub use saved::{
    SavedAccesses, SavedBlock, SavedKind, SavedMeaning, SavedOffPath, SavedPerformed, SavedPlace, SavedPlaces,
    SavedSchedule, SavedStep, SavedWitness, ScheduleError,
};
pub use sentence::Speaker;
pub use serializability::json::{BeyondJson, BlocksJson};
pub use serializability::witness::WrittenBlock;
pub use serializability::{BlockReport, BlockTotals};
pub use style::plural;
pub use table::{act, act_of};
pub use text::TextReport;
pub use use_after_free::{UsesJson, UsesReport, WrittenUse};
pub use values::{shown_value, shown_word};
pub use why::{Delays, Gone, ReadEarly, Switches, TooEarly, Unfinished, Violation, WhyReport};
pub use witness::{NamesPlaces, Unproved, WitnessDir, WitnessFileError};

use foretrace_analysis::blocks::BlockName;
use foretrace_analysis::candidates::Class;
use foretrace_analysis::options::{CandidateSet, Options, Per};
use foretrace_analysis::whole_thread::WholeThreads;
use foretrace_checker::Witness;
use foretrace_trace::{Atomic, EventId, Independence, Pattern, Trace, Transaction, Triple};

/// What a report is about.
#[derive(Clone, Copy)]
pub struct Subject<'t> {
    /// The trace's file, as it was named.
    pub file: &'t str,
    /// The trace.
    pub trace: &'t Trace,
    /// What counts as a transaction.
    pub transactions: &'t [Transaction],
    /// What was asked.
    pub options: &'t Options,
}

/// The words of a bound on context switches, to follow what was asked.
pub fn within_words(context_switches: Option<u32>) -> String {
    match context_switches {
        None => String::new(),
        Some(1) => "; at most 1 context switch".to_string(),
        Some(most) => format!("; at most {most} context switches"),
    }
}

/// The name that the command line and reports have for a set of candidates.
pub fn candidate_set_name(set: CandidateSet) -> &'static str {
    match set {
        CandidateSet::Adjacent => "adjacent",
        CandidateSet::All => "all",
    }
}

/// The name that the command line and reports have for when a class is done.
pub fn per_name(per: Per) -> &'static str {
    match per {
        Per::Location => "location",
        Per::Event => "event",
    }
}

impl Subject<'_> {
    /// The class of a candidate.
    pub fn class(&self, triple: Triple) -> Class {
        Class::in_block(self.trace, self.options.blocks.as_deref(), triple)
    }

    /// Whether a violation counts as found: all do that a block tighter than the thread holds, or where the user chose the blocks.
    pub fn counts(&self, triple: Triple) -> bool {
        WholeThreads::new(self.trace, self.options).counts(triple)
    }

    /// Whether a feasible candidate makes the exit code say that something was found: it counts, or it happened in a run that failed.
    pub fn is_found(&self, triple: Triple, observed: bool) -> bool {
        observed && self.options.failed || self.counts(triple)
    }

    /// The name of a candidate's block and how many levels of blocks that has inside, where blocks are known.
    fn block(&self, triple: Triple) -> Option<(BlockName, u32)> {
        self.options.blocks.as_deref()?.block_of(self.trace, triple)
    }

    /// Where inside of a library an access happens that has its place at the user's call.
    fn inside(&self, event: EventId) -> Option<&str> {
        self.options.inside.get(self.trace.loc(event)?).map(String::as_str)
    }

    /// Whether the recorded order itself shows a feasible candidate.
    pub fn is_observed(&self, triple: Triple, witness: &Witness) -> bool {
        let is_in_order = triple.first < triple.remote && triple.remote < triple.second;
        let depends = self.options.question.independence == Independence::Conflict || witness.schedule().is_sorted();
        is_in_order && depends
    }

    /// The line that says what counts as a transaction.
    fn transactions_line(&self) -> String {
        let atomic = self.options.atomic.resolved(self.trace);
        let count = self.transactions.len();
        wrapped(&format!("transactions: {count} by --atomic {atomic} ({})", atomic_meaning(atomic)), "  ")
    }
}

/// What a choice of transactions means, for people.
fn atomic_meaning(atomic: Atomic) -> &'static str {
    match atomic {
        Atomic::Auto => "outermost threads, functions, turns of loops, critical sections",
        Atomic::Marked => "what stands between begin and end",
        Atomic::Sections => "outermost critical sections",
        Atomic::Functions => "outermost calls of functions",
        Atomic::InnerFunctions => "innermost calls of functions",
        Atomic::Loops => "turns of loops",
        Atomic::Operations => "operations, from call to return",
        Atomic::Threads => "whole threads",
    }
}

/// What a pattern usually means, for people.
fn pattern_meaning(pattern: Pattern) -> &'static str {
    match pattern {
        Pattern::Rwr => "unrepeatable read",
        Pattern::Rww => "lost update",
        Pattern::Wwr => "own write overwritten before it is read back",
        Pattern::Www => "foreign write between two writes",
        Pattern::Wrw => "unfinished update read",
    }
}

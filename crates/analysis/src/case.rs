//! What all threads of a run share: the trace with its facts, the checker, what was asked, and the limits.

use crate::candidates::Class;
use crate::options::{Options, Strategy};
use crate::schedule;
use foretrace_checker::{CheckError, Checker, Witness};
use foretrace_encodings::{Facts, Marked, Reads, Rules, constant_reads_while};
use foretrace_solve::Limits;
use foretrace_trace::{EventId, Pattern, Transaction, Triple, Value};
use rustc_hash::FxHashMap;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// What all threads of a run share.
pub(crate) struct Case<'a> {
    pub(crate) facts: Facts<'a>,
    pub(crate) checker: Checker<'a>,
    pub(crate) options: &'a Options,
    pub(crate) constants: FxHashMap<EventId, Value>,
    pub(crate) deadline: Option<Instant>,
    pub(crate) stop: &'a AtomicBool,
    /// The trace with marks, where context switches are bounded.
    marked: Option<Marked>,
}

impl<'a> Case<'a> {
    /// # Errors
    /// Where the trace knows too little for the question.
    pub(crate) fn new(
        facts: Facts<'a>,
        transactions: &'a [Transaction],
        options: &'a Options,
        constants: FxHashMap<EventId, Value>,
        deadline: Option<Instant>,
        stop: &'a AtomicBool,
    ) -> Result<Case<'a>, CheckError> {
        let switches = options.context_switches;
        let checker = Checker::new(facts.trace, facts.observed, transactions, options.question)?.within(switches);
        let marked = switches.map(|switches| Marked::new(facts, switches));
        Ok(Case { facts, checker, options, constants, deadline, stop, marked })
    }

    /// What a solver gets: the facts, with marks where context switches are bounded, and the rules.
    pub(crate) fn encoded(&self) -> (Facts<'_>, Rules) {
        let facts = self.marked.as_ref().map_or(self.facts, Marked::facts);
        (facts, Rules::of(self.options.question).within(self.options.context_switches))
    }

    /// The reads that return one value in every prefix, where the model looks at values.
    pub(crate) fn constants(facts: Facts<'_>, options: &Options, limits: Limits<'_>) -> FxHashMap<EventId, Value> {
        let values = options.strategy == Strategy::Demand && Rules::of(options.question).reads == Reads::Latest;
        match values {
            true => constant_reads_while(facts, &mut || limits.reached().is_none()),
            false => FxHashMap::default(),
        }
    }

    /// The class of a candidate.
    pub(crate) fn class(&self, triple: Triple) -> Class {
        Class::in_block(self.facts.trace, self.options.blocks.as_deref(), triple)
    }

    /// What bounds a query.
    pub(crate) fn limits(&self) -> Limits<'a> {
        Limits { timeout: self.options.timeout, deadline: self.deadline, work: None, stop: self.stop }
    }

    /// The same witness with fewer context switches; one that was found for a pattern still shows it.
    pub(crate) fn simplify(&self, witness: Witness, pattern: Option<Pattern>) -> Witness {
        if self.options.verdicts_only {
            return witness;
        }
        let feasibility = self.options.question.feasibility;
        let simple = schedule::simplify_with(&self.checker, self.facts.trace, feasibility, witness.clone());
        let shows_less = pattern.is_some() && simple.guarded_dependent() != witness.guarded_dependent()
            || simple.pattern() != witness.pattern();
        if shows_less { witness } else { simple }
    }
}

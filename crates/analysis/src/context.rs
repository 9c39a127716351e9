//! What all threads of a run share: the trace with its facts, the checker, what was asked, and the limits.

use crate::candidates::Class;
use crate::filters::regions_by_thread;
use crate::options::{Options, Strategy};
use crate::reachable::{self, Reachability};
use crate::schedule;
use foretrace_checker::{CheckError, Checker, Witness};
use foretrace_encodings::{Marked, Reads, Rules, TraceView, constant_reads_while};
use foretrace_solve::Limits;
use foretrace_trace::{EventId, Pattern, Semantics, Transaction, Triple, Value};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Instant;

/// What all threads of a run share.
pub(crate) struct AnalysisContext<'a> {
    pub(crate) view: TraceView<'a>,
    pub(crate) checker: Checker<'a>,
    pub(crate) options: &'a Options,
    pub(crate) constants: FxHashMap<EventId, Value>,
    pub(crate) deadline: Option<Instant>,
    pub(crate) stop: &'a AtomicBool,
    /// The trace with marks, where context switches are bounded.
    marked: Option<Marked>,
    /// Prefixes reach more states than this, of the variables on which conditions depend, as some thread has found.
    pub(crate) more_states_than: Arc<AtomicUsize>,
}

impl<'a> AnalysisContext<'a> {
    /// # Errors
    /// Where the trace knows too little for the question.
    pub(crate) fn new(
        view: TraceView<'a>,
        transactions: &'a [Transaction],
        options: &'a Options,
        constants: FxHashMap<EventId, Value>,
        deadline: Option<Instant>,
        stop: &'a AtomicBool,
    ) -> Result<AnalysisContext<'a>, CheckError> {
        let switches = options.context_switches;
        let checker = Checker::new(view.trace, view.observed, transactions, options.question)?.within(switches);
        let marked = switches.map(|switches| Marked::new(view, switches));
        Ok(AnalysisContext {
            view,
            checker,
            options,
            constants,
            deadline,
            stop,
            marked,
            more_states_than: Arc::default(),
        })
    }

    /// What a solver gets: the facts, with marks where context switches are bounded, and the rules.
    pub(crate) fn encoded(&self) -> (TraceView<'_>, Rules) {
        let view = self.marked.as_ref().map_or(self.view, Marked::view);
        (view, Rules::for_question(self.options.question).within(self.options.context_switches))
    }

    /// The reads that return one value in every prefix, where the model looks at values.
    pub(crate) fn constants(view: TraceView<'_>, options: &Options, limits: Limits<'_>) -> FxHashMap<EventId, Value> {
        let values =
            options.strategy == Strategy::Demand && Rules::for_question(options.question).reads == Reads::Latest;
        match values {
            true => constant_reads_while(view, &mut || limits.reached().is_none()),
            false => FxHashMap::default(),
        }
    }

    /// What it takes to look at the states that prefixes reach; nothing where they do not decide what is asked.
    pub(crate) fn reachability(&self) -> Option<Reachability<'a>> {
        let TraceView { trace, trace_index, observed, .. } = self.view;
        if !reachable::decides(self.options, trace) {
            return None;
        }
        let semantics = Semantics::new(trace, observed, self.options.question.model).ok()?;
        Some(Reachability::new(self.view, semantics, &regions_by_thread(trace, trace_index)))
    }

    /// The class of a candidate.
    pub(crate) fn class(&self, triple: Triple) -> Class {
        Class::in_block(self.view.trace, self.options.blocks.as_deref(), triple)
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
        let simple = schedule::simplify_with(&self.checker, self.view.trace, feasibility, witness.clone());
        let shows_less = pattern.is_some() && simple.guarded_dependent() != witness.guarded_dependent()
            || simple.pattern() != witness.pattern();
        if shows_less { witness } else { simple }
    }
}

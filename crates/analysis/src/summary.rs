//! What a trace holds, in numbers: the content of `foretrace info`.

use crate::candidates::Candidates;
use crate::options::CandidateSet;
use foretrace_index::TraceIndex;
use foretrace_trace::{Atomic, Data, EventId, Op, TermId, Trace, Why};
use indexmap::IndexMap;
use rustc_hash::FxHashSet;
use serde::Serialize;

/// The numbers of a trace.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Summary {
    /// The program's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// What the trace knows of values.
    pub data: Data,
    /// How many threads there are.
    pub threads: usize,
    /// How many shared variables there are.
    pub variables: usize,
    /// How many of them more than one thread accesses and one writes.
    pub contended_variables: usize,
    /// How many of them a library keeps for itself: their accesses are no candidates.
    pub library_variables: usize,
    /// How many synchronisation objects there are.
    pub sync_objects: usize,
    /// How many events there are.
    pub events: usize,
    /// How many of each kind, the most frequent first.
    pub events_by_kind: IndexMap<&'static str, usize>,
    /// Reads and read-modify-writes.
    pub reads: usize,
    /// How many of them have a value that reaches a guard or an assume of their thread.
    pub reads_that_feed_guards: usize,
    /// Assumes of a branch that was taken.
    pub branches: usize,
    /// Assumes of a value that left what is tracked.
    pub pins: usize,
    /// Where values left it, and how many did there: the most frequent first, at most [`PINNED_AT`].
    pub pinned_at: Vec<(String, usize)>,
    /// Writes and read-modify-writes that have an expression.
    pub expressions: usize,
    /// How many of them write what depends on a value that was read.
    pub expressions_of_reads: usize,
    /// What each choice of transactions gives.
    pub transactions: Vec<TransactionCounts>,
}

/// How many locations of pins are listed.
pub const PINNED_AT: usize = 5;

/// What one choice of transactions gives.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TransactionCounts {
    /// The choice.
    pub atomic: Atomic,
    /// How many transactions there are.
    pub count: usize,
    /// How many triples of accesses.
    pub candidates_all: u64,
    /// How many of them are neighbours.
    pub candidates_adjacent: u64,
}

impl Summary {
    /// Counts.
    pub fn new(trace: &Trace) -> Summary {
        let trace_index = TraceIndex::new(trace);
        let is = |wanted: Why, op: &Op| matches!(op, Op::Assume { why, .. } if *why == wanted);
        let assumes = |why: Why| trace.events.iter().filter(|event| is(why, &event.op)).count();
        let written: Vec<TermId> = trace.events.iter().filter_map(|event| written(&event.op)).collect();
        Summary {
            program: trace.program.as_deref().map(str::to_string),
            data: trace.data,
            threads: trace.threads.len(),
            variables: trace.vars.len(),
            contended_variables: contended(trace, &trace_index),
            library_variables: trace.vars.iter().filter(|variable| variable.is_of_library()).count(),
            sync_objects: trace.syncs.len(),
            events: trace.events.len(),
            events_by_kind: by_kind(trace),
            reads: trace.events.iter().filter(|event| event.op.reads()).count(),
            reads_that_feed_guards: reads_that_feed_guards(trace),
            branches: assumes(Why::Branch),
            pins: assumes(Why::Pin),
            pinned_at: pinned_at(trace),
            expressions: written.len(),
            expressions_of_reads: written.iter().filter(|expr| !trace.terms.leaves(**expr).is_empty()).count(),
            transactions: ATOMICS.iter().map(|atomic| counts(trace, &trace_index, *atomic)).collect(),
        }
    }
}

const ATOMICS: [Atomic; 5] = [Atomic::Auto, Atomic::Marked, Atomic::Sections, Atomic::Operations, Atomic::Threads];

fn counts(trace: &Trace, trace_index: &TraceIndex, atomic: Atomic) -> TransactionCounts {
    let transactions = atomic.transactions(trace);
    let candidates = Candidates::new(trace, trace_index, &transactions);
    TransactionCounts {
        atomic,
        count: transactions.len(),
        candidates_all: candidates.count(CandidateSet::All),
        candidates_adjacent: candidates.count(CandidateSet::Adjacent),
    }
}

fn contended(trace: &Trace, trace_index: &TraceIndex) -> usize {
    let threads =
        |accesses: &[EventId]| accesses.iter().map(|e| trace.event(*e).thread).collect::<FxHashSet<_>>().len();
    let both = trace_index.accesses.iter().zip(&trace_index.writes);
    both.filter(|(accesses, writes)| !writes.is_empty() && threads(accesses) > 1).count()
}

fn by_kind(trace: &Trace) -> IndexMap<&'static str, usize> {
    let mut kinds: IndexMap<&'static str, usize> = IndexMap::new();
    for event in &trace.events {
        *kinds.entry(event.op.kind()).or_default() += 1;
    }
    kinds.sort_by(|a, left, b, right| right.cmp(left).then(a.cmp(b)));
    kinds
}

/// The expression of a write or read-modify-write.
fn written(op: &Op) -> Option<TermId> {
    match op {
        Op::Write { expr, .. } | Op::Rmw { expr, .. } => *expr,
        _ => None,
    }
}

/// Where values were pinned.
fn pinned_at(trace: &Trace) -> Vec<(String, usize)> {
    let mut places: IndexMap<&str, usize> = IndexMap::new();
    for (id, event) in trace.iter() {
        if let Op::Assume { why: Why::Pin, .. } = event.op {
            *places.entry(trace.loc(id).unwrap_or("?")).or_default() += 1;
        }
    }
    places.sort_by(|a, left, b, right| right.cmp(left).then(a.cmp(b)));
    places.into_iter().take(PINNED_AT).map(|(place, count)| (place.to_string(), count)).collect()
}

/// Reads whose value reaches a guard or assume of their thread, be it through `let`s.
fn reads_that_feed_guards(trace: &Trace) -> usize {
    let mut needed: FxHashSet<EventId> = FxHashSet::default();
    let mut reads = 0;
    for (id, event) in trace.iter().rev() {
        let mut needs = |term| needed.extend(trace.terms.leaves(term).into_iter().map(|local| local.definition));
        event.op.condition().into_iter().for_each(&mut needs);
        if !needed.contains(&id) {
            continue;
        }
        match event.op {
            Op::Let { expr, .. } => needed.extend(trace.terms.leaves(expr).into_iter().map(|local| local.definition)),
            _ => reads += 1,
        }
    }
    reads
}

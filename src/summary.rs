//! What a trace holds, in numbers: the content of `foretrace info`.

use crate::candidates::Candidates;
use crate::options::CandidateSet;
use foretrace_trace::{Atomic, Data, EventId, Op, Structure, Trace, Why};
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
    /// What each choice of transactions gives.
    pub transactions: Vec<TransactionCounts>,
}

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
        let structure = Structure::new(trace);
        let is = |wanted: Why, op: &Op| matches!(op, Op::Assume { why, .. } if *why == wanted);
        let assumes = |why: Why| trace.events.iter().filter(|event| is(why, &event.op)).count();
        Summary {
            program: trace.program.as_deref().map(str::to_string),
            data: trace.data,
            threads: trace.threads.len(),
            variables: trace.vars.len(),
            contended_variables: contended(trace, &structure),
            sync_objects: trace.syncs.len(),
            events: trace.events.len(),
            events_by_kind: by_kind(trace),
            reads: trace.events.iter().filter(|event| event.op.reads()).count(),
            reads_that_feed_guards: reads_that_feed_guards(trace),
            branches: assumes(Why::Branch),
            pins: assumes(Why::Pin),
            transactions: ATOMICS.iter().map(|atomic| counts(trace, &structure, *atomic)).collect(),
        }
    }
}

const ATOMICS: [Atomic; 4] = [Atomic::Marked, Atomic::LockRegions, Atomic::Operations, Atomic::Threads];

fn counts(trace: &Trace, structure: &Structure, atomic: Atomic) -> TransactionCounts {
    let transactions = atomic.transactions(trace);
    let candidates = Candidates::new(trace, structure, &transactions);
    TransactionCounts {
        atomic,
        count: transactions.len(),
        candidates_all: candidates.count(CandidateSet::All),
        candidates_adjacent: candidates.count(CandidateSet::Adjacent),
    }
}

fn contended(trace: &Trace, structure: &Structure) -> usize {
    let threads =
        |accesses: &[EventId]| accesses.iter().map(|e| trace.event(*e).thread).collect::<FxHashSet<_>>().len();
    let both = structure.accesses.iter().zip(&structure.writes);
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

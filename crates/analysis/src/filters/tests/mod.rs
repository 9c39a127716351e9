//! What each filter decides on traces made by hand; that none is ever wrong is tested against the oracle in
//! `crates/analysis/tests/filters.rs`.

mod closure;
mod cuts;
mod effort;
mod enabling_sets;
mod flags;
mod forced;
mod inferred_exclusion;
mod inferred_locks;
mod inferred_tickets;
mod known_writes;
mod orders;
mod refutations;
mod remote_classes;
mod sources;
mod witnesses;

use super::{Filters, Judgement};
use crate::options::Options;
use crate::verdict::Decider;
use foretrace_encodings::{TraceView, constant_reads};
use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_trace::{Atomic, Data, EventId, Feasibility, Model, Observed, SyncKind, Trace, TraceBuilder, Triple};

/// A symbolic trace over integer variables x, y, z (0 at first), mutexes m and n, a recursive mutex deep, a rwlock rw, a
/// condition variable c and a semaphore s.
struct Case {
    trace: Trace,
    observed: Observed,
    model: Model,
    feasibility: Feasibility,
}

impl Case {
    fn new(build: impl FnOnce(&mut TraceBuilder)) -> Case {
        Case::with_data(Data::Symbolic, build)
    }

    fn with_data(data: Data, build: impl FnOnce(&mut TraceBuilder)) -> Case {
        let mut builder = TraceBuilder::new(data);
        for var in ["x", "y", "z"] {
            builder.int_var(var, 0);
        }
        for mutex in ["m", "n"] {
            builder.sync(mutex, SyncKind::Mutex { recursive: false });
        }
        builder.sync("deep", SyncKind::Mutex { recursive: true });
        builder.sync("rw", SyncKind::Rwlock);
        builder.sync("c", SyncKind::Condvar);
        builder.sync("s", SyncKind::Semaphore { init: 0 });
        build(&mut builder);
        let (trace, observed) = builder.finish().expect("a valid trace");
        Case { trace, observed, model: Model::Ctp, feasibility: Feasibility::Prefix }
    }

    fn model(mut self, model: Model) -> Case {
        self.model = model;
        self
    }

    fn complete(mut self) -> Case {
        self.feasibility = Feasibility::Complete;
        self
    }

    /// What one filter alone says of a triple; each thread is one transaction.
    fn ask(&self, only: Decider, triple: [u32; 3]) -> Option<Judgement> {
        let trace_index = TraceIndex::new(&self.trace);
        let clocks = MustHappenBefore::new(&self.trace, &trace_index);
        let view =
            TraceView { trace: &self.trace, trace_index: &trace_index, observed: &self.observed, clocks: &clocks };
        let mut options = Options::new(self.trace.data);
        options.question.model = self.model;
        options.question.feasibility = self.feasibility;
        options.without.extend(Decider::ALL.into_iter().filter(|decider| *decider != only));
        let transactions = Atomic::Threads.transactions(&self.trace);
        Filters::new(view, &transactions, &options, &constant_reads(view)).judge(triple_of(triple))
    }

    fn refutes(&self, only: Decider, triple: [u32; 3]) -> bool {
        matches!(self.ask(only, triple), Some(Judgement::Infeasible { .. }))
    }

    fn rests_on_pin(&self, only: Decider, triple: [u32; 3]) -> bool {
        matches!(self.ask(only, triple), Some(Judgement::Infeasible { rests_on_pin: true, .. }))
    }

    /// The schedule of the witness that was found.
    fn schedule(&self, triple: [u32; 3]) -> Option<Vec<u32>> {
        match self.ask(Decider::EarlyWitness, triple)? {
            Judgement::Feasible { witness } => Some(witness.schedule().iter().map(|event| event.0).collect()),
            Judgement::Infeasible { .. } => None,
        }
    }
}

fn triple_of([first, remote, second]: [u32; 3]) -> Triple {
    Triple { first: EventId(first), remote: EventId(remote), second: EventId(second) }
}

//! The partial order graph with its vectors (section II.B), and the orders that hold in every prefix of a model.

use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_trace::{EventId, Model, Observed, Op, Trace};

/// Orders between a trace's events, as vectors.
pub struct Order {
    /// The paper's graph: program order, synchronisation and, in `avp`, from each write to those that read it.
    graph: MustHappenBefore,
    /// What holds in every prefix of the model that has the later event. A read that ends its thread may read from another
    /// write, so that the write of a plain read only comes before what follows the read.
    firm: Option<MustHappenBefore>,
    /// In `avp`, per event the write that it must read from to be gone past.
    sources: Vec<Option<EventId>>,
}

impl Order {
    /// The orders of a trace in a model.
    pub fn new(trace: &Trace, trace_index: &TraceIndex, observed: &Observed, model: Model) -> Order {
        if model != Model::Avp {
            return Order { graph: MustHappenBefore::new(trace, trace_index), firm: None, sources: Vec::new() };
        }
        let couples: Vec<(EventId, EventId)> =
            trace.iter().filter_map(|(id, _)| observed.source(id).map(|write| (write, id))).collect();
        let firm = firm_couples(trace, trace_index, observed);
        let graph = MustHappenBefore::with_edges(trace, trace_index, &couples);
        let mut sources = vec![None; trace.events.len()];
        couples.iter().for_each(|(write, read)| sources[read.index()] = Some(*write));
        Order { graph, firm: Some(MustHappenBefore::with_edges(trace, trace_index, &firm)), sources }
    }

    /// The vector of an event (equation 1): how many events of each thread come before it in the graph.
    pub fn vector(&self, trace: &Trace, event: EventId) -> Vec<u32> {
        (0..trace.threads.len()).map(|thread| self.graph.seen(event, thread)).collect()
    }

    /// The paper's graph.
    pub fn graph(&self) -> &MustHappenBefore {
        &self.graph
    }

    /// The write that the event must read from in every prefix that goes past it, where the model says so.
    pub fn source(&self, event: EventId) -> Option<EventId> {
        self.sources.get(event.index()).copied().flatten()
    }

    /// What holds in every prefix of the model.
    pub fn firm(&self) -> &MustHappenBefore {
        self.firm.as_ref().unwrap_or(&self.graph)
    }
}

/// From each write that a read found to what comes after it in every prefix of `avp` that goes on after the read.
fn firm_couples(trace: &Trace, trace_index: &TraceIndex, observed: &Observed) -> Vec<(EventId, EventId)> {
    let couples = trace.iter().filter_map(|(id, _)| observed.source(id).map(|write| (write, id)));
    let firm = couples.filter_map(|(write, read)| {
        let is_plain = matches!(trace.event(read).op, Op::Read { guard: None, .. });
        if is_plain { trace_index.next(trace, read).map(|next| (write, next)) } else { Some((write, read)) }
    });
    firm.collect()
}

/// The orders that hold in every prefix of a model, whatever events come after the trace.
pub(crate) fn lasting(trace: &Trace, trace_index: &TraceIndex, observed: &Observed, model: Model) -> MustHappenBefore {
    let couples = if model == Model::Avp { firm_couples(trace, trace_index, observed) } else { Vec::new() };
    MustHappenBefore::lasting(trace, trace_index, &couples)
}

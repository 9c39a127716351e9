//! What is known of a trace with its tries open: what "impossible" is asked of.

use foretrace_encodings::TraceView;
use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_trace::Trace;

/// A trace in which each try may come out either way, and what follows from its orders.
pub(crate) struct OpenTries {
    trace: Trace,
    trace_index: TraceIndex,
    clocks: MustHappenBefore,
}

impl OpenTries {
    /// Nothing where the trace has no try.
    pub(crate) fn in_trace(trace: &Trace) -> Option<OpenTries> {
        let trace = trace.with_open_tries()?;
        let trace_index = TraceIndex::new(&trace);
        let clocks = MustHappenBefore::new(&trace, &trace_index);
        Some(OpenTries { trace, trace_index, clocks })
    }

    /// The facts that hold on every path: those given, where there is no try.
    pub(crate) fn view<'a>(opened: Option<&'a OpenTries>, view: TraceView<'a>) -> TraceView<'a> {
        match opened {
            Some(OpenTries { trace, trace_index, clocks }) => TraceView { trace, trace_index, clocks, ..view },
            None => view,
        }
    }
}

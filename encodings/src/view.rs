//! What is fixed about a trace.

use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_trace::{Observed, Trace};

/// What is fixed about a trace: the input of every encoder of it.
#[derive(Clone, Copy)]
pub struct TraceView<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// Its structure.
    pub trace_index: &'a TraceIndex,
    /// What the run showed.
    pub observed: &'a Observed,
    /// Orders that hold in every prefix.
    pub clocks: &'a MustHappenBefore,
}

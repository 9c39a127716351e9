//! What is known of a trace with its tries open: what "impossible" is asked of.

use foretrace_encodings::Facts;
use foretrace_index::{MustHappenBefore, Structure};
use foretrace_trace::Trace;

/// A trace in which each try may come out either way, and what follows from its orders.
pub(crate) struct OpenTries {
    trace: Trace,
    structure: Structure,
    clocks: MustHappenBefore,
}

impl OpenTries {
    /// Nothing where the trace has no try.
    pub(crate) fn of(trace: &Trace) -> Option<OpenTries> {
        let trace = trace.with_open_tries()?;
        let structure = Structure::new(&trace);
        let clocks = MustHappenBefore::new(&trace, &structure);
        Some(OpenTries { trace, structure, clocks })
    }

    /// The facts that hold on every path: those given, where there is no try.
    pub(crate) fn facts<'a>(opened: Option<&'a OpenTries>, facts: Facts<'a>) -> Facts<'a> {
        match opened {
            Some(OpenTries { trace, structure, clocks }) => Facts { trace, structure, clocks, ..facts },
            None => facts,
        }
    }
}

//! What filters and encoder read off a trace before they decide anything: who comes next, critical sections, rounds of
//! barriers, the writes of each variable ([`TraceIndex`]), and the orders that hold in every prefix ([`MustHappenBefore`]).
//!
//! Checker and oracle do not use it.
//!
//! ```
//! use foretrace_index::{MustHappenBefore, TraceIndex};
//! use foretrace_trace::{Data, EventId, TraceBuilder};
//!
//! let mut run = TraceBuilder::new(Data::Symbolic);
//! run.int_var("x", 0);
//! run.write(1, "x", "1"); // event 0
//! run.write(1, "x", "2"); // event 1
//! run.write(2, "x", "3"); // event 2
//! let (trace, _) = run.finish()?;
//! let clocks = MustHappenBefore::new(&trace, &TraceIndex::new(&trace));
//! assert!(clocks.before(EventId(0), EventId(1))); // one thread
//! assert!(!clocks.before(EventId(1), EventId(2))); // nothing orders the two threads
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod clocks;
mod trace_index;

pub use clocks::MustHappenBefore;
pub use trace_index::{Region, TraceIndex, Waiting};

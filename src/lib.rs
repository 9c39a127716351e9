//! Predicts atomicity violations from the trace of one run, and proves each with a schedule.
//!
//! The work is done by the crates below `crates/` and `encodings/`; here is what a program that uses foretrace needs of them,
//! under one roof.

pub use foretrace_analysis::{
    blocks, candidates, compare, explain, filters, linearize, options, predict, schedule, summary, verdict,
};
pub use foretrace_cutpoints as cutpoints;
pub use foretrace_harness as recorder;
pub use foretrace_litmus as litmus;
pub use foretrace_repair as repair;
pub use foretrace_report as report;
pub use foretrace_solve as solve;
pub use foretrace_solve::limit;
pub use foretrace_trace as trace;

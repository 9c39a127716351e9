//! Predicts atomicity violations from the trace of one run, and proves each with a schedule.
//!
//! The work is done by the crates below `crates/` and `encodings/`. This library re-exports what a program that uses foretrace
//! needs of them. From a trace to verdicts:
//!
//! ```
//! use foretrace::litmus::{self, run};
//! use foretrace::{options::Options, predict, trace::observe, verdict::{Decision, Verdict}};
//! use std::sync::atomic::AtomicBool;
//!
//! struct Feasible(Vec<String>);
//! impl predict::Sink for Feasible {
//!     fn decision(&mut self, decision: &Decision) -> anyhow::Result<()> {
//!         if let Verdict::Feasible(witness) = &decision.verdict {
//!             self.0.push(format!("{} in a schedule of {} events", decision.pattern, witness.schedule().len()));
//!         }
//!         Ok(())
//!     }
//! }
//!
//! # fn main() -> anyhow::Result<()> {
//! // A trace of a file comes from `foretrace::trace::read_observed`.
//! let program = litmus::parse("shared x: int = 0;\nthread A { atomic { x = x + 1; } }\nthread B { x = x + 1; }\n").expect("a program");
//! let trace = run(&program, &litmus::Options::default()).trace;
//! let options = Options::new(trace.data);
//! let transactions = options.atomic.transactions(&trace);
//! let mut found = Feasible(Vec::new());
//! predict::predict(&trace, &observe(&trace)?, &transactions, &options, &AtomicBool::new(false), &mut found)?;
//! assert!(!found.0.is_empty());
//! # Ok(())
//! # }
//! ```

pub use foretrace_analysis::{
    blocks, candidates, compare, explain, filters, options, predict, remaining, schedule, schedule_from_assignment,
    serializability, summary, use_after_free, verdict,
};
pub use foretrace_checker as checker;
pub use foretrace_cutpoints as cutpoints;
pub use foretrace_harness as recorder;
pub use foretrace_linearizability as linearizability;
pub use foretrace_litmus as litmus;
pub use foretrace_repair as repair;
pub use foretrace_report as report;
pub use foretrace_solve as solve;
pub use foretrace_solve::limit;
pub use foretrace_testing as testing;
pub use foretrace_trace as trace;

//! The judge: runs schedules by the step semantics and says whether they show a violation.
//!
//! This crate is the trusted base. It is built on the trace alone and shares nothing with the encodings, the filters and their index of a
//! trace: it cannot repeat their mistakes. [`check`] is the only maker of a [`Witness`]; the exhaustive oracle (feature `oracle`) decides
//! small traces by walking all their prefixes.
//!
//! ```
//! use foretrace_checker::check;
//! use foretrace_trace::{Atomic, Data, EventId, Feasibility, Independence, Model, Question, TraceBuilder, Triple};
//!
//! let mut run = TraceBuilder::new(Data::Symbolic);
//! run.int_var("x", 0);
//! run.begin(1); // event 0: what follows is meant to be atomic
//! run.read(1, "x", "r"); // event 1
//! run.write(1, "x", "(+ r 1)"); // event 2
//! run.end(1); // event 3
//! run.write(2, "x", "9"); // event 4
//! let (trace, observed) = run.finish()?;
//!
//! // Can thread 2 write between the read and the write of thread 1? This schedule says so.
//! let question = Question { model: Model::Ctp, feasibility: Feasibility::Prefix, independence: Independence::Conflict };
//! let triple = Triple { first: EventId(1), remote: EventId(4), second: EventId(2) };
//! let schedule = [0, 1, 4, 2].map(EventId);
//! let witness = check(&trace, &observed, &Atomic::Marked.transactions(&trace), question, triple, &schedule)?;
//! assert_eq!(*witness.claim(), triple);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod checker;
mod dependence;
mod error;
#[cfg(any(test, feature = "oracle"))]
pub mod oracle;
mod property;
mod run;
mod unseen;

pub use checker::{Checker, Witness, check};
pub use dependence::{Access, guarded_dependent};
pub use error::CheckError;
pub use property::{
    Interruption, Link, OtherWay, PathKind, PerformedOperations, PerformedStep, Property, ShownTriple, UseAfterFree,
    ViolationPath,
};
pub use run::{Run, Step, context_switches, run_schedule};
pub use unseen::Unseen;

#[cfg(test)]
mod tests;

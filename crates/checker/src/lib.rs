//! The judge: runs schedules by the step semantics and says whether they show a violation.
//!
//! This crate is the trusted base. It stands on the trace alone and shares nothing with the encodings, the filters or the
//! index that those read off a trace: it cannot repeat their mistakes. [`check`] is the only maker of a [`Witness`]; the
//! exhaustive oracle (feature `oracle`) decides small traces by walking all their prefixes.

mod checker;
mod dependence;
#[cfg(any(test, feature = "oracle"))]
pub mod oracle;
mod unseen;

pub use checker::{CheckError, Checker, Interruption, Run, Step, Witness, check, run_schedule};
pub use unseen::Unseen;

#[cfg(test)]
mod tests;

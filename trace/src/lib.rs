//! Traces of concurrent programs: what one run of a program did, event by event.
//!
//! This crate is the ground that everything else stands on and knows nothing of encodings or solvers: the trace
//! itself ([`Trace`]), its formats, its step semantics, and what proves or refutes schedules without a solver.

mod clocks;
mod error;
mod function;
pub mod smtlib;
mod structure;
mod term;
mod trace;
mod value;
mod violation;

pub use clocks::MustHappenBefore;
pub use error::{Invalid, Place, Problem, ReadError};
pub use function::{Func, MAX_WIDTH, NAMES as FUNCTION_NAMES, SortError};
pub use structure::{Region, Round, Structure, Waiting};
pub use term::{Leaf, Node, TermId, Terms};
pub use trace::{
    Data, Event, EventId, Local, NameId, Names, Op, SyncId, SyncKind, SyncObject, Thread, ThreadId, Trace, VarId,
    Variable, WakeCause, Why,
};
pub use value::{Sort, Value};
pub use violation::{Feasibility, Independence, Model, Pattern, Question, Triple};

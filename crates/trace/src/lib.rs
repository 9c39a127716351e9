//! Traces of concurrent programs: what one run of a program did, event by event.
//!
//! Most other crates are built on this one, and it knows nothing of encodings or solvers. It has the trace itself ([`Trace`]), its formats,
//! and its step semantics. Every reader runs the recorded order through the step semantics.
//!
//! ```
//! use foretrace_trace::{Data, EventId, TraceBuilder, Value};
//!
//! let mut run = TraceBuilder::new(Data::Symbolic);
//! run.int_var("x", 0);
//! run.read(1, "x", "r"); // thread 1: r = x
//! run.write(1, "x", "(+ r 1)"); // thread 1: x = r + 1
//! let (trace, observed) = run.finish()?;
//! assert_eq!(trace.events.len(), 2);
//! assert_eq!(observed.written(EventId(1)), Some(&Value::int(1)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arguments;
mod assembler;
pub mod binary;
mod block;
mod blocked;
mod blocked_in_words;
mod builder;
mod call_stacks;
mod candidates;
mod data_rules;
mod error;
mod evaluate;
pub mod file;
mod function;
mod ids;
mod interner;
pub mod jsonl;
mod lines;
mod locals;
mod lower;
mod names;
mod observe;
mod observed;
mod op;
mod open_tries;
mod printable;
mod program_order;
pub mod random;
mod result_lets;
mod results;
mod schedule;
mod semantics;
pub mod smtlib;
mod staged;
mod state;
mod states;
pub mod std_format;
#[cfg(any(test, feature = "strategies"))]
pub mod strategies;
mod stream;
mod sync_state;
mod term;
mod trace;
mod transactions;
mod users;
mod value;
mod violation;
pub mod wellformed;
pub mod words;

pub use arguments::Arguments;
pub use assembler::{MAX_VAR_WIDTH, SyncUse, TraceAssembler, validate, validate_meanwhile};
pub use block::{Block, Blocks};
pub use blocked::Blocked;
pub use builder::{Added, BuildError, TraceBuilder};
pub use call_stacks::{CallStacks, CallStacksBuilder};
pub use candidates::{blocks_by_definition, candidates};
pub use error::{FilePosition, Invalid, Problem, ReadError};
pub use file::{Format, Layout, read, read_from, read_observed, read_observed_while, stage, stream, write, write_to};
pub use function::{Func, MAX_WIDTH, NAMES as FUNCTION_NAMES, SortError};
pub use lines::LINE_LIMIT;
pub use lower::{LowerError, lower};
pub use names::Names;
pub use observe::{StepError, observe};
pub use observed::Observed;
pub use op::{BlockKind, Op, WakeCause, Why};
pub use printable::printable;
pub use results::Results;
pub use schedule::BadStep;
pub use semantics::{Semantics, Unsupported};
pub use staged::{Staged, write_whole};
pub use state::{Cell, Effect, State};
pub use states::States;
pub use stream::{EventStream, Lent, TraceTail};
pub use term::{Leaf, Node, TermId, Terms};
pub use trace::{
    Data, Event, EventId, Local, NameId, OF_LIBRARY, OTHER_PROGRAMS, SyncId, SyncKind, SyncObject, Thread, ThreadId,
    Trace, VarId, Variable,
};
pub use transactions::{Atomic, NoCandidate, Transaction, count_of_several_accesses};
pub use value::{Sort, Value};
pub use violation::{Feasibility, Independence, Model, Pattern, Question, Triple};

#[cfg(test)]
mod tests;

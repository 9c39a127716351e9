//! Conflict-serializability of whole atomic blocks, over all their variables and all threads.
//!
//! A block is violated in an interleaving that holds a *violation path*: conflicts and program order lead from one access of the
//! block through another thread and back to a later access of the block. [`Judge`] decides for each block whether some
//! interleaving of the trace has one; [`observed`] finds the blocks that the recorded order itself violates, and
//! [`StreamMonitor`] does so while events come.
//!
//! Source: A. Sinha, S. Malik, C. Wang and A. Gupta, "Predictive analysis for detecting serializability violations through
//! trace segmentation", MEMOCODE 2011. Sections named in this crate are those of that paper.

mod accesses;
mod attempt;
mod clocks;
mod hunt;
mod judge;
mod judgement;
mod monitor;
mod objects;
mod observed;
#[cfg(feature = "oracle")]
pub mod oracle;
mod order;
mod path;
mod question;
mod segment;
mod shorten;
mod start;
mod stepper;
mod stream;
mod weight;
mod window;

pub use accesses::Accesses;
pub use attempt::Attempts;
pub use foretrace_checker::{Link, PathKind, ViolationPath};
pub use foretrace_explore::{Mode, Relation};
pub use judge::Judge;
pub use judgement::{Choices, Decision, Explored, Judgement, Violation};
pub use objects::{Object, Objects, uses};
pub use observed::{Observation, observed};
pub use order::Order;
pub use question::Question;
pub use segment::{Apart, Range, Segment};
pub use stepper::{Context, Stepper};
pub use stream::{Seen, StreamMonitor};
pub use weight::Weight;
pub use window::{Gone, Window};

//! From a recording to a trace: walks each thread's recorded path over the side-car.

mod aliases;
mod concrete;
mod detours;
mod draft;
mod emit;
mod error;
mod expression;
mod initials;
mod inside;
mod interpret;
pub mod log;
mod memory;
mod names;
mod nesting;
mod objects;
mod options;
mod order;
mod owners;
mod paged;
pub mod program;
mod regions;
mod shared;
mod signals;
mod statistics;
mod transactions;
mod value;
mod walk;
mod window;
mod world;

pub use aliases::Aliases;
pub use error::WalkError;
pub use log::finish_logs;
pub use options::Options;
pub use statistics::{Mismatch, Statistics, Ways};
pub use transactions::Pattern;
pub use walk::{Walked, walk};

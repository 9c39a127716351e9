//! The only home of solvers: lowering of constraints, solver sessions, assignments.
//!
//! One session belongs to one thread, since a Z3 context does.

mod backend;
mod difference_logic;
mod interrupt;
mod lower;
mod order;
mod partial_order;
mod propagated;
mod raw;
mod sat;
mod session;

pub use interrupt::interruptible;
pub use session::{Answer, Assignment, Limits, Session};

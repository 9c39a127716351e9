//! The only home of solvers: lowering of constraints, solver sessions, assignments.
//!
//! One session belongs to one thread, since a Z3 context does.

mod backend;
mod core;
mod difference_logic;
mod interrupt;
mod lower;
mod order;
mod paper;
mod partial_order;
mod propagated;
mod raw;
mod sat;
mod schedules;
mod session;

pub use core::{Claims, Refutation, refute};
pub use interrupt::interruptible;
pub use paper::decide as decide_by_paper;
pub use session::{Answer, Assignment, Limits, Session};

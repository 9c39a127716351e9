//! The only home of Z3: lowering of constraints, solver sessions, assignments.
//!
//! One session belongs to one thread, since a Z3 context does.

mod core;
mod interrupt;
mod lower;
mod order;
mod paper;
mod session;

pub use core::{Claims, Refutation, refute};
pub use interrupt::interruptible;
pub use paper::decide as decide_by_paper;
pub use session::{Answer, Assignment, Limits, Session};

//! The only home of solvers: lowering of constraints, solver sessions, assignments.
//!
//! One session belongs to one thread, since a Z3 context does.

mod backend;
mod choice;
mod core;
mod difference_logic;
mod interrupt;
pub mod limit;
mod lower;
mod order;
mod paper;
mod partial_order;
mod propagated;
mod raw;
mod sat;
mod schedules;
mod session;

pub use self::core::{Claims, Refutation, refute};
pub use choice::Order;
pub use interrupt::interruptible;
pub use limit::Limit;
pub use paper::decide as decide_by_paper;
pub use session::{Answer, Assignment, KnownOrder, Limits, MOST_TERMS, REMARK_WORK, Session};

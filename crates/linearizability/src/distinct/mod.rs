//! Registers, queues and stacks whose values are all different, in O(n log n).
//!
//! Each check answers only for histories in which every value is put in once, and `None` for others. Operations that never
//! returned: one that puts a value in has happened if its value was taken or seen, and may be left out if not; a look may
//! be left out; a history in which a taking operation never returned is left to the search, since any value may be its.

mod container;
mod deque;
mod queue;
mod register;
mod stack;

pub use deque::deque;
pub use queue::queue;
pub use register::register;
pub use stack::stack;

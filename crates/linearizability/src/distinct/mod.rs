//! Registers, queues and stacks whose values are all different, in O(n log n).
//!
//! Each check answers only for histories in which every value is put in once, and `None` for others. Some operations never returned. One
//! that puts a value in has happened if its value was taken or seen, and is left out if not. One that only looks is left out. A history in
//! which a taking operation never returned is left to the search, since it may have taken any value.

mod container;
mod deque;
mod queue;
mod register;
mod stack;

pub use deque::deque;
pub use queue::queue;
pub use register::register;
pub use stack::stack;

//! The interface of a system that can be explored: threads that take steps.

use crate::action::Action;

/// What a thread would do next.
#[derive(Clone, Debug)]
pub enum Next {
    /// Nothing in this interleaving any more.
    Over,
    /// This, if another thread first makes it possible.
    Blocked(Action),
    /// This.
    Ready(Action),
}

/// A thing with threads that take steps. Its objects go by numbers from 0 on. What a step does depends on the state alone; two steps whose actions are
/// independent lead to the same state in either order and neither enables nor disables the other.
pub trait System: Clone {
    /// How many threads there are; they go by numbers below.
    fn threads(&self) -> usize;

    /// What a thread would do next.
    fn next(&self, thread: usize) -> Next;

    /// Takes a thread's next step, which is ready; `choice` is below the number of choices of its action.
    fn step(&mut self, thread: usize, choice: usize);

    /// The thread to go on with where any would do.
    fn preferred(&self) -> Option<usize> {
        None
    }

    /// Whether what is looked for has been found: nothing after it matters.
    fn found(&self) -> bool {
        false
    }
}

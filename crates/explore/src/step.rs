//! A step of an interleaving, with what comes before it.

use crate::action::Action;

/// A step of an interleaving.
#[derive(Clone, Debug)]
pub struct Step {
    /// The thread that takes it.
    pub thread: usize,
    /// How many steps the thread took before.
    pub number: u32,
    /// How it turns out.
    pub choice: usize,
    /// What it does.
    pub action: Action,
    /// Per thread, how many of its steps are this one or come before it in every equivalent interleaving.
    pub clock: Box<[u32]>,
}

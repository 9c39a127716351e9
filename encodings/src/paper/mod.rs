//! The paper's method as it is written: one formula of the whole trace for each candidate (Fusion, sections 4.2, 4.3 and
//! 5). Kept as the baseline that the encoder proper is measured against, and as a second opinion on its verdicts.
//!
//! Every event has its place in the order. Every use of a shared variable has a π-function over all definitions that other threads make;
//! Φ_PI is quadratic in them. Synchronisation is made of guarded assignments to auxiliary variables. The same is folded as in the paper:
//! the order within a thread, constants, the values of locks. Nothing else is left out, shared between candidates, or decided early.

mod atom;
mod cells;
mod formula;
mod path;
mod supported;

pub use atom::{Atom, Cell};
pub use formula::Formula;
pub use supported::{Unsupported, supports};

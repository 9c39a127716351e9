//! The paper's method as it is written: one formula of the whole trace for each candidate (Fusion, sections 4.2, 4.3 and
//! 5). Kept as the baseline that the encoder proper is measured against, and as a second opinion on its verdicts.
//!
//! Every event has its place in the order, every use of a shared variable its π-function over all definitions that other
//! threads make, Φ_PI is quadratic in them, and synchronisation is made of guarded assignments to auxiliary variables. What
//! the paper folds is folded (the order within a thread, constants, the values of locks); nothing else is left out, shared
//! between candidates, or decided early.

mod atom;
mod cells;
mod formula;
mod path;
mod supported;

pub use atom::{Atom, Cell};
pub use formula::Formula;
pub use supported::{Unsupported, supports};

//! What filters and encoder read off a trace before they decide anything: who comes next, critical sections, rounds of
//! barriers, the writes of each variable ([`Structure`]), and the orders that hold in every prefix ([`MustHappenBefore`]).
//!
//! Checker and oracle do not use it.

mod clocks;
mod structure;

pub use clocks::MustHappenBefore;
pub use structure::{Region, Round, Structure, Waiting};

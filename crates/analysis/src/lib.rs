//! The analysis of a trace: decides candidates by filters and solver, compares models, and gives reasons.

pub mod blocks;
pub mod candidates;
mod case;
pub mod compare;
pub mod explain;
pub mod filters;
mod lanes;
pub mod linearize;
mod open_tries;
pub mod options;
pub mod predict;
pub mod remaining;
pub mod schedule;
pub mod serializability;
pub mod summary;
pub mod verdict;

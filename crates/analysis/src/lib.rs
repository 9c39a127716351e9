//! What is decided of a trace: candidates through filters and solver to verdicts, models compared, reasons given.

pub mod blocks;
pub mod candidates;
pub mod compare;
pub mod explain;
pub mod filters;
mod lanes;
pub mod linearize;
pub mod options;
pub mod predict;
pub mod schedule;
pub mod serializability;
pub mod summary;
pub mod verdict;

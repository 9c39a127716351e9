//! Predicts atomicity violations from the trace of one run, and proves each with a schedule.

pub mod blocks;
pub mod candidates;
pub mod compare;
pub mod explain;
pub mod filters;
mod lanes;
pub mod limit;
pub mod linearize;
pub mod litmus;
pub mod options;
pub mod predict;
pub mod recorder;
pub mod report;
pub mod schedule;
pub mod solve;
pub mod summary;
pub mod verdict;

//! Predicts atomicity violations from the trace of one run, and proves each with a schedule.

pub mod limit;
mod linearize;
pub mod litmus;
pub mod solve;

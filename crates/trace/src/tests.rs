//! Tests that need several parts of the crate together.

mod checking;
mod litmus;
mod observing;
mod operations;
mod properties;
mod transactions;

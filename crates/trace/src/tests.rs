//! Tests that need several parts of the crate together.

mod observing;
mod operations;
mod transactions;

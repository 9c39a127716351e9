//! Tests that need several parts of the crate together.

mod observing;
mod open_tries;
mod operations;
mod transactions;

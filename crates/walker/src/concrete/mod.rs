//! Walks code by its records alone: code with gcc's hooks, and functions that were entered before the trace begins.
//!
//! Such code gives events with their values and their places in the machine code, but no expressions. A program that has no other code
//! gives a trace without expressions. Where such code is mixed with code that has a side-car, every value that it reads is pinned, since
//! what it did with the value is unknown.

mod calls;
mod functions;
mod races;
mod unknown;

pub(crate) use calls::Calls;
pub(crate) use races::count as count_races;

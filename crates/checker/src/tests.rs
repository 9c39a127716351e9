//! Tests that need checker and oracle together.

mod checking;
mod interruptions;
mod litmus;
mod other_way;
mod paths;
mod performed;
mod properties;
mod use_after_free;

//! Tests that need checker and oracle together.

mod checking;
mod interruptions;
mod litmus;
mod paths;
mod performed;
mod properties;

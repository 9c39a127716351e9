//! Tests that need checker and oracle together.

mod checking;
mod litmus;
mod paths;
mod performed;
mod properties;

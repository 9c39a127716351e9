//! The instrumenter on real code; without a clang on this machine the tests say so and do nothing.

mod build;
mod driver;
mod programs;
mod sidecar;
mod walk;

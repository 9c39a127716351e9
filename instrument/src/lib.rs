//! From LLVM bitcode to an instrumented object that describes itself.

pub mod runtime;
pub mod sidecar;

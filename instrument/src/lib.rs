//! From LLVM bitcode to an instrumented object that describes itself.

pub mod sidecar;

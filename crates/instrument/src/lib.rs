//! From LLVM bitcode to an instrumented object that describes itself, and the compiler driver around it.

pub mod driver;
pub mod runtime;
pub mod sidecar;

mod assembly;
mod by_value;
mod calls;
mod canonical;
mod computable;
mod coroutines;
mod describe;
mod describe_calls;
mod escape;
mod fortified;
mod hooks;
mod inline;
mod instrument;
mod intrinsics;
mod labels;
mod legalize_i128;
mod llvm;
pub mod locks;
mod multiversion;
mod openmp;
mod operand;
mod outside;
mod parts;
pub mod rust;
mod shape;
mod simple_assembly;
mod source;
mod system_calls;
mod undefined;

pub use instrument::{InstrumentError, Instrumented, Level, Options, Source, instrument, translate};
pub use llvm::LlvmError;

/// A symbol of programs and libraries that gcc linked for us: they may hold code with gcc's hooks, which no side-car describes.
pub const CONCRETE: &str = "foretrace_concrete";

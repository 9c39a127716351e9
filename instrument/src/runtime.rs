//! The runtime that is linked into recorded programs, as it is carried around.

/// The archive that a program is linked with, the whole of it.
pub static RUNTIME: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libforetrace_runtime.a"));

//! What is linked into recorded programs, and the format of the log that it writes.
//!
//! Without the feature `hooks` this is the log format alone, which the offline tools read. It depends on nothing:
//! the runtime must never call into the analysis, nor allocate through the program's allocator.

#![cfg_attr(not(test), no_std)]

pub mod record;

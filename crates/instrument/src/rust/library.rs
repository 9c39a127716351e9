//! The compiled part of Rust's standard library: which of its functions are instrumented.
//!
//! The objects in which threads meet must be recorded; otherwise accesses would look unordered that are not. The mutexes and condition
//! variables here are those that the library uses itself (in its barriers). Only this code changes them, and they are recorded as atomic
//! operations. Those of programs are the runtime's. The library has more mutexes, such as that of `stdout`, which code without hooks locks.
//! Of those nothing is recorded: otherwise a thread would leave records only when it has to wait.

use super::{plain, rust_name};

/// Parking, initialisation, scopes of threads, channels, barriers.
const MEETING_POINTS: [&str; 11] = [
    "std::thread::functions::park",
    "std::thread::thread::Thread::park",
    "std::thread::thread::Thread::unpark",
    "std::thread::scoped::ScopeData::",
    "std::sys::sync::thread_parking::",
    "std::sys::sync::once::",
    "std::sync::once::",
    "std::sync::mpmc::",
    "std::sync::barrier::",
    "std::sys::sync::mutex::futex::",
    "std::sys::sync::condvar::futex::",
];

/// Whether threads may meet in a function of the standard library.
pub(crate) fn is_meeting_point(symbol: &str) -> bool {
    let Some(name) = rust_name(symbol).map(|name| plain(&name)) else { return false };
    MEETING_POINTS.iter().any(|start| name.starts_with(start))
}

/// Whether a function belongs to the library's mutexes.
pub(crate) fn is_inner_lock(symbol: &str) -> bool {
    rust_name(symbol).is_some_and(|name| plain(&name).starts_with("std::sys::sync::mutex::futex::"))
}

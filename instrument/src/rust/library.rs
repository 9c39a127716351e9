//! The compiled part of Rust's standard library: which of its functions are instrumented.
//!
//! What threads meet in must be seen, or accesses would look unordered that are not. Mutexes, rwlocks and condition variables are
//! the runtime's wherever programs have them; what the library itself has of them nobody else sees.

use super::{plain, rust_name};

/// Parking, initialisation, scopes of threads, channels.
const MEETING_POINTS: [&str; 8] = [
    "std::thread::functions::park",
    "std::thread::thread::Thread::park",
    "std::thread::thread::Thread::unpark",
    "std::thread::scoped::ScopeData::",
    "std::sys::sync::thread_parking::",
    "std::sys::sync::once::",
    "std::sync::once::",
    "std::sync::mpmc::",
];

/// Whether threads may meet in a function of the standard library.
pub(crate) fn is_meeting_point(symbol: &str) -> bool {
    let Some(name) = rust_name(symbol).map(|name| plain(&name)) else { return false };
    MEETING_POINTS.iter().any(|start| name.starts_with(start))
}

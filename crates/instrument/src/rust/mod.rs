//! What is particular to Rust: names, and the locks of its standard library and of crates.

mod library;
mod lock_api;
mod locks;
mod names;
mod spin;

pub use locks::UnknownLock;
pub use names::rust_name;

use names::plain;

pub(crate) use library::{is_inner_lock, is_meeting_point};
pub(crate) use lock_api::{give_condvars_to_runtime, lock_function};
pub(crate) use locks::give_to_runtime;
pub(crate) use spin::{SPIN, locks_of_spin};

//! What is particular to Rust: names, and the locks of its standard library.

mod library;
mod locks;
mod names;

pub use locks::UnknownLock;
pub use names::rust_name;

use names::plain;

pub(crate) use library::is_meeting_point;
pub(crate) use locks::give_to_runtime;

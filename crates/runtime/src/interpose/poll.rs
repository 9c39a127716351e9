//! A descriptor in the form in which `poll` takes it.

use core::ffi::c_int;

/// There is something to read.
pub const READABLE: i16 = 1;
/// A write would not wait.
pub const WRITABLE: i16 = 4;

/// `struct pollfd`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Poll {
    pub file: c_int,
    pub events: i16,
    pub found: i16,
}

impl Poll {
    pub fn new(file: c_int, events: i16) -> Poll {
        Poll { file, events, found: 0 }
    }
}

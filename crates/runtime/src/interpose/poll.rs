//! A descriptor in the form in which `poll` takes it.

use core::ffi::c_int;

use super::real;

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

/// Sleeps until there is something to be read. Negative where a handler of a signal ends it.
pub fn sleep_until_readable(file: c_int) -> c_int {
    let mut poll = Poll::new(file, READABLE);
    real::poll((&raw mut poll).cast(), 1, -1)
}

/// The descriptors of an array that a thread gave to `poll`.
///
/// # Safety
/// The array has this many entries, and stays as long as the iterator is used.
pub unsafe fn waits_in_poll(files: usize, count: usize) -> impl Iterator<Item = c_int> {
    let files = files as *const Poll;
    // SAFETY: as the caller says.
    (0..count).map(move |index| unsafe { (*files.add(index)).file }).filter(|file| *file >= 0)
}

//! Signals that the program did not send, with their information.

use core::ffi::c_int;

use super::key::{Key, Source};
use super::{kept, stored};
use crate::hooks::occupied::Occupied;
use crate::siginfo::Information;
use crate::threads::Thread;

/// A signal came that the program did not send, with this information.
pub fn keep_signal(thread: &'static Thread, signal: c_int, information: &Information) {
    thread.occupy();
    let key = Key::new(Source::Signal, signal as u8);
    kept::keep(thread, key, 0, information.as_ptr().cast(), size_of::<Information>());
    thread.end();
}

/// The same signal comes in a replay; without stored information the signal's number is all that there is.
pub fn give_signal(thread: &Thread, signal: c_int, information: &mut Information) {
    let key = Key::new(Source::Signal, signal as u8);
    let bytes = size_of::<Information>();
    if stored::give(thread, key, information.as_mut_ptr().cast(), bytes, &|_| bytes).is_none() {
        information[0] = signal as u64;
    }
}

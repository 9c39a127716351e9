//! What instrumented code calls.

pub mod access;
mod atomic16;
mod between;
mod control;
mod gcc_atomic16;
pub mod held;
mod library;
mod marks;
mod pieces;
pub mod tsan;
mod under_way;
mod word;

use crate::mode;
use crate::threads::{self, Thread};
use crate::window;

pub use access::store_byte;

/// The thread, if its hooks write records now.
#[inline(always)]
fn recording() -> Option<&'static Thread> {
    if mode::get() == mode::RECORDING { followed(threads::current()) } else { not_recording() }
}

/// The same thread, whose log goes along with recording being switched on.
#[inline(always)]
fn followed(thread: Option<&'static Thread>) -> Option<&'static Thread> {
    if let Some(thread) = thread {
        window::follow(thread);
    }
    thread
}

#[cold]
#[inline(never)]
fn not_recording() -> Option<&'static Thread> {
    match mode::get() {
        mode::UNKNOWN => threads::current().filter(|_| mode::get() == mode::RECORDING),
        mode::STOPPED => {
            if let Some(thread) = threads::known() {
                crate::log::note_stop(thread);
            }
            None
        }
        _ => None,
    }
}

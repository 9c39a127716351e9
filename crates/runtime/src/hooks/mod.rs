//! What instrumented code calls.

pub mod access;
mod atomic16;
pub mod begin;
mod between;
mod control;
mod gcc_atomic16;
pub mod held;
pub mod held_write;
pub mod library;
mod marks;
pub mod occupied;
mod pieces;
pub mod tsan;
mod under_way;
mod word;

use crate::current::current;
use crate::hooks::occupied::Occupied;
use crate::log;
use crate::mode;
use crate::threads::{self, Thread};

pub use access::store_byte;

/// The thread, if its hooks write records now.
#[inline(always)]
fn recording() -> Option<&'static Thread> {
    if mode::get() == mode::RECORDING { followed(current()) } else { not_recording() }
}

/// The same thread, whose log goes along with recording being switched on.
#[inline(always)]
fn followed(thread: Option<&'static Thread>) -> Option<&'static Thread> {
    if let Some(thread) = thread {
        follow(thread);
    }
    thread
}

/// Before a record: if recording was switched on again since the last one, the log begins again.
#[inline(always)]
fn follow(thread: &'static Thread) {
    if thread.part.is_behind() {
        begin_anew(thread);
    }
}

#[cold]
#[inline(never)]
fn begin_anew(thread: &'static Thread) {
    let was_busy = thread.busy.get();
    thread.occupy();
    log::begin_anew(thread);
    if !was_busy {
        thread.end();
    }
}

#[cold]
#[inline(never)]
fn not_recording() -> Option<&'static Thread> {
    match mode::get() {
        mode::UNKNOWN => current().filter(|_| mode::get() == mode::RECORDING),
        mode::STOPPED => {
            if let Some(thread) = threads::known() {
                thread.occupy();
                log::close_stopped(thread);
                thread.end();
            }
            None
        }
        _ => None,
    }
}

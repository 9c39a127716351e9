//! `pause`: waits for the handler of a signal. If the handler runs between what the program checked and its wait, the signal is lost.
//!
//! Two records say which it was. Before the first another thread may go on, and a signal that arrives there is handled before the second:
//! it is lost. From the second on no signal arrives but in the wait. Both are calls that failed by an error, as each `pause` does, and are no
//! events of the trace.

use core::ffi::{c_int, c_void};

use super::signals::state::{block_all, own_mask, set_mask};
use super::{interpose, real, tracked};
use crate::controller;
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::log;
use crate::sys::{self, EINTR};

extern "C" fn pause_(place: usize) -> c_int {
    let Some(thread) = tracked() else { return real::pause() };
    thread.begin_apart();
    log::refused(thread, place, 0, EINTR);
    thread.end();
    thread.begin_apart();
    log::refused(thread, place, 0, EINTR);
    let mask = own_mask(thread, block_all());
    controller::outside(thread);
    let records = thread.count();
    thread.end();
    if thread.count() == records {
        real::sigsuspend((&raw const mask).cast::<c_void>());
    }
    set_mask(mask);
    sys::set_errno(EINTR);
    -1
}

interpose! {
    pause "rdi" => pause_;
}

//! Threads come to be recorded.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::controller;
use crate::hooks::occupied::Occupied;
use crate::interpose::signals;
use crate::interpose::thread_ends::watch_end;
use crate::interpose::unseen::{self, What};
use crate::log;
use crate::mode;
use crate::record::stop;
use crate::sys;
use crate::threads::{self, Thread};

/// Threads that no recorded thread created.
static FOREIGN: AtomicU64 = AtomicU64::new(0);

/// Gives a thread its number and a place in the table.
pub fn publish(thread: &'static Thread, parent: u64, nth: u64) {
    if !thread.enlist(parent, nth) {
        log::stop(stop::LIMIT, format_args!("there are too many threads"));
    }
}

/// A thread that came into being behind our back.
pub fn adopt() -> &'static Thread {
    threads::leave(); // what follows may come back here
    let Some(thread) = Thread::new() else { mode::refuse(format_args!("no memory for one more thread")) };
    publish(thread, 0, FOREIGN.fetch_add(1, Relaxed));
    // SAFETY: no more than a question.
    thread.pthread.store(unsafe { sys::pthread_self() }, Relaxed);
    watch_end(thread);
    thread.enter();
    signals::thread_starts(thread);
    controller::adopted(thread);
    if thread.number.get() > 1 {
        thread.occupy(); // not to be stopped here: it may hold locks of the library
        unseen::record(thread, What::anything(c"the start of a thread that a library made"), 0);
        thread.end();
    }
    thread
}

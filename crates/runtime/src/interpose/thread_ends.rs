//! How a thread ends: by a destructor of thread data, after all of the program's.

use core::ffi::c_void;
use core::sync::atomic::{
    AtomicU32,
    Ordering::{Relaxed, Release},
};

use super::signals;
use super::signals::state::block_all;
use crate::controller;
use crate::hooks::begin::Begin;
use crate::log;
use crate::record::{Kind, stop};
use crate::sys;
use crate::threads::{self, Thread};
use crate::waiting;

/// The key whose destructor ends threads.
static KEY: AtomicU32 = AtomicU32::new(0);

/// Before the first thread.
pub fn prepare() {
    let mut key = 0;
    // SAFETY: a place for the key.
    if unsafe { sys::pthread_key_create(&mut key, ended) } == 0 {
        KEY.store(key, Relaxed);
    }
}

/// Has the thread that runs here noticed when it ends. Not to be called inside of what is recorded: it may allocate.
pub fn watch_end(thread: &'static Thread) {
    // SAFETY: a key of ours.
    unsafe { sys::pthread_setspecific(KEY.load(Relaxed), core::ptr::from_ref(thread).cast()) };
}

/// Destructor of [`KEY`]: the last of all rounds of destructors is where the thread ends.
unsafe extern "C" fn ended(data: *mut c_void) {
    const ROUNDS: u32 = 4; // PTHREAD_DESTRUCTOR_ITERATIONS
    // SAFETY: from `watch_end`; threads are never freed.
    let thread: &'static Thread = unsafe { &*data.cast::<Thread>() };
    thread.rounds.set(thread.rounds.get() + 1);
    if thread.rounds.get() < ROUNDS {
        return watch_end(thread);
    }
    if threads::recorded().is_none() {
        return;
    }
    block_all(); // a handler that ran here later would run unrecorded
    thread.begin();
    log::sync(thread, Kind::Exit, 0, thread.number.get(), 0);
    log::close(thread, stop::END);
    signals::thread_ends(thread);
    threads::leave();
    let bucket = waiting::lock(thread.end_key());
    thread.ended.store(true, Release);
    if thread.detached.load(Relaxed) {
        thread.pthread.store(0, Relaxed);
    }
    bucket.release_all(thread.end_key(), 0);
    bucket.unlock();
    controller::done(thread);
}

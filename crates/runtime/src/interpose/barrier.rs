//! Barriers: wholly ours while a program is recorded.

use core::ffi::{c_int, c_void};

use super::{interpose, real, tracked};
use crate::controller;
use crate::feed;
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::log;
use crate::record::Kind;
use crate::threads::Thread;
use crate::waiting::{self, Waiter};

/// What glibc keeps of a barrier, as far as it is read here.
#[repr(C)]
struct Layout {
    arrived: u32,
    round: u32,
    parties: u32,
    shared: i32,
}

/// The special result, which one thread of a round gets. POSIX leaves open which one: a replay gives it to the thread of the recording.
const SERIAL_THREAD: c_int = -1;

fn parties(barrier: usize) -> u64 {
    // SAFETY: the program's barrier.
    u64::from(unsafe { (*(barrier as *const Layout)).parties })
}

fn shared(barrier: usize) -> bool {
    // SAFETY: the program's barrier.
    unsafe { (*(barrier as *const Layout)).shared != 0 }
}

extern "C" fn init(barrier: usize, attributes: *const c_void, count: u32, place: usize) -> c_int {
    let Some(thread) = tracked() else { return real::pthread_barrier_init(barrier, attributes, count) };
    thread.begin();
    let bucket = waiting::lock(barrier);
    let result = real::pthread_barrier_init(barrier, attributes, count);
    if result == 0 {
        bucket.forget(barrier);
        log::sync(thread, Kind::BarrierInit, place, barrier as u64, u64::from(count));
    }
    bucket.unlock();
    thread.end();
    result
}

extern "C" fn destroy(barrier: usize, _: usize) -> c_int {
    if let Some(thread) = tracked() {
        thread.occupy();
        let bucket = waiting::lock(barrier);
        bucket.forget(barrier);
        bucket.unlock();
        thread.end();
    }
    real::pthread_barrier_destroy(barrier)
}

extern "C" fn wait(barrier: usize, place: usize) -> c_int {
    let Some(thread) = tracked() else { return real::pthread_barrier_wait(barrier) };
    thread.begin();
    let (round, last) = arrive(thread, barrier, place);
    let mut result = if last { SERIAL_THREAD } else { 0 };
    if shared(barrier) {
        controller::outside(thread);
        thread.end();
        result = real::pthread_barrier_wait(barrier);
    }
    thread.begin();
    log::sync(thread, Kind::Depart, place, barrier as u64, round);
    thread.end();
    feed::decision(feed::SERIAL_THREAD, |before| before.unwrap_or(i64::from(result))) as c_int
}

/// Arrives, and waits for the others: the round, and whether this one was the last to come.
fn arrive(thread: &'static Thread, barrier: usize, place: usize) -> (u64, bool) {
    let bucket = waiting::lock(barrier);
    let object = bucket.object_or_new(barrier);
    let [arrived, round, _] = object.words.get();
    log::sync(thread, Kind::Arrive, place, barrier as u64, round);
    let last = arrived + 1 >= parties(barrier);
    object.words.set(if last { [0, round + 1, 0] } else { [arrived + 1, round, 0] });
    if last {
        bucket.release_all(barrier, 0);
        bucket.unlock();
    } else if shared(barrier) {
        bucket.unlock();
    } else {
        let waiter = Waiter::new(thread, barrier);
        bucket.push(&waiter);
        bucket.unlock();
        waiting::wait_to_end(&waiter, None);
    }
    (round, last)
}

interpose! {
    pthread_barrier_init "rcx" => init;
    pthread_barrier_destroy "rsi" => destroy;
    pthread_barrier_wait "rsi" => wait;
}

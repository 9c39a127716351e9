//! Semaphores. The real one counts; waiting is ours.

use core::ffi::c_int;

use super::{by_clock, interpose, real, realtime, tracked};
use crate::controller;
use crate::log;
use crate::record::Kind;
use crate::sys::{self, CLOCK_REALTIME, Deadline, EAGAIN, EBUSY, Timespec};
use crate::threads::Thread;
use crate::waiting::{self, Bucket, Request};

/// Whether other processes have to do with it.
fn shared(semaphore: usize) -> bool {
    const FLAG: usize = 8; // glibc: the word after the count
    // SAFETY: the program's semaphore.
    unsafe { *((semaphore + FLAG) as *const i32) != 0 }
}

fn value(semaphore: usize) -> u64 {
    let mut value = 0;
    real::sem_getvalue(semaphore, &mut value);
    value.max(0) as u64
}

/// Records how the semaphore came into being, if that is not in the log. Its bucket is locked.
fn introduce(thread: &'static Thread, bucket: &Bucket, semaphore: usize, place: usize) {
    if bucket.object(semaphore).is_none() {
        bucket.object_or_new(semaphore);
        log::sync(thread, Kind::SemaphoreInit, place, semaphore as u64, value(semaphore));
    }
}

extern "C" fn init(semaphore: usize, shared: c_int, count: u32, place: usize) -> c_int {
    let Some(thread) = tracked() else { return real::sem_init(semaphore, shared, count) };
    thread.begin();
    let bucket = waiting::lock(semaphore);
    let result = real::sem_init(semaphore, shared, count);
    if result == 0 {
        bucket.object_or_new(semaphore);
        log::sync(thread, Kind::SemaphoreInit, place, semaphore as u64, u64::from(count));
    }
    bucket.unlock();
    thread.end();
    result
}

extern "C" fn destroy(semaphore: usize, _: usize) -> c_int {
    if let Some(thread) = tracked() {
        thread.occupy();
        let bucket = waiting::lock(semaphore);
        bucket.forget(semaphore);
        bucket.unlock();
        thread.end();
    }
    real::sem_destroy(semaphore)
}

/// One try, as an error number; `errno` stays as it is.
fn attempt(semaphore: usize) -> c_int {
    let before = sys::errno();
    if real::sem_trywait(semaphore) == 0 {
        return 0;
    }
    let error = sys::errno();
    sys::set_errno(before);
    if error == EAGAIN { EBUSY } else { error }
}

fn real_wait(semaphore: usize, deadline: Option<Deadline>) -> c_int {
    match deadline {
        None => real::sem_wait(semaphore),
        Some(Deadline { clock: CLOCK_REALTIME, at }) => real::sem_timedwait(semaphore, &at),
        Some(Deadline { clock, at }) => real::sem_clockwait(semaphore, clock, &at),
    }
}

/// An error number as these functions return it.
fn returned(error: c_int) -> c_int {
    if error == 0 {
        return 0;
    }
    sys::set_errno(error);
    -1
}

fn down(semaphore: usize, deadline: Option<Deadline>, place: usize) -> c_int {
    let Some(thread) = tracked() else { return real_wait(semaphore, deadline) };
    thread.begin();
    let error = if shared(semaphore) {
        down_shared(thread, semaphore, deadline, place)
    } else {
        let attempt = || attempt(semaphore);
        let success = || taken(thread, semaphore, place);
        let bucket = waiting::lock(semaphore);
        introduce(thread, bucket, semaphore, place);
        bucket.unlock();
        waiting::acquire(thread, Request { object: semaphore, deadline, interruptible: true, attempt, success })
    };
    thread.end();
    returned(error)
}

fn taken(thread: &'static Thread, semaphore: usize, place: usize) {
    log::sync(thread, Kind::Down, place, semaphore as u64, value(semaphore));
}

/// The library waits where other processes may post.
fn down_shared(thread: &'static Thread, semaphore: usize, deadline: Option<Deadline>, place: usize) -> c_int {
    controller::outside(thread);
    thread.end();
    let result = real_wait(semaphore, deadline);
    let error = if result == 0 { 0 } else { sys::errno() };
    thread.occupy();
    controller::inside(thread);
    let bucket = waiting::lock(semaphore);
    introduce(thread, bucket, semaphore, place);
    if result == 0 {
        taken(thread, semaphore, place);
    }
    bucket.unlock();
    error
}

extern "C" fn wait(semaphore: usize, place: usize) -> c_int {
    down(semaphore, None, place)
}

unsafe extern "C" fn timedwait(semaphore: usize, at: *const Timespec, place: usize) -> c_int {
    // SAFETY: the program's pointer.
    down(semaphore, unsafe { realtime(at) }, place)
}

unsafe extern "C" fn clockwait(semaphore: usize, clock: c_int, at: *const Timespec, place: usize) -> c_int {
    // SAFETY: the program's pointer.
    down(semaphore, unsafe { by_clock(clock, at) }, place)
}

extern "C" fn trywait(semaphore: usize, place: usize) -> c_int {
    let Some(thread) = tracked() else { return real::sem_trywait(semaphore) };
    thread.begin();
    let bucket = waiting::lock(semaphore);
    introduce(thread, bucket, semaphore, place);
    let error = attempt(semaphore);
    if error == 0 {
        taken(thread, semaphore, place);
    }
    bucket.unlock();
    thread.end();
    returned(if error == EBUSY { EAGAIN } else { error })
}

extern "C" fn post(semaphore: usize, place: usize) -> c_int {
    let Some(thread) = tracked() else { return real::sem_post(semaphore) };
    thread.begin();
    let bucket = waiting::lock(semaphore);
    introduce(thread, bucket, semaphore, place);
    let before = value(semaphore);
    let result = real::sem_post(semaphore);
    if result == 0 {
        log::sync(thread, Kind::Post, place, semaphore as u64, before);
        bucket.release_next(semaphore);
    }
    bucket.unlock();
    thread.end();
    result
}

interpose! {
    sem_init "rcx" => init;
    sem_destroy "rsi" => destroy;
    sem_wait "rsi" => wait;
    sem_trywait "rsi" => trywait;
    sem_timedwait "rdx" => timedwait;
    sem_clockwait "rcx" => clockwait;
    sem_post "rsi" => post;
}

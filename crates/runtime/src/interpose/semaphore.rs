//! Semaphores. The real one counts; waiting is ours.

use core::ffi::c_int;

use super::unseen::{self, What};
use super::{by_clock, interpose, real, realtime, threads, tracked};
use crate::controller;
use crate::feed::interruption::ended_as_recorded;
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::log::{self, Together};
use crate::program_time;
use crate::record::{Kind, tried_if};
use crate::sys::{self, CLOCK_REALTIME, Deadline, EAGAIN, EBUSY, EINTR, ETIMEDOUT, Timespec};
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

/// Makes the log agree with the count that was found: one that it knows otherwise was changed by another process. One that it does not
/// know needs no record, since its first one says what it holds: which thread comes first depends on the schedule, and with it the
/// thread's count of events would. The bucket is locked; its object keeps the count. The next record is in the same step.
fn agree(thread: &'static Thread, bucket: &Bucket, semaphore: usize, count: u64, place: usize) -> Option<Together> {
    let differs = bucket.object(semaphore).is_some_and(|object| object.words.get()[0] != count);
    differs.then(|| {
        let step = log::together(thread, 2);
        log::sync(thread, Kind::SemaphoreInit, place, semaphore as u64, count);
        step
    })
}

fn remember(bucket: &Bucket, semaphore: usize, count: u64) {
    bucket.object_or_new(semaphore).words.set([count, 0, 0]);
}

extern "C" fn init(semaphore: usize, shared: c_int, count: u32, place: usize) -> c_int {
    let Some(thread) = tracked() else { return real::sem_init(semaphore, shared, count) };
    thread.begin();
    let bucket = waiting::lock(semaphore);
    let result = real::sem_init(semaphore, shared, count);
    if result == 0 {
        log::sync(thread, Kind::SemaphoreInit, place, semaphore as u64, u64::from(count));
        remember(bucket, semaphore, u64::from(count));
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
    ended_as_recorded(thread, || returned(down_or_interrupted(thread, semaphore, deadline, place)))
}

/// Gives an error number.
fn down_or_interrupted(thread: &'static Thread, semaphore: usize, deadline: Option<Deadline>, place: usize) -> c_int {
    threads::begin_cancellable(thread);
    let error = if shared(semaphore) {
        down_shared(thread, semaphore, deadline, place)
    } else {
        let attempt = || attempt(semaphore);
        let success = || taken(thread, semaphore, deadline.is_some(), place);
        waiting::acquire(
            thread,
            Request { object: semaphore, deadline, interruptible: true, comes_first: false, attempt, success },
        )
    };
    if error == ETIMEDOUT {
        unseen::record(thread, What::anything(c"sem_timedwait"), place); // nobody posted in time
    }
    thread.end();
    if error == EINTR {
        threads::test_cancel(thread);
    }
    error
}

/// Records that one was taken; the bucket is locked.
fn taken(thread: &'static Thread, semaphore: usize, tried: bool, place: usize) {
    let (bucket, left) = (waiting::locked(semaphore), value(semaphore));
    let _step = agree(thread, bucket, semaphore, left + 1, place);
    log::sync(thread, Kind::Down, place, semaphore as u64, left | tried_if(tried));
    remember(bucket, semaphore, left);
}

/// Where other processes may post, the thread sleeps in the kernel until it finds something. What it takes is taken under the bucket's
/// lock, in its turn: the log has the counts as they were, and another thread finds none that is taken and not recorded.
fn down_shared(thread: &'static Thread, semaphore: usize, deadline: Option<Deadline>, place: usize) -> c_int {
    loop {
        let bucket = waiting::lock(semaphore);
        let error = attempt(semaphore);
        if error == 0 {
            taken(thread, semaphore, deadline.is_some(), place);
        }
        bucket.unlock();
        if error != EBUSY {
            return error;
        }
        controller::outside(thread);
        thread.end();
        let error = sleep_while_empty(thread, semaphore, deadline.map(program_time::real));
        thread.occupy();
        controller::inside(thread);
        if error != 0 {
            return error;
        }
    }
}

/// Sleeps until the count is not zero; else an error number. A post of another process is seen when a slice of the sleep ends.
fn sleep_while_empty(thread: &'static Thread, semaphore: usize, deadline: Option<Deadline>) -> c_int {
    const SLICE: Timespec = Timespec { seconds: 0, nanoseconds: 5_000_000 };
    let interruptions = thread.deferred.interruptions();
    while value(semaphore) == 0 {
        if thread.deferred.interruptions() != interruptions || waiting::to_be_cancelled(thread) {
            return EINTR;
        }
        let left = deadline.map(|deadline| deadline.at.since(sys::now(deadline.clock)));
        if left.is_some_and(|left| left.seconds < 0) {
            return ETIMEDOUT;
        }
        let slice = left.map_or(SLICE, |left| if left.seconds > 0 { SLICE } else { left.min(SLICE) });
        sys::futex_wait_any(semaphore, 0, slice);
    }
    0
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
    let error = attempt(semaphore);
    if error == 0 {
        taken(thread, semaphore, true, place);
    } else if error == EBUSY {
        unseen::record(thread, What::anything(c"sem_trywait"), place); // who came before took the last one
    }
    bucket.unlock();
    thread.end();
    returned(if error == EBUSY { EAGAIN } else { error })
}

extern "C" fn post(semaphore: usize, place: usize) -> c_int {
    let Some(thread) = tracked() else { return real::sem_post(semaphore) };
    thread.begin();
    let bucket = waiting::lock(semaphore);
    let before = value(semaphore);
    let result = real::sem_post(semaphore);
    if result == 0 {
        let _step = agree(thread, bucket, semaphore, before, place);
        log::sync(thread, Kind::Post, place, semaphore as u64, before);
        remember(bucket, semaphore, before + 1);
        bucket.release_next(semaphore);
        if shared(semaphore) {
            sys::futex_wake_any(semaphore, c_int::MAX); // those that sleep here without the library's knowledge
        }
    } else {
        log::refused(thread, place, semaphore, sys::errno());
    }
    bucket.unlock();
    thread.end();
    result
}

interpose! {
    sem_init "rcx" => init;
    sem_destroy "rsi" => destroy;
    sem_wait "rsi" => wait, off sem_wait;
    sem_trywait "rsi" => trywait, off sem_trywait;
    sem_timedwait "rdx" => timedwait;
    sem_clockwait "rcx" => clockwait;
    sem_post "rsi" => post, off sem_post;
}

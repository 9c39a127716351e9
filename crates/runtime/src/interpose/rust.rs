//! The locks of Rust's standard library. They are words in the program's memory that inlined code changes; the instrumenter puts
//! calls of these functions in the places of those operations, each of which answers what the operation would have answered.
//!
//! The words hold what the library would have them hold, so that what it does to them elsewhere goes on working: a mutex 0, 1, or
//! 2 if somebody waits in the kernel; an rwlock its readers, or [`WRITER`], and [`WAITING`].

use core::ffi::c_int;
use core::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};

use super::cond::{log_wake, outcome_of};
use super::rwlock::Way;
use super::{cond, interpose, tracked};
use crate::controller;
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::log;
use crate::program_time;
use crate::record::{Kind, WOKEN_BY_TIMEOUT, tried_if};
use crate::sys::{self, CLOCK_MONOTONIC, Deadline, EBUSY, Timespec};
use crate::threads::Thread;
use crate::waiting::{self, Request, Waiter};

/// How `Result<u32, u32>` is returned.
#[repr(C)]
pub struct Answer {
    is_error: u64,
    value: u64,
}

impl Answer {
    fn of_attempt(result: c_int, value: u32) -> Answer {
        Answer { is_error: u64::from(result != 0), value: value.into() }
    }
}

fn word(address: usize) -> &'static AtomicU32 {
    // SAFETY: the program's lock.
    unsafe { &*(address as *const AtomicU32) }
}

const EVERYBODY: c_int = c_int::MAX;

/// Does something that waits for no other thread, in one step with its record.
fn step(thread: &'static Thread, object: usize, action: impl FnOnce(&'static waiting::Bucket)) {
    thread.begin();
    let bucket = waiting::lock(object);
    action(bucket);
    bucket.unlock();
    thread.end();
}

/// Takes a lock by `attempt`, however long that takes. With `comes_first`, readers leave it to the thread.
fn take(thread: &'static Thread, object: usize, comes_first: bool, attempt: impl Fn() -> c_int, success: impl Fn()) {
    waiting::acquire(thread, Request { object, deadline: None, interruptible: false, comes_first, attempt, success });
}

/// Mutexes.
const FREE: u32 = 0;
const TAKEN: u32 = 1;
const CONTENDED: u32 = 2;

fn attempt(mutex: usize) -> c_int {
    if word(mutex).compare_exchange(FREE, TAKEN, Acquire, Relaxed).is_ok() { 0 } else { EBUSY }
}

fn lock_alone(mutex: usize) {
    if attempt(mutex) != 0 {
        while word(mutex).swap(CONTENDED, Acquire) != FREE {
            sys::futex_wait(word(mutex), CONTENDED, None);
        }
    }
}

fn give_back(mutex: usize) {
    if word(mutex).swap(FREE, Release) == CONTENDED {
        sys::futex_wake(word(mutex), 1);
    }
}

extern "C" fn mutex_lock(mutex: usize, place: usize) -> Answer {
    let Some(thread) = tracked() else {
        lock_alone(mutex);
        return Answer::of_attempt(0, FREE);
    };
    thread.begin();
    let success = || {
        log::sync(thread, Kind::Acquire, place, mutex as u64, 0);
    };
    take(thread, mutex, false, || attempt(mutex), success);
    thread.end();
    Answer::of_attempt(0, FREE)
}

extern "C" fn mutex_try_lock(mutex: usize, place: usize) -> Answer {
    let Some(thread) = tracked() else { return Answer::of_attempt(attempt(mutex), TAKEN) };
    let mut result = 0;
    step(thread, mutex, |_| {
        result = attempt(mutex);
        let kind = if result == 0 { Kind::Acquire } else { Kind::Busy };
        log::sync(thread, kind, place, mutex as u64, tried_if(result == 0));
    });
    Answer::of_attempt(result, if result == 0 { FREE } else { TAKEN })
}

/// Nobody is left to be woken by the caller.
extern "C" fn mutex_unlock(mutex: usize, place: usize) -> u32 {
    match tracked() {
        None => give_back(mutex),
        Some(thread) => step(thread, mutex, |bucket| {
            log::sync(thread, Kind::Release, place, mutex as u64, 0);
            give_back(mutex);
            bucket.release_next(mutex);
        }),
    }
    TAKEN
}

/// Condition variables: a word that counts notifications.
fn wait_until(condition: usize, mutex: usize, deadline: Option<Deadline>, place: usize) -> bool {
    let Some(thread) = tracked() else { return wait_alone(condition, mutex, deadline) };
    controller::before_condition(thread);
    thread.begin();
    let both = waiting::lock_both(condition, mutex);
    log::sync(thread, Kind::Wait, place, condition as u64, mutex as u64);
    give_back(mutex);
    let waiter = Waiter::new(thread, condition);
    both.of_one.push(&waiter);
    both.of_other.release_next(mutex);
    both.unlock();
    let outcome = waiting::wait_to_end(&waiter, deadline);
    let by = outcome_of(&waiter, condition, outcome);
    thread.begin();
    let woken = || log_wake(thread, place, condition, by, deadline);
    take(thread, mutex, false, || attempt(mutex), woken);
    thread.end();
    by != WOKEN_BY_TIMEOUT
}

fn wait_alone(condition: usize, mutex: usize, deadline: Option<Deadline>) -> bool {
    let before = word(condition).load(Relaxed);
    give_back(mutex);
    let timed_out = sys::futex_wait(word(condition), before, deadline.map(program_time::real));
    lock_alone(mutex);
    !timed_out
}

extern "C" fn condvar_wait(condition: usize, mutex: usize, place: usize) {
    wait_until(condition, mutex, None, place);
}

/// Whether it was notified in time.
extern "C" fn condvar_wait_timeout(
    condition: usize,
    mutex: usize,
    seconds: u64,
    nanoseconds: u32,
    place: usize,
) -> bool {
    let deadline = i64::try_from(seconds).ok().filter(|seconds| *seconds < i64::MAX / 4).map(|seconds| {
        let span = Timespec { seconds, nanoseconds: nanoseconds.into() };
        Deadline { clock: CLOCK_MONOTONIC, at: program_time::now(CLOCK_MONOTONIC).plus(span) }
    });
    wait_until(condition, mutex, deadline, place)
}

fn notify_alone(condition: usize, most: c_int) {
    word(condition).fetch_add(1, Relaxed);
    sys::futex_wake(word(condition), most);
}

extern "C" fn condvar_notify_one(condition: usize, place: usize) -> u32 {
    match tracked() {
        None => notify_alone(condition, 1),
        Some(thread) => step(thread, condition, |bucket| cond::release_one(thread, bucket, condition, place)),
    }
    0
}

extern "C" fn condvar_notify_all(condition: usize, place: usize) -> u32 {
    match tracked() {
        None => notify_alone(condition, EVERYBODY),
        Some(thread) => step(thread, condition, |bucket| cond::release_all(thread, bucket, condition, place)),
    }
    0
}

/// Rwlocks.
const HOLDERS: u32 = (1 << 30) - 1;
const WRITER: u32 = HOLDERS;
/// Somebody waits in the kernel.
const WAITING: u32 = 1 << 31;

/// The ways to take such a word.
impl Way {
    fn attempt(self, lock: usize) -> c_int {
        let next = |state: u32| match (self, state & HOLDERS) {
            (Way::Read, readers) => (readers + 1 < WRITER).then(|| state + 1),
            (Way::Write, 0) => Some(state | WRITER),
            (Way::Write, _) => None,
        };
        if word(lock).fetch_update(Acquire, Relaxed, next).is_ok() { 0 } else { EBUSY }
    }

    fn take_alone(self, lock: usize) {
        while self.attempt(lock) != 0 {
            let state = word(lock).fetch_or(WAITING, Relaxed) | WAITING;
            if state & HOLDERS != 0 {
                sys::futex_wait(word(lock), state, None);
            }
        }
    }

    fn take(self, lock: usize, place: usize) -> Answer {
        let Some(thread) = tracked() else {
            self.take_alone(lock);
            return Answer::of_attempt(0, 0);
        };
        thread.begin();
        let success = || {
            log::sync(thread, self.kind(), place, lock as u64, self.mark(true));
        };
        let attempt = || self.after_writers(lock, || self.attempt(lock));
        take(thread, lock, self == Way::Write, attempt, success);
        thread.end();
        Answer::of_attempt(0, 0)
    }

    fn try_take(self, lock: usize, place: usize) -> Answer {
        let Some(thread) = tracked() else { return Answer::of_attempt(self.attempt(lock), WRITER) };
        let mut result = 0;
        step(thread, lock, |_| {
            result = self.attempt(lock);
            let kind = if result == 0 { self.kind() } else { Kind::Busy };
            log::sync(thread, kind, place, lock as u64, tried_if(result == 0));
        });
        Answer::of_attempt(result, WRITER)
    }
}

/// Takes holders away, and wakes those who wait in the kernel if none is left.
fn leave(lock: usize, holders: u32) {
    let state = word(lock).fetch_sub(holders, Release) - holders;
    if state == WAITING && word(lock).compare_exchange(WAITING, 0, Relaxed, Relaxed).is_ok() {
        sys::futex_wake(word(lock), EVERYBODY);
    }
}

fn give_rwlock_back(lock: usize, holders: u32, kind: Kind, place: usize) -> u32 {
    match tracked() {
        None => leave(lock, holders),
        Some(thread) => step(thread, lock, |bucket| {
            log::sync(thread, kind, place, lock as u64, 0);
            leave(lock, holders);
            bucket.release_all(lock, 0);
        }),
    }
    holders
}

extern "C" fn rwlock_read(lock: usize, place: usize) -> Answer {
    Way::Read.take(lock, place)
}

extern "C" fn rwlock_try_read(lock: usize, place: usize) -> Answer {
    Way::Read.try_take(lock, place)
}

extern "C" fn rwlock_read_unlock(lock: usize, place: usize) -> u32 {
    give_rwlock_back(lock, 1, Kind::ReadUnlock, place)
}

extern "C" fn rwlock_write(lock: usize, place: usize) -> Answer {
    Way::Write.take(lock, place)
}

extern "C" fn rwlock_try_write(lock: usize, place: usize) -> Answer {
    Way::Write.try_take(lock, place)
}

extern "C" fn rwlock_write_unlock(lock: usize, place: usize) -> u32 {
    give_rwlock_back(lock, WRITER, Kind::WriteUnlock, place)
}

/// A writer becomes a reader.
extern "C" fn rwlock_downgrade(lock: usize, place: usize) -> u32 {
    let change = || {
        if word(lock).swap(1, Release) & WAITING != 0 {
            sys::futex_wake(word(lock), EVERYBODY);
        }
    };
    match tracked() {
        None => change(),
        Some(thread) => step(thread, lock, |bucket| {
            let step = log::together(thread, 2);
            log::sync(thread, Kind::WriteUnlock, place, lock as u64, 0);
            log::sync(thread, Kind::ReadLock, place, lock as u64, 0);
            drop(step);
            change();
            bucket.release_all(lock, 0);
        }),
    }
    WRITER
}

interpose! {
    __foretrace_rust_mutex_lock "rsi" => mutex_lock;
    __foretrace_rust_mutex_try_lock "rsi" => mutex_try_lock;
    __foretrace_rust_mutex_unlock "rsi" => mutex_unlock;
    __foretrace_rust_condvar_wait "rdx" => condvar_wait;
    __foretrace_rust_condvar_wait_timeout "r8" => condvar_wait_timeout;
    __foretrace_rust_condvar_notify_one "rsi" => condvar_notify_one;
    __foretrace_rust_condvar_notify_all "rsi" => condvar_notify_all;
    __foretrace_rust_rwlock_read "rsi" => rwlock_read;
    __foretrace_rust_rwlock_try_read "rsi" => rwlock_try_read;
    __foretrace_rust_rwlock_read_unlock "rsi" => rwlock_read_unlock;
    __foretrace_rust_rwlock_write "rsi" => rwlock_write;
    __foretrace_rust_rwlock_try_write "rsi" => rwlock_try_write;
    __foretrace_rust_rwlock_write_unlock "rsi" => rwlock_write_unlock;
    __foretrace_rust_rwlock_downgrade "rsi" => rwlock_downgrade;
}

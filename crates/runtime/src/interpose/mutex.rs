//! Mutexes and spin locks of POSIX and C11. The real lock says which thread holds it; the runtime does the waiting.

use core::ffi::c_int;
use core::sync::atomic::Ordering::Relaxed;

use super::{by_clock, interpose, real, realtime, tracked};
use crate::controller;
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::log;
use crate::record::{Kind, TRIED, nature, tried_if};
use crate::sys::{CLOCK_REALTIME, Deadline, EBUSY, EDEADLK, ETIMEDOUT, Timespec};
use crate::threads::Thread;
use crate::waiting::{self, Request};

/// What glibc keeps of a mutex, as far as it is read here.
#[repr(C)]
struct Layout {
    lock: i32,
    count: u32,
    owner: i32,
    users: u32,
    kind: i32,
}

const KIND: i32 = 3;
const RECURSIVE: i32 = 1;
const ERROR_CHECKING: i32 = 2;
const ROBUST: i32 = 16;
/// In place of the owner of a robust mutex, between the end of one and the word of the next that all is consistent again.
const INCONSISTENT: i32 = i32::MAX;
const EOWNERDEAD: c_int = 130;
/// Robust, priority-inheriting, priority-protected, shared between processes: others may have to do with it.
const FOREIGN: i32 = 16 | 32 | 64 | 128;

fn kind(mutex: usize) -> i32 {
    // SAFETY: the program's mutex.
    unsafe { (*(mutex as *const Layout)).kind }
}

fn foreign(mutex: usize) -> bool {
    kind(mutex) & FOREIGN != 0
}

/// What the log says of a mutex that is taken.
fn nature(mutex: usize) -> u64 {
    let kind = kind(mutex);
    let recursive = if kind & KIND == RECURSIVE { nature::RECURSIVE } else { 0 };
    let robust = if kind & ROBUST != 0 { nature::ROBUST } else { 0 };
    // SAFETY: the program's mutex, which this thread has.
    let owner = unsafe { (&raw const (*(mutex as *const Layout)).owner).read_volatile() };
    recursive | robust | if robust != 0 && owner == INCONSISTENT { nature::OWNER_DIED } else { 0 }
}

/// Whether this thread holds it, where the library keeps that.
fn own(thread: &Thread, mutex: usize) -> bool {
    // SAFETY: the program's mutex; a racing owner is never this thread.
    let owner = unsafe { (&raw const (*(mutex as *const Layout)).owner).read_volatile() };
    owner == thread.tid.load(Relaxed)
}

/// Takes a mutex and calls `success` in the same step. The thread is inside of a hook.
pub fn take(thread: &'static Thread, mutex: usize, deadline: Option<Deadline>, success: impl Fn()) -> c_int {
    if foreign(mutex) {
        return take_foreign(thread, mutex, deadline, success);
    }
    let attempt = || real::pthread_mutex_trylock(mutex);
    waiting::acquire(
        thread,
        Request { object: mutex, deadline, interruptible: false, comes_first: false, attempt, success },
    )
}

/// The same where the library must do the waiting.
fn take_foreign(thread: &'static Thread, mutex: usize, deadline: Option<Deadline>, success: impl Fn()) -> c_int {
    let mut result = real::pthread_mutex_trylock(mutex);
    if result == EBUSY {
        controller::outside(thread);
        thread.end();
        result = match deadline {
            None => real::pthread_mutex_lock(mutex),
            Some(Deadline { clock: CLOCK_REALTIME, at }) => real::pthread_mutex_timedlock(mutex, &at),
            Some(Deadline { clock, at }) => real::pthread_mutex_clocklock(mutex, clock, &at),
        };
        thread.occupy();
        controller::inside(thread);
    }
    if result == 0 || result == EOWNERDEAD {
        success();
    }
    result
}

fn lock_until(thread: &'static Thread, mutex: usize, deadline: Option<Deadline>, place: usize) -> c_int {
    if kind(mutex) & KIND == ERROR_CHECKING && own(thread, mutex) {
        return EDEADLK;
    }
    thread.begin();
    let success = || {
        log::sync(thread, Kind::Acquire, place, mutex as u64, nature(mutex) | tried_if(deadline.is_some()));
    };
    let result = take(thread, mutex, deadline, success);
    match result {
        0 | EOWNERDEAD => {}
        ETIMEDOUT => _ = log::sync(thread, Kind::Busy, place, mutex as u64, ETIMEDOUT as u64),
        error => log::refused(thread, place, mutex, error),
    }
    thread.end();
    result
}

extern "C" fn lock(mutex: usize, place: usize) -> c_int {
    match tracked() {
        Some(thread) => lock_until(thread, mutex, None, place),
        None => real::pthread_mutex_lock(mutex),
    }
}

unsafe extern "C" fn timedlock(mutex: usize, at: *const Timespec, place: usize) -> c_int {
    match tracked() {
        // SAFETY: the program's pointer.
        Some(thread) => lock_until(thread, mutex, unsafe { realtime(at) }, place),
        None => real::pthread_mutex_timedlock(mutex, at),
    }
}

unsafe extern "C" fn clocklock(mutex: usize, clock: c_int, at: *const Timespec, place: usize) -> c_int {
    match tracked() {
        // SAFETY: the program's pointer.
        Some(thread) => lock_until(thread, mutex, unsafe { by_clock(clock, at) }, place),
        None => real::pthread_mutex_clocklock(mutex, clock, at),
    }
}

extern "C" fn trylock(mutex: usize, place: usize) -> c_int {
    let Some(thread) = tracked() else { return real::pthread_mutex_trylock(mutex) };
    thread.begin();
    let bucket = waiting::lock(mutex);
    let result = real::pthread_mutex_trylock(mutex);
    match result {
        0 | EOWNERDEAD => {
            log::sync(thread, Kind::Acquire, place, mutex as u64, nature(mutex) | TRIED);
        }
        EBUSY => {
            let error = if own(thread, mutex) { EDEADLK } else { 0 };
            log::sync(thread, Kind::Busy, place, mutex as u64, error as u64);
        }
        error => log::refused(thread, place, mutex, error),
    }
    bucket.unlock();
    thread.end();
    result
}

extern "C" fn unlock(mutex: usize, place: usize) -> c_int {
    let Some(thread) = tracked() else { return real::pthread_mutex_unlock(mutex) };
    thread.begin();
    let bucket = waiting::lock(mutex);
    let record = || {
        log::sync(thread, Kind::Release, place, mutex as u64, 0);
    };
    let foreign = foreign(mutex);
    if foreign && own(thread, mutex) {
        record(); // those who wait in the library may have it at once
    }
    let result = real::pthread_mutex_unlock(mutex);
    match result {
        0 if foreign => {}
        0 => {
            record();
            bucket.release_next(mutex);
        }
        error => log::refused(thread, place, mutex, error),
    }
    bucket.unlock();
    thread.end();
    result
}

interpose! {
    pthread_mutex_lock "rsi" => lock, off pthread_mutex_lock;
    pthread_mutex_trylock "rsi" => trylock, off pthread_mutex_trylock;
    pthread_mutex_timedlock "rdx" => timedlock;
    pthread_mutex_clocklock "rcx" => clocklock;
    pthread_mutex_unlock "rsi" => unlock, off pthread_mutex_unlock;
    __pthread_mutex_lock "rsi" => lock, off pthread_mutex_lock;
    __pthread_mutex_trylock "rsi" => trylock, off pthread_mutex_trylock;
    __pthread_mutex_unlock "rsi" => unlock, off pthread_mutex_unlock;
    mtx_lock "rsi" => mtx_lock_;
    mtx_trylock "rsi" => mtx_trylock_;
    mtx_timedlock "rdx" => mtx_timedlock_;
    mtx_unlock "rsi" => mtx_unlock_;
    pthread_spin_lock "rsi" => spin_lock, off pthread_spin_lock;
    pthread_spin_trylock "rsi" => spin_trylock, off pthread_spin_trylock;
    pthread_spin_unlock "rsi" => spin_unlock, off pthread_spin_unlock;
}

/// An error of POSIX as C11 has it.
pub fn c11(error: c_int) -> c_int {
    const BUSY: c_int = 1;
    const ERROR: c_int = 2;
    const NO_MEMORY: c_int = 3;
    const TIMED_OUT: c_int = 4;
    match error {
        0 => 0,
        EBUSY => BUSY,
        crate::sys::ENOMEM => NO_MEMORY,
        ETIMEDOUT => TIMED_OUT,
        _ => ERROR,
    }
}

extern "C" fn mtx_lock_(mutex: usize, place: usize) -> c_int {
    c11(lock(mutex, place))
}

extern "C" fn mtx_trylock_(mutex: usize, place: usize) -> c_int {
    c11(trylock(mutex, place))
}

unsafe extern "C" fn mtx_timedlock_(mutex: usize, at: *const Timespec, place: usize) -> c_int {
    // SAFETY: the program's pointer.
    c11(unsafe { timedlock(mutex, at, place) })
}

extern "C" fn mtx_unlock_(mutex: usize, place: usize) -> c_int {
    c11(unlock(mutex, place))
}

extern "C" fn spin_lock(lock: usize, place: usize) -> c_int {
    let Some(thread) = tracked() else { return real::pthread_spin_lock(lock) };
    thread.begin();
    let attempt = || real::pthread_spin_trylock(lock);
    let success = || {
        log::sync(thread, Kind::Acquire, place, lock as u64, 0);
    };
    let request = Request { object: lock, deadline: None, interruptible: false, comes_first: false, attempt, success };
    let result = waiting::acquire(thread, request);
    thread.end();
    result
}

extern "C" fn spin_trylock(lock: usize, place: usize) -> c_int {
    let Some(thread) = tracked() else { return real::pthread_spin_trylock(lock) };
    thread.begin();
    let bucket = waiting::lock(lock);
    let result = real::pthread_spin_trylock(lock);
    let kind = if result == 0 { Kind::Acquire } else { Kind::Busy };
    log::sync(thread, kind, place, lock as u64, tried_if(result == 0));
    bucket.unlock();
    thread.end();
    result
}

extern "C" fn spin_unlock(lock: usize, place: usize) -> c_int {
    let Some(thread) = tracked() else { return real::pthread_spin_unlock(lock) };
    thread.begin();
    let bucket = waiting::lock(lock);
    let result = real::pthread_spin_unlock(lock);
    log::sync(thread, Kind::Release, place, lock as u64, 0);
    bucket.release_next(lock);
    bucket.unlock();
    thread.end();
    result
}

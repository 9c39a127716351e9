//! Locks that many may read under and one may write under.

use core::ffi::c_int;
use core::sync::atomic::Ordering::Relaxed;

use super::{by_clock, interpose, real, realtime, tracked};
use crate::controller;
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::log;
use crate::record::{AFTER_WRITERS, Kind, TRIED, tried_if};
use crate::sys::{CLOCK_REALTIME, Deadline, EBUSY, EDEADLK, ETIMEDOUT, Timespec};
use crate::threads::Thread;
use crate::waiting::{self, Request};

/// What glibc keeps of a lock, as far as it is read here.
#[repr(C)]
struct Layout {
    internal: [u32; 6],
    writer: i32,
    shared: i32,
    other: [u64; 2],
    flags: u32,
}

/// The kind of lock that readers leave to a writer who waits, even those who read already.
const WRITERS_FIRST: u32 = 2;

/// Whether this thread holds it for writing.
fn writes(thread: &Thread, lock: usize) -> bool {
    // SAFETY: the program's lock; a racing writer is never this thread.
    let writer = unsafe { (&raw const (*(lock as *const Layout)).writer).read_volatile() };
    writer == thread.tid.load(Relaxed)
}

/// Whether other processes have to do with it.
fn shared(lock: usize) -> bool {
    // SAFETY: the program's lock.
    unsafe { (*(lock as *const Layout)).shared != 0 }
}

/// Whether readers who come wait for writers who wait.
fn is_for_writers(lock: usize) -> bool {
    // SAFETY: the program's lock.
    unsafe { (*(lock as *const Layout)).flags == WRITERS_FIRST }
}

/// One of the two ways to take it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Read,
    Write,
}

impl Way {
    pub(super) fn kind(self) -> Kind {
        if self == Way::Read { Kind::ReadLock } else { Kind::WriteLock }
    }

    /// What records say of a lock that readers leave to writers who wait.
    pub(super) fn mark(self, for_writers: bool) -> u64 {
        if for_writers && self == Way::Read { AFTER_WRITERS } else { 0 }
    }

    fn try_real(self, lock: usize) -> c_int {
        if self == Way::Read { real::pthread_rwlock_tryrdlock(lock) } else { real::pthread_rwlock_trywrlock(lock) }
    }

    /// Tries to take a lock that readers leave to writers who wait. Its bucket is locked.
    pub(super) fn after_writers(self, lock: usize, attempt: impl FnOnce() -> c_int) -> c_int {
        if self == Way::Read && waiting::locked(lock).is_bespoken(lock) { EBUSY } else { attempt() }
    }

    fn real(self, lock: usize, deadline: Option<Deadline>) -> c_int {
        match (self, deadline) {
            (Way::Read, None) => real::pthread_rwlock_rdlock(lock),
            (Way::Write, None) => real::pthread_rwlock_wrlock(lock),
            (Way::Read, Some(Deadline { clock: CLOCK_REALTIME, at })) => real::pthread_rwlock_timedrdlock(lock, &at),
            (Way::Write, Some(Deadline { clock: CLOCK_REALTIME, at })) => real::pthread_rwlock_timedwrlock(lock, &at),
            (Way::Read, Some(Deadline { clock, at })) => real::pthread_rwlock_clockrdlock(lock, clock, &at),
            (Way::Write, Some(Deadline { clock, at })) => real::pthread_rwlock_clockwrlock(lock, clock, &at),
        }
    }
}

fn take(lock: usize, way: Way, deadline: Option<Deadline>, place: usize) -> c_int {
    let Some(thread) = tracked() else { return way.real(lock, deadline) };
    if writes(thread, lock) {
        return EDEADLK;
    }
    thread.begin();
    let for_writers = is_for_writers(lock);
    let success = || {
        log::sync(thread, way.kind(), place, lock as u64, tried_if(deadline.is_some()) | way.mark(for_writers));
    };
    let result = if shared(lock) {
        take_shared(thread, lock, way, deadline, success)
    } else {
        let attempt = || match for_writers {
            true => way.after_writers(lock, || way.try_real(lock)),
            false => way.try_real(lock),
        };
        let comes_first = for_writers && way == Way::Write;
        waiting::acquire(
            thread,
            Request { object: lock, deadline, interruptible: false, comes_first, attempt, success },
        )
    };
    match result {
        0 => {}
        ETIMEDOUT => _ = log::sync(thread, Kind::Busy, place, lock as u64, ETIMEDOUT as u64),
        error => log::refused(thread, place, lock, error),
    }
    thread.end();
    result
}

/// The library waits where other processes may hold it.
fn take_shared(
    thread: &'static Thread,
    lock: usize,
    way: Way,
    deadline: Option<Deadline>,
    success: impl Fn(),
) -> c_int {
    controller::outside(thread);
    thread.end();
    let result = way.real(lock, deadline);
    thread.occupy();
    controller::inside(thread);
    if result == 0 {
        success();
    }
    result
}

fn try_take(lock: usize, way: Way, place: usize) -> c_int {
    let Some(thread) = tracked() else { return way.try_real(lock) };
    thread.begin();
    let bucket = waiting::lock(lock);
    let result = way.try_real(lock);
    match result {
        0 => {
            log::sync(thread, way.kind(), place, lock as u64, TRIED);
        }
        EBUSY => {
            let error = if writes(thread, lock) { EDEADLK } else { 0 };
            log::sync(thread, Kind::Busy, place, lock as u64, error as u64);
        }
        error => log::refused(thread, place, lock, error),
    }
    bucket.unlock();
    thread.end();
    result
}

extern "C" fn unlock(lock: usize, place: usize) -> c_int {
    let Some(thread) = tracked() else { return real::pthread_rwlock_unlock(lock) };
    thread.begin();
    let kind = if writes(thread, lock) { Kind::WriteUnlock } else { Kind::ReadUnlock };
    let bucket = waiting::lock(lock);
    log::sync(thread, kind, place, lock as u64, 0);
    let result = real::pthread_rwlock_unlock(lock);
    bucket.release_all(lock, 0);
    bucket.unlock();
    thread.end();
    result
}

extern "C" fn read(lock: usize, place: usize) -> c_int {
    take(lock, Way::Read, None, place)
}

extern "C" fn write(lock: usize, place: usize) -> c_int {
    take(lock, Way::Write, None, place)
}

extern "C" fn try_read(lock: usize, place: usize) -> c_int {
    try_take(lock, Way::Read, place)
}

extern "C" fn try_write(lock: usize, place: usize) -> c_int {
    try_take(lock, Way::Write, place)
}

unsafe extern "C" fn timed_read(lock: usize, at: *const Timespec, place: usize) -> c_int {
    // SAFETY: the program's pointer.
    take(lock, Way::Read, unsafe { realtime(at) }, place)
}

unsafe extern "C" fn timed_write(lock: usize, at: *const Timespec, place: usize) -> c_int {
    // SAFETY: the program's pointer.
    take(lock, Way::Write, unsafe { realtime(at) }, place)
}

unsafe extern "C" fn clock_read(lock: usize, clock: c_int, at: *const Timespec, place: usize) -> c_int {
    // SAFETY: the program's pointer.
    take(lock, Way::Read, unsafe { by_clock(clock, at) }, place)
}

unsafe extern "C" fn clock_write(lock: usize, clock: c_int, at: *const Timespec, place: usize) -> c_int {
    // SAFETY: the program's pointer.
    take(lock, Way::Write, unsafe { by_clock(clock, at) }, place)
}

interpose! {
    pthread_rwlock_rdlock "rsi" => read, off pthread_rwlock_rdlock;
    pthread_rwlock_tryrdlock "rsi" => try_read, off pthread_rwlock_tryrdlock;
    pthread_rwlock_timedrdlock "rdx" => timed_read;
    pthread_rwlock_clockrdlock "rcx" => clock_read;
    pthread_rwlock_wrlock "rsi" => write, off pthread_rwlock_wrlock;
    pthread_rwlock_trywrlock "rsi" => try_write, off pthread_rwlock_trywrlock;
    pthread_rwlock_timedwrlock "rdx" => timed_write;
    pthread_rwlock_clockwrlock "rcx" => clock_write;
    pthread_rwlock_unlock "rsi" => unlock, off pthread_rwlock_unlock;
    __pthread_rwlock_rdlock "rsi" => read, off pthread_rwlock_rdlock;
    __pthread_rwlock_tryrdlock "rsi" => try_read, off pthread_rwlock_tryrdlock;
    __pthread_rwlock_wrlock "rsi" => write, off pthread_rwlock_wrlock;
    __pthread_rwlock_trywrlock "rsi" => try_write, off pthread_rwlock_trywrlock;
    __pthread_rwlock_unlock "rsi" => unlock, off pthread_rwlock_unlock;
}

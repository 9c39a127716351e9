//! Condition variables, of POSIX and of C11: wholly ours while a program is recorded, so that the log says whom each
//! signal released. Those in memory that other processes share are left to the library.

use core::ffi::{c_int, c_void};

use super::mutex::{self, c11};
use super::unseen::{self, What};
use super::{by_clock, interpose, mappings, real, threads, tracked};
use crate::controller;
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::log;
use crate::record::{Kind, WOKEN_BY_TIMEOUT, WOKEN_SPURIOUSLY, tried_if};
use crate::sys::{CLOCK_REALTIME, Deadline, EINVAL, ETIMEDOUT, Timespec};
use crate::threads::Thread;
use crate::waiting::{self, Bucket, Outcome, Waiter};

/// Words kept of a condition that is not as usual: its clock, whether other processes share it.
fn remember(condition: usize, clock: c_int, shared: bool) {
    let bucket = waiting::lock(condition);
    bucket.forget(condition);
    if clock != CLOCK_REALTIME || shared {
        bucket.object_or_new(condition).words.set([clock as u64, u64::from(shared), 0]);
    }
    bucket.unlock();
}

/// Its clock, and whether other processes share it.
fn nature(condition: usize) -> (c_int, bool) {
    let bucket = waiting::lock(condition);
    let [clock, shared, _] = bucket.object(condition).map_or([0; 3], |object| object.words.get());
    bucket.unlock();
    (clock as c_int, shared != 0)
}

extern "C" fn init(condition: usize, attributes: *const c_void) -> c_int {
    let result = real::pthread_cond_init(condition, attributes);
    if let Some(thread) = tracked() {
        let (mut clock, mut shared) = (CLOCK_REALTIME, 0);
        if !attributes.is_null() {
            real::pthread_condattr_getclock(attributes, &mut clock);
            real::pthread_condattr_getpshared(attributes, &mut shared);
        }
        thread.occupy();
        // In memory of its own the process alone has to do with it, whatever the attributes say.
        remember(condition, clock, shared != 0 && mappings::is_shared(condition as u64));
        thread.end();
    }
    result
}

extern "C" fn destroy(condition: usize) -> c_int {
    if let Some(thread) = tracked() {
        thread.occupy();
        remember(condition, CLOCK_REALTIME, false);
        thread.end();
    }
    real::pthread_cond_destroy(condition)
}

fn wait_until(
    thread: &'static Thread,
    condition: usize,
    mutex: usize,
    deadline: Option<Deadline>,
    place: usize,
) -> c_int {
    if deadline.is_some_and(|deadline| !deadline.at.valid()) {
        return EINVAL;
    }
    controller::before_condition(thread);
    threads::begin_cancellable(thread);
    let result = inside(thread, condition, mutex, deadline, place);
    thread.end();
    threads::test_cancel(thread);
    result
}

fn inside(thread: &'static Thread, condition: usize, mutex: usize, deadline: Option<Deadline>, place: usize) -> c_int {
    let both = waiting::lock_both(condition, mutex);
    let failed = real::pthread_mutex_unlock(mutex);
    if failed != 0 {
        log::refused(thread, place, mutex, failed);
        both.unlock();
        return failed;
    }
    log::sync(thread, Kind::Wait, place, condition as u64, mutex as u64);
    let waiter = Waiter::cancellable(thread, condition);
    both.of_one.push(&waiter);
    both.of_other.release_next(mutex);
    both.unlock();
    let outcome = waiting::wait_to_end(&waiter, deadline);
    let by = outcome_of(&waiter, condition, outcome);
    thread.begin();
    let woken = || log_wake(thread, place, condition, by, deadline);
    let result = mutex::take(thread, mutex, None, woken);
    if result == 0 && by == WOKEN_BY_TIMEOUT { ETIMEDOUT } else { result }
}

/// Whether it is the order of a signal, what a `Wake` says of its cause.
fn is_signal(by: u64) -> bool {
    by != WOKEN_BY_TIMEOUT && by != WOKEN_SPURIOUSLY
}

/// Logs the end of a wait with what woke it. A signalled wait that its limit might have ended is marked as tried.
pub(super) fn log_wake(thread: &'static Thread, place: usize, condition: usize, by: u64, deadline: Option<Deadline>) {
    let tried = tried_if(is_signal(by) && controller::may_have_timed_out(deadline));
    log::sync(thread, Kind::Wake, place, condition as u64, by | tried);
}

/// What woke it. One that is signalled and timed out at once was signalled.
pub(super) fn outcome_of(waiter: &Waiter, condition: usize, outcome: Outcome) -> u64 {
    if outcome != Outcome::Released {
        let bucket = waiting::lock(condition);
        bucket.remove(waiter);
        bucket.unlock();
    }
    match outcome {
        _ if waiter.is_released() => waiter.by(),
        Outcome::TimedOut => WOKEN_BY_TIMEOUT,
        _ => WOKEN_SPURIOUSLY,
    }
}

/// One that other processes share: the library waits.
fn wait_shared(
    thread: &'static Thread,
    condition: usize,
    mutex: usize,
    place: usize,
    wait: impl Fn() -> c_int,
) -> c_int {
    thread.begin();
    log::sync(thread, Kind::Wait, place, condition as u64, mutex as u64);
    controller::outside(thread);
    thread.end();
    let result = wait();
    thread.begin();
    let by = if result == ETIMEDOUT { WOKEN_BY_TIMEOUT } else { WOKEN_SPURIOUSLY };
    log::sync(thread, Kind::Wake, place, condition as u64, by);
    thread.end();
    unseen::mark(thread, What::anything(c"a condition between processes"), place);
    result
}

extern "C" fn wait(condition: usize, mutex: usize, place: usize) -> c_int {
    let Some(thread) = tracked() else { return real::pthread_cond_wait(condition, mutex) };
    if nature(condition).1 {
        return wait_shared(thread, condition, mutex, place, || real::pthread_cond_wait(condition, mutex));
    }
    wait_until(thread, condition, mutex, None, place)
}

unsafe extern "C" fn timedwait(condition: usize, mutex: usize, at: *const Timespec, place: usize) -> c_int {
    let Some(thread) = tracked() else { return real::pthread_cond_timedwait(condition, mutex, at) };
    let (clock, shared) = nature(condition);
    if shared {
        return wait_shared(thread, condition, mutex, place, || real::pthread_cond_timedwait(condition, mutex, at));
    }
    // SAFETY: the program's pointer.
    wait_until(thread, condition, mutex, unsafe { by_clock(clock, at) }, place)
}

unsafe extern "C" fn clockwait(
    condition: usize,
    mutex: usize,
    clock: c_int,
    at: *const Timespec,
    place: usize,
) -> c_int {
    let real = || real::pthread_cond_clockwait(condition, mutex, clock, at);
    let Some(thread) = tracked() else { return real() };
    if nature(condition).1 {
        return wait_shared(thread, condition, mutex, place, real);
    }
    // SAFETY: the program's pointer.
    wait_until(thread, condition, mutex, unsafe { by_clock(clock, at) }, place)
}

fn wake(
    condition: usize,
    place: usize,
    kind: Kind,
    real: impl Fn() -> c_int,
    release: impl Fn(&Bucket, &'static Thread),
) -> c_int {
    let Some(thread) = tracked() else { return real() };
    thread.begin();
    let bucket = waiting::lock(condition);
    let shared = bucket.object(condition).is_some_and(|object| object.words.get()[1] != 0);
    if shared {
        log::sync(thread, kind, place, condition as u64, 0);
    } else {
        release(bucket, thread);
    }
    bucket.unlock();
    let result = if shared { real() } else { 0 };
    thread.end();
    result
}

/// Who waits for a condition and hears what is signalled now.
fn hearing(bucket: &Bucket, condition: usize) -> impl Iterator<Item = &'static Waiter> {
    bucket.waiters(condition).filter(|waiter| !controller::is_late(waiter))
}

/// A signal, and whom it releases.
pub(super) fn release_one(thread: &'static Thread, bucket: &Bucket, condition: usize, place: usize) {
    let first = controller::prefer(|| hearing(bucket, condition));
    let number = first.map_or(0, |waiter| waiter.thread.number.get());
    let order = log::sync(thread, Kind::Signal, place, condition as u64, number);
    if let Some(waiter) = first {
        controller::woken(waiter.thread);
        bucket.release(waiter, order);
    }
}

/// A broadcast: all who wait are released.
pub(super) fn release_all(thread: &'static Thread, bucket: &Bucket, condition: usize, place: usize) {
    let count = hearing(bucket, condition).count() as u64;
    let order = log::sync(thread, Kind::Broadcast, place, condition as u64, count);
    hearing(bucket, condition).for_each(|waiter| controller::woken(waiter.thread));
    while let Some(waiter) = hearing(bucket, condition).next() {
        bucket.release(waiter, order);
    }
}

extern "C" fn signal(condition: usize, place: usize) -> c_int {
    let real = || real::pthread_cond_signal(condition);
    wake(condition, place, Kind::Signal, real, |bucket, thread| release_one(thread, bucket, condition, place))
}

extern "C" fn broadcast(condition: usize, place: usize) -> c_int {
    let real = || real::pthread_cond_broadcast(condition);
    wake(condition, place, Kind::Broadcast, real, |bucket, thread| release_all(thread, bucket, condition, place))
}

interpose! {
    pthread_cond_init "rdx" => init;
    pthread_cond_destroy "rsi" => destroy;
    pthread_cond_wait "rdx" => wait;
    pthread_cond_timedwait "rcx" => timedwait;
    pthread_cond_clockwait "r8" => clockwait;
    pthread_cond_signal "rsi" => signal, off pthread_cond_signal;
    pthread_cond_broadcast "rsi" => broadcast, off pthread_cond_broadcast;
    cnd_destroy "rsi" => cnd_destroy_;
    cnd_wait "rdx" => cnd_wait_;
    cnd_timedwait "rcx" => cnd_timedwait_;
    cnd_signal "rsi" => cnd_signal_;
    cnd_broadcast "rsi" => cnd_broadcast_;
}

extern "C" fn cnd_destroy_(condition: usize, _: usize) {
    destroy(condition);
}

extern "C" fn cnd_wait_(condition: usize, mutex: usize, place: usize) -> c_int {
    c11(wait(condition, mutex, place))
}

unsafe extern "C" fn cnd_timedwait_(condition: usize, mutex: usize, at: *const Timespec, place: usize) -> c_int {
    // SAFETY: the program's pointer.
    c11(unsafe { timedwait(condition, mutex, at, place) })
}

extern "C" fn cnd_signal_(condition: usize, place: usize) -> c_int {
    c11(signal(condition, place))
}

extern "C" fn cnd_broadcast_(condition: usize, place: usize) -> c_int {
    c11(broadcast(condition, place))
}

//! Creating, ending and joining threads, of POSIX and of C11.

use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

use super::mutex::c11;
use super::signals::state;
use super::thread_ends::watch_end;
use super::{interpose, notices, real, signals, tracked};
use crate::adopt::publish;
use crate::controller;
use crate::hooks::begin::Begin;
use crate::hooks::library::created;
use crate::hooks::occupied::Occupied;
use crate::hooks::tsan;
use crate::lock::await_others;
use crate::log;
use crate::ownership;
use crate::record::{Kind, TRIED_JOINS, tried_if};
use crate::sys::{self, CLOCK_REALTIME, Deadline, EBUSY, EDEADLK, ENOMEM, Start, Timespec};
use crate::threads::{self, Thread};
use crate::waiting::{self, Outcome, Waiter};

pub extern "C" fn create(
    pthread: *mut usize,
    attributes: *const c_void,
    start: Start,
    argument: *mut c_void,
    place: usize,
) -> c_int {
    let Some(thread) = tracked() else { return real::pthread_create(pthread, attributes, start, argument) };
    let Some(child) = Thread::new() else { return sys::EAGAIN };
    thread.begin();
    child.start.set(Some(start));
    child.argument.set(argument);
    let data = core::ptr::from_ref(child).cast_mut().cast();
    let mask = state::block_all(); // the child inherits this: no handler runs before it is somebody
    child.mask.set(state::own_mask(thread, mask));
    let result = thread.quietly(|| real::pthread_create(pthread, attributes, run, data));
    state::set_mask(mask);
    if result == 0 {
        await_memory(child);
        thread.end();
        created(thread, pthread as u64);
        thread.begin();
        announce(thread, child, pthread, attributes, place);
    } else {
        // SAFETY: the thread never started.
        unsafe { child.discard() };
    }
    thread.end();
    result
}

/// Waits until the child has an arena of the allocator: arenas have their addresses by the order in which threads come to the allocator
/// for the first time, and a schedule, in which threads run in another order, is to have the same addresses.
fn await_memory(child: &Thread) {
    await_others(|| {
        while child.has_memory.load(Acquire) == 0 {
            sys::futex_wait(&child.has_memory, 0, None);
        }
    });
}

/// Lets the allocator choose the arena of this thread.
fn take_memory(thread: &Thread) {
    // SAFETY: the memory is not used.
    unsafe { sys::__libc_free(sys::__libc_malloc(1)) };
    thread.has_memory.store(1, Release);
    sys::futex_wake(&raw const thread.has_memory, 1);
}

/// The child has a number from here on, and may run.
fn announce(
    thread: &'static Thread,
    child: &'static Thread,
    pthread: *mut usize,
    attributes: *const c_void,
    place: usize,
) {
    // SAFETY: the library wrote it.
    child.pthread.store(unsafe { *pthread }, Relaxed);
    let mut detached = 0;
    if !attributes.is_null() {
        real::pthread_attr_getdetachstate(attributes, &mut detached);
    }
    child.detached.store(detached != 0, Relaxed);
    thread.children.set(thread.children.get() + 1);
    publish(child, thread.number.get(), thread.children.get());
    controller::created(child);
    let start = child.start.get().map_or(0, |start| start as usize as u64);
    log::sync(thread, Kind::Fork, place, child.number.get(), start);
    child.announced.store(1, Release);
    sys::futex_wake(&raw const child.announced, 1);
}

/// What a thread runs instead of its start function. Unwinding, by `pthread_exit` or an exception, passes through:
/// there are unwind tables, and nothing here to clean up.
unsafe extern "C" fn run(data: *mut c_void) -> *mut c_void {
    // SAFETY: from `create`; threads are never freed.
    let thread: &'static Thread = unsafe { &*data.cast() };
    threads::leave();
    take_memory(thread);
    while thread.announced.load(Acquire) == 0 {
        sys::futex_wait(&thread.announced, 0, None);
    }
    watch_end(thread);
    thread.enter();
    signals::thread_starts(thread);
    state::set_mask(thread.mask.get());
    thread.begin();
    log::sync(thread, Kind::Start, 0, thread.number.get(), 0);
    memory_begins(thread);
    thread.end();
    let Some(start) = thread.start.get() else { return core::ptr::null_mut() };
    // SAFETY: as the program wants it.
    unsafe { start(thread.argument.get()) }
}

/// The thread-local variables of a thread, and its stack where variables there are not recorded one by one, begin a life of their own: the
/// C library gives a thread the memory of one that has ended, without an order of the program between the two.
fn memory_begins(thread: &'static Thread) {
    if let Some((start, bytes)) = tsan::stack(thread).or_else(sys::own_thread_locals) {
        ownership::renew(start, bytes);
        log::sync(thread, Kind::Allocate, 0, start, bytes);
    }
}

/// Waits in the controller until another thread has ended; false if the deadline came first.
fn await_end(thread: &'static Thread, other: &'static Thread, deadline: Option<Deadline>) -> bool {
    while controller::controlled() {
        let bucket = waiting::lock(other.end_key());
        if other.ended.load(Acquire) {
            bucket.unlock();
            break;
        }
        let waiter = Waiter::for_end(thread, other);
        bucket.push(&waiter);
        bucket.unlock();
        let outcome = waiting::wait_to_end(&waiter, deadline);
        let bucket = waiting::lock(other.end_key());
        bucket.remove(&waiter);
        bucket.unlock();
        if outcome == Outcome::Cancelled {
            thread.end();
            test_cancel(thread);
            thread.occupy();
        }
        if outcome == Outcome::TimedOut && !other.ended.load(Acquire) {
            return false;
        }
    }
    true
}

/// A thread to be joined.
struct Joining {
    pthread: usize,
    result: *mut *mut c_void,
    deadline: Option<Deadline>,
    place: usize,
}

impl Joining {
    /// Joins by `real`, which waits where there is no controller.
    fn join_by(self, real: impl Fn() -> c_int) -> c_int {
        let Some(thread) = tracked() else { return real() };
        let Some(other) = other_thread(thread, self.pthread) else { return real() };
        thread.begin();
        let result = if self.may_join(thread, other) { self.finish(thread, real) } else { sys::ETIMEDOUT };
        thread.occupy();
        joined(thread, other, result, self.deadline.is_some(), self.place);
        thread.end();
        result
    }

    /// Waits in the controller, if there is one, until the other thread has ended; false if the deadline comes first, or the schedule
    /// says that it does.
    fn may_join(&self, thread: &'static Thread, other: &'static Thread) -> bool {
        let planned = self.deadline.and_then(|_| controller::is_join_planned(thread));
        if planned == Some(false) && other.ended.load(Acquire) {
            self.deadline.into_iter().for_each(controller::sleep_until);
            return false;
        }
        await_end(thread, other, self.deadline.filter(|_| planned != Some(true)))
    }

    /// With a controller the other thread is on its way out, which no deadline can forestall.
    fn finish(&self, thread: &'static Thread, real: impl Fn() -> c_int) -> c_int {
        if controller::controlled() {
            return thread.quietly(|| await_others(|| real::pthread_join(self.pthread, self.result)));
        }
        thread.end();
        thread.quietly(real)
    }
}

/// Another thread that is recorded.
fn other_thread(thread: &'static Thread, pthread: usize) -> Option<&'static Thread> {
    threads::by_pthread(pthread).filter(|other| !core::ptr::eq(*other, thread))
}

/// Records whether the other thread was joined or had not ended. The thread is inside of a hook.
fn joined(thread: &'static Thread, other: &'static Thread, result: c_int, tried: bool, place: usize) {
    match result {
        0 => {
            other.pthread.store(0, Relaxed);
            log::sync(thread, Kind::Join, place, other.number.get(), tried_if(tried));
        }
        EBUSY | sys::ETIMEDOUT => {
            log::sync(thread, Kind::Busy, place, TRIED_JOINS + other.number.get(), result as u64);
        }
        _ => {}
    }
}

pub extern "C" fn join(pthread: usize, result: *mut *mut c_void, place: usize) -> c_int {
    Joining { pthread, result, deadline: None, place }.join_by(|| real::pthread_join(pthread, result))
}

extern "C" fn timedjoin(pthread: usize, result: *mut *mut c_void, at: *const Timespec, place: usize) -> c_int {
    // SAFETY: the program's pointer, null for no deadline.
    let deadline = unsafe { at.as_ref() }.map(|&at| Deadline { clock: CLOCK_REALTIME, at });
    Joining { pthread, result, deadline, place }.join_by(|| real::pthread_timedjoin_np(pthread, result, at))
}

extern "C" fn clockjoin(
    pthread: usize,
    result: *mut *mut c_void,
    clock: c_int,
    at: *const Timespec,
    place: usize,
) -> c_int {
    // SAFETY: the program's pointer, null for no deadline.
    let deadline = unsafe { at.as_ref() }.map(|&at| Deadline { clock, at });
    let real = || real::pthread_clockjoin_np(pthread, result, clock, at);
    Joining { pthread, result, deadline, place }.join_by(real)
}

extern "C" fn tryjoin(pthread: usize, result: *mut *mut c_void, place: usize) -> c_int {
    let real = || real::pthread_tryjoin_np(pthread, result);
    let Some(thread) = tracked() else { return real() };
    let Some(other) = other_thread(thread, pthread) else { return real() };
    thread.begin();
    let status = if !controller::controlled() {
        thread.quietly(real)
    } else if has_ended(thread, other) {
        thread.quietly(|| real::pthread_join(pthread, result))
    } else {
        EBUSY
    };
    joined(thread, other, status, true, place);
    thread.end();
    status
}

/// What the controller says, since a thread may be on its way out; and above all what the schedule does.
fn has_ended(thread: &'static Thread, other: &'static Thread) -> bool {
    match controller::is_join_planned(thread) {
        Some(true) => await_end(thread, other, None),
        Some(false) => false,
        None => other.ended.load(Acquire),
    }
}

extern "C" fn detach(pthread: usize, _: usize) -> c_int {
    if tracked().is_some()
        && let Some(other) = threads::by_pthread(pthread)
    {
        other.detached.store(true, Relaxed);
        if other.ended.load(Acquire) {
            other.pthread.store(0, Relaxed);
        }
    }
    real::pthread_detach(pthread)
}

extern "C" fn cancel(pthread: usize, place: usize) -> c_int {
    if let Some(thread) = tracked()
        && let Some(other) = threads::by_pthread(pthread)
    {
        notices::cancelling(thread, other, place);
    }
    let result = real::pthread_cancel(pthread);
    if let Some(thread) = tracked()
        && let Some(other) = threads::by_pthread(pthread)
    {
        thread.occupy();
        other.cancelled.store(true, SeqCst);
        waiting::disturb(other);
        thread.end();
    }
    result
}

/// A place where a thread that was cancelled ends: unwinds the program's frames. No hook is under way.
pub fn test_cancel(thread: &Thread) {
    if thread.cancelled.load(SeqCst) {
        real::pthread_testcancel();
    }
}

/// The same at the start of a call, where a replay may keep the thread until it is cancelled.
fn cancellation_point(thread: &'static Thread) {
    thread.occupy();
    controller::at_cancellation_point(thread);
    thread.end();
    test_cancel(thread);
}

/// The same of a call without a record, which a replay may take for one that is over before the thread is cancelled.
pub fn cancellation_point_apart(thread: &'static Thread) {
    thread.occupy();
    let is_over = controller::unwinds_later(thread);
    thread.end();
    if !is_over {
        cancellation_point(thread);
    }
}

/// Start of a call in which a thread that was cancelled ends: what it does is decided when it has the turn.
pub fn begin_cancellable(thread: &'static Thread) {
    cancellation_point(thread);
    thread.begin();
    if waiting::to_be_cancelled(thread) {
        thread.end();
        test_cancel(thread);
        thread.begin();
    }
}

/// `thrd_create`: the result of the start function is an `int`, which travels as a pointer.
extern "C" fn c11_create(pthread: *mut usize, start: Start, argument: *mut c_void, place: usize) -> c_int {
    match create(pthread, core::ptr::null(), start, argument, place) {
        sys::EAGAIN => c11(ENOMEM),
        error => c11(error),
    }
}

extern "C" fn c11_join(pthread: usize, result: *mut c_int, place: usize) -> c_int {
    let mut pointer = core::ptr::null_mut();
    let error = join(pthread, &raw mut pointer, place);
    if error == 0 && !result.is_null() {
        // SAFETY: the program's pointer.
        unsafe { *result = pointer as usize as c_int };
    }
    c11(if error == EDEADLK { sys::EINVAL } else { error })
}

extern "C" fn c11_detach(pthread: usize, place: usize) -> c_int {
    c11(detach(pthread, place))
}

interpose! {
    pthread_create "r8" => create;
    pthread_join "rdx" => join;
    pthread_tryjoin_np "rdx" => tryjoin;
    pthread_timedjoin_np "rcx" => timedjoin;
    pthread_clockjoin_np "r8" => clockjoin;
    pthread_detach "rsi" => detach;
    pthread_cancel "rsi" => cancel;
    thrd_create "rcx" => c11_create;
    thrd_join "rdx" => c11_join;
    thrd_detach "rsi" => c11_detach;
}

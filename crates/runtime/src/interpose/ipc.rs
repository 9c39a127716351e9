//! Message queues, of POSIX and of System V, and semaphores of System V: a thread that receives or takes comes after the one that sent or
//! gave.
//!
//! A queue is a channel: a message is one post, receiving one a down, whichever it is. The room of a POSIX queue, which holds few messages, is a
//! semaphore, too: sending takes some, receiving gives it back. Of semaphores each number of a set is one.

use core::cell::Cell;
use core::ffi::{c_int, c_void};

use super::channel::{self, Message, Taken};
use super::descriptors;
use super::ends;
use super::poll::{Poll, READABLE, WRITABLE};
use super::rooms::{self, Room};
use super::unseen::What;
use super::unseen_calls;
use super::{interpose, real, tracked};
use crate::controller;
use crate::feed;
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::log;
use crate::program_time;
use crate::record::{Kind, SEMAPHORES, tried_if};
use crate::sys::{self, CLOCK_REALTIME, Deadline, ETIMEDOUT, Timespec, call};
use crate::threads::Thread;
use crate::waiting::{self, Bucket};

/// Apart from all addresses, pipes and event counters.
const QUEUES: usize = 1 << 62 | 4;
const SYSTEM_V_QUEUES: usize = 1 << 62 | 12;

fn posix_queue(queue: c_int) -> Option<(&'static Thread, usize)> {
    let (_, inode) = descriptors::identity(queue)?;
    Some((tracked()?, QUEUES | (inode as usize) << 4))
}

fn system_v_queue(queue: c_int) -> Option<(&'static Thread, usize)> {
    Some((tracked()?, SYSTEM_V_QUEUES | (queue as u32 as usize) << 4))
}

fn sending(queue: Option<(&'static Thread, usize)>, place: usize, send: impl FnOnce() -> c_int) -> c_int {
    let Some((thread, key)) = queue else { return send() };
    let posts = channel::post(thread, key, Message::of_length(0), place);
    let result = send();
    if result < 0 {
        channel::take_back(thread, key, posts, place);
    }
    result
}

fn receiving(
    queue: Option<(&'static Thread, usize)>,
    waits: bool,
    place: usize,
    receive: impl FnOnce() -> isize,
) -> isize {
    let received = receive();
    if let Some((thread, key)) = queue.filter(|_| received >= 0) {
        let taken = Taken { bytes: 1, all: false, left_nothing: false, waits };
        channel::down(thread, key, taken, place);
    }
    received
}

/// `struct mq_attr`.
#[repr(C)]
struct Attributes {
    flags: i64,
    most: i64,
    bytes: i64,
    messages: i64,
    rest: [i64; 4],
}

/// Where the bucket has the room of a POSIX queue.
const ROOMS: usize = 1 << 62 | 10;

/// The room that a queue has now, before a message is sent or received.
fn room_of(queue: c_int, key: usize) -> Room {
    let mut attributes = Attributes { flags: 0, most: 0, bytes: 0, messages: 0, rest: [0; 4] };
    let known = real::mq_getattr(queue, (&raw mut attributes).cast()) == 0;
    let left = if known { attributes.most - attributes.messages } else { 0 };
    Room { key: key & !0xf | ROOMS, left: left.max(0) as u64 }
}

/// Before now.
static PAST: Timespec = Timespec { seconds: 0, nanoseconds: 0 };

/// Makes a call of a POSIX queue by `step`, which does not wait: where it cannot be made yet (`ETIMEDOUT`), the thread sleeps until the queue is
/// ready for `events`, or to the call's limit.
fn in_steps(
    (thread, queue): (&'static Thread, c_int),
    events: i16,
    at: *const Timespec,
    step: impl Fn() -> bool,
) -> bool {
    let waits = ends::waits(queue);
    ends::before_waiting(thread, queue);
    loop {
        if step() {
            return true;
        }
        if !waits || sys::errno() != ETIMEDOUT {
            return false;
        }
        let sleep = |milliseconds: c_int| {
            real::poll(core::ptr::from_mut(&mut Poll::new(queue, events)).cast(), 1, milliseconds)
        };
        let ready = if at.is_null() {
            sleep(-1)
        } else {
            feed::limited(|to_limit| if to_limit { sleep(until(at)) } else { 0 })
        };
        if ready < 0 {
            return false; // a signal
        }
        if ready == 0 {
            return step();
        }
    }
}

/// Milliseconds until then, of the program's clock; at least one, so that a thread which asks again and again sleeps.
fn until(at: *const Timespec) -> c_int {
    // SAFETY: the program's pointer.
    let at = unsafe { *at };
    let Deadline { at, .. } = program_time::real(Deadline { clock: CLOCK_REALTIME, at });
    let now = sys::now(CLOCK_REALTIME);
    let milliseconds = (at.seconds - now.seconds) * 1000 + (at.nanoseconds - now.nanoseconds) / 1_000_000;
    milliseconds.clamp(1, i64::from(c_int::MAX)) as c_int
}

/// Sends by `send`, which gets a limit of time.
fn sending_posix(queue: c_int, at: *const Timespec, place: usize, send: impl Fn(*const Timespec) -> c_int) -> c_int {
    let Some((thread, key)) = posix_queue(queue) else { return send(at) };
    let tried = !at.is_null() || !ends::waits(queue);
    let step = || {
        let room = room_of(queue, key);
        rooms::send(thread, (key, room), (Message::of_length(0), tried), place, || send(&raw const PAST) == 0)
    };
    if in_steps((thread, queue), WRITABLE, at, step) { 0 } else { -1 }
}

/// The same of receiving.
fn receiving_posix(
    queue: c_int,
    at: *const Timespec,
    place: usize,
    receive: impl Fn(*const Timespec) -> isize,
) -> isize {
    let Some((thread, key)) = posix_queue(queue) else { return receive(at) };
    let waits = at.is_null() && ends::waits(queue);
    let received = Cell::new(-1);
    let step = || {
        let room = room_of(queue, key);
        let taken = Taken { bytes: 1, all: false, left_nothing: false, waits };
        rooms::receive(thread, (key, room), taken, place, || {
            received.set(receive(&raw const PAST));
            received.get() >= 0
        })
    };
    in_steps((thread, queue), READABLE, at, step);
    received.get()
}

extern "C" fn mq_send_(queue: c_int, message: *const c_void, bytes: usize, priority: u32, place: usize) -> c_int {
    let send = |at| real::mq_timedsend(queue, message, bytes, priority, at);
    sending_posix(queue, core::ptr::null(), place, send)
}

extern "C" fn mq_timedsend_(
    queue: c_int,
    message: *const c_void,
    bytes: usize,
    priority: u32,
    at: *const Timespec,
    place: usize,
) -> c_int {
    sending_posix(queue, at, place, |at| real::mq_timedsend(queue, message, bytes, priority, at))
}

extern "C" fn mq_receive_(queue: c_int, to: *mut c_void, bytes: usize, priority: *mut u32, place: usize) -> isize {
    receiving_posix(queue, core::ptr::null(), place, |at| real::mq_timedreceive(queue, to, bytes, priority, at))
}

extern "C" fn mq_timedreceive_(
    queue: c_int,
    to: *mut c_void,
    bytes: usize,
    priority: *mut u32,
    at: *const Timespec,
    place: usize,
) -> isize {
    receiving_posix(queue, at, place, |at| real::mq_timedreceive(queue, to, bytes, priority, at))
}

extern "C" fn msgsnd_(queue: c_int, message: *const c_void, bytes: usize, flags: c_int, place: usize) -> c_int {
    sending(system_v_queue(queue), place, || real::msgsnd(queue, message, bytes, flags))
}

extern "C" fn msgrcv_(queue: c_int, to: *mut c_void, bytes: usize, kind: i64, flags: c_int, place: usize) -> isize {
    let waits = flags & i32::from(NO_WAIT) == 0;
    let found = system_v_queue(queue);
    if let Some((thread, _)) = found.filter(|_| waits) {
        controller::before_taking(thread);
    }
    receiving(found, waits, place, || real::msgrcv(queue, to, bytes, kind, flags))
}

/// `IPC_NOWAIT`.
const NO_WAIT: i16 = 0o4000;

/// `struct sembuf`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Operation {
    number: u16,
    amount: i16,
    flags: i16,
}

/// Where the log has a semaphore of a set.
fn object(set: c_int, number: u16) -> u64 {
    SEMAPHORES + (u64::from(set as u32) << 16 | u64::from(number)) * 16
}

/// What the runtime knows of it, beside its count.
const KNOWN: u64 = 1;
const SET_AGAIN: u64 = 2;

/// Where the runtime keeps what is known of it.
fn key(set: c_int, number: u16) -> usize {
    1 << 61 | (object(set, number) - SEMAPHORES) as usize
}

/// What the kernel says that it holds.
fn value(set: c_int, number: u16) -> u64 {
    const VALUE: c_int = 12;
    call!(SEMCTL, set, number, VALUE).max(0) as u64
}

/// What it holds, as far as the log goes. One that was set again comes into being; one that the log does not know needs no record, since
/// its first one says what it holds. The bucket is locked.
fn held(thread: &'static Thread, bucket: &Bucket, set: c_int, number: u16, before: u64, place: usize) -> u64 {
    let object_here = bucket.object_or_new(key(set, number));
    let [known, count, _] = object_here.words.get();
    match known {
        KNOWN => return count,
        SET_AGAIN => _ = log::sync(thread, Kind::SemaphoreInit, place, object(set, number), before),
        _ => {}
    }
    before
}

/// Puts some back or takes some, one record for each.
fn change(thread: &'static Thread, set: c_int, operation: Operation, place: usize) {
    let Operation { number, amount, .. } = operation;
    thread.begin();
    let bucket = waiting::lock(key(set, number));
    let now = value(set, number);
    let before = if amount < 0 { now + u64::from(amount.unsigned_abs()) } else { now };
    let _step = log::together(thread, 1 + u64::from(amount.unsigned_abs()));
    let mut count = held(thread, bucket, set, number, before, place);
    for _ in 0..amount.unsigned_abs() {
        if amount > 0 {
            log::sync(thread, Kind::Post, place, object(set, number), count);
            count += 1;
        } else if count > 0 {
            count -= 1;
            let tried = tried_if(operation.flags & NO_WAIT != 0);
            log::sync(thread, Kind::Down, place, object(set, number), count | tried);
        }
    }
    bucket.object_or_new(key(set, number)).words.set([KNOWN, count, 0]);
    bucket.unlock();
    thread.end();
}

/// It is set to a value, or what was put back was not after all.
fn forget(thread: &'static Thread, set: c_int, number: u16) {
    let error = sys::errno();
    thread.occupy();
    let bucket = waiting::lock(key(set, number));
    if let Some(object) = bucket.object(key(set, number)) {
        object.words.set([SET_AGAIN, 0, 0]);
    }
    bucket.unlock();
    thread.end();
    sys::set_errno(error);
}

fn operate(set: c_int, operations: &[Operation], place: usize, real: impl FnOnce() -> c_int) -> c_int {
    let Some(thread) = tracked() else { return real() };
    if operations.iter().any(|operation| operation.amount == 0) {
        return unseen_calls::around(What::named(c"semop", c"System V semaphores"), place, real); // waits for zero
    }
    operations.iter().filter(|operation| operation.amount > 0).for_each(|o| change(thread, set, *o, place));
    if operations.iter().any(|operation| operation.amount < 0 && operation.flags & NO_WAIT == 0) {
        controller::before_taking(thread);
    }
    let result = real();
    if result == 0 {
        operations.iter().filter(|operation| operation.amount < 0).for_each(|o| change(thread, set, *o, place));
    } else {
        operations.iter().filter(|operation| operation.amount > 0).for_each(|o| forget(thread, set, o.number));
    }
    result
}

unsafe extern "C" fn semop_(set: c_int, operations: *const c_void, count: usize, place: usize) -> c_int {
    // SAFETY: the program's array.
    let given = unsafe { core::slice::from_raw_parts(operations.cast::<Operation>(), count) };
    operate(set, given, place, || real::semop(set, operations, count))
}

unsafe extern "C" fn semtimedop_(
    set: c_int,
    operations: *const c_void,
    count: usize,
    span: *const Timespec,
    place: usize,
) -> c_int {
    // SAFETY: the program's array.
    let given = unsafe { core::slice::from_raw_parts(operations.cast::<Operation>(), count) };
    operate(set, given, place, || real::semtimedop(set, operations, count, span))
}

/// A set may be set to new values; who waits for it goes on.
extern "C" fn semctl_(set: c_int, number: c_int, command: c_int, argument: usize, place: usize) -> c_int {
    const SET_VALUE: c_int = 16;
    const SET_ALL: c_int = 17;
    const REMOVE: c_int = 0;
    const MOST: u16 = 256;
    let Some(thread) = tracked() else { return real::semctl(set, number, command, argument) };
    if !matches!(command, SET_VALUE | SET_ALL | REMOVE) {
        return real::semctl(set, number, command, argument);
    }
    let result = unseen_calls::around(What::named(c"semctl", c"System V semaphores"), place, || {
        real::semctl(set, number, command, argument)
    });
    match command {
        SET_VALUE => forget(thread, set, number as u16),
        _ => (0..MOST).for_each(|number| forget(thread, set, number)),
    }
    result
}

interpose! {
    mq_send "r8" => mq_send_;
    mq_timedsend "r9" => mq_timedsend_;
    mq_receive "r8" => mq_receive_;
    mq_timedreceive "r9" => mq_timedreceive_;
    msgsnd "r8" => msgsnd_;
    msgrcv "r9" => msgrcv_;
    semop "rcx" => semop_;
    semtimedop "r8" => semtimedop_;
    semctl "r8" => semctl_;
}

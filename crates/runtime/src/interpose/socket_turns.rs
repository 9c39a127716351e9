//! Calls on sockets in one step with their records. How many bytes a call gets depends on what was sent before it: among threads that run in
//! parallel the later one of two must not be recorded first, and one thread at a time must not depend on when the kernel wakes it.
//!
//! Of a pair of the program (`socketpair`) it is known which socket gets what is sent by the other. So a call that left nothing there is
//! recorded as coming before what is sent next, as that of a pipe is.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::channel;
use super::descriptors::status;
use super::ends::{socket_key, waits};
use super::poll::{Poll, READABLE, WRITABLE, sleep_until_readable};
use super::socket_pair;
use crate::controller;
use crate::feed::interruption::interruptible;
use crate::feed::others;
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::lock::Lock;
use crate::sys::{self, call};
use crate::threads::Thread;
use crate::waiting;

/// Held during a call that does not wait, up to its record. A socket has one of these.
struct Step {
    lock: Lock,
    /// The number of the thread that holds it; 0 for none.
    holder: AtomicU64,
}

static STEPS: [Step; 16] = [const { Step { lock: Lock::new(), holder: AtomicU64::new(0) } }; 16];

impl Step {
    /// Begins a step where threads run in parallel. A handler of a signal may call, too, while its thread holds the lock, or leave the
    /// call by a jump: it goes on without.
    fn begin(thread: &Thread, key: usize) -> Option<&'static Step> {
        let step = &STEPS[key / 16 % STEPS.len()];
        let own = thread.number.get();
        let is_taken = !controller::controlled() && step.holder.load(Relaxed) != own && step.lock.is_taken_soon();
        is_taken.then(|| {
            step.holder.store(own, Relaxed);
            step
        })
    }

    fn end(&self) {
        self.holder.store(0, Relaxed);
        self.lock.unlock();
    }
}

/// The other socket of a pair.
#[derive(Clone, Copy)]
struct Other {
    key: usize,
    is_stream: bool,
}

/// Where the bucket of a socket has the other one of its pair.
fn other_key(socket: usize) -> usize {
    socket | 2
}

/// A pair was made.
pub fn pair_made(thread: &'static Thread, pair: [c_int; 2], kind: c_int) {
    const KIND: c_int = 15;
    const STREAM: c_int = 1;
    let [Some(one), Some(other)] = pair.map(status) else { return };
    let (one, other) = (socket_key(&one), socket_key(&other));
    for (key, other) in [(one, other), (other, one)] {
        thread.occupy();
        let bucket = waiting::lock(other_key(key));
        bucket.object_or_new(other_key(key)).words.set([other as u64, (kind & KIND == STREAM).into(), 0]);
        bucket.unlock();
        thread.end();
    }
}

fn other_of(thread: &'static Thread, key: usize) -> Option<Other> {
    thread.occupy();
    let bucket = waiting::lock(other_key(key));
    let words = bucket.object(other_key(key)).map(|object| object.words.get());
    bucket.unlock();
    thread.end();
    words.map(|[other, is_stream, _]| Other { key: other as usize, is_stream: is_stream == 1 })
}

/// Sends at most so many bytes, by `send`; `record` takes the key of the socket that gets them, if that is known.
pub fn send(
    thread: &'static Thread,
    (file, bytes): (c_int, u64),
    record: impl FnOnce(Option<usize>),
    send: impl FnOnce() -> isize,
) -> isize {
    /// There is room for as many where there is some.
    const NEVER_WAITS: u64 = 2048;
    let to = status(file).and_then(|socket| other_of(thread, socket_key(&socket)));
    let is_at_once = || bytes <= NEVER_WAITS && is_now(file, WRITABLE);
    let step = to.and_then(|to| Step::begin(thread, to.key)).filter(|step| {
        let is_at_once = is_at_once();
        if !is_at_once {
            step.end();
        }
        is_at_once
    });
    record(to.map(|to| to.key));
    let sent = send();
    if let Some(step) = step {
        step.end();
    }
    sent
}

/// The call of this socket came to so many bytes of those it asked for, or nothing was there for it.
pub fn received(thread: &'static Thread, file: c_int, (bytes, asked): (u64, u64), place: usize) {
    let Some(socket) = status(file) else { return };
    let key = socket_key(&socket);
    let left_nothing = other_of(thread, key).is_none_or(|other| other.is_stream && bytes < asked);
    channel::read_in_turn(thread, key, left_nothing, place);
}

/// A call that does not wait found nothing.
pub fn found_nothing(thread: &'static Thread, file: c_int, place: usize) {
    let Some(key) = status(file).map(|socket| socket_key(&socket)) else { return };
    if other_of(thread, key).is_some() {
        channel::read_in_turn(thread, key, true, place);
    }
}

/// Receives and records. If nothing is there yet for a call that waits for other programs, others may come in between: that may be
/// recorded in another order.
pub fn receive<R>(thread: &'static Thread, (file, flags): (c_int, c_int), receive: impl FnOnce() -> R) -> R {
    let Some(key) = status(file).map(|socket| socket_key(&socket)) else { return receive() };
    let wait = Wait::of_call(file, flags);
    let step = loop {
        let Some(step) = Step::begin(thread, key) else { break None };
        if wait == Wait::Never || is_now(file, READABLE) {
            break Some(step);
        }
        step.end();
        if wait == Wait::ForOthers || !is_readable_at_last(file) {
            break None;
        }
    };
    let received = receive();
    if let Some(step) = step {
        step.end();
    }
    received
}

/// What a call does that finds nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// It says so.
    Never,
    /// It waits for some bytes, without a limit, which the program itself sends.
    ForOwn,
    /// It waits for other programs, for so many bytes or up to a limit.
    ForOthers,
}

impl Wait {
    fn of_call(file: c_int, flags: c_int) -> Wait {
        const WAIT_FOR_ALL: c_int = 0x100;
        if never_waits(file, flags) {
            Wait::Never
        } else if flags & WAIT_FOR_ALL == 0 && !has_limit(file) && socket_pair::is_own(file) {
            Wait::ForOwn
        } else {
            Wait::ForOthers
        }
    }
}

fn never_waits(file: c_int, flags: c_int) -> bool {
    const DONT_WAIT: c_int = 0x40;
    flags & DONT_WAIT != 0 || !waits(file)
}

fn has_limit(file: c_int) -> bool {
    const SOCKET_LEVEL: usize = 1;
    const RECEIVE_LIMIT: usize = 20;
    let (mut limit, mut length) = ([0_i64; 2], 16_u32);
    let is_known = call!(GETSOCKOPT, file, SOCKET_LEVEL, RECEIVE_LIMIT, limit.as_mut_ptr(), &raw mut length) == 0;
    !is_known || limit != [0; 2]
}

fn is_now(file: c_int, what: i16) -> bool {
    let mut poll = Poll::new(file, what);
    call!(POLL, &raw mut poll, 1, 0) > 0
}

/// Sleeps until there is something to be read. Not if a signal comes first: receiving goes on after some, polling after none.
fn is_readable_at_last(file: c_int) -> bool {
    let error = sys::errno();
    let is_readable = sleep_until_readable(file) >= 0;
    sys::set_errno(error);
    is_readable
}

/// A call that `whole` makes by its argument, which is `call` of the kernel. If it waits without a limit, a handler of a signal may end it: a
/// replay waits for the handler that did so in the recording, and goes on after others.
pub fn waiting(
    thread: &'static Thread,
    (file, flags): (c_int, c_int),
    call: impl FnOnce() -> isize,
    whole: impl FnOnce(&mut dyn FnMut() -> isize) -> isize,
) -> isize {
    let mut call = Some(call);
    let mut call_once = || call.take().map_or(-1, |call| call());
    if never_waits(file, flags) || has_limit(file) {
        return whole(&mut call_once);
    }
    interruptible(|interruption| {
        if !others::playing() && interruption.ends(thread) {
            return -1;
        }
        let made = whole(&mut || {
            interruption.sleep_before(thread, || sleep_until_readable(file));
            call_once()
        });
        made as c_int // the kernel reads no more at a time
    }) as isize
}

/// With one thread at a time: begins the hook of a call when the thread has its turn, if it waits for something to be read only when there is
/// something. So what the call gets depends on the schedule.
pub fn begins_in_turn(thread: &'static Thread, (file, flags): (c_int, c_int)) -> bool {
    if !controller::controlled() {
        return false;
    }
    let wait = Wait::of_call(file, flags);
    while wait == Wait::Never && socket_pair::is_own(file) || wait == Wait::ForOwn && is_readable_at_last(file) {
        thread.begin();
        if wait == Wait::Never || is_now(file, READABLE) {
            return true;
        }
        thread.end();
    }
    false
}

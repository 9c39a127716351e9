//! `syscall`, for programs that use futexes directly (`std::atomic::wait` does). With a controller the runtime performs such waits, since
//! otherwise no thread would run. Without a controller the kernel does.
//!
//! A futex is no event: a thread that waits for one reads its word before and after, and these reads are events. A wait that is over at
//! once ends like one that was woken, so that the thread's next step depends only on these reads.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering::SeqCst};

use super::unseen::{self, What};
use super::{clocks, entropy, tracked};
use crate::controller;
use crate::program_time;
use crate::sys::{self, CLOCK_MONOTONIC, CLOCK_REALTIME, Deadline, EAGAIN, EINTR, ETIMEDOUT, Timespec, number};
use crate::threads::Thread;
use crate::waiting::{self, Outcome, Waiter};

const WAIT: usize = 0;
const WAKE: usize = 1;
const WAIT_BITSET: usize = 9;
const WAKE_BITSET: usize = 10;
const OPERATION: usize = 127;
const BY_REALTIME: usize = 256;

/// System calls other than futexes by which threads may wait for each other: `read` and `write` and their like, waiting for descriptors,
/// sockets, semaphores, messages, locks, signals, processes, and queues of requests.
const ORDERING: [usize; 61] = [
    0, 1, 7, 17, 18, 19, 20, 23, 34, 42, 43, 44, 45, 46, 47, 48, 61, 62, 64, 65, 66, 68, 69, 70, 72, 73, 127, 128, 129,
    130, 200, 207, 208, 209, 220, 222, 223, 232, 234, 240, 242, 243, 247, 270, 271, 275, 276, 278, 281, 286, 288, 295,
    296, 297, 299, 307, 323, 326, 424, 426, 441,
];

/// The library's `syscall`, which takes any number of arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syscall(number: usize, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> isize {
    if let Some(result) = outside(number, a, b, c) {
        return result;
    }
    let ours = || (number == number::FUTEX).then(|| controlled_futex(a, b, c, d)).flatten();
    // SAFETY: the program's call.
    let call = || unsafe { sys::syscall(number, [a, b, c, d, e, f]) };
    let result = ours().unwrap_or_else(|| match number {
        number::FUTEX => as_if_woken(b, call()),
        _ if ORDERING.contains(&number) => unseen::around(What::anything(c"syscall"), 0, call),
        _ => call(),
    });
    if (-4095..0).contains(&result) {
        sys::set_errno(-result as c_int);
        return -1;
    }
    result
}

/// Calls that bring something from outside; they set `errno` themselves.
fn outside(number: usize, a: usize, b: usize, c: usize) -> Option<isize> {
    match number {
        number::GETRANDOM => Some(entropy::getrandom_(a as _, b, c as u32, 0)),
        number::CLOCK_GETTIME => Some(clocks::clock_gettime_(a as c_int, b as _, 0) as isize),
        number::GETTIMEOFDAY => Some(clocks::gettimeofday_(a as _, b as _, 0) as isize),
        number::TIME => Some(clocks::time_(a as _, 0) as isize),
        _ => None,
    }
}

/// The kernel's answer to a futex call. A wait whose word has another value already ends as one does that was woken: only then
/// would the program read `errno`, and a replay, which has no such race, would read less.
fn as_if_woken(operation: usize, result: isize) -> isize {
    let waits = matches!(operation & OPERATION, WAIT | WAIT_BITSET);
    if waits && result == -(EAGAIN as isize) { 0 } else { result }
}

fn controlled_futex(word: usize, operation: usize, value: usize, at: usize) -> Option<isize> {
    let thread = tracked().filter(|_| controller::controlled())?;
    let result = match operation & OPERATION {
        WAIT | WAIT_BITSET => {
            thread.begin();
            wait(thread, word, value as u32, deadline(operation, at))
        }
        WAKE | WAKE_BITSET => {
            thread.begin();
            wake(word, value)
        }
        _ => return None,
    };
    thread.end();
    Some(result)
}

/// A wait has a span of time, but with a bit set a moment.
fn deadline(operation: usize, at: usize) -> Option<Deadline> {
    // SAFETY: the program's pointer.
    let time = *unsafe { (at as *const Timespec).as_ref() }?;
    if operation & OPERATION == WAIT {
        return Some(Deadline { clock: CLOCK_MONOTONIC, at: program_time::now(CLOCK_MONOTONIC).plus(time) });
    }
    let clock = if operation & BY_REALTIME != 0 { CLOCK_REALTIME } else { CLOCK_MONOTONIC };
    Some(Deadline { clock, at: time })
}

fn wait(thread: &'static Thread, word: usize, value: u32, deadline: Option<Deadline>) -> isize {
    let bucket = waiting::lock(word);
    // SAFETY: the program's word.
    if unsafe { &*(word as *const AtomicU32) }.load(SeqCst) != value {
        bucket.unlock();
        return 0;
    }
    let waiter = Waiter::patient(thread, word);
    bucket.push(&waiter);
    bucket.unlock();
    let outcome = waiting::wait(&waiter, deadline);
    if outcome == Outcome::Released {
        return 0;
    }
    let bucket = waiting::lock(word);
    bucket.remove(&waiter);
    bucket.unlock();
    match outcome {
        _ if waiter.released() => 0,
        Outcome::TimedOut if deadline.is_none() => 0, // a schedule goes on here
        Outcome::TimedOut => -(ETIMEDOUT as isize),
        _ => -(EINTR as isize),
    }
}

fn wake(word: usize, most: usize) -> isize {
    let bucket = waiting::lock(word);
    let mut woken = 0;
    while woken < most as isize {
        let Some(waiter) = bucket.waiters(word).next() else { break };
        bucket.release(waiter, 0);
        woken += 1;
    }
    bucket.unlock();
    woken
}

//! `syscall`, for programs that use futexes directly (`std::atomic::wait` does). With a controller the runtime performs such waits, since
//! otherwise no thread would run. Without a controller the kernel does.
//!
//! A futex is no event: a thread that waits for one reads its word before and after, and these reads are events. A wait that is over at
//! once ends like one that was woken, so that the thread's next step depends only on these reads. Each wait has a record, since a replay
//! must look at the word where the recording did: the word may change before and after.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering::SeqCst};

use super::unseen::What;
use super::unseen_calls;
use super::{clocks, cloned, entropy, notices, tracked};
use crate::controller;
use crate::hooks::access;
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::log;
use crate::program_time;
use crate::record::ATOMIC_PLACE;
use crate::sys::{self, CLOCK_MONOTONIC, CLOCK_REALTIME, Deadline, EAGAIN, EINTR, ENOSYS, ETIMEDOUT, Timespec, number};
use crate::threads::Thread;
use crate::waiting::{self, Outcome, Waiter};

const WAIT: usize = 0;
const WAKE: usize = 1;
const REQUEUE: usize = 3;
const COMPARE_AND_REQUEUE: usize = 4;
const WAKE_AND_CHANGE: usize = 5;
const WAIT_BITSET: usize = 9;
const WAKE_BITSET: usize = 10;
const OPERATION: usize = 127;
const BY_REALTIME: usize = 256;

/// With priority inheritance: the kernel itself changes the word.
const INHERITING: [usize; 6] = [6, 7, 8, 11, 12, 13];

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
    if let Some(result) = outside(number, a, b, c).or_else(|| notice(number, a, b, c, d)) {
        return result;
    }
    let futex = || match number {
        number::FUTEX => controlled_futex([a, b, c, d, e, f]),
        number::FUTEX_WAITV => controlled_wait_for_several(),
        _ => None,
    };
    let ours = || futex().or_else(|| cloned::by_number(number, [a, b, c, d, e]));
    // SAFETY: the program's call.
    let call = || unsafe { sys::syscall(number, [a, b, c, d, e, f]) };
    let result = ours().unwrap_or_else(|| match number {
        number::FUTEX if b & OPERATION == WAKE_AND_CHANGE => wake_and_change([a, b, c, d, e, f]),
        number::FUTEX if matches!(b & OPERATION, WAIT | WAIT_BITSET) => as_if_woken(call()),
        number::FUTEX if INHERITING.contains(&(b & OPERATION)) => {
            unseen_calls::around(What::named(c"futex", c"futexes with priority inheritance"), 0, call)
        }
        number::FUTEX_WAITV => as_if_woken(call()),
        _ if ORDERING.contains(&number) => unseen_calls::around(What::anything(c"syscall"), 0, call),
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

/// Calls that send a signal, as the library's own; they set `errno` themselves.
fn notice(number: usize, a: usize, b: usize, c: usize, d: usize) -> Option<isize> {
    let result = match number {
        number::KILL => notices::kill_(a as c_int, b as c_int, 0),
        number::TKILL => notices::tkill_(a as c_int, b as c_int, 0),
        number::TGKILL => notices::tgkill_(a as c_int, b as c_int, c as c_int, 0),
        number::RT_SIGQUEUEINFO => notices::queue_to_process(a as c_int, b as c_int, c),
        number::RT_TGSIGQUEUEINFO => notices::queue_to_thread(a as c_int, b as c_int, c as c_int, d),
        _ => return None,
    };
    Some(result as isize)
}

/// The kernel's answer to a wait. One whose word has another value already ends as one does that was woken: only then
/// would the program read `errno`, and a replay, which has no such race, would read less.
fn as_if_woken(result: isize) -> isize {
    if result == -(EAGAIN as isize) { 0 } else { result }
}

fn controlled_futex([word, operation, value, at, _, third]: [usize; 6]) -> Option<isize> {
    let thread = tracked().filter(|_| controller::controlled())?;
    let kind = operation & OPERATION;
    if !matches!(kind, WAIT | WAIT_BITSET | WAKE | WAKE_BITSET | REQUEUE | COMPARE_AND_REQUEUE) {
        return None;
    }
    match kind {
        WAIT | WAIT_BITSET => thread.begin_apart(),
        _ => thread.begin(),
    }
    let result = match kind {
        WAIT | WAIT_BITSET => {
            log::refused(thread, 0, 0, EAGAIN);
            wait(thread, word, value as u32, deadline(operation, at))
        }
        WAKE | WAKE_BITSET => wake(word, value),
        COMPARE_AND_REQUEUE if atomic(word).load(SeqCst) != third as u32 => -(EAGAIN as isize),
        // Who would wait for the other word looks again in place of that: such a wait may end at any time.
        _ => wake(word, value.saturating_add(at)),
    };
    thread.end();
    Some(result)
}

/// `FUTEX_WAITV` is over at once, as any such wait may be: who calls it looks again at its words, and others get the turn.
fn controlled_wait_for_several() -> Option<isize> {
    let thread = tracked().filter(|_| controller::controlled())?;
    thread.begin_apart();
    log::refused(thread, 0, 0, EAGAIN);
    thread.end();
    Some(0)
}

/// The program's word.
fn atomic(word: usize) -> &'static AtomicU32 {
    // SAFETY: the program passes it as one of a futex.
    unsafe { &*(word as *const AtomicU32) }
}

/// `FUTEX_WAKE_OP`: changes the other word, wakes those of the first, and those of the other if that one held what is asked for. The runtime
/// does what the kernel would, so that the change is an event.
fn wake_and_change([word, _, most, most_of_other, other, what]: [usize; 6]) -> isize {
    let signed = |bits: usize| (bits as i32) << 20 >> 20; // of 12 bits
    let (compared, given) = (signed(what), signed(what >> 12) as u32);
    let operand = if what >> 31 & 1 == 1 { 1u32.wrapping_shl(given) } else { given };
    let change: fn(u32, u32) -> u32 = match what >> 28 & 7 {
        0 => |_, new| new,
        1 => u32::wrapping_add,
        2 => |old, bits| old | bits,
        3 => |old, bits| old & !bits,
        4 => |old, bits| old ^ bits,
        _ => return -(ENOSYS as isize),
    };
    let compare: fn(&i32, &i32) -> bool = match what >> 24 & 15 {
        0 => i32::eq,
        1 => i32::ne,
        2 => i32::lt,
        3 => i32::le,
        4 => i32::gt,
        5 => i32::ge,
        _ => return -(ENOSYS as isize),
    };
    let changed = |old: u64| Some(u64::from(change(old as u32, operand)));
    let before = access::update_hook::<u32>(other as u64, 0, ATOMIC_PLACE, changed) as i32;
    let thread = tracked();
    thread.inspect(|thread| thread.occupy());
    let woken = wake(word, most) + if compare(&before, &compared) { wake(other, most_of_other) } else { 0 };
    thread.inspect(|thread| thread.end());
    woken
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
    if atomic(word).load(SeqCst) != value {
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
        _ if waiter.is_released() => 0,
        Outcome::TimedOut if deadline.is_none_or(|deadline| program_time::now(deadline.clock) < deadline.at) => 0, // a schedule goes on here
        Outcome::TimedOut => -(ETIMEDOUT as isize),
        _ => -(EINTR as isize),
    }
}

/// Wakes those that wait here, then those that wait in the kernel (code that is not built by us).
fn wake(word: usize, most: usize) -> isize {
    let bucket = waiting::lock(word);
    let mut woken = 0;
    while woken < most {
        let Some(waiter) = bucket.waiters(word).next() else { break };
        bucket.release(waiter, 0);
        woken += 1;
    }
    bucket.unlock();
    let left = c_int::try_from(most - woken).unwrap_or(c_int::MAX);
    woken.cast_signed() + sys::futex_wake_any(word, left)
}

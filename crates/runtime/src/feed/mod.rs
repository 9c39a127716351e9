//! Input from outside of the program: random bytes, clocks, input by sockets (`sockets.rs`, `others.rs`). The recorder keeps the result of
//! each call; a replay gives it again.
//!
//! Each thread has a file `outside-<path>` in the recording's folder. A replay finds a value by the thread's path, the kind of
//! call and how many such calls the thread has made, so values fit in any interleaving. After the last stored value the real
//! call is made; the runtime notes that in the file `outside` of the replay's folder.

pub mod clock;
pub mod inherited;
pub mod interruption;
mod kept;
mod key;
pub mod others;
pub mod ports;
pub mod signal;
pub mod sockets;
pub mod stored;
mod thread_feed;

pub use key::{KERNEL_FILES, Key, Source};
pub use thread_feed::Feed;

use core::ffi::c_int;

use crate::controller;
use crate::hooks::occupied::Occupied;
use crate::interpose::tracked;
use crate::sys;
use key::{ERROR_BYTES, LIMIT, note};

/// Makes a call of the program that fills `room` bytes at `to` from outside, or gives what the recording has. `length` says how many
/// bytes a result means.
pub fn call(key: Key, to: *mut u8, room: usize, length: impl Fn(i64) -> usize, real: impl FnOnce() -> i64) -> i64 {
    let Some(thread) = tracked().filter(|thread| !thread.busy.get()) else { return real() };
    thread.occupy();
    let given = stored::give(thread, key, to, room, &length);
    thread.end();
    let result = given.unwrap_or_else(real);
    let error = sys::errno();
    thread.occupy();
    if result < 0 {
        kept::keep(thread, key, result, (&raw const error).cast(), ERROR_BYTES);
    } else {
        kept::keep(thread, key, result, to, length(result).min(room));
    }
    thread.end();
    sys::set_errno(error);
    result
}

/// Keeps what the runtime has chosen itself, for replays.
fn keep(key: Key, result: i64, data: *const u8, bytes: usize) {
    if let Some(thread) = tracked().filter(|thread| !thread.busy.get()) {
        thread.occupy();
        kept::keep(thread, key, result, data, bytes);
        thread.end();
    }
}

/// The same for a call that also changes something inside of the program, such as a stream's buffer. A replay makes the call, too, and
/// replaces what it gave.
pub fn call_and_replace(
    key: Key,
    to: *mut u8,
    room: usize,
    length: impl Fn(i64) -> usize,
    real: impl FnOnce() -> i64,
) -> i64 {
    let result = real();
    call(key, to, room, length, || result)
}

/// The same of a call whose result is all that it gives.
pub fn value(source: Source, detail: u8, real: impl FnOnce() -> i64) -> i64 {
    call(Key::new(source, detail), core::ptr::null_mut(), 0, |_| 0, real)
}

/// The detail of a [`decision`]: who gets the next part of OpenMP's work.
pub const CONSTRUCT: u8 = 0;
/// The same of the next turns of a loop.
pub const LOOP: u8 = 1;
/// Which thread of a barrier's round gets the special result.
pub const SERIAL_THREAD: u8 = 2;

/// A choice that is the runtime's own and that the program cannot tell from another: a thread gets the one of the recording as long as
/// the schedule is followed. `make` gets that one, if there is one, makes the choice, and gives what it chose.
pub fn decision(detail: u8, make: impl FnOnce(Option<i64>) -> i64) -> i64 {
    if controller::off_schedule() {
        return make(None);
    }
    if controller::explores() {
        let chosen = make(None); // the first run was of another order
        keep(Key::new(Source::Decision, detail), chosen, core::ptr::null(), 0);
        return chosen;
    }
    let mut not_made = Some(make);
    let chosen = value(Source::Decision, detail, || not_made.take().map_or(0, |make| make(None)));
    not_made.map_or(chosen, |make| make(Some(chosen)))
}

/// A wait in the kernel that ends at a limit of time: what it finds, 0 for nothing. A replay takes another time, so there it waits as long as
/// the recording says that something comes, and not at all where the limit ended it. `wait` waits to the limit if it gets true.
pub fn limited(wait: impl Fn(bool) -> c_int) -> c_int {
    let mut found = 0;
    decision(LIMIT, |recorded| {
        found = match recorded {
            Some(0) => wait(false),
            Some(1) => loop {
                let result = wait(true);
                if result != 0 || controller::off_schedule() {
                    break result;
                }
            },
            _ => wait(true),
        };
        i64::from(found.signum())
    });
    found
}

/// A number of this process or thread. The program gets the real one; a replay notes if it is another one.
pub fn number(detail: u8, real: impl FnOnce() -> i64) -> i64 {
    let key = Key::new(Source::Number, detail);
    let real = real();
    let Some(thread) = tracked().filter(|thread| !thread.busy.get()) else { return real };
    thread.occupy();
    let before = stored::give(thread, key, core::ptr::null_mut(), 0, &|_| 0);
    // Runs that explore have numbers of their own.
    if let Some(before) = before.filter(|before| *before != real && !controller::explores()) {
        note(thread, format_args!("{} gave {before} in the recording and gives {real} now", key.name()));
    }
    kept::keep(thread, key, real, core::ptr::null(), 0);
    thread.end();
    real
}

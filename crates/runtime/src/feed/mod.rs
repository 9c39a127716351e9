//! Input from outside of the program: random bytes, clocks, input by sockets (`sockets.rs`, `others.rs`). The recorder keeps the result of
//! each call; a replay gives it again.
//!
//! Each thread has a file `outside-<path>` in the recording's folder. A replay finds a value by the thread's path, the kind of
//! call and how many such calls the thread has made, so values fit in any interleaving. After the last stored value the real
//! call is made; the runtime notes that in the file `outside` of the replay's folder.

pub mod clock;
mod kept;
pub mod others;
pub mod sockets;
mod stored;

use core::cell::Cell;
use core::ffi::c_int;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::controller;
use crate::interpose::tracked;
use crate::mode;
use crate::sys;
use crate::text::Text;
use crate::threads::Thread;

pub use stored::prepare;

use crate::outside::{FILLER, HEAD_WORDS, KEY_SHIFT, LENGTH, SOCKET, WORD, words_for};

/// What a thread keeps and what it is given.
pub struct Feed {
    kept: kept::Kept,
    stored: stored::Stored,
}

/// A kind of call. Each has its own sequence of values.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Source {
    /// `getrandom`, `getentropy`.
    Random = 1,
    /// `arc4random` and its kin.
    Arc4Random,
    /// Reading `/dev/random` or `/dev/urandom`.
    Device,
    /// `clock_gettime` and `timespec_get`; the detail is the clock.
    Clock,
    /// `gettimeofday`.
    TimeOfDay,
    /// `time`.
    Time,
    /// `clock`.
    ProcessorTime,
    /// An instruction: `rdtsc` and the like.
    Instruction,
    /// `getpid`, `getppid`, `gettid`: told, never given again, since signals are sent to such numbers.
    Number,
    /// A signal that the program did not send; the detail is its number.
    Signal,
    /// What OpenMP or a barrier decides by who comes first.
    Decision,
    /// A call on sockets; the detail says which ([`sockets::Call`]).
    Socket = SOCKET,
}

/// The kind of a call with its detail.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key(u16);

impl Key {
    pub const fn new(source: Source, detail: u8) -> Key {
        Key((source as u16) << 8 | detail as u16)
    }

    fn name(self) -> &'static str {
        match (self.0 >> 8) as u8 {
            1 => "getrandom",
            2 => "arc4random",
            3 => "read of /dev/urandom",
            4 => "clock_gettime",
            5 => "gettimeofday",
            6 => "time",
            7 => "clock",
            8 => "processor counter",
            10 => "signal",
            11 if self.0 & 0xff == LIMIT as u16 => "a wait with a limit",
            11 => "a decision by who comes first",
            12 => "a call on sockets",
            _ if self.0 & 0xff == 2 => "gettid",
            _ => "getpid",
        }
    }
}

/// The error of a call that failed, in place of its bytes.
const ERROR_BYTES: usize = size_of::<c_int>();

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
/// Whether a wait in the kernel found something before its limit.
const LIMIT: u8 = 3;

/// A choice that is the runtime's own and that the program cannot tell from another: a thread gets the one of the recording as long as
/// the schedule is followed. `make` gets that one, if there is one, makes the choice, and gives what it chose.
pub fn decision(detail: u8, make: impl Fn(Option<i64>) -> i64) -> i64 {
    if controller::off_schedule() {
        return make(None);
    }
    if controller::explores() {
        let chosen = make(None); // the first run was of another order
        keep(Key::new(Source::Decision, detail), chosen, core::ptr::null(), 0);
        return chosen;
    }
    let made = Cell::new(false);
    let chosen = value(Source::Decision, detail, || {
        made.set(true);
        make(None)
    });
    if made.get() { chosen } else { make(Some(chosen)) }
}

/// A wait in the kernel that ends at a limit of time: what it finds, 0 for nothing. A replay takes another time, so there it waits as long as
/// the recording says that something comes, and not at all where the limit ended it. `wait` waits to the limit if it gets true.
pub fn limited(wait: impl Fn(bool) -> c_int) -> c_int {
    let found = Cell::new(0);
    decision(LIMIT, |recorded| {
        found.set(match recorded {
            Some(0) => wait(false),
            Some(1) => loop {
                let result = wait(true);
                if result != 0 || controller::off_schedule() {
                    break result;
                }
            },
            _ => wait(true),
        });
        i64::from(found.get().signum())
    });
    found.get()
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

/// `siginfo_t`, in words.
pub type Information = [u64; 16];

/// A signal came that the program did not send, with this information.
pub fn keep_signal(thread: &'static Thread, signal: c_int, information: &Information) {
    thread.occupy();
    let key = Key::new(Source::Signal, signal as u8);
    kept::keep(thread, key, 0, information.as_ptr().cast(), size_of::<Information>());
    thread.end();
}

/// The same signal comes in a replay; without stored information the signal's number is all that there is.
pub fn give_signal(thread: &Thread, signal: c_int, information: &mut Information) {
    let key = Key::new(Source::Signal, signal as u8);
    let bytes = size_of::<Information>();
    if stored::give(thread, key, information.as_mut_ptr().cast(), bytes, &|_| bytes).is_none() {
        information[0] = signal as u64;
    }
}

/// Lines that are noted, at most.
const MOST_NOTES: usize = 20;
static NOTES: AtomicUsize = AtomicUsize::new(0);

/// Notes for the report of a replay what could not be given. After the schedule nothing is promised, so nothing is noted.
fn note(thread: &Thread, what: core::fmt::Arguments) {
    if !controller::following() || NOTES.fetch_add(1, Relaxed) >= MOST_NOTES {
        return;
    }
    if let Ok(file) = sys::open(mode::file(b"/outside\0").bytes(), sys::APPEND) {
        let name = thread.path();
        let name = core::str::from_utf8(name.bytes()).unwrap_or("?");
        sys::write(file, Text::<600>::formatted(format_args!("thread {name}: {what}\n")).bytes());
        sys::close(file);
    }
}

/// The file of a thread in a folder.
fn file_of(folder: &[u8], thread: &Thread) -> Text<4500> {
    let mut path = Text::new();
    path.push(folder);
    path.push(b"/outside-");
    path.push(thread.path().bytes());
    path.push(b"\0");
    path
}

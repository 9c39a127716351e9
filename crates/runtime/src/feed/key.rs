//! What all of the feed shares: kinds of calls, the files of threads, and notes on what could not be given.

use core::ffi::c_int;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::controller;
use crate::mode;
use crate::outside::{NUMBER, SOCKET};
use crate::sys;
use crate::text::Text;
use crate::threads::Thread;

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
    /// `getpid`, `getppid`, `gettid`: told, never given again, since signals are sent to such numbers. The kernel is asked for the process's.
    Number = NUMBER,
    /// A signal that the program did not send; the detail is its number.
    Signal,
    /// What OpenMP or a barrier decides by who comes first.
    Decision,
    /// A call on sockets; the detail says which ([`sockets::Call`]).
    Socket = SOCKET,
    /// What the kernel says of the use of processors, memory and file systems; the detail is the call.
    Usage,
    /// The port that the kernel chose for a socket.
    Port,
}

/// The kind of a call with its detail.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key(pub(super) u16);

impl Key {
    pub const fn new(source: Source, detail: u8) -> Key {
        Key((source as u16) << 8 | detail as u16)
    }

    pub(super) fn name(self) -> &'static str {
        match (self.0 >> 8) as u8 {
            1 => "getrandom",
            2 => "arc4random",
            3 if self.0 & 0xff < KERNEL_FILES as u16 => "read of /dev/urandom",
            3 => "read of a file in /proc or /sys",
            4 => "clock_gettime",
            5 => "gettimeofday",
            6 => "time",
            7 => "clock",
            8 => "processor counter",
            10 => "signal",
            11 if self.0 & 0xff == LIMIT as u16 => "a wait with a limit",
            11 if self.0 & 0xff == INTERRUPTED as u16 => "a wait that a signal may end",
            11 => "a decision by who comes first",
            12 => "a call on sockets",
            13 => USAGE[(self.0 & 0xff) as usize % USAGE.len()],
            14 => "the port of a `bind`",
            _ if self.0 & 0xff == 2 => "gettid",
            _ => "getpid",
        }
    }
}

/// The calls of [`Source::Usage`] by their details.
const USAGE: [&str; 8] = ["getrusage", "times", "sysinfo", "statvfs", "getloadavg", "sched_getcpu", "getcpu", "statfs"];

/// The first detail of [`Source::Device`] that stands for files in which the kernel says how things stand.
pub const KERNEL_FILES: u8 = 8;

/// Whether a wait in the kernel found something before its limit.
pub(super) const LIMIT: u8 = 3;
/// Whether a handler ended a wait in the kernel.
pub(super) const INTERRUPTED: u8 = 4;

/// The error of a call that failed, in place of its bytes.
pub(super) const ERROR_BYTES: usize = size_of::<c_int>();

/// Lines that are noted, at most.
const MOST_NOTES: usize = 20;
static NOTES: AtomicUsize = AtomicUsize::new(0);

/// Notes for the report of a replay what could not be given. After the schedule nothing is promised, so nothing is noted.
pub(super) fn note(thread: &Thread, what: core::fmt::Arguments) {
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
pub(super) fn file_of(folder: &[u8], thread: &Thread) -> Text<4500> {
    let mut path = Text::new();
    path.push(folder);
    path.push(b"/outside-");
    path.push(thread.path().bytes());
    path.push(b"\0");
    path
}

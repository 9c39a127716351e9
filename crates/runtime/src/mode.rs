//! Whether this process is recorded, and where its logs go.

use core::cell::UnsafeCell;
use core::fmt::Arguments;
use core::sync::atomic::{
    AtomicBool, AtomicU8,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use crate::sys::{self, call};
use crate::text::{Text, say};

/// Nothing is recorded.
pub const OFF: u8 = 0;
/// Not known yet.
pub const UNKNOWN: u8 = 1;
/// Hooks write records.
pub const RECORDING: u8 = 2;
/// No more records, but waits are still ours.
pub const STOPPED: u8 = 3;

/// No records until recording is switched on again; all else is as while recording.
pub const PAUSED: u8 = 4;

/// The program looks at it where it enters a function: with [`OFF`] it goes on in code that knows of no hooks. So nothing
/// leads out of `OFF`, in this process.
#[unsafe(export_name = "__foretrace_mode")]
pub static MODE: AtomicU8 = AtomicU8::new(UNKNOWN);
static READY: AtomicBool = AtomicBool::new(false);
/// Whether the program has started another process, and was told that it is not recorded.
pub static STARTED_PROCESSES: AtomicBool = AtomicBool::new(false);

#[inline(always)]
pub fn get() -> u8 {
    MODE.load(Relaxed)
}

/// Another mode. Where it ends recording, the caller ends ownership first.
pub fn set(mode: u8) {
    MODE.store(mode, Release);
}

/// The first mode, which is known from here on.
pub fn settle(mode: u8) {
    MODE.store(mode, Release);
    READY.store(true, Release);
}

/// From one mode to another; false if it was none of them.
pub fn change(from: u8, to: u8) -> bool {
    MODE.compare_exchange(from, to, AcqRel, Relaxed).is_ok()
}

pub fn ready() -> bool {
    READY.load(Acquire)
}

/// Where logs go, without a zero byte at its end.
struct Directory(UnsafeCell<Text<4096>>);

// SAFETY: written once, before anybody reads it.
unsafe impl Sync for Directory {}

static DIRECTORY: Directory = Directory(UnsafeCell::new(Text::new()));

pub fn directory() -> &'static [u8] {
    // SAFETY: as above.
    unsafe { (*DIRECTORY.0.get()).bytes() }
}

/// A file of this name among the logs; the name ends with a zero byte.
pub fn file(name: &[u8]) -> Text<4200> {
    let mut path = Text::new();
    path.push(directory());
    path.push(name);
    path
}

/// Writes a short file among the logs.
pub fn write_file(name: &[u8], arguments: Arguments) {
    if let Ok(file) = sys::open(file(name).bytes(), sys::CREATE) {
        sys::write(file, Text::<800>::formatted(arguments).bytes());
        sys::close(file);
    }
}

/// The program does what cannot be recorded: says so, also to those who look at the folder, and ends the program.
#[cold]
pub fn refuse(arguments: Arguments) -> ! {
    say(arguments);
    write_file(b"/refused\0", arguments);
    sys::die_by(sys::SIGABRT)
}

/// Makes that the place where logs go; false where it is too long. Called before anybody reads it.
pub fn set_directory(name: &[u8]) -> bool {
    // SAFETY: nobody reads it yet.
    let directory = unsafe { &mut *DIRECTORY.0.get() };
    if name.first() != Some(&b'/') {
        let mut here = [0u8; 4000];
        let length = call!(GETCWD, here.as_mut_ptr(), here.len()); // with its zero
        directory.push(&here[..(length - 1).max(0) as usize]);
        directory.push(b"/");
    }
    directory.push(name);
    directory.bytes().len() < 4096
}

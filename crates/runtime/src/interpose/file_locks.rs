//! Locks of open files (`flock`, and `fcntl` with `F_OFD_SETLK`): a rwlock for each file. Locks of the process (`F_SETLK`, `lockf`) keep no
//! thread of it out.
//!
//! An open file holds such a lock, not a thread. Where threads use one descriptor, or lock parts of a file, what is kept out is not known: that
//! is said as unseen.

use core::ffi::{CStr, c_int, c_void};

use super::descriptors;
use super::duplicates;
use super::unseen::What;
use super::unseen_calls;
use super::{interpose, real, tracked};
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::log;
use crate::record::{FILE_LOCKS, Kind, tried_if};
use crate::sys;
use crate::threads::Thread;
use crate::waiting;

const FILES: &CStr = c"file locks";

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wish {
    Share,
    Alone,
    Unlock,
}

/// Where the runtime keeps who has the lock of an open file.
fn key(file: c_int) -> usize {
    1 << 60 | (file as usize) << 4
}

/// The kind of the record that begins what this one ends.
fn ends(kind: Kind) -> Kind {
    if kind == Kind::ReadLock { Kind::ReadUnlock } else { Kind::WriteUnlock }
}

/// What a descriptor holds, if this thread took it: the kind of its record.
fn held(thread: &Thread, file: c_int) -> Option<Kind> {
    let bucket = waiting::lock(key(file));
    let words = bucket.object(key(file)).map_or([0; 3], |object| object.words.get());
    bucket.unlock();
    let kind = if words[1] == Kind::ReadLock as u64 { Kind::ReadLock } else { Kind::WriteLock };
    (words[0] == thread.number.get()).then_some(kind)
}

/// Whether another thread locked by this descriptor.
fn is_of_another(thread: &Thread, file: c_int) -> bool {
    let bucket = waiting::lock(key(file));
    let by = bucket.object(key(file)).map_or(0, |object| object.words.get()[0]);
    bucket.unlock();
    by != 0 && by != thread.number.get()
}

fn keep(thread: &Thread, file: c_int, kind: Option<Kind>) {
    let bucket = waiting::lock(key(file));
    match kind {
        Some(kind) => bucket.object_or_new(key(file)).words.set([thread.number.get(), kind as u64, 0]),
        None => bucket.forget(key(file)),
    }
    bucket.unlock();
}

fn record(thread: &'static Thread, kind: Kind, lock: u64, tried: bool, place: usize) {
    let error = sys::errno();
    thread.begin();
    log::sync(thread, kind, place, lock, tried_if(tried));
    thread.end();
    sys::set_errno(error);
}

fn locking(
    name: &'static CStr,
    file: c_int,
    (wish, tries): (Wish, bool),
    place: usize,
    call: impl FnOnce() -> c_int,
) -> c_int {
    let Some((thread, (_, inode))) = tracked().zip(descriptors::identity(file)) else { return call() };
    if is_of_another(thread, file) {
        return unseen_calls::around(What::named(name, FILES), place, call);
    }
    let lock = FILE_LOCKS + (inode & ((1 << 44) - 1)) * 16;
    if let Some(before) = held(thread, file) {
        record(thread, ends(before), lock, false, place); // others may have it from here on
        keep(thread, file, None);
    }
    let result = call();
    let taken = match wish {
        Wish::Unlock => None,
        Wish::Share => Some(Kind::ReadLock),
        Wish::Alone => Some(Kind::WriteLock),
    };
    if let Some(kind) = taken.filter(|_| result == 0) {
        record(thread, kind, lock, tries, place);
        keep(thread, file, Some(kind));
    }
    result
}

/// A descriptor is closed: its lock is given back, unless another one has it, too.
pub fn closed(thread: &'static Thread, file: c_int, place: usize) {
    if let Some((before, (_, inode))) = held(thread, file).zip(descriptors::identity(file)) {
        record(thread, ends(before), FILE_LOCKS + (inode & ((1 << 44) - 1)) * 16, false, place);
        keep(thread, file, None);
    }
}

extern "C" fn flock_(file: c_int, operation: c_int, place: usize) -> c_int {
    let wish = match operation & 15 & !4 {
        1 => Wish::Share,
        2 => Wish::Alone,
        _ => Wish::Unlock,
    };
    const NO_WAIT: c_int = 4;
    locking(c"flock", file, (wish, operation & NO_WAIT != 0), place, || real::flock(file, operation))
}

/// `struct flock`.
#[repr(C)]
struct Flock {
    kind: i16,
    whence: i16,
    start: i64,
    length: i64,
    process: c_int,
}

/// Commands of `fcntl` that lock for an open file, without and with waiting.
const OF_OPEN_FILE: [c_int; 2] = [37, 38];

unsafe fn control(
    file: c_int,
    command: c_int,
    argument: *mut c_void,
    place: usize,
    call: impl FnOnce() -> c_int,
) -> c_int {
    if !OF_OPEN_FILE.contains(&command) || argument.is_null() {
        return call();
    }
    // SAFETY: the program's lock.
    let part = unsafe { &*argument.cast::<Flock>() };
    if (part.whence, part.start, part.length) != (0, 0, 0) {
        return unseen_calls::around(What::named(c"fcntl", FILES), place, call);
    }
    let wish = match part.kind {
        0 => Wish::Share,
        1 => Wish::Alone,
        _ => Wish::Unlock,
    };
    locking(c"fcntl", file, (wish, command == OF_OPEN_FILE[0]), place, call)
}

unsafe extern "C" fn fcntl_(file: c_int, command: c_int, argument: *mut c_void, place: usize) -> c_int {
    const DUPLICATES: [c_int; 2] = [0, 1030];
    // SAFETY: the program's arguments.
    let result = unsafe { control(file, command, argument, place, || real::fcntl(file, command, argument)) };
    if DUPLICATES.contains(&command) { duplicates::made(file, result) } else { result }
}

interpose! {
    flock "rdx" => flock_;
    fcntl "rcx" => fcntl_;
    fcntl64 "rcx" => fcntl_;
}

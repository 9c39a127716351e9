//! Files by which threads may tell each other something: those that are written, and names that are made, taken away or looked for.
//! No trace shows in which order they must do that, so these calls are unseen.
//!
//! While the program has one thread nothing is marked. What streams of `stdio` read and write is marked where they are opened.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Acquire, Relaxed},
};

use super::unseen::{self, What, has_threads};
use super::unseen_calls;
use super::{descriptors, interpose, kernel_files, real, tracked};
use crate::names_outside;
use crate::record::object::{ADDS, LOOKS};
use crate::sys::{self, call};
use crate::threads;

/// The folder that the program is in.
pub const HERE: c_int = -100;
/// Files that are told apart; those beyond count as one.
const MOST: usize = 64;

/// Of each regular file that the program opened its inode and device, mixed; 0 where there is none.
static FILES: [AtomicU64; MOST] = [const { AtomicU64::new(0) }; MOST];

/// The program opened the file of its output itself, so that its threads may read what is written there.
static OUTPUT_IS_OPENED: AtomicBool = AtomicBool::new(false);

const LENGTH: usize = b"file 00\0".len();

/// What traces call the files, in the order in which they were opened.
static TEXTS: [[u8; LENGTH]; MOST] = {
    let mut texts = [*b"file 00\0"; MOST];
    let mut index = 0;
    while index < MOST {
        texts[index][5] += (index / 10) as u8;
        texts[index][6] += (index % 10) as u8;
        index += 1;
    }
    texts
};

/// A descriptor of a regular file: what the trace calls the file, and what calls by the descriptor may do.
fn known(file: c_int) -> Option<(&'static CStr, u64)> {
    const GET_FLAGS: c_int = 3;
    const PATH_ALONE: isize = 0o10_000_000;
    let identity = descriptors::regular_file(file)?;
    if descriptors::is_output(identity) && !OUTPUT_IS_OPENED.load(Relaxed) {
        return None;
    }
    let flags = call!(FCNTL, file, GET_FLAGS);
    let does = match flags & 3 {
        _ if flags < 0 || flags & PATH_ALONE != 0 => return None,
        0 => LOOKS,
        1 => ADDS,
        _ => 0,
    };
    let is_it = |slot: &&AtomicU64| match slot.compare_exchange(0, identity, Relaxed, Acquire) {
        Ok(_) => true,
        Err(other) => other == identity,
    };
    let index = FILES.iter().position(|slot| is_it(&slot)).unwrap_or(MOST - 1);
    CStr::from_bytes_with_nul(&TEXTS[index]).ok().map(|text| (text, does))
}

/// A file was opened by this call. Gives the descriptor back.
pub fn opened(name: &'static CStr, file: c_int, place: usize) -> c_int {
    let error = sys::errno();
    if descriptors::has_output_files()
        && file >= 0
        && descriptors::regular_file(file).is_some_and(descriptors::is_output)
    {
        OUTPUT_IS_OPENED.store(true, Relaxed);
    }
    if names_outside::are_wanted() && file >= 0 && descriptors::regular_file(file).is_some() {
        names_outside::opened(file);
    }
    if let Some(thread) = tracked().filter(|_| file >= 0)
        && has_threads()
        && let Some((object, does)) = known(file)
    {
        // One record whatever others opened before, since that depends on the schedule.
        unseen::mark(thread, What { does, ..What::named(name, object) }, place);
    }
    sys::set_errno(error);
    file
}

/// How a call that opens a file deals with its name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// The file must be there.
    Finds,
    /// If there is none, it makes one.
    Makes,
    /// Wants to be the one that makes it.
    Alone,
}

/// What was there before the second thread. No call orders threads by it, but in each run there is a record: what a folder holds may differ from
/// run to run, and how many records a thread makes must not.
const THERE_BEFORE: &CStr = c"files from before";

/// A call that finds this name: whether a thread of the run may have made it.
fn finds(name: &'static CStr, path: (c_int, *const c_char)) -> What {
    let status = |behind_links| descriptors::status_of_name(path, behind_links);
    let is_new = [true, false].into_iter().filter_map(status).any(|status| threads::several_at(status.changed()));
    What { name, object: Some(if is_new { unseen::NAMES } else { THERE_BEFORE }), does: LOOKS }
}

/// Opens a file by its name, in this folder: unseen where the call makes the file, where it finds that there is none, and where it finds what
/// may be new.
pub fn by_name<R>(
    name: &'static CStr,
    path: (c_int, *const c_char),
    naming: Naming,
    place: usize,
    call: impl FnOnce() -> R,
    failed: impl Fn(&R) -> bool,
) -> R {
    let result = by_name_in_order(name, path, naming, place, call, &failed);
    if naming == Naming::Alone && names_outside::are_wanted() && failed(&result) {
        names_outside::refused(path);
    }
    result
}

fn by_name_in_order<R>(
    name: &'static CStr,
    path: (c_int, *const c_char),
    naming: Naming,
    place: usize,
    call: impl FnOnce() -> R,
    failed: impl FnOnce(&R) -> bool,
) -> R {
    const NO_SUCH_NAME: c_int = 2;
    let what = What { name, object: Some(unseen::NAMES), does: LOOKS };
    if !has_threads() {
        return call();
    }
    match naming {
        Naming::Alone => return unseen_calls::around(What { does: 0, ..what }, place, call),
        Naming::Makes if call!(FACCESSAT, path.0, path.1, 0) < 0 => {
            return unseen_calls::around(What { does: ADDS, ..what }, place, call);
        }
        Naming::Makes => return unseen_calls::around(finds(name, path), place, call),
        Naming::Finds => {}
    }
    let result = call();
    let error = sys::errno();
    match failed(&result) {
        false => unseen_calls::mark_here(finds(name, path), place),
        true if error == NO_SUCH_NAME => unseen_calls::mark_here(what, place),
        true => {}
    }
    sys::set_errno(error);
    result
}

/// The same where a descriptor is what it gives.
fn opening(
    name: &'static CStr,
    path: (c_int, *const c_char),
    flags: c_int,
    place: usize,
    call: impl FnOnce() -> c_int,
) -> c_int {
    const CREATE: c_int = 0o100;
    const EXCLUSIVE: c_int = 0o200;
    let naming = match (flags & CREATE != 0, flags & EXCLUSIVE != 0) {
        (true, true) => Naming::Alone,
        (true, false) => Naming::Makes,
        (false, _) => Naming::Finds,
    };
    let file = by_name(name, path, naming, place, call, |file| *file < 0);
    opened(name, file, place)
}

/// Reads or writes, as `does` says: unseen where a thread reads what another one writes.
pub fn accessing<R>(name: &'static CStr, does: u64, file: c_int, place: usize, call: impl FnOnce() -> R) -> R {
    match tracked().filter(|_| has_threads()).and_then(|_| known(file)) {
        Some((object, _)) => unseen_calls::around(What { does, ..What::named(name, object) }, place, call),
        None => call(),
    }
}

pub(super) extern "C" fn open_(path: *const c_char, flags: c_int, mode: u32, place: usize) -> c_int {
    opening(c"open", (HERE, path), flags, place, || real::open(path, flags, mode))
}

extern "C" fn open64_(path: *const c_char, flags: c_int, mode: u32, place: usize) -> c_int {
    opening(c"open", (HERE, path), flags, place, || real::open64(path, flags, mode))
}

extern "C" fn checked_open(path: *const c_char, flags: c_int, place: usize) -> c_int {
    open_(path, flags, 0, place)
}

pub extern "C" fn openat_(folder: c_int, path: *const c_char, flags: c_int, mode: u32, place: usize) -> c_int {
    opening(c"openat", (folder, path), flags, place, || real::openat(folder, path, flags, mode))
}

extern "C" fn openat64_(folder: c_int, path: *const c_char, flags: c_int, mode: u32, place: usize) -> c_int {
    opening(c"openat", (folder, path), flags, place, || real::openat64(folder, path, flags, mode))
}

extern "C" fn creat_(path: *const c_char, mode: u32, place: usize) -> c_int {
    let make = || real::creat(path, mode);
    opened(c"creat", by_name(c"creat", (HERE, path), Naming::Makes, place, make, |file| *file < 0), place)
}

pub extern "C" fn pread_(file: c_int, to: *mut c_void, bytes: usize, from: i64, place: usize) -> isize {
    let read = || kernel_files::reading(file, to, bytes, || real::pread(file, to, bytes, from), |_| {});
    accessing(c"pread", LOOKS, file, place, read)
}

extern "C" fn pwrite_(file: c_int, from: *const c_void, bytes: usize, to: i64, place: usize) -> isize {
    accessing(c"pwrite", ADDS, file, place, || real::pwrite(file, from, bytes, to))
}

interpose! {
    open "rcx" => open_;
    open64 "rcx" => open64_;
    __open_2 "rdx" => checked_open;
    __open64_2 "rdx" => checked_open;
    openat "r8" => openat_;
    openat64 "r8" => openat64_;
    creat "rdx" => creat_;
    creat64 "rdx" => creat_;
    pread "r8" => pread_;
    pread64 "r8" => pread_;
    pwrite "r8" => pwrite_;
    pwrite64 "r8" => pwrite_;
}

//! The variants of other interposed functions that `_FORTIFY_SOURCE` calls: they know how much room there is. Libraries that distributions
//! build call these.

use core::ffi::{c_char, c_int, c_void};

use super::channels::read_;
use super::files::{openat_, pread_};
use super::polling::{poll_, ppoll_};
use super::socket_order::{recv_, recvfrom_};
use super::streams::{fgets_, fgets_unlocked_, fgetws_, fgetws_unlocked_, fread_, fread_unlocked_};
use super::{interpose, real};
use crate::sys::Timespec;

/// Bytes of a `struct pollfd`.
const POLLED: usize = 8;

/// Ends the program, as the library does, where it asks for more than there is room for.
fn check(asked: usize, room: usize) {
    if asked > room {
        real::__chk_fail();
    }
}

/// A number of bytes or elements that a program gives as an `int`; negative ones are the library's matter.
fn number(count: c_int) -> usize {
    usize::try_from(count).unwrap_or(0)
}

extern "C" fn read_checked(file: c_int, to: *mut c_void, bytes: usize, room: usize, place: usize) -> isize {
    check(bytes, room);
    read_(file, to, bytes, place)
}

extern "C" fn pread_checked(file: c_int, to: *mut c_void, bytes: usize, from: i64, room: usize, place: usize) -> isize {
    check(bytes, room);
    pread_(file, to, bytes, from, place)
}

extern "C" fn recv_checked(
    file: c_int,
    to: *mut c_void,
    bytes: usize,
    room: usize,
    flags: c_int,
    place: usize,
) -> isize {
    check(bytes, room);
    recv_(file, to, bytes, flags, place)
}

extern "C" fn recvfrom_checked(
    file: c_int,
    to: *mut c_void,
    bytes: usize,
    room: usize,
    flags: c_int,
    from: *mut c_void,
    length: *mut u32,
) -> isize {
    check(bytes, room);
    recvfrom_(file, to, bytes, flags, from, length)
}

unsafe extern "C" fn poll_checked(files: *mut c_void, count: u64, timeout: c_int, room: usize, place: usize) -> c_int {
    check(count as usize, room / POLLED);
    // SAFETY: the program's.
    unsafe { poll_(files, count, timeout, place) }
}

unsafe extern "C" fn ppoll_checked(
    files: *mut c_void,
    count: u64,
    timeout: *const Timespec,
    mask: *const c_void,
    room: usize,
    place: usize,
) -> c_int {
    check(count as usize, room / POLLED);
    // SAFETY: the program's.
    unsafe { ppoll_(files, count, timeout, mask, place) }
}

/// Defines the checked variants of functions that read lines into an array of characters of a type.
macro_rules! lines {
    ($($checked:ident of $function:ident into $character:ty;)*) => { $(
        extern "C" fn $checked(
            to: *mut $character,
            room: usize,
            count: c_int,
            stream: *mut c_void,
            place: usize,
        ) -> *mut $character {
            check(number(count), room);
            $function(to, count, stream, place)
        }
    )* };
}

lines! {
    fgets_checked of fgets_ into c_char;
    fgets_unlocked_checked of fgets_unlocked_ into c_char;
    fgetws_checked of fgetws_ into c_void;
    fgetws_unlocked_checked of fgetws_unlocked_ into c_void;
}

/// The same of functions that read elements.
macro_rules! elements {
    ($($checked:ident of $function:ident;)*) => { $(
        extern "C" fn $checked(
            to: *mut c_void,
            room: usize,
            size: usize,
            count: usize,
            stream: *mut c_void,
            place: usize,
        ) -> usize {
            check(size.saturating_mul(count), room);
            $function(to, size, count, stream, place)
        }
    )* };
}

elements! {
    fread_checked of fread_;
    fread_unlocked_checked of fread_unlocked_;
}

extern "C" fn openat_checked(folder: c_int, path: *const c_char, flags: c_int, place: usize) -> c_int {
    openat_(folder, path, flags, 0, place)
}

interpose! {
    __read_chk "r8" => read_checked;
    __pread_chk "r9" => pread_checked;
    __pread64_chk "r9" => pread_checked;
    __recv_chk "r9" => recv_checked;
    __recvfrom_chk "r11" => recvfrom_checked;
    __poll_chk "r8" => poll_checked;
    __ppoll_chk "r9" => ppoll_checked;
    __fgets_chk "r8" => fgets_checked;
    __fgets_unlocked_chk "r8" => fgets_unlocked_checked;
    __fgetws_chk "r8" => fgetws_checked;
    __fgetws_unlocked_chk "r8" => fgetws_unlocked_checked;
    __fread_chk "r9" => fread_checked;
    __fread_unlocked_chk "r9" => fread_unlocked_checked;
    __openat_2 "rcx" => openat_checked;
    __openat64_2 "rcx" => openat_checked;
}

//! `recvmmsg` and `sendmmsg`: several messages of a socket by one call. Each is one call of `recvmsg` or `sendmsg` here; the kernel makes
//! no more of them either.

use core::ffi::{c_int, c_void};

use super::interpose;
use super::socket_order::{receive_message, send_message};
use crate::program_time;
use crate::sys::{self, CLOCK_MONOTONIC, Timespec};

/// `struct mmsghdr`: a message, and how many bytes of it came or went.
#[repr(C)]
struct Message {
    header: [u64; 7],
    bytes: u32,
}

/// Calls `one` with each message until one fails, or `goes_on` says no: how many did not fail.
///
/// # Safety
/// The program's array of so many.
unsafe fn each(
    messages: *mut Message,
    count: u32,
    mut one: impl FnMut(u32, *mut c_void) -> isize,
    goes_on: impl Fn() -> bool,
) -> c_int {
    let error = sys::errno();
    for index in 0..count {
        // SAFETY: the caller's promise.
        let message = unsafe { messages.add(index as usize) };
        let bytes = one(index, message.cast());
        if bytes < 0 {
            if index > 0 {
                sys::set_errno(error); // the next call finds it again
                return index as c_int;
            }
            return -1;
        }
        // SAFETY: as above.
        unsafe { (*message).bytes = bytes as u32 };
        if !goes_on() {
            return index as c_int + 1;
        }
    }
    count as c_int
}

unsafe extern "C" fn recvmmsg_(
    file: c_int,
    messages: *mut Message,
    count: u32,
    flags: c_int,
    limit: *const Timespec,
    place: usize,
) -> c_int {
    const WAIT_FOR_ONE: c_int = 0x10000;
    const WITHOUT_WAIT: c_int = 0x40;
    let later = if flags & WAIT_FOR_ONE != 0 { WITHOUT_WAIT } else { 0 };
    let one = |index, message| {
        let more = if index > 0 { later } else { 0 };
        // SAFETY: one of the program's messages.
        unsafe { receive_message(file, message, flags & !WAIT_FOR_ONE | more, place) }
    };
    let now = || program_time::now(CLOCK_MONOTONIC);
    // SAFETY: the program's pointer.
    let end = unsafe { limit.as_ref() }.map(|limit| now().plus(*limit));
    // SAFETY: the program's array.
    unsafe { each(messages, count, one, || end.is_none_or(|end| now() < end)) }
}

unsafe extern "C" fn sendmmsg_(file: c_int, messages: *mut Message, count: u32, flags: c_int, place: usize) -> c_int {
    // SAFETY: the program's array.
    unsafe { each(messages, count, |_, message| send_message(file, message, flags, place), || true) }
}

interpose! {
    recvmmsg "r9" => recvmmsg_;
    sendmmsg "r8" => sendmmsg_;
}

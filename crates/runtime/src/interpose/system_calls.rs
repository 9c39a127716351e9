//! System calls that the program makes by an instruction of its own, as the crate `rustix` does. Where the library has a function for one, that
//! function's place is here, too: a call is recorded and replayed like one of the library's.

use core::ffi::c_int;

use super::unseen_calls::calls;
use super::{channels, close, duplicating, epoll, files, futex, polling, sleep, socket_order};
use crate::sys::{self, number};

const SENDMSG: usize = 46;
const RECVMSG: usize = 47;
const ACCEPT: usize = 43;
const WRITEV: usize = 20;
const DUP: usize = 32;
const DUP2: usize = 33;
const CLOCK_NANOSLEEP: usize = 230;
const EPOLL_CTL: usize = 233;
const EVENTFD2: usize = 290;
const EPOLL_PWAIT2: usize = 441;

/// Instrumented code calls this in place of the instruction. It gives what the kernel would: an error is a negative number, and `errno` stays.
#[unsafe(no_mangle)]
#[rustfmt::skip]
unsafe extern "C" fn __foretrace_system_call(call: usize, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> isize {
    let before = sys::errno();
    // SAFETY: the program's arguments, as the kernel wants them.
    let result = unsafe { by_library(call, [a, b, c, d, e]).unwrap_or_else(|| futex::syscall(call, a, b, c, d, e, f)) };
    let result = if result == -1 { -(sys::errno() as isize) } else { result };
    sys::set_errno(before);
    result
}

/// The result of the library's function, which is -1 for an error, if there is one.
unsafe fn by_library(call: usize, [a, b, c, d, e]: [usize; 5]) -> Option<isize> {
    let file = a as c_int;
    let bytes = match call {
        number::READ => channels::read_(file, b as _, c, 0),
        number::WRITE => channels::write_(file, b as _, c, 0),
        number::READV => socket_order::readv_(file, b as _, c as c_int, 0),
        WRITEV => socket_order::writev_(file, b as _, c as c_int, 0),
        number::SENDTO if e == 0 => socket_order::send_(file, b as _, c, d as c_int, 0),
        number::RECVFROM if e == 0 => socket_order::recv_(file, b as _, c, d as c_int, 0),
        SENDMSG => socket_order::send_message(file, b as _, c as c_int, 0),
        // SAFETY: the caller's promise, here and below.
        RECVMSG => unsafe { socket_order::receive_message(file, b as _, c as c_int, 0) },
        _ => return unsafe { by_short(call, [a, b, c, d, e]) }.map(|result| result as isize),
    };
    Some(bytes)
}

/// The same of functions that give an `int`.
unsafe fn by_short(call: usize, [a, b, c, d, e]: [usize; 5]) -> Option<c_int> {
    let (file, second, third, fourth) = (a as c_int, b as c_int, c as c_int, d as c_int);
    // SAFETY: the caller's promise.
    let result = unsafe {
        match call {
            number::OPEN => files::open_(a as _, second, c as u32, 0),
            number::OPENAT => files::openat_(file, b as _, third, d as u32, 0),
            number::CLOSE => close::close_(file, 0),
            number::POLL => polling::poll_(a as _, b as u64, third, 0),
            number::PPOLL => polling::ppoll_(a as _, b as u64, c as _, d as _, 0),
            number::EPOLL_WAIT => epoll::epoll_wait_(file, b as _, third, fourth, 0),
            number::EPOLL_PWAIT => epoll::epoll_pwait_(file, b as _, third, fourth, e as _, 0),
            EPOLL_PWAIT2 => epoll::epoll_pwait2_(file, b as _, third, d as _, e as _, 0),
            EPOLL_CTL => epoll::epoll_ctl_(file, second, third, d as _, 0),
            EVENTFD2 => channels::eventfd_(a as u32, second, 0),
            DUP => duplicating::dup_(file, 0),
            DUP2 => duplicating::dup2_(file, second, 0),
            number::DUP3 => duplicating::dup3_(file, second, third, 0),
            number::CONNECT => socket_order::connect_(file, b as _, c as u32, 0),
            ACCEPT => socket_order::accept_(file, b as _, c as _, 0),
            number::ACCEPT4 => socket_order::accept4_(file, b as _, c as _, fourth, 0),
            number::SCHED_YIELD => sleep::sched_yield_(0),
            number::NANOSLEEP => sleep::nanosleep_(a as _, b as _, 0),
            // This one gives the error itself.
            CLOCK_NANOSLEEP => match sleep::clock_nanosleep_(file, second, c as _, d as _) {
                0 => 0,
                error => {
                    sys::set_errno(error);
                    -1
                }
            },
            _ => return of_files_and_timers(call, [a, b, c, d, e]),
        }
    };
    Some(result)
}

/// The same of functions that the trace shows as unseen, of the same names and arguments.
fn of_files_and_timers(call: usize, [a, b, c, d, e]: [usize; 5]) -> Option<c_int> {
    let function = match call {
        4 => calls::stat,
        6 => calls::lstat,
        21 => calls::access,
        82 => calls::rename,
        83 => calls::mkdir,
        84 => calls::rmdir,
        87 => calls::unlink,
        258 => calls::mkdirat,
        262 => calls::fstatat,
        263 => calls::unlinkat,
        264 => calls::renameat,
        269 => calls::faccessat,
        286 => calls::timerfd_settime,
        316 => calls::renameat2,
        332 => calls::statx,
        _ => return None,
    };
    Some(function(a, b, c, d, e, 0) as c_int)
}

//! Functions of the C library that a recorded program gets from here instead.
//!
//! The program's definition wins over the library's, for its shared libraries too. With recording off each is the
//! real one. The place of their records is where they return to, which only assembly knows: hence the trampolines.

mod arrivals;
mod asked;
pub mod barrier;
mod binds;
pub mod cancellation;
pub mod cancelled;
mod channel;
mod channel_numbers;
mod channel_reads;
pub mod channels;
mod checked;
pub mod clocks;
mod cloned;
mod close;
pub mod cond;
mod contexts;
mod cookies;
pub mod descriptors;
mod duplicates;
mod duplicating;
mod edges;
pub mod ends;
pub mod entropy;
mod epoll;
mod fed_streams;
mod file_locks;
mod files;
mod freed;
pub mod futex;
pub mod in_lock;
pub mod initialisers;
mod ipc;
mod jumps;
mod kernel_files;
pub mod locks;
mod many_messages;
pub mod mappings;
pub mod memory;
pub mod mutex;
pub mod notices;
pub mod once;
pub mod openmp;
mod pause;
mod pending;
pub mod poll;
mod polling;
pub mod process;
pub mod process_ends;
mod programs;
pub mod real;
mod rooms;
pub mod rust;
pub mod rwlock;
mod scans;
mod segments;
pub mod semaphore;
mod sent;
mod signal_files;
pub mod signals;
pub mod sleep;
pub mod socket_order;
pub mod socket_pair;
mod socket_turns;
mod sockets;
mod streams;
mod system_calls;
pub mod thread_ends;
pub mod threads;
pub mod unseen;
mod unseen_calls;
mod usage;

use core::ffi::c_int;

use crate::current::current;
use crate::mode;
use crate::sys::{CLOCK_REALTIME, Deadline, Timespec};
use crate::threads::Thread;

/// Defines symbols that pass their arguments on, with the address that they return to in one more register. Those that
/// programs call most name the real function, for the shortest way there with recording off.
macro_rules! interpose {
    ($($name:ident $register:literal => $function:path $(, off $real:ident)?;)*) => { $(
        $crate::interpose::interpose! { @one $name $register $function $(, $real)? }
    )* };
    (@one $name:ident $register:literal $function:path) => {
        /// Interposed.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub extern "C" fn $name() {
            core::arch::naked_asm!(
                concat!(".weak ", stringify!($name)),
                concat!("mov ", $register, ", [rsp]"),
                "jmp {}",
                sym $function
            )
        }
    };
    (@one $name:ident $register:literal $function:path, $real:ident) => {
        /// Interposed.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub extern "C" fn $name() {
            core::arch::naked_asm!(
                concat!(".weak ", stringify!($name)),
                "cmp byte ptr [rip + {mode}], {off}",
                "jne 2f",
                "jmp qword ptr [rip + {real}]", // found before the mode was said
                "2:",
                concat!("mov ", $register, ", [rsp]"),
                "jmp {function}",
                mode = sym $crate::mode::MODE,
                off = const $crate::mode::OFF,
                real = sym $crate::interpose::real::address::$real,
                function = sym $function,
            )
        }
    };
}

pub(crate) use interpose;

/// The thread, if waiting and recording are ours.
#[inline(always)]
pub fn tracked() -> Option<&'static Thread> {
    if mode::get() == mode::OFF { None } else { current() }
}

/// A moment by the real-time clock, as most timed functions take it.
///
/// # Safety
/// The program's pointer.
unsafe fn realtime(at: *const Timespec) -> Option<Deadline> {
    // SAFETY: the caller's promise.
    unsafe { by_clock(CLOCK_REALTIME, at) }
}

/// A moment by any clock.
///
/// # Safety
/// The program's pointer.
unsafe fn by_clock(clock: c_int, at: *const Timespec) -> Option<Deadline> {
    // SAFETY: the caller's promise.
    Some(Deadline { clock, at: unsafe { *at } })
}

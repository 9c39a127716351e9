//! Jumps of the program. One out of a signal handler leaves the waits behind that the signal interrupted: their waiters
//! lie on the part of the stack that is gone then.

use core::ffi::c_int;

use super::{interpose, real, tracked};
use crate::controller;
use crate::hooks::occupied::Occupied;
use crate::waiting;

/// Which of the words of a `jmp_buf` glibc keeps the stack pointer in.
const STACK: usize = 6;
const ROTATION: u32 = 17;

/// A thread is about to jump to where this buffer says.
fn leave_waits(buffer: *const u64) {
    let Some(thread) = tracked() else { return };
    let stack = target(buffer);
    if thread.deferred.leave_handlers(stack) {
        thread.occupy();
        waiting::forget_below(thread, stack);
        controller::left_wait(thread, stack);
        thread.end();
    }
}

/// The stack pointer after the jump, which the library keeps disguised.
fn target(buffer: *const u64) -> usize {
    let disguise: u64;
    // SAFETY: the library has its disguise there, in the thread's own memory; the buffer is one that `setjmp` has filled.
    unsafe {
        core::arch::asm!("mov {}, fs:[0x30]", out(reg) disguise, options(nostack, preserves_flags, readonly));
        (buffer.add(STACK).read_volatile().rotate_right(ROTATION) ^ disguise) as usize
    }
}

macro_rules! jumps {
    ($($name:ident $ours:ident;)*) => {
        $(
            extern "C" fn $ours(buffer: *const u64, value: c_int, _: usize) -> ! {
                leave_waits(buffer);
                real::$name(buffer, value)
            }
        )*

        interpose! { $($name "rdx" => $ours;)* }
    };
}

jumps! {
    longjmp longjmp_;
    _longjmp underscore_longjmp;
    siglongjmp siglongjmp_;
    __longjmp_chk longjmp_chk;
}

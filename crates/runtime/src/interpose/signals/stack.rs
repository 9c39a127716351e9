//! A stack for handlers.

use core::ffi::c_int;

use crate::sys::{self, call};
use crate::threads::Thread;

const STACK_BYTES: usize = 64 << 10;

/// `stack_t`.
#[repr(C)]
struct Stack {
    memory: *mut u8,
    flags: c_int,
    bytes: usize,
}

const DISABLED: c_int = 2;

/// A stack for handlers, so that an overflow of the thread's own is noticed.
pub fn thread_starts(thread: &Thread) {
    let mut before = Stack { memory: core::ptr::null_mut(), flags: 0, bytes: 0 };
    call!(SIGALTSTACK, 0, &raw mut before);
    if before.flags & DISABLED == 0 {
        return;
    }
    if let Some(memory) = sys::map(STACK_BYTES) {
        let stack = Stack { memory, flags: 0, bytes: STACK_BYTES };
        call!(SIGALTSTACK, &raw const stack, 0);
        thread.deferred.stack.set(memory);
    }
}

/// Takes that stack away.
pub fn thread_ends(thread: &Thread) {
    let memory = thread.deferred.stack.replace(core::ptr::null_mut());
    let mut now = Stack { memory: core::ptr::null_mut(), flags: 0, bytes: 0 };
    call!(SIGALTSTACK, 0, &raw mut now);
    if !memory.is_null() && now.memory == memory {
        let none = Stack { memory: core::ptr::null_mut(), flags: DISABLED, bytes: 0 };
        call!(SIGALTSTACK, &raw const none, 0);
        sys::unmap(memory, STACK_BYTES);
    }
}

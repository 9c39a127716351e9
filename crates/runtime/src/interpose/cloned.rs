//! `clone`, and the system calls that divide the process: `fork` without the C library, whose handlers do not run then.
//!
//! A child process leaves the recording before it does anything. A thread that `clone` makes in the thread-local storage of its creator is
//! refused: everything that a thread keeps for itself, of the C library and of the recording, would be that of both.

use core::ffi::{c_int, c_void};

use super::process::{divided, divides};
use super::process_ends::child_starts;
use super::{interpose, real, tracked};
use crate::mode;
use crate::sys;
use crate::sys::number::{CLONE, CLONE3, FORK, VFORK};

const SAME_MEMORY: usize = 0x100;
const UNTIL_IT_ENDS: usize = 0x4000;
const OWN_LOCALS: usize = 0x8_0000;

/// What the child of `clone` runs, and with which argument.
struct Child {
    function: extern "C" fn(*mut c_void) -> c_int,
    argument: *mut c_void,
}

extern "C" fn run(child: *mut c_void) -> c_int {
    child_starts();
    // SAFETY: from `clone_`, whose stack the child has a copy of.
    let child = unsafe { &*child.cast::<Child>() };
    (child.function)(child.argument)
}

/// The flags as a recorded program may have them: a child that shared our memory would write into the logs of its parent. Nothing where it
/// is a thread, which has storage of its own.
fn flags_of_process(flags: usize) -> Option<usize> {
    if flags & SAME_MEMORY == 0 || flags & UNTIL_IT_ENDS != 0 {
        return Some(flags & !SAME_MEMORY);
    }
    if flags & OWN_LOCALS == 0 {
        mode::refuse(format_args!("clone: a thread in the thread-local storage of its creator cannot be recorded"));
    }
    None
}

extern "C" fn clone_(
    function: extern "C" fn(*mut c_void) -> c_int,
    stack: *mut c_void,
    flags: c_int,
    argument: *mut c_void,
    parent: *mut c_int,
    locals: *mut c_void,
    child: *mut c_int,
) -> c_int {
    let as_it_is = || real::clone(function, stack, flags, argument, parent, locals, child);
    if tracked().is_none() {
        return as_it_is();
    }
    let Some(flags) = flags_of_process(flags as usize) else { return as_it_is() };
    divides(c"clone", 0);
    let started = Child { function, argument };
    let started = (&raw const started).cast_mut().cast();
    let result = real::clone(run, stack, flags as c_int, started, parent, locals, child);
    divided(result);
    result
}

/// Where this is a system call that makes a process which goes on here, its result.
pub fn by_number(number: usize, [a, b, c, d, e]: [usize; 5]) -> Option<isize> {
    if !matches!(number, CLONE | CLONE3 | FORK | VFORK) || tracked().is_none() {
        return None;
    }
    const STACK: usize = 5;
    let mut asked = [0u64; 32]; // the kernel knows 11 words
    let (number, arguments) = match number {
        FORK | VFORK => (FORK, [0; 6]),
        CLONE if b == 0 => (CLONE, [flags_of_process(a)?, 0, c, d, e, 0]),
        CLONE3 if (size_of::<u64>()..=size_of_val(&asked)).contains(&b) => {
            // SAFETY: the program's structure of that many bytes.
            unsafe { core::ptr::copy_nonoverlapping(a as *const u8, asked.as_mut_ptr().cast(), b) };
            asked[0] = flags_of_process(asked[0] as usize)? as u64;
            (CLONE3, [asked.as_ptr() as usize, b, c, d, e, 0])
        }
        _ => return None,
    };
    if asked[STACK] != 0 {
        return None;
    }
    divides(c"syscall", 0);
    // SAFETY: the program's call; parent and child go on here, each with this stack.
    let result = unsafe { sys::syscall(number, arguments) };
    if result == 0 {
        child_starts();
    }
    divided(result as c_int);
    Some(result)
}

interpose! {
    clone "rax" => clone_;
}

//! Other programs that this one starts or becomes: they run unrecorded, and a message says so once.
//!
//! Some of these functions take any number of arguments, so none of ours looks at them: each writes its message, then goes on in the real
//! one with registers and stack as they were.

use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::mode;
use crate::sys::{self, NEXT};
use crate::text::say;

/// The program has been told that it becomes another one.
static BECOMES: AtomicBool = AtomicBool::new(false);

/// The real function of this name, after a word about it.
extern "C" fn announced(name: *const c_char) -> *mut c_void {
    // SAFETY: one of the names below.
    let text = unsafe { CStr::from_ptr(name) }.to_bytes();
    let becomes = text.starts_with(b"exec");
    if mode::get() != mode::OFF && !(if becomes { &BECOMES } else { &mode::STARTED_PROCESSES }).swap(true, Relaxed) {
        match becomes {
            true => say(format_args!("the program that this one becomes is not recorded")),
            false => say(format_args!("programs that this one starts are not recorded")),
        }
    }
    // SAFETY: as above. The C library makes the loader's lock again in the child of a fork.
    unsafe { sys::dlsym(NEXT, name) }
}

macro_rules! go_on_in_the_real {
    ($($name:ident)*) => { $(
        const _: () = {
            static NAME: [u8; stringify!($name).len() + 1] = {
                let mut bytes = [0; stringify!($name).len() + 1];
                let mut at = 0;
                while at < stringify!($name).len() {
                    bytes[at] = stringify!($name).as_bytes()[at];
                    at += 1;
                }
                bytes
            };

            /// Interposed.
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            extern "C" fn $name() {
                core::arch::naked_asm!(
                    "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9", "push rax",
                    "lea rdi, [rip + {name}]",
                    "call {announced}",
                    "mov r11, rax",
                    "pop rax", "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
                    "jmp r11",
                    name = sym NAME,
                    announced = sym announced,
                )
            }
        };
    )* };
}

go_on_in_the_real! {
    execl execle execlp execv execve execvp execvpe fexecve
    posix_spawn posix_spawnp system popen
}

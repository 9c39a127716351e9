//! Reads and writes a pipe by system calls of its own. A byte says that the value is there: wrong sends it first.

use std::arch::asm;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

static VALUE: AtomicU32 = AtomicU32::new(0);

const READ: usize = 0;
const WRITE: usize = 1;

fn transfer(number: usize, file: RawFd, byte: &mut u8) -> isize {
    let result;
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") file,
            in("rsi") &raw mut *byte,
            in("rdx") 1_usize,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack, preserves_flags),
        );
    }
    result
}

fn main() {
    let wrong = std::env::args().nth(1).is_some();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let receiver = thread::spawn(move || {
        let mut byte = 0;
        assert_eq!((transfer(READ, reader.as_raw_fd(), &mut byte), byte), (1, b'x'));
        VALUE.load(SeqCst)
    });
    let set = || VALUE.store(7, SeqCst);
    let send = || assert_eq!(transfer(WRITE, writer.as_raw_fd(), &mut b'x'.clone()), 1);
    if wrong {
        send();
        set();
    } else {
        set();
        send();
    }
    assert_eq!(receiver.join().expect("received"), 7, "a byte without the value");
    assert!(transfer(READ, -1, &mut 0) == -9, "the kernel's own number of the error");
}

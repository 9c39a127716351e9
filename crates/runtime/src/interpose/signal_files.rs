//! Descriptors of signals (`signalfd`): one that is ready has a signal of its set, which another thread may have sent. A wait for several
//! descriptors takes that signal from its semaphore and puts it back at once.

use core::ffi::c_int;

use super::sent::{self, PROCESS};
use crate::sys::{self, call};
use crate::text::Text;
use crate::threads::Thread;

/// A descriptor of signals can be read from: what is done from now on comes after the sender of one of them. Whether that is known. The
/// thread is inside of a hook.
pub fn ready(thread: &'static Thread, file: c_int, place: usize) -> bool {
    let mut pending = 0u64;
    call!(RT_SIGPENDING, &raw mut pending, size_of::<u64>());
    let waiting = pending & mask(file);
    let mut numbers = (1..=64u64).filter(|number| waiting >> (number - 1) & 1 != 0);
    numbers.any(|number| {
        sent::seen(thread, thread.number.get(), number, place) || sent::seen(thread, PROCESS, number, place)
    })
}

/// The signals that a descriptor takes; none where the kernel does not say.
fn mask(file: c_int) -> u64 {
    const NAME: &[u8] = b"sigmask:";
    let path = Text::<64>::formatted(format_args!("/proc/self/fdinfo/{file}\0"));
    let mut text = [0u8; 256];
    let Some(text) = sys::contents(path.bytes(), &mut text) else { return 0 };
    let line = text.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(NAME));
    let digits = line.unwrap_or_default().iter().filter_map(|&byte| (byte as char).to_digit(16));
    digits.fold(0, |mask, digit| mask << 4 | u64::from(digit))
}

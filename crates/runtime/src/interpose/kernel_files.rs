//! Files in which the kernel says how things stand (`/proc`, `/sys`): what a read gives differs from run to run. It is kept, and a replay gives
//! it again.

use core::ffi::{c_int, c_void};

use super::tracked;
use crate::feed::{self, KERNEL_FILES, Key, Source};
use crate::sys::call;
use crate::text::Text;

/// The kinds of such file systems.
const KINDS: [u64; 2] = [0x9fa0, 0x6265_6572];

/// Which sequence the reads of a file belong to, if it is one of these: that of its name, without folders, which have numbers of processes.
fn sequence(file: c_int) -> Option<Key> {
    let mut status = [0u64; 16]; // `struct statfs`
    if call!(FSTATFS, file, status.as_mut_ptr()) != 0 || !KINDS.contains(&status[0]) {
        return None;
    }
    let path = Text::<64>::formatted(format_args!("/proc/self/fd/{file}\0"));
    let mut name = [0u8; 256];
    let length = call!(READLINK, path.bytes().as_ptr(), name.as_mut_ptr(), name.len());
    let name = name[..length.max(0) as usize].rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let number = name.iter().fold(0u32, |number, byte| number.wrapping_mul(31).wrapping_add(u32::from(*byte)));
    Some(Key::new(Source::Device, KERNEL_FILES + (number % u32::from(u8::MAX - KERNEL_FILES)) as u8))
}

/// Whether this is such a file.
pub fn is_one(file: c_int) -> bool {
    sequence(file).is_some()
}

/// Reads. From such a file a replay takes what the recording has: then `pass` gets the number of bytes, and goes on by them in the file.
pub fn reading(
    file: c_int,
    to: *mut c_void,
    bytes: usize,
    read: impl FnOnce() -> isize,
    pass: impl FnOnce(isize),
) -> isize {
    let Some(key) = tracked().and_then(|_| sequence(file)) else { return read() };
    let mut is_given = true;
    let length = |result: i64| usize::try_from(result).unwrap_or(0);
    let result = feed::call(key, to.cast(), bytes, length, || {
        is_given = false;
        read() as i64
    }) as isize;
    if is_given {
        pass(result);
    }
    result
}

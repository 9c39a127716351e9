//! Pieces of memory that functions of the C library read or have written.

use super::call::{Call, WIDE, each_piece};
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::hooks::pieces::note_piece;
use crate::sys;

/// Bytes of a pointer and of an `int`.
pub const POINTER: u64 = 8;
pub const INT: u64 = 4;

/// Notes that memory was written.
pub fn note(call: Call, address: u64, length: u64) {
    each_piece(address, length, |at, bytes| {
        call.thread.begin_access(crate::record::Kind::store(bytes), call.site, at, bytes);
        note_piece(call.thread, at, bytes, call.site);
        call.thread.end();
    });
}

/// Bytes of a text before its end.
pub fn text_length(text: u64) -> u64 {
    // SAFETY: the program's text, or one that the library has just put there.
    unsafe { sys::strlen(text as *const _) as u64 }
}

/// Wide characters of a text before its end.
pub fn wide_length(text: u64) -> u64 {
    // SAFETY: the program's text, which the library has just read or written.
    (0..).find(|index| unsafe { *((text + index * WIDE) as *const u32) } == 0).unwrap_or(0)
}

/// Reads a text of wide characters up to its end, of at most so many.
pub fn wide_text(call: Call, text: u64, most: u64) {
    let _ = (0..most).find(|index| call.read(text + index * WIDE, WIDE) as u32 == 0);
}

/// The first `most` bytes of memory that an array of `struct iovec` lists.
pub fn vectors(array: u64, count: u64, most: u64, mut visit: impl FnMut(u64, u64)) {
    const SIZE: u64 = 16;
    let mut left = most;
    for index in 0..count {
        let vector = array + index * SIZE;
        // SAFETY: the program's array, which the kernel reads.
        let (address, length) = unsafe { (*(vector as *const u64), *((vector + POINTER) as *const u64)) };
        let length = length.min(left);
        visit(address, length);
        left -= length;
    }
}

//! Descriptors that `dup` and its like make of others: they lead to one open file, with one position.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU16, Ordering::Relaxed};

/// Descriptors below this number are known.
const MOST: usize = 1 << 12;

/// Of each the one that it was made of, plus one; 0 if it was made of none.
static FIRST: [AtomicU16; MOST] = [const { AtomicU16::new(0) }; MOST];

fn entry(file: c_int) -> Option<&'static AtomicU16> {
    FIRST.get(usize::try_from(file).ok()?)
}

/// The descriptor that stands for all of one open file.
pub fn first(file: c_int) -> c_int {
    match entry(file).map_or(0, |entry| entry.load(Relaxed)) {
        0 => file,
        first => c_int::from(first) - 1,
    }
}

/// A descriptor was made of another one. Gives it back.
pub fn made(of: c_int, new: c_int) -> c_int {
    let first = u16::try_from(first(of)).ok().filter(|first| usize::from(*first) < MOST);
    if let (Some(first), Some(entry)) = (first, entry(new).filter(|_| new != of)) {
        entry.store(first + 1, Relaxed);
    }
    new
}

/// A descriptor is closed.
pub fn forget(file: c_int) {
    if let Some(entry) = entry(file) {
        entry.store(0, Relaxed);
    }
}

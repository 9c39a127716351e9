//! What freed memory holds in a controlled run: the same in each, and not what it held before.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use crate::controller;
use crate::modules;
use crate::sys;
use crate::waiting;

const FREED: c_int = 0xa5;
/// Eight such bytes.
const FREED_WORD: u64 = 0xa5a5_a5a5_a5a5_a5a5;
/// Bytes of the largest block that the allocator keeps for its thread, and marks.
const KEPT: usize = 1032;
/// Where it writes its mark, in the second word.
const MARK: usize = 8;

/// Bytes of freed memory that are kept at most.
const MOST_KEPT: usize = 256 << 20;

static KEPT_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Whether a block of this size is kept, so that it is not given out again: who uses it then uses what was freed.
pub fn keep(size: usize) -> bool {
    controller::keeps_freed() && KEPT_BYTES.fetch_add(size, Relaxed) < MOST_KEPT
}

/// Whether the mark is eight such bytes.
static IS_SETTLED: AtomicBool = AtomicBool::new(false);
/// Whether the allocator's word for it was looked for.
static IS_SOUGHT: AtomicBool = AtomicBool::new(false);

/// Overwrites memory that is about to be freed, so that a thread which still uses it gets what it does not expect. The start stays: there the
/// allocator notes that a block is free already. Locks and their like stay: overwritten ones would let threads wait that go on elsewhere.
/// Gives its size.
pub fn overwrite(memory: *mut c_void) -> usize {
    const MOST: usize = 64 << 10;
    const ALIGNMENT: usize = 4; // the least of an object's
    const OBJECT: usize = 56; // bytes of the largest, a reader-writer lock
    // SAFETY: the block of the program, or one that was freed before, of which the allocator gives no more than is its.
    unsafe {
        let size = sys::malloc_usable_size(memory);
        let bytes = size.min(MOST);
        let mut from = if IS_SETTLED.load(Relaxed) && bytes <= KEPT { MARK } else { MARK + 8 };
        while from < bytes {
            let is_object = |at: &usize| waiting::was_object(memory as usize + at);
            let object = (from..bytes).step_by(ALIGNMENT).find(is_object).unwrap_or(bytes);
            sys::memset(memory.byte_add(from), FREED, object - from);
            from = object + OBJECT;
        }
        size
    }
}

/// The allocator marks the blocks that it keeps for a thread by a number. Each process has another one. Whoever reads the second word of a freed
/// block gets it. So the first block that has it says what it is, and it becomes the same in all runs.
pub fn settle(memory: *mut c_void, size: usize) {
    let is_kept = (MARK + 8..=KEPT).contains(&size);
    if !is_kept || IS_SOUGHT.load(Relaxed) || IS_SOUGHT.swap(true, Relaxed) {
        return;
    }
    // SAFETY: the block was just freed, and lies with this thread. The word is the C library's own, and only the allocator reads it.
    unsafe {
        let mark = memory.byte_add(MARK).cast::<u64>();
        if let Some(number) = modules::only_word_of_c_library(mark.read()) {
            number.write(FREED_WORD);
            mark.write(FREED_WORD);
            IS_SETTLED.store(true, Relaxed);
        }
    }
}

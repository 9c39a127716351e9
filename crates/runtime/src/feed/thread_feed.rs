//! What a thread keeps of its input from outside, and what it is given: plain data.

use core::cell::Cell;

/// What a thread keeps and what it is given.
pub struct Feed {
    pub(super) kept: Kept,
    pub(super) stored: Stored,
}

/// Where a thread writes. All zeroes before its first entry.
pub struct Kept {
    pub(super) cursor: Cell<*mut u64>,
    pub(super) end: Cell<*mut u64>,
    pub(super) piece: Cell<*mut u8>,
    pub(super) piece_bytes: Cell<usize>,
    pub(super) file_bytes: Cell<u64>,
}

/// Kinds of calls of one thread whose positions are kept. Of further kinds the real call is made.
const KINDS: usize = 24;

/// How far a thread is with its stored values. All zeroes before its first.
pub struct Stored {
    pub(super) opened: Cell<bool>,
    pub(super) words: Cell<*const u64>,
    pub(super) count: Cell<usize>,
    pub(super) places: [NextEntry; KINDS],
}

/// The next entry of a kind; the key is 0 where the place is free.
pub(super) struct NextEntry {
    pub(super) key: Cell<u16>,
    /// Nothing more is stored, which has been noted.
    pub(super) over: Cell<bool>,
    pub(super) calls: Cell<u32>,
    pub(super) word: Cell<usize>,
}

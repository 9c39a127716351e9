//! What a thread keeps of its log: plain data.

use core::cell::Cell;

/// What a thread keeps of its log.
#[repr(C)]
pub struct Log {
    /// Where the next record goes.
    pub(super) cursor: Cell<*mut u64>,
    /// No record goes beyond; after it there is room for a `Stop`.
    pub(super) end: Cell<*mut u64>,
    pub(super) piece: Cell<*mut u8>,
    pub(super) piece_bytes: Cell<usize>,
    /// How many of them have their pages.
    pub(super) touched: Cell<usize>,
    pub(super) piece_offset: Cell<u64>,
    pub(super) file_bytes: Cell<u64>,
    pub(super) next_bytes: Cell<usize>,
    /// Of the file before this one.
    pub(super) older_bytes: Cell<u64>,
    /// Why the next file does not begin with the thread, 0 if it does.
    pub(super) begins: Cell<u64>,
    /// Counted things up to the last ordered record, with it.
    pub(super) told: Cell<u64>,
    /// Its `Stop` is written, or can never be: records go nowhere.
    pub(super) closed: Cell<bool>,
}

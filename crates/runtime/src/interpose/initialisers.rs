//! The once objects whose initialisers a thread runs: plain data.

use core::cell::Cell;

/// The once objects whose initialisers a thread runs, innermost last.
pub struct Stack {
    pub(super) depth: Cell<usize>,
    entries: [Cell<Entry>; DEEPEST],
}

/// Those further inside are not freed by exceptions.
const DEEPEST: usize = 16;

#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) object: usize,
    pub(super) place: usize,
    /// An address in the frame that waits for the initialiser.
    pub(super) frame: usize,
}

impl Stack {
    pub(super) fn push(&self, entry: Entry) {
        let depth = self.depth.get();
        if let Some(free) = self.entries.get(depth) {
            free.set(entry);
        }
        self.depth.set(depth + 1);
    }

    pub(super) fn pop(&self) {
        self.depth.set(self.depth.get().saturating_sub(1));
    }

    pub(super) fn last(&self) -> Option<Entry> {
        let index = self.depth.get().checked_sub(1)?;
        self.entries.get(index).map(Cell::get)
    }
}

//! The values of variables where a trace begins that does not begin with the run.

use rustc_hash::{FxHashMap, FxHashSet};

/// What is known of the values that variables have where such a trace begins.
#[derive(Default)]
pub(crate) struct Initials {
    /// Cells whose first event is a write that does not say what it replaced.
    pub unknown: Vec<u32>,
    /// Per cell, what reads found.
    pub found: FxHashMap<u32, FxHashSet<u64>>,
}

impl Initials {
    /// Of this cell nothing is known.
    pub fn unknown(&mut self, cell: u32) {
        self.unknown.push(cell);
    }

    /// A read found this.
    pub fn found(&mut self, cell: u32, bits: u64) {
        self.found.entry(cell).or_default().insert(bits);
    }
}

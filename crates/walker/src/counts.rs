//! Which cells are counts: once they are updated, recorded code only adds to them and subtracts, atomically.
//!
//! A count of owners is one. If code that was not recorded has changed such a cell, that code has counted too: a handle of a thread of
//! Rust is counted by the compiled part of `std`. A constant in place of what it added would let a thread find the last owner gone
//! while others are still there.

#[derive(Default)]
pub(crate) struct Counts(Vec<State>);

#[derive(Clone, Copy, Default, PartialEq)]
enum State {
    /// It may have been written, for its first value.
    #[default]
    NotUpdated,
    Count,
    Other,
}

impl Counts {
    /// It is written.
    pub fn set(&mut self, cell: u32) {
        if self.state(cell) == State::Count {
            self.put(cell, State::Other);
        }
    }

    /// It is updated atomically, by adding a constant or otherwise.
    pub fn update(&mut self, cell: u32, is_added: bool) {
        match (self.state(cell), is_added) {
            (State::NotUpdated, true) => self.put(cell, State::Count),
            (State::NotUpdated | State::Count, false) => self.put(cell, State::Other),
            _ => {}
        }
    }

    pub fn is_count(&self, cell: u32) -> bool {
        self.state(cell) == State::Count
    }

    fn state(&self, cell: u32) -> State {
        self.0.get(cell as usize).copied().unwrap_or_default()
    }

    fn put(&mut self, cell: u32, state: State) {
        let index = cell as usize;
        if self.0.len() <= index {
            self.0.resize(index + 1, State::NotUpdated);
        }
        self.0[index] = state;
    }
}

#[cfg(test)]
mod tests {
    use super::Counts;

    #[test]
    fn a_count_is_only_added_to_once_it_is_updated() {
        let mut counts = Counts::default();
        counts.set(3);
        assert!(!counts.is_count(3));
        counts.update(3, true);
        assert!(counts.is_count(3) && !counts.is_count(2));
        counts.update(3, false);
        counts.update(3, true);
        assert!(!counts.is_count(3));
        counts.update(4, true);
        counts.set(4);
        assert!(!counts.is_count(4));
    }
}

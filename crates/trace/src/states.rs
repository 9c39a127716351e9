//! A set of states that shares their parts.

use crate::state::{Cell, State, ThreadState};
use crate::sync_state::SyncState;
use crate::trace::ThreadId;
use crate::value::Value;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use std::hash::Hash;

type Parts<T> = IndexSet<Vec<T>, FxBuildHasher>;

/// States in the order in which they came. Many have parts in common, so each part is kept once, and a state is the numbers of its parts: Holzmann,
/// "State Compression in SPIN: Recursive Indexing and Compression Training Runs", SPIN 1997.
#[derive(Default)]
pub struct States {
    whole: IndexSet<[u32; 6], FxBuildHasher>,
    threads: Parts<ThreadState>,
    syncs: Parts<SyncState>,
    arrived: Parts<u32>,
    memory: Parts<Cell>,
    locals: Parts<Option<Value>>,
}

impl States {
    /// Adds a state, and gives its place.
    pub fn insert(&mut self, state: &State) -> usize {
        let State { threads, open_group, syncs, arrived, memory, locals } = state;
        let whole = [
            number(&mut self.threads, threads),
            open_group.map_or(0, |thread| 1 + thread.index() as u32),
            number(&mut self.syncs, syncs),
            number(&mut self.arrived, arrived),
            number(&mut self.memory, memory),
            number(&mut self.locals, locals),
        ];
        self.whole.insert_full(whole).0
    }

    /// The state at a place.
    pub fn get(&self, place: usize) -> Option<State> {
        let [threads, open_group, syncs, arrived, memory, locals] = *self.whole.get_index(place)?;
        Some(State {
            threads: self.threads[threads as usize].clone(),
            open_group: open_group.checked_sub(1).map(|thread| ThreadId::from_index(thread as usize)),
            syncs: self.syncs[syncs as usize].clone(),
            arrived: self.arrived[arrived as usize].clone(),
            memory: self.memory[memory as usize].clone(),
            locals: self.locals[locals as usize].clone(),
        })
    }

    /// How many states there are.
    pub fn len(&self) -> usize {
        self.whole.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.whole.is_empty()
    }

    /// How many contents of variables and of local names are kept.
    pub fn contents(&self) -> usize {
        fn of<T>(parts: &Parts<T>) -> usize {
            parts.len() * parts.first().map_or(0, Vec::len)
        }
        of(&self.memory) + of(&self.locals)
    }
}

/// The number of a part.
fn number<T: Clone + Eq + Hash>(parts: &mut Parts<T>, part: &[T]) -> u32 {
    parts.get_index_of(part).unwrap_or_else(|| parts.insert_full(part.to_vec()).0) as u32
}

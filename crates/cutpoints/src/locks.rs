//! Locksets and acquisition histories as numbers: equal numbers are equal sets, and each pair is compared once.
//!
//! Source: Sorrentino, Farzan, Madhusudan, *PENELOPE: Weaving Threads to Expose Atomicity Violations*, FSE 2010, section
//! 3.2, after Kahlon, Ivancic, Gupta, *Reasoning about Threads Communicating via Locks*, CAV 2005.

use foretrace_trace::SyncId;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// A lock and the way in which a thread takes it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Taken {
    /// The lock, or the initialisation that happens once.
    pub lock: SyncId,
    /// Whether a rwlock is only shared.
    pub shared: bool,
}

impl Taken {
    /// Whether two threads cannot hold the two at once.
    pub fn excludes(self, other: Taken) -> bool {
        self.lock == other.lock && !(self.shared && other.shared)
    }
}

/// A lock that a thread holds, with the locks that it took since.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Held {
    pub taken: Taken,
    /// The acquisition history: what the thread took since, sorted.
    pub history: Vec<Taken>,
    /// Read from the end of the trace: the thread never gives the lock back.
    pub for_ever: bool,
}

/// The locks that a thread holds at some point, sorted.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct LockState(pub Vec<Held>);

/// A history that grows longer than this is cut: then fewer points are incompatible, and none wrongly so.
const LONGEST_HISTORY: usize = 64;

impl LockState {
    /// The lockset.
    pub fn locks(&self) -> Vec<Taken> {
        self.0.iter().map(|held| held.taken).collect()
    }

    fn with(&self, taken: Taken) -> LockState {
        let mut state = self.with_history(taken);
        state.0.push(Held { taken, history: Vec::new(), for_ever: false });
        state.0.sort_unstable_by_key(|held| held.taken);
        state
    }

    fn with_history(&self, taken: Taken) -> LockState {
        let mut state = self.clone();
        for held in &mut state.0 {
            if held.history.len() < LONGEST_HISTORY
                && let Err(place) = held.history.binary_search(&taken)
            {
                held.history.insert(place, taken);
            }
        }
        state
    }

    fn without(&self, taken: Taken) -> LockState {
        LockState(self.0.iter().filter(|held| held.taken != taken).cloned().collect())
    }

    /// Whether two threads can stand at these points at once: the locksets are disjoint, and there are no two locks of which
    /// each thread holds one and took the other since.
    fn compatible(&self, other: &LockState) -> bool {
        self.0.iter().all(|mine| {
            other.0.iter().all(|theirs| {
                let crossed = mine.history.iter().any(|taken| taken.excludes(theirs.taken))
                    && theirs.history.iter().any(|taken| taken.excludes(mine.taken));
                !mine.taken.excludes(theirs.taken) && !crossed
            })
        })
    }
}

/// A thread takes or gives back a lock; inner levels of a nest of one lock are no change.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Change {
    Take(Taken),
    Give(Taken),
}

impl Change {
    /// What is taken or given back.
    pub fn taken(self) -> Taken {
        match self {
            Change::Take(taken) | Change::Give(taken) => taken,
        }
    }
}

/// A lock state as a number.
pub(crate) type StateId = u32;

/// No lock is held.
pub(crate) const NOTHING: StateId = 0;

/// All lock states that occur.
#[derive(Debug)]
pub(crate) struct LockStates {
    states: Vec<LockState>,
    numbers: FxHashMap<LockState, StateId>,
    next: FxHashMap<(StateId, Change), StateId>,
    before: FxHashMap<(StateId, Change), StateId>,
    compatible: FxHashMap<(StateId, StateId), bool>,
}

impl LockStates {
    pub fn new() -> LockStates {
        let mut states = LockStates {
            states: Vec::new(),
            numbers: FxHashMap::default(),
            next: FxHashMap::default(),
            before: FxHashMap::default(),
            compatible: FxHashMap::default(),
        };
        states.number(LockState::default());
        states
    }

    pub fn get(&self, state: StateId) -> &LockState {
        &self.states[state as usize]
    }

    /// The state after a change.
    pub fn after(&mut self, state: StateId, change: Change) -> StateId {
        if let Some(known) = self.next.get(&(state, change)) {
            return *known;
        }
        let after = match change {
            Change::Take(taken) => self.get(state).with(taken),
            Change::Give(taken) => self.get(state).without(taken),
        };
        let after = self.number(after);
        self.next.insert((state, change), after);
        after
    }

    /// The same read backwards: what is still to be given back right before a change. A lock's history is then what the thread
    /// takes until it gives the lock back.
    pub fn ahead_of(&mut self, state: StateId, change: Change) -> StateId {
        if let Some(known) = self.before.get(&(state, change)) {
            return *known;
        }
        let before = match change {
            Change::Take(taken) => self.get(state).without(taken).with_history(taken),
            Change::Give(taken) => {
                let mut state = self.get(state).clone();
                state.0.push(Held { taken, history: Vec::new(), for_ever: false });
                state.0.sort_unstable_by_key(|held| held.taken);
                state
            }
        };
        let before = self.number(before);
        self.before.insert((state, change), before);
        before
    }

    /// The state at the end of a thread that holds these locks and never gives them back.
    pub fn for_ever(&mut self, held: StateId) -> StateId {
        let for_ever =
            self.get(held).0.iter().map(|held| Held { taken: held.taken, history: Vec::new(), for_ever: true });
        let state = LockState(for_ever.collect());
        self.number(state)
    }

    /// Whether two threads can stand at such points at once.
    pub fn compatible(&mut self, one: StateId, other: StateId) -> bool {
        if one == NOTHING || other == NOTHING {
            return true;
        }
        let key = (one.min(other), one.max(other));
        if let Some(known) = self.compatible.get(&key) {
            return *known;
        }
        let compatible = self.get(one).compatible(self.get(other));
        self.compatible.insert(key, compatible);
        compatible
    }

    fn number(&mut self, state: LockState) -> StateId {
        let new = self.states.len() as StateId;
        let number = *self.numbers.entry(state.clone()).or_insert(new);
        if number == new {
            self.states.push(state);
        }
        number
    }
}

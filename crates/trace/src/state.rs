//! What a prefix has led to, and what one more event does to data.

use crate::sync_state::SyncState;
use crate::trace::{EventId, ThreadId};
use crate::value::Value;

/// What a variable holds in a state; what is kept of it depends on the model.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Cell {
    /// Nothing is known or asked.
    #[default]
    Anything,
    /// A value.
    Value(Value),
    /// What this write wrote, or the initial value.
    Write(Option<EventId>),
}

impl Cell {
    pub(crate) fn as_value(&self) -> Option<&Value> {
        match self {
            Cell::Value(value) => Some(value),
            _ => None,
        }
    }
}

/// What an event does to data.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Effect {
    /// For an access: what its variable held just before; a read returns this.
    pub before: Cell,
    /// For a write or rmw: what its variable holds from then on.
    pub after: Cell,
    /// The value of the local name that the event defines.
    pub(crate) defined: Option<Value>,
    /// Whether no later event of the thread may follow.
    pub(crate) stops: bool,
}

impl Effect {
    /// The value of the local name that the event defines, where some later event uses it and the model executes expressions.
    pub fn defined(&self) -> Option<&Value> {
        self.defined.as_ref()
    }
}

/// How far a thread is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct ThreadState {
    /// How many of its events are in the prefix.
    pub done: u32,
    /// Whether its last event was a read that returned something else than recorded, in a model that ends there.
    pub stopped: bool,
}

/// What a prefix has led to. Prefixes with equal states have the same continuations.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    pub(crate) threads: Vec<ThreadState>,
    /// The thread that is between two parts of one step.
    pub(crate) open_group: Option<ThreadId>,
    pub(crate) syncs: Vec<SyncState>,
    /// Per round of a barrier: how many have arrived.
    pub(crate) arrived: Vec<u32>,
    pub(crate) memory: Vec<Cell>,
    pub(crate) locals: Vec<Option<Value>>,
}

impl State {
    /// How many variables and local names it has the contents of.
    pub fn contents(&self) -> usize {
        self.memory.len() + self.locals.len()
    }
}

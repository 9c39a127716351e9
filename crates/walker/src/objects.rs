//! Synchronisation objects: which address is which object, and what state each is in.
//!
//! The state is kept so that no event enters the trace that its semantics would refuse: a program may give back a mutex that it
//! does not hold, and a try-lock may fail for other reasons than that another thread has the lock.

use crate::regions::RegionId;
use foretrace_trace::{EventId, SyncId};
use rustc_hash::FxHashMap;

/// What an address is used as. A mutex and a condition variable may well be in one place, one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Class {
    Mutex,
    Rwlock,
    Condvar,
    Semaphore,
    Barrier,
    Once,
}

/// An object, and what is known of its state.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub sync: SyncId,
    pub recursive: bool,
    /// Whether the end of its holder gives it back.
    pub robust: bool,
    /// Of a robust one, the barrier that says whose end others come after, and its round.
    pub deaths: Option<(SyncId, u64)>,
    /// Who has the lock, and how often.
    pub holder: Option<(usize, u32)>,
    /// Who shares it.
    pub shares: Vec<usize>,
    /// What a semaphore holds.
    pub count: u64,
    /// Whether what happens once has happened.
    pub done: bool,
}

/// All objects so far.
#[derive(Default)]
pub(crate) struct Objects {
    here: FxHashMap<(u64, RegionId, Class), usize>,
    list: Vec<Object>,
    /// By order number of the record: signals and broadcasts.
    signals: FxHashMap<u64, EventId>,
}

impl Objects {
    /// The object at this place.
    pub fn find(&self, address: u64, region: RegionId, class: Class) -> Option<usize> {
        self.here.get(&(address, region, class)).copied()
    }

    /// An object comes into being, in the place of any other of its class.
    pub fn add(&mut self, address: u64, region: RegionId, class: Class, sync: SyncId) -> usize {
        self.list.push(Object {
            sync,
            recursive: false,
            robust: false,
            deaths: None,
            holder: None,
            shares: Vec::new(),
            count: 0,
            done: false,
        });
        self.here.insert((address, region, class), self.list.len() - 1);
        self.list.len() - 1
    }

    pub fn get(&mut self, object: usize) -> &mut Object {
        &mut self.list[object]
    }

    /// The robust mutexes that a thread holds.
    pub fn robust_of(&self, thread: usize) -> Vec<usize> {
        let held = |object: &Object| object.robust && object.holder.is_some_and(|(by, _)| by == thread);
        (0..self.list.len()).filter(|object| held(&self.list[*object])).collect()
    }

    pub fn note_signal(&mut self, order: u64, event: EventId) {
        self.signals.insert(order, event);
    }

    pub fn signal(&self, order: u64) -> Option<EventId> {
        self.signals.get(&order).copied()
    }
}

impl Object {
    /// The thread takes it; whether it could.
    pub fn take(&mut self, thread: usize) -> bool {
        match &mut self.holder {
            Some((by, depth)) if *by == thread && self.recursive => *depth += 1,
            None if self.shares.is_empty() => self.holder = Some((thread, 1)),
            _ => return false,
        }
        true
    }

    /// The thread gives it back; whether it had it.
    pub fn give_back(&mut self, thread: usize) -> bool {
        match &mut self.holder {
            Some((by, depth)) if *by == thread => {
                *depth -= 1;
                if *depth == 0 {
                    self.holder = None;
                }
                true
            }
            _ => false,
        }
    }

    /// The thread shares it; whether it could.
    pub fn share(&mut self, thread: usize) -> bool {
        let free = self.holder.is_none();
        if free {
            self.shares.push(thread);
        }
        free
    }

    /// The thread gives its share back; whether it had one.
    pub fn give_share_back(&mut self, thread: usize) -> bool {
        let own = self.shares.iter().position(|by| *by == thread);
        own.map(|own| self.shares.swap_remove(own)).is_some()
    }

    /// Whether another thread has or shares it.
    pub fn is_busy_for(&self, thread: usize) -> bool {
        self.holder.is_some_and(|(by, _)| by != thread) || self.shares.iter().any(|by| *by != thread)
    }
}

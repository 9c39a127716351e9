//! The state of synchronisation objects during a run. Threads go by their positions in the program.

use foretrace_trace::{EventId, SyncKind};
use std::collections::BTreeMap;

/// A synchronisation object during a run.
#[derive(Clone, Debug)]
pub(super) enum Object {
    Lock(Lock),
    Semaphore { count: u64 },
    Condvar { waiters: Vec<Waiter> },
    Barrier { parties: u64, arrivals: u64 },
    Once { holder: Option<usize>, done: bool },
}

/// A mutex or rwlock.
#[derive(Clone, Debug, Default)]
pub(super) struct Lock {
    recursive: bool,
    holder: Option<usize>,
    /// How often the holder has taken it.
    depth: u64,
    /// Who shares it, and how often.
    sharers: BTreeMap<usize, u64>,
}

/// A thread that waits on a condition variable.
#[derive(Clone, Debug)]
pub(super) struct Waiter {
    pub thread: usize,
    /// The signal or broadcast that released it.
    pub released: Option<EventId>,
}

impl Object {
    pub(super) fn new(kind: SyncKind) -> Object {
        match kind {
            SyncKind::Mutex { recursive } => Object::Lock(Lock { recursive, ..Lock::default() }),
            SyncKind::Rwlock => Object::Lock(Lock::default()),
            SyncKind::Semaphore { init } => Object::Semaphore { count: init },
            SyncKind::Condvar => Object::Condvar { waiters: Vec::new() },
            SyncKind::Once => Object::Once { holder: None, done: false },
            SyncKind::Barrier { parties } => Object::Barrier { parties: parties.unwrap_or(1), arrivals: 0 },
        }
    }
}

impl Lock {
    pub(super) fn is_held_by(&self, thread: usize) -> bool {
        self.holder == Some(thread)
    }

    /// Whether the thread can take it now.
    pub(super) fn can_acquire(&self, thread: usize) -> bool {
        match self.holder {
            Some(holder) => self.recursive && holder == thread,
            None => self.sharers.is_empty(),
        }
    }

    /// Whether the thread cannot take it because of what the thread itself holds.
    pub(super) fn is_own_obstacle(&self, thread: usize) -> bool {
        (self.is_held_by(thread) && !self.recursive) || self.sharers.contains_key(&thread)
    }

    pub(super) fn can_share(&self) -> bool {
        self.holder.is_none()
    }

    pub(super) fn acquire(&mut self, thread: usize) {
        self.holder = Some(thread);
        self.depth += 1;
    }

    /// Gives one level back; false if the thread does not hold it.
    pub(super) fn release(&mut self, thread: usize) -> bool {
        if !self.is_held_by(thread) {
            return false;
        }
        self.depth -= 1;
        if self.depth == 0 {
            self.holder = None;
        }
        true
    }

    pub(super) fn share(&mut self, thread: usize) {
        *self.sharers.entry(thread).or_insert(0) += 1;
    }

    /// Gives one share back; false if the thread has none.
    pub(super) fn unshare(&mut self, thread: usize) -> bool {
        let Some(shares) = self.sharers.get_mut(&thread) else { return false };
        *shares -= 1;
        if *shares == 0 {
            self.sharers.remove(&thread);
        }
        true
    }

    /// Gives all levels back and tells how many; nothing if the thread does not hold it.
    pub(super) fn release_all(&mut self, thread: usize) -> Option<u64> {
        if !self.is_held_by(thread) {
            return None;
        }
        self.holder = None;
        Some(std::mem::take(&mut self.depth))
    }

    /// Takes as many levels as were given back.
    pub(super) fn restore(&mut self, thread: usize, depth: u64) {
        self.holder = Some(thread);
        self.depth = depth;
    }

    /// The threads that hold or share it.
    pub(super) fn owners(&self) -> Vec<usize> {
        self.holder.iter().chain(self.sharers.keys()).copied().collect()
    }
}

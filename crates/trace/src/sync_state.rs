//! The state of synchronisation objects, and when their operations are enabled.

use crate::blocked::Blocked;
use crate::trace::{EventId, SyncId, SyncKind, ThreadId};

/// One synchronisation object.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum SyncState {
    Lock(Lock),
    /// The count.
    Semaphore(u128),
    /// Those that wait, in the order of their threads' waits.
    Condvar(Vec<Waiter>),
    Barrier,
    Once(Once),
}

/// A mutex or rwlock.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Lock {
    pub recursive: bool,
    /// Who holds it, and how often.
    pub holder: Option<(ThreadId, u32)>,
    /// Who shares it, and how often.
    pub shares: Vec<(ThreadId, u32)>,
}

/// An initialisation that happens once.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Once {
    /// Who is at it.
    pub holder: Option<ThreadId>,
    /// Whether one has ended.
    pub done: bool,
}

/// A thread between its wait and its wake.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Waiter {
    pub thread: ThreadId,
    /// The wait.
    pub since: EventId,
    /// How often it held the lock that it gave back.
    pub depth: u32,
    /// Whether a signal or broadcast released it since.
    pub released: bool,
}

impl SyncState {
    pub fn new(kind: SyncKind) -> SyncState {
        match kind {
            SyncKind::Mutex { recursive } => SyncState::Lock(Lock { recursive, ..Lock::default() }),
            SyncKind::Rwlock => SyncState::Lock(Lock::default()),
            SyncKind::Semaphore { init } => SyncState::Semaphore(u128::from(init)),
            SyncKind::Condvar => SyncState::Condvar(Vec::new()),
            SyncKind::Barrier { .. } => SyncState::Barrier,
            SyncKind::Once => SyncState::Once(Once::default()),
        }
    }
}

impl Once {
    /// Nobody is at it, and none has ended.
    pub fn may_begin(&self, once: SyncId) -> Result<(), Blocked> {
        match self.holder {
            Some(by) => Err(Blocked::NotFree { lock: once, by, shared: false }),
            None if self.done => Err(Blocked::Initialised { once }),
            None => Ok(()),
        }
    }

    /// The thread is at it.
    pub fn held_by(&self, once: SyncId, thread: ThreadId) -> Result<(), Blocked> {
        if self.holder == Some(thread) { Ok(()) } else { Err(Blocked::NotHeld { lock: once, shared: false }) }
    }

    /// It is done.
    pub fn may_pass(&self, once: SyncId) -> Result<(), Blocked> {
        if self.done { Ok(()) } else { Err(Blocked::NotInitialised { once }) }
    }
}

impl Lock {
    /// Enabled when no thread holds or shares the lock; its own holder may take a recursive one again.
    pub fn may_take(&self, lock: SyncId, thread: ThreadId) -> Result<(), Blocked> {
        match self.holder {
            Some((by, _)) if by == thread && self.recursive => Ok(()),
            _ => self.is_free(lock),
        }
    }

    /// Nobody holds or shares it.
    pub fn is_free(&self, lock: SyncId) -> Result<(), Blocked> {
        match self.shares.first() {
            Some((by, _)) => Err(Blocked::NotFree { lock, by: *by, shared: true }),
            None => self.may_share(lock),
        }
    }

    /// Nobody holds it.
    pub fn may_share(&self, lock: SyncId) -> Result<(), Blocked> {
        match self.holder {
            Some((by, _)) => Err(Blocked::NotFree { lock, by, shared: false }),
            None => Ok(()),
        }
    }

    /// The thread holds it, this often.
    pub fn held_by(&self, lock: SyncId, thread: ThreadId) -> Result<u32, Blocked> {
        match self.holder {
            Some((by, depth)) if by == thread => Ok(depth),
            _ => Err(Blocked::NotHeld { lock, shared: false }),
        }
    }

    /// The thread shares it.
    pub fn shared_by(&self, lock: SyncId, thread: ThreadId) -> Result<(), Blocked> {
        let shares = self.shares.iter().any(|(by, _)| *by == thread);
        if shares { Ok(()) } else { Err(Blocked::NotHeld { lock, shared: true }) }
    }

    /// Another thread holds or shares it.
    pub fn busy_for(&self, lock: SyncId, thread: ThreadId) -> Result<(), Blocked> {
        let mut users = self.holder.iter().chain(&self.shares);
        if users.any(|(by, _)| *by != thread) { Ok(()) } else { Err(Blocked::NotBusy { lock }) }
    }

    pub fn take(&mut self, thread: ThreadId) {
        let depth = self.holder.map_or(0, |(_, depth)| depth);
        self.holder = Some((thread, depth + 1));
    }

    pub fn give_back(&mut self) {
        self.holder = self.holder.filter(|(_, depth)| *depth > 1).map(|(by, depth)| (by, depth - 1));
    }

    pub fn share(&mut self, thread: ThreadId) {
        match self.shares.binary_search_by_key(&thread, |(by, _)| *by) {
            Ok(found) => self.shares[found].1 += 1,
            Err(place) => self.shares.insert(place, (thread, 1)),
        }
    }

    pub fn give_share_back(&mut self, thread: ThreadId) {
        if let Ok(found) = self.shares.binary_search_by_key(&thread, |(by, _)| *by) {
            self.shares[found].1 -= 1;
            self.shares.retain(|(_, count)| *count > 0);
        }
    }
}

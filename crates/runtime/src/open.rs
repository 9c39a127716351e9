//! What a thread has begun and not ended: locks, waits, marked transactions. The runtime writes it at the start of a log that is not the
//! thread's first. The tools collect it up to where such logs begin.

use crate::record::{Kind, TRIED};
use crate::{access_kinds, code_kinds};

/// Something that is open: a lock that is held, a wait, a marked transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Open {
    /// The [`Kind`] of record that began it: `Acquire`, `WriteLock`, `ReadLock`, `Wait` or `AtomicBegin`.
    pub kind: u64,
    /// First word of that record.
    pub object: u64,
    /// Its second word.
    pub extra: u64,
    /// Of a wait: 1 if its mutex is recursive.
    pub recursive: u64,
}

/// More is not kept of a thread.
pub const MOST: usize = 128;

/// All that a thread has open, in the order in which it began. All zeroes is a valid, empty one.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct OpenSet {
    count: usize,
    /// There was more than [`MOST`]: the rest is unknown.
    overflown: bool,
    entries: [Open; MOST],
}

impl Default for OpenSet {
    fn default() -> OpenSet {
        const NONE: Open = Open { kind: 0, object: 0, extra: 0, recursive: 0 };
        OpenSet { count: 0, overflown: false, entries: [NONE; MOST] }
    }
}

impl OpenSet {
    /// What is open; nothing where that is not known.
    pub fn known(&self) -> Option<&[Open]> {
        (!self.overflown).then(|| &self.entries[..self.count])
    }

    /// Adds what a log says at its start.
    pub fn push(&mut self, open: Open) {
        match self.entries.get_mut(self.count) {
            Some(entry) => {
                *entry = open;
                self.count += 1;
            }
            None => self.overflown = true,
        }
    }

    /// A thread wrote a synchronisation record with these words.
    pub fn note(&mut self, kind: Kind, object: u64, extra: u64) {
        match kind {
            Kind::Acquire | Kind::WriteLock | Kind::ReadLock => {
                self.push(Open { kind: kind as u64, object, extra: extra & !TRIED, recursive: 0 });
            }
            Kind::OnceBegin | Kind::AtomicBegin => {
                self.push(Open { kind: kind as u64, object, extra, recursive: 0 });
            }
            Kind::Release => _ = self.remove(Kind::Acquire, Some(object)),
            Kind::OnceEnd | Kind::OnceFail => _ = self.remove(Kind::OnceBegin, Some(object)),
            Kind::WriteUnlock => _ = self.remove(Kind::WriteLock, Some(object)),
            Kind::ReadUnlock => _ = self.remove(Kind::ReadLock, Some(object)),
            Kind::AtomicEnd => _ = self.remove(Kind::AtomicBegin, None),
            Kind::Wait => {
                let mutex = self.remove(Kind::Acquire, Some(extra));
                self.push(Open { kind: kind as u64, object, extra, recursive: mutex.map_or(0, |mutex| mutex.extra) });
            }
            Kind::Wake => {
                if let Some(wait) = self.remove(Kind::Wait, Some(object)) {
                    let recursive = wait.recursive;
                    self.push(Open { kind: Kind::Acquire as u64, object: wait.extra, extra: recursive, recursive: 0 });
                }
            }
            Kind::Busy | Kind::Signal | Kind::Broadcast | Kind::SemaphoreInit | Kind::Post | Kind::Down => {}
            Kind::Arrive | Kind::Depart | Kind::BarrierInit | Kind::OncePass => {}
            Kind::Fork | Kind::Start | Kind::Exit | Kind::Join | Kind::HandlerBegin | Kind::HandlerEnd => {}
            Kind::CallBegin | Kind::CallEnd | Kind::CallValue => {}
            Kind::Allocate | Kind::Free | Kind::Alias | Kind::Unseen | Kind::Refused | Kind::Fail => {}
            access_kinds!() | code_kinds!() => {}
        }
    }

    /// Takes the last of a kind out, of this object if one is given.
    fn remove(&mut self, kind: Kind, object: Option<u64>) -> Option<Open> {
        let fits = |open: &Open| open.kind == kind as u64 && object.is_none_or(|object| open.object == object);
        let at = self.entries[..self.count].iter().rposition(fits)?;
        let found = self.entries[at];
        self.entries.copy_within(at + 1..self.count, at);
        self.count -= 1;
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(set: &OpenSet) -> Vec<(u64, u64)> {
        set.known().unwrap().iter().map(|open| (open.kind, open.object)).collect()
    }

    #[test]
    fn a_wait_gives_its_mutex_back_until_it_ends() {
        let mut set = OpenSet::default();
        set.note(Kind::ReadLock, 7, 0);
        set.note(Kind::Acquire, 1, 1);
        set.note(Kind::Wait, 2, 1);
        assert_eq!(open(&set), [(Kind::ReadLock as u64, 7), (Kind::Wait as u64, 2)]);
        set.note(Kind::ReadUnlock, 7, 0);
        set.note(Kind::Wake, 2, 0);
        assert_eq!(set.known().unwrap(), [Open { kind: Kind::Acquire as u64, object: 1, extra: 1, recursive: 0 }]);
        set.note(Kind::Release, 1, 0);
        assert_eq!(open(&set), []);
    }

    #[test]
    fn locks_are_given_back_in_any_order_and_too_many_are_not_forgotten() {
        let mut set = OpenSet::default();
        for lock in [1, 2, 2, 3] {
            set.note(Kind::Acquire, lock, 0);
        }
        set.note(Kind::Release, 2, 0);
        set.note(Kind::Release, 9, 0);
        set.note(Kind::OnceBegin, 4, 0);
        set.note(Kind::OncePass, 5, 0);
        assert_eq!(open(&set).last(), Some(&(Kind::OnceBegin as u64, 4)));
        set.note(Kind::OnceFail, 4, 0);
        assert_eq!(open(&set).iter().map(|(_, lock)| *lock).collect::<Vec<_>>(), [1, 2, 3]);
        (0..MOST as u64).for_each(|lock| set.note(Kind::WriteLock, 100 + lock, 0));
        assert_eq!(set.known(), None);
    }
}

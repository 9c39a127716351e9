//! Cut-points: a candidate needs an event from which its thread can stand still while the remote access happens.
//!
//! Source: F. Sorrentino, A. Farzan, P. Madhusudan, *PENELOPE: Weaving Threads to Expose Atomicity Violations*, FSE 2010, sections 3.2
//! and 4.1.
//!
//! Lemma. Right after remote, the last event of the transaction's thread is some e in [first, second). At e:
//!
//! 1. The two threads hold no lock that excludes the other.
//! 2. Let one thread hold l and the other l'. Then not both took the other's lock after their own.
//!
//! Proof of 2. If the first thread took l' after l, it released l' again before the second thread took l' for good. So the second
//! thread took l' after l was taken. By symmetry l was taken after l', a contradiction.
//!
//! Neither part needs locks to be nested; nesting makes the condition sufficient as well. A `wait` releases its lock, so that lock is not held.

use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_trace::{SyncId, ThreadId, Trace, Triple};
use rustc_hash::FxHashMap;

/// A lock and the way in which it is taken; of two shared ones neither excludes the other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
struct Taken {
    lock: SyncId,
    shared: bool,
}

impl Taken {
    fn excludes(self, other: Taken) -> bool {
        self.lock == other.lock && !(self.shared && other.shared)
    }
}

/// A lock that is held, with the acquisition history since it was taken.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Held {
    taken: Taken,
    since: Vec<Taken>,
}

/// The locks that a thread holds at some point.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Lockset(Vec<Held>);

/// A history that grows longer than this is cut: less is refuted, nothing wrongly.
const LONGEST_HISTORY: usize = 64;

/// Cuts looked at before a candidate is let pass.
const MOST_CUTS: usize = 256;

impl Lockset {
    fn take(&mut self, taken: Taken) {
        for held in &mut self.0 {
            if held.since.len() < LONGEST_HISTORY && !held.since.contains(&taken) {
                held.since.push(taken);
                held.since.sort_unstable();
            }
        }
        self.0.push(Held { taken, since: Vec::new() });
        self.0.sort_unstable_by_key(|held| held.taken);
    }

    fn give(&mut self, taken: Taken) {
        self.0.retain(|held| held.taken != taken);
    }

    /// Whether two threads can have come to these points at once, as far as locks are concerned.
    fn compatible(&self, other: &Lockset) -> bool {
        self.0.iter().all(|mine| {
            other.0.iter().all(|theirs| {
                let each_took_the_other = theirs.since.iter().any(|taken| taken.excludes(mine.taken))
                    && mine.since.iter().any(|taken| taken.excludes(theirs.taken));
                !mine.taken.excludes(theirs.taken) && !each_took_the_other
            })
        })
    }
}

/// A stretch of a thread in which its lockset stays the same.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// The first event after which it holds.
    from: u32,
    lockset: u32,
    /// The next epoch, this one included, without any lock.
    unlocked: u32,
}

/// The lockset after every event.
#[derive(Debug)]
pub struct Locksets {
    epochs: Vec<Vec<Epoch>>,
    locksets: Vec<Lockset>,
}

impl Locksets {
    /// Reads them off the regions in which locks are held.
    pub fn new(trace: &Trace, trace_index: &TraceIndex) -> Locksets {
        let mut changes: Vec<Vec<(u32, bool, Taken)>> = vec![Vec::new(); trace.threads.len()];
        for region in trace_index.regions.iter().flatten() {
            let taken = Taken { lock: region.lock, shared: region.shared };
            let own = &mut changes[region.thread.index()];
            own.push((trace_index.position[region.start.index()], true, taken));
            own.extend(region.end.map(|end| (trace_index.position[end.index()], false, taken)));
        }
        let mut interned: FxHashMap<Lockset, u32> = FxHashMap::default();
        let mut locksets = Vec::new();
        let mut intern = |lockset: &Lockset| match interned.get(lockset) {
            Some(known) => *known,
            None => {
                let new = locksets.len() as u32;
                interned.insert(lockset.clone(), new);
                locksets.push(lockset.clone());
                new
            }
        };
        let none = intern(&Lockset::default());
        let epochs = changes.into_iter().map(|changes| epochs_of(changes, none, &mut intern)).collect();
        Locksets { epochs, locksets }
    }

    /// Whether no event is a cut-point for the triple.
    pub fn refute(&self, trace: &Trace, trace_index: &TraceIndex, clocks: &MustHappenBefore, triple: Triple) -> bool {
        let local = trace.event(triple.first).thread.index();
        // At the cut, what remote needs is done, and nothing is that needs remote.
        let from = (trace_index.position[triple.first.index()] + 1).max(clocks.seen(triple.remote, local));
        let to = trace_index.position[triple.second.index()].min(clocks.first_after(triple.remote, local));
        if from > to {
            return true;
        }
        let remote = self.after(trace.event(triple.remote).thread, trace_index.position[triple.remote.index()]);
        !self.any_compatible(local, from - 1, to - 1, remote)
    }

    /// The lockset of a thread right after its event at `position`, as a number.
    pub(super) fn after(&self, thread: ThreadId, position: u32) -> u32 {
        let epochs = &self.epochs[thread.index()];
        epochs[epoch_at(epochs, position)].lockset
    }

    /// The most events of a thread, up to `count`, after which it holds no lock.
    pub fn unlocked_before(&self, thread: usize, count: u32) -> Option<u32> {
        let epochs = &self.epochs[thread];
        let at = epoch_at(epochs, count.checked_sub(1)?);
        let free = (0..=at).rev().find(|number| epochs[*number].unlocked as usize == *number)?;
        Some(if free == at { count } else { epochs[free + 1].from })
    }

    /// The fewest events of a thread, beyond its event at `position`, after which it holds no lock.
    pub fn unlocked_after(&self, thread: usize, position: u32) -> Option<u32> {
        let epochs = &self.epochs[thread];
        let unlocked = epochs.get(epochs[epoch_at(epochs, position)].unlocked as usize)?;
        Some(unlocked.from.max(position) + 1)
    }

    /// Whether the thread has a lockset compatible with `remote` after one of its events `from..=to`.
    pub(super) fn any_compatible(&self, thread: usize, from: u32, to: u32, remote: u32) -> bool {
        let epochs = &self.epochs[thread];
        let start = epoch_at(epochs, from);
        if epochs.get(epochs[start].unlocked as usize).is_some_and(|unlocked| unlocked.from <= to) {
            return true;
        }
        let remote = &self.locksets[remote as usize];
        let mut cuts = epochs[start..].iter().take_while(|epoch| epoch.from <= to);
        let found = cuts.by_ref().take(MOST_CUTS).any(|e| self.locksets[e.lockset as usize].compatible(remote));
        found || cuts.next().is_some()
    }
}

fn epoch_at(epochs: &[Epoch], position: u32) -> usize {
    epochs.partition_point(|epoch| epoch.from <= position) - 1 // the first epoch is from 0
}

fn epochs_of(mut changes: Vec<(u32, bool, Taken)>, none: u32, intern: &mut impl FnMut(&Lockset) -> u32) -> Vec<Epoch> {
    changes.sort_unstable();
    let mut lockset = Lockset::default();
    let mut epochs = vec![Epoch { from: 0, lockset: none, unlocked: 0 }];
    for (position, takes, taken) in changes {
        if takes {
            lockset.take(taken);
        } else {
            lockset.give(taken);
        }
        let number = intern(&lockset);
        match epochs.last_mut() {
            Some(last) if last.from == position => last.lockset = number,
            _ => epochs.push(Epoch { from: position, lockset: number, unlocked: 0 }),
        }
    }
    let mut unlocked = u32::MAX;
    for (number, epoch) in epochs.iter_mut().enumerate().rev() {
        unlocked = if epoch.lockset == none { number as u32 } else { unlocked };
        epoch.unlocked = unlocked;
    }
    epochs
}

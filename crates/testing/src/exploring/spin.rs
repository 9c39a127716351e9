//! Loops in which a thread waits for another one by reading again and again.
//!
//! A thread that has read the same at the same places twice in a row, and wrote nothing meanwhile, may wait in a loop. Memory that no
//! other thread accesses does not count: a loop may count its turns there. The thread is taken to wait where an execution shows that it
//! goes on so by itself until another thread changes what it reads, or the run has as many events as it may. It may sleep between: a
//! wait for a futex has no record. Then it takes no step until another thread changes what it reads: the steps between would bring
//! nothing new.

use super::execution::Taken;
use super::objects::Objects;
use foretrace_explore::{Mode, Use};
use foretrace_runtime::record::Kind;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// Reads of a round of a loop.
const LONGEST: usize = 16;

/// A read: where, of what, and what was found.
type Read = (Kind, u64, u64, u64);

/// What a thread did last.
#[derive(Clone, Default)]
pub struct Spin {
    /// Its last reads, if it did nothing else since.
    reads: Vec<Read>,
    /// Reads since another thread changed something of them.
    fresh: usize,
    /// The objects that they use.
    objects: Vec<u32>,
    /// Whether it waits.
    pub waits: bool,
}

fn read(step: &Taken) -> Option<Read> {
    match step.kind {
        kind if kind.is_load() => Some((kind, step.place, step.words[0], step.words[1])),
        Kind::Failed1 | Kind::Failed2 | Kind::Failed4 | Kind::Failed8 => {
            Some((step.kind, step.place, step.words[0], step.words[1]))
        }
        Kind::Busy => Some((step.kind, step.place, step.words[0], 0)),
        _ => None,
    }
}

/// Whether a step accesses memory that no other thread does.
fn is_own(step: &Taken, objects: &Objects) -> bool {
    step.kind.size() > 0 && !objects.is_shared(step.words[0], step.kind.size() as u64)
}

/// Whether a use changes what others find in the object.
pub fn changes(mode: Mode) -> bool {
    !matches!(mode, Mode::Read | Mode::ReadPart | Mode::Busy)
}

impl Spin {
    /// The thread takes a step. How many reads a round of its loop has, if it may wait in one.
    pub fn take(&mut self, step: &Taken, uses: &[Use], objects: &Objects) -> Option<usize> {
        self.waits = false;
        if is_own(step, objects) {
            return None;
        }
        let Some(read) = read(step) else {
            *self = Spin::default();
            return None;
        };
        if self.reads.len() == 2 * LONGEST {
            self.reads.remove(0);
        }
        self.reads.push(read);
        self.fresh += 1;
        for own in uses {
            if !self.objects.contains(&own.object) {
                self.objects.push(own.object);
            }
        }
        let (all, fresh) = (self.reads.len(), self.fresh);
        (1..=LONGEST.min(all / 2).min(fresh)).find(|round| {
            let last = &self.reads[all - round..];
            *last == self.reads[all - 2 * round..all - round]
        })
    }

    /// Another thread takes a step.
    pub fn see(&mut self, uses: &[Use]) {
        if uses.iter().any(|other| changes(other.mode) && self.objects.contains(&other.object)) {
            self.fresh = 0;
            self.waits = false;
        }
    }

    /// The loop whose round has so many reads, by its places.
    pub fn places(&self, round: usize) -> u64 {
        let mut places: Vec<u64> = self.reads[self.reads.len() - round..].iter().map(|read| read.1).collect();
        places.sort_unstable();
        let mut hasher = FxHasher::default();
        places.hash(&mut hasher);
        hasher.finish()
    }

    /// Whether the thread goes on so in these steps, which follow each other, until another thread changes what it reads: yes, no, or they
    /// end before.
    pub fn goes_on(&self, round: usize, steps: &[Taken], thread: usize, objects: &mut Objects) -> Option<bool> {
        let rounds = &self.reads[self.reads.len() - round..];
        let mut expected = rounds.iter().cycle();
        for step in steps {
            if step.thread != thread {
                if self.is_changed_by(step, objects) {
                    return Some(true);
                }
            } else if !is_own(step, objects) && read(step).as_ref() != expected.next() {
                return Some(false);
            }
        }
        None
    }

    fn is_changed_by(&self, step: &Taken, objects: &mut Objects) -> bool {
        let bytes = step.kind.size() as u64;
        bytes > 0
            && step.writes()
            && objects.access(step.words[0], bytes, true).iter().any(|used| self.objects.contains(&used.object))
    }
}

//! Loops in which a thread waits for another one by reading again and again.
//!
//! A thread may wait in a loop if it has read the same values at the same places twice in a row, and wrote only values that were there
//! already. Memory that no other thread accesses does not matter: a loop may count its turns there. The thread is taken to wait if an
//! execution shows that it goes on like this by itself, until another thread changes what it reads or the run has reached its limit of
//! events. It may sleep in between: a wait for a futex has no record. Then the thread takes no step until another thread changes what it
//! reads: the steps in between bring nothing new. Code that is not recorded may change it, as Rust's test harness does. Then the thread
//! takes no step until no other thread can.

use super::execution::Taken;
use super::objects::Objects;
use foretrace_explore::{Mode, Use};
use foretrace_runtime::record::Kind;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// Accesses of a round of a loop.
const LONGEST: usize = 16;

/// A read, or a write: where, of what, and what was found or written.
type Access = (Kind, u64, u64, u64);

/// The last accesses of a thread, if it did nothing else since.
#[derive(Clone, Default)]
struct Accesses {
    last: Vec<Access>,
    /// How many since another thread changed something of them.
    fresh: usize,
}

impl Accesses {
    fn push(&mut self, access: Access) {
        if self.last.len() == 2 * LONGEST {
            self.last.remove(0);
        }
        self.last.push(access);
        self.fresh += 1;
    }

    /// What came twice in a row, and may come again and again.
    fn repeated(&self) -> Option<&[Access]> {
        let all = self.last.len();
        (1..=LONGEST.min(all / 2).min(self.fresh)).find_map(|round| {
            let last = &self.last[all - round..];
            (*last == self.last[all - 2 * round..all - round] && changes_nothing(last)).then_some(last)
        })
    }
}

/// What a loop is that came round twice.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Loop {
    /// It goes on by itself.
    #[default]
    Passes,
    /// Its thread waits until another thread changes what it uses.
    Waits,
    /// Its thread waits until something changes what it uses that has no record.
    WaitsForUnrecorded,
}

/// A round of a loop in which a thread may wait.
pub struct Round {
    accesses: Vec<Access>,
    /// Whether accesses of memory that no other thread accesses are among them.
    has_own: bool,
}

impl Round {
    /// Its loop, by the places of its accesses.
    pub fn places(&self) -> u64 {
        let mut places: Vec<u64> = self.accesses.iter().map(|access| access.1).collect();
        places.sort_unstable();
        let mut hasher = FxHasher::default();
        places.hash(&mut hasher);
        hasher.finish()
    }
}

/// Whether the thread that leaves this round in these steps joins another thread before it uses anything that others use. Then nothing
/// depends on when it left.
pub fn joins_at_once(round: &Round, steps: &[Taken], thread: usize, objects: &Objects) -> bool {
    let in_loop = |step: &Taken| round.accesses.iter().any(|access| access.1 == step.place);
    let mut own = steps.iter().filter(|step| step.thread == thread && !in_loop(step) && !is_own(step, objects));
    own.next().is_some_and(|step| step.kind == Kind::Join)
}

/// What a thread did last.
#[derive(Clone, Default)]
pub struct Spin {
    /// Apart from memory that no other thread accesses.
    shared: Accesses,
    all: Accesses,
    /// The objects that they use.
    objects: Vec<u32>,
    /// Whether it waits.
    pub waits: Loop,
    /// How many steps it took in a wait for what is not recorded, when no other thread could take one.
    alone: usize,
}

/// What a waiting thread may do in each turn.
fn access(step: &Taken) -> Option<Access> {
    match step.kind {
        kind if kind.is_load() || kind.is_store() && !kind.is_replace() => {
            Some((kind, step.place, step.words[0], step.words[1]))
        }
        Kind::Failed1 | Kind::Failed2 | Kind::Failed4 | Kind::Failed8 => {
            Some((step.kind, step.place, step.words[0], step.words[1]))
        }
        _ if step.leaves_all_as_it_is() => Some((step.kind, step.place, step.words[0], step.words[1])),
        Kind::Busy => Some((step.kind, step.place, step.words[0], 0)),
        _ => None,
    }
}

/// Whether a round that comes twice leaves all memory as it is: it reads, and no other write of it touches what a write of it touches, but
/// with the same value. In the second round the value was there already.
fn changes_nothing(round: &[Access]) -> bool {
    let writes = || round.iter().filter(|(kind, ..)| kind.is_store());
    let agree = |one: &Access, other: &Access| {
        let ((one_kind, _, at, value), (other_kind, _, other_at, other_value)) = (*one, *other);
        let apart = at + one_kind.size() as u64 <= other_at || other_at + other_kind.size() as u64 <= at;
        apart || (one_kind, at, value) == (other_kind, other_at, other_value)
    };
    writes().count() < round.len() && writes().all(|one| writes().all(|other| agree(one, other)))
}

/// Whether a step reads at the same place of the same memory as this one did, and finds something else.
fn finds_other(step: &Taken, (kind, place, address, value): &Access) -> bool {
    let reads = step.kind.size() == kind.size() && !kind.is_store();
    reads && (step.place, step.words[0]) == (*place, *address) && step.words[1] != *value
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
    /// The thread takes a step. A round of its loop, if it may wait in one.
    pub fn take(&mut self, step: &Taken, uses: &[Use], objects: &Objects) -> Option<Round> {
        let waited = std::mem::take(&mut self.waits);
        self.alone = if waited == Loop::WaitsForUnrecorded || self.alone > 0 { self.alone + 1 } else { 0 };
        let is_own = is_own(step, objects);
        let Some(access) = access(step) else {
            self.all = Accesses::default();
            if !is_own {
                *self = Spin::default();
            }
            return None;
        };
        self.all.push(access);
        if !is_own {
            self.shared.push(access);
        }
        for used in uses {
            if !self.objects.contains(&used.object) {
                self.objects.push(used.object);
            }
        }
        let round = |accesses: &[Access], has_own| Round { accesses: accesses.to_vec(), has_own };
        let shared = self.shared.repeated().filter(|_| !is_own).map(|accesses| round(accesses, false));
        shared.or_else(|| self.all.repeated().map(|accesses| round(accesses, true)))
    }

    /// Another thread takes a step.
    pub fn see(&mut self, uses: &[Use]) {
        if uses.iter().any(|other| changes(other.mode) && self.objects.contains(&other.object)) {
            (self.shared.fresh, self.all.fresh) = (0, 0);
            self.waits = Loop::Passes;
        }
    }

    /// Whether a thread that waits for what is not recorded waited for long while no other thread could take a step: nothing will come.
    pub fn waits_in_vain(&self) -> bool {
        self.alone > 4 * LONGEST
    }

    /// What the loop is by these steps, which follow each other; nothing if they end before the thread leaves it.
    pub fn looped(&self, round: &Round, steps: &[Taken], thread: usize, objects: &mut Objects) -> Option<Loop> {
        let mut expected = round.accesses.iter().cycle();
        for step in steps {
            if step.thread != thread {
                if self.is_changed_by(step, objects) {
                    return Some(Loop::Waits);
                }
            } else if round.has_own || !is_own(step, objects) {
                let expected = expected.next();
                if access(step).as_ref() != expected {
                    let finds_other = expected.is_some_and(|expected| finds_other(step, expected));
                    return Some(if finds_other { Loop::WaitsForUnrecorded } else { Loop::Passes });
                }
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

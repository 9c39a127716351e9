//! Loops in which a thread waits for another one by reading again and again.
//!
//! A thread may wait in a loop if it has read the same values at the same places twice in a row, and wrote only values that were there
//! already. It may take locks in between if it gives each of them back, also those that are words which it takes by a read-modify-write. Memory that no other thread accesses does not matter: a loop may count
//! its turns there. The thread is taken to wait if an
//! execution shows that it goes on like this by itself, until another thread changes what it reads or the run has reached its limit of
//! events. It may sleep in between: a wait for a futex has no record. Then the thread takes no step until another thread changes what it
//! reads: the steps in between bring nothing new. Code that is not recorded may change it, as Rust's test harness does. Then the thread
//! takes no step until no other thread can.

use super::execution::Taken;
use super::objects::Objects;
use foretrace_explore::{Mode, Use};
use foretrace_runtime::record::{Kind, TRIED};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// Accesses of a round of a loop.
const LONGEST: usize = 16;
/// Objects that an access of up to eight bytes uses: variables that it shares with others, and its bytes.
const MOST_OF_ACCESS: usize = 12;
const MOST_OBJECTS: usize = 2 * LONGEST * MOST_OF_ACCESS;

/// A read, a write, or the taking or giving back of a lock: where, of what, and what was found or written; of a read-modify-write what was
/// found, and then what was written.
type Access = (Kind, u64, u64, [u64; 2]);

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
    /// The objects that they use, the latest last.
    objects: Vec<u32>,
    /// Whether it waits.
    pub waits: Loop,
    /// How many steps it took in a wait for what is not recorded, when no other thread could take one.
    alone: usize,
}

/// What a waiting thread may do in each turn.
fn access(step: &Taken) -> Option<Access> {
    let values = match step.kind {
        kind if kind.is_load() || kind.is_store() && !kind.is_replace() => [step.words[1], 0],
        Kind::Failed1 | Kind::Failed2 | Kind::Failed4 | Kind::Failed8 => [step.words[1], 0],
        kind if updates(kind) => [step.words[1], step.words[2]],
        Kind::Busy => [0, 0],
        kind if takes(kind) && step.words[1] & TRIED == 0 || gives_back(kind) => [0, 0],
        _ => return None,
    };
    Some((step.kind, step.place, step.words[0], values))
}

fn updates(kind: Kind) -> bool {
    matches!(kind, Kind::Update1 | Kind::Update2 | Kind::Update4 | Kind::Update8)
}

fn takes(kind: Kind) -> bool {
    matches!(kind, Kind::Acquire | Kind::WriteLock | Kind::ReadLock)
}

fn gives_back(kind: Kind) -> bool {
    matches!(kind, Kind::Release | Kind::WriteUnlock | Kind::ReadUnlock)
}

/// Whether an access finds something that others may change, and leaves it as it is.
fn finds(access: &Access) -> bool {
    let (kind, _, _, [old, new]) = *access;
    !(kind.is_store() || takes(kind) || gives_back(kind) || updates(kind) && old != new)
}

/// Whether a round gives back each lock that it takes, and no others.
fn is_balanced(round: &[Access]) -> bool {
    let mut held: Vec<u64> = Vec::new();
    for (kind, _, lock, _) in round {
        if takes(*kind) {
            held.push(*lock);
        } else if gives_back(*kind) {
            let Some(at) = held.iter().rposition(|own| own == lock) else { return false };
            held.remove(at);
        }
    }
    held.is_empty()
}

/// Whether a round that comes twice leaves all memory as it is: it reads, and no other write of it touches what a write of it touches, but
/// with the same value. In the second round the value was there already. A word that it takes by a read-modify-write has at its end what the
/// second round found: 0, so that others can take it.
fn changes_nothing(round: &[Access]) -> bool {
    let is_lock = |access: &Access| round.iter().any(|other| updates(other.0) && other.2 == access.2);
    let writes = || round.iter().filter(|access| access.0.is_store() && !is_lock(access));
    let agree = |one: &Access, other: &Access| {
        let ((one_kind, _, at, value), (other_kind, _, other_at, other_value)) = (*one, *other);
        let apart = at + one_kind.size() as u64 <= other_at || other_at + other_kind.size() as u64 <= at;
        apart || (one_kind, at, value) == (other_kind, other_at, other_value)
    };
    let changes = |access: &&Access| access.0.is_store() || updates(access.0) && access.3[0] != access.3[1];
    let begins_free = |access: &Access| {
        let first = round.iter().find(|other| changes(other) && other.2 == access.2);
        !is_lock(access) || first.is_none_or(|(kind, _, _, [old, _])| updates(*kind) && *old == 0)
    };
    round.iter().any(finds)
        && round.iter().all(begins_free)
        && is_balanced(round)
        && writes().all(|one| writes().all(|other| agree(one, other)))
}

/// Whether a step reads at the same place of the same memory as this one did, and finds something else.
fn finds_other(step: &Taken, (kind, place, address, values): &Access) -> bool {
    let reads = step.kind.size() == kind.size() && !kind.is_store();
    reads && (step.place, step.words[0]) == (*place, *address) && step.words[1] != values[0]
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
        for used in uses.iter().filter(|_| step.kind == Kind::Busy || step.kind.size() > 0) {
            self.note_object(used.object);
        }
        let round = |accesses: &[Access], has_own| Round { accesses: accesses.to_vec(), has_own };
        let shared = self.shared.repeated().filter(|_| !is_own).map(|accesses| round(accesses, false));
        shared.or_else(|| self.all.repeated().map(|accesses| round(accesses, true)))
    }

    /// The latest objects are kept, at least those of two rounds.
    fn note_object(&mut self, object: u32) {
        match self.objects.iter().rposition(|known| *known == object) {
            Some(at) => _ = self.objects.remove(at),
            None if self.objects.len() == MOST_OBJECTS => _ = self.objects.remove(0),
            None => {}
        }
        self.objects.push(object);
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

/// Of each step, whether it belongs to a round of a loop that found and left everything as the round before did: a thread that waits in a loop
/// may go through any number of these.
pub fn repeats(steps: &[Taken], objects: &mut Objects) -> Vec<bool> {
    let mut spins: FxHashMap<usize, (Spin, Vec<usize>)> = FxHashMap::default();
    let mut repeats = vec![false; steps.len()];
    for (index, step) in steps.iter().enumerate() {
        let uses = uses(step, objects);
        if !step.leaves_all_as_it_is() {
            let others = spins.iter_mut().filter(|(thread, _)| **thread != step.thread);
            others.for_each(|(_, (spin, _))| spin.see(&uses));
        }
        let (spin, own) = spins.entry(step.thread).or_default();
        own.push(index);
        if let Some(round) = spin.take(step, &uses, objects) {
            let is_of_round = |index: &&usize| round.has_own || !is_own(&steps[**index], objects);
            let first = own.iter().rev().filter(is_of_round).nth(round.accesses.len() - 1).copied();
            let from = own.partition_point(|index| first.is_some_and(|first| *index < first));
            own[from..].iter().for_each(|index| repeats[*index] = true);
        }
    }
    repeats
}

/// What a step uses, as far as rounds of loops depend on it.
fn uses(step: &Taken, objects: &mut Objects) -> Vec<Use> {
    let address = step.words[0];
    match step.kind.size() as u64 {
        0 if step.kind == Kind::Busy => vec![objects.synchronisation(address, Mode::Busy)],
        0 if takes(step.kind) || gives_back(step.kind) => vec![objects.synchronisation(address, Mode::Any)],
        0 => Vec::new(),
        bytes => objects.access(address, bytes, step.writes()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::execution::step;
    use super::*;

    const READS: Kind = Kind::Load4;
    const WRITES: Kind = Kind::Store4;

    fn repeated(steps: &[Taken]) -> Vec<bool> {
        let mut objects = Objects::default();
        for step in steps.iter().filter(|step| step.kind.size() > 0) {
            objects.see(step.thread, step.words[0], 4);
            objects.see(9, step.words[0], 4); // another thread has accessed it in another run
        }
        repeats(steps, &mut objects)
    }

    /// One round of a loop that asks for a word under a lock.
    fn polls(value: u64) -> [Taken; 3] {
        [step(1, Kind::Acquire, 10, 64, 0), step(1, READS, 11, 128, value), step(1, Kind::Release, 12, 64, 0)]
    }

    #[test]
    fn a_loop_that_asks_under_a_lock_repeats_until_it_finds_something_else() {
        let steps = [polls(0), polls(0), polls(0), polls(1)].concat();
        let expected = [false, false, false, true, true, true, true, true, true, false, false, false];
        assert_eq!(repeated(&steps), expected);
    }

    #[test]
    fn a_round_that_keeps_a_lock_is_not_over() {
        let keeps = [step(1, Kind::Acquire, 10, 64, 0), step(1, READS, 11, 128, 0)];
        assert!(!repeated(&[keeps, keeps].concat()).contains(&true));
        let locks_alone = [step(1, Kind::Acquire, 10, 64, 0), step(1, Kind::Release, 12, 64, 0)];
        assert!(!repeated(&[locks_alone, locks_alone].concat()).contains(&true), "it finds nothing that others change");
        let other = [step(1, Kind::Acquire, 10, 64, 0), step(1, READS, 11, 128, 0), step(1, Kind::Release, 12, 72, 0)];
        assert!(!repeated(&[other, other].concat()).contains(&true), "it gives back another lock");
    }

    #[test]
    fn a_word_may_be_a_lock_that_a_round_takes_and_gives_back() {
        let updates = |place, old, new| Taken { words: [64, old, new, 0], ..step(1, Kind::Update4, place, 64, old) };
        let round = |found| [updates(10, 0, 1), step(1, READS, 11, 128, found), updates(12, 1, 0)];
        assert_eq!(repeated(&[round(0), round(0), round(1)].concat())[3..], [true, true, true, false, false, false]);
        let stored = [updates(10, 0, 1), step(1, READS, 11, 128, 0), step(1, WRITES, 12, 64, 0)];
        assert_eq!(repeated(&[stored, stored].concat())[3..], [true, true, true], "it is given back by a plain write");
        let counts = |old| [updates(10, old, old + 1), step(1, READS, 11, 128, 0)];
        assert!(!repeated(&[counts(0), counts(1)].concat()).contains(&true), "it counts its rounds");
        let alone = [updates(10, 0, 1), updates(12, 1, 0)];
        assert!(!repeated(&[alone, alone].concat()).contains(&true), "it finds nothing that others change");
    }

    #[test]
    fn a_round_that_finds_what_another_thread_has_changed_is_none_that_repeats() {
        let reads = |value| step(1, READS, 11, 128, value);
        let writes = |value| step(2, WRITES, 20, 128, value);
        assert_eq!(repeated(&[reads(0), reads(0), writes(1), reads(1), reads(1)]), [false, true, false, false, true]);
        assert_eq!(
            repeated(&[reads(0), reads(0), writes(0), reads(0)]),
            [false, true, false, true],
            "it finds the same"
        );
        let elsewhere = step(2, WRITES, 20, 256, 1);
        assert_eq!(repeated(&[reads(0), elsewhere, reads(0)]), [false, false, true]);
        let counts = |value| step(1, WRITES, 12, 128, value);
        assert!(!repeated(&[reads(0), counts(1), reads(1), counts(2)]).contains(&true), "it changes what it reads");
    }
}

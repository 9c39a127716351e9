//! Flags that threads own, as they own a lock: `if (!busy) busy = true` under a lock, and `busy = false` by the same thread later, perhaps
//! in another critical section. The parts between the two exclude each other, though no lock is held throughout.
//!
//! A variable is such a flag if it has a value, *free*, such that each write of another value by a thread that does not own it
//!
//! - follows a read by the same thread in the same critical section of one lock, the same for all, and conditions between the two
//!   exclude that the read returned anything but *free* (a *tested* write), or
//! - comes before all that other threads do to own it (a write to memory that no other thread knows yet);
//!
//! and each write of *free* is the owner's, or comes before all these, too, or is tested.
//!
//! Lemma: in every prefix of the model the flag is not *free* exactly while some thread owns it, and that is one thread. Proof, by the
//! writes in their order. At a tested write the read returned *free*, so no thread owned the flag; until the write only an owner or a
//! tested write in another section of the lock could have changed that, and there is no owner, and the lock is held. A write that comes before
//! all that others do to own it finds no other owner. An owner's writes change nothing for others, up to the one of *free*.
//!
//! So no thread owns the flag between two events of the time in which another one owns it. Where the owner gives the flag back in
//! a critical section of the same lock, no other thread owns it before the end of that section.

use super::forced_reads::{ReadRule, Reads};
use super::inferred_locks::InferredLocks;
use super::regions::{RegionsByThread, region_around};
use foretrace_index::{MustHappenBefore, Region, TraceIndex};
use foretrace_trace::{EventId, Op, SyncId, ThreadId, Trace, Triple, Value, VarId};
use rustc_hash::FxHashMap;
use std::cell::Cell;

/// Flags of a trace that are looked for.
const MOST_FLAGS: usize = 256;
/// Different values of a flag.
const MOST_VALUES: usize = 8;
/// Accesses of a variable that may be a flag.
const MOST_ACCESSES: usize = 1 << 14;
/// Locks that are looked at for one variable, and writes around which they are looked for.
const MOST_LOCKS: usize = 4;
const MOST_WRITES: usize = 16;
/// Accesses that are looked at for all variables together, each once for a value and a lock.
const MOST_LOOKS: usize = 1 << 22;
/// Pairs of a write without a test and what it must come before.
const MOST_PAIRS: usize = 1 << 14;

/// What a thread may own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Flag {
    Variable(VarId),
    /// A lock that the program makes, by its number.
    Lock(usize),
}

/// Who owns which flag when.
#[derive(Debug, Default)]
pub struct Flags {
    /// The flags that a thread owns at some time.
    of_thread: FxHashMap<ThreadId, Vec<Flag>>,
    /// When, in program order.
    owned: FxHashMap<(Flag, ThreadId), Vec<Owned>>,
}

/// From a write that makes the thread the owner on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Owned {
    from: EventId,
    /// Up to this event, where the thread gives the flag back.
    to: Option<EventId>,
    /// Others may own it at the same time that share it, too: it is a lock for readers and writers.
    shared: bool,
}

impl Owned {
    fn holds(&self, event: EventId) -> bool {
        self.from <= event && self.to.is_none_or(|to| event <= to)
    }
}

impl Flags {
    /// The flags of a trace, by what a rule for reads says of them and the orders that hold with it.
    pub fn new(
        trace: &Trace,
        trace_index: &TraceIndex,
        reads: &Reads<'_>,
        rule: ReadRule,
        clocks: &MustHappenBefore,
    ) -> Flags {
        let mut flags = Flags::default();
        let mut count = 0;
        let looks = Cell::new(MOST_LOOKS);
        for (var, accesses) in trace_index.accesses.iter().enumerate() {
            if count == MOST_FLAGS || matches!(rule, ReadRule::Free | ReadRule::SameWrite) {
                break;
            }
            let var = VarId::from_index(var);
            let search = Search { trace, reads, rule, clocks, var, accesses, looks: &looks };
            let Some(found) = search.flag() else { continue };
            count += 1;
            for (thread, owned) in found {
                let flag = Flag::Variable(var);
                flags.of_thread.entry(thread).or_default().push(flag);
                flags.owned.entry((flag, thread)).or_default().push(owned);
            }
        }
        for own in flags.of_thread.values_mut() {
            own.dedup();
        }
        flags
    }

    /// The stretches in which threads own each flag, as sections of further locks: the first has this number. They exclude each other as those of a
    /// mutex do: an owner lets others test the flag at the end of its stretch, not before.
    pub(super) fn sections(&self, trace: &Trace, first: usize) -> RegionsByThread {
        let mut flags: Vec<Flag> = self.of_thread.values().flatten().copied().collect();
        flags.sort_unstable();
        flags.dedup();
        let of_flag = |(number, flag): (usize, Flag)| {
            let lock = SyncId::from_index(first + number);
            let of_thread = |thread: ThreadId| {
                let owned = self.owned.get(&(flag, thread)).into_iter().flatten();
                owned.map(|owned| Region { lock, thread, shared: false, start: owned.from, end: owned.to }).collect()
            };
            (0..trace.threads.len()).map(|thread| of_thread(ThreadId(thread as u32))).collect()
        };
        flags.into_iter().enumerate().map(of_flag).collect()
    }

    /// Adds locks that the program makes of variables.
    pub(super) fn add_locks(&mut self, locks: &InferredLocks) {
        for (number, by_thread) in locks.sections.iter().enumerate() {
            let lock = Flag::Lock(number);
            for section in by_thread.iter().flatten() {
                let own = self.of_thread.entry(section.thread).or_default();
                if own.last() != Some(&lock) {
                    own.push(lock);
                }
                let owned = Owned { from: section.start, to: section.end, shared: section.shared };
                self.owned.entry((lock, section.thread)).or_default().push(owned);
            }
        }
    }

    /// Whether the thread of first and second owns a flag all the time between them, and remote's thread owns it at remote.
    pub fn refutes(&self, trace: &Trace, triple: Triple) -> bool {
        let Triple { first, remote, second } = triple;
        let [own, other] = [first, remote].map(|event| trace.event(event).thread);
        let around = |flag: Flag, thread: ThreadId, event: EventId| {
            let all = self.owned.get(&(flag, thread))?;
            let before = all.partition_point(|owned| owned.from <= event);
            all[..before].last().filter(|owned| owned.holds(event))
        };
        self.of_thread.get(&own).into_iter().flatten().any(|flag| {
            let owned = around(*flag, own, first).filter(|owned| owned.holds(second));
            let others = || around(*flag, other, remote);
            owned.is_some_and(|owned| others().is_some_and(|others| !(owned.shared && others.shared)))
        })
    }
}

/// Looks whether one variable is a flag.
struct Search<'a, 'r> {
    trace: &'a Trace,
    reads: &'a Reads<'r>,
    rule: ReadRule,
    clocks: &'a MustHappenBefore,
    var: VarId,
    accesses: &'a [EventId],
    /// Accesses that may still be looked at.
    looks: &'a Cell<usize>,
}

/// What threads do with a variable, if it is a flag.
#[derive(Default)]
struct Uses {
    owned: Vec<(ThreadId, Owned)>,
    /// What begins each ownership: the read that tests, or the write where there is none.
    begins: Vec<(ThreadId, EventId)>,
    /// Writes that are neither tested nor an owner's.
    untested: Vec<(ThreadId, EventId)>,
    tests: usize,
}

impl Search<'_, '_> {
    fn flag(&self) -> Option<Vec<(ThreadId, Owned)>> {
        if self.accesses.len() > MOST_ACCESSES {
            return None;
        }
        let mut values: Vec<&Value> = vec![self.trace.vars[self.var.index()].init.as_ref()?];
        let mut writers: Vec<ThreadId> = Vec::new();
        for event in self.accesses {
            let access = self.trace.event(*event);
            match access.op {
                Op::Write { .. } => {
                    let value = self.reads.literal(*event)?;
                    if !values.contains(&value) {
                        values.push(value);
                    }
                    if !writers.contains(&access.thread) {
                        writers.push(access.thread);
                    }
                }
                Op::Rmw { .. } => return None,
                _ => {}
            }
        }
        if writers.len() < 2 || values.len() < 2 || values.len() > MOST_VALUES {
            return None;
        }
        let locks = self.locks();
        let of = |free: &Value, lock: SyncId| self.uses(free, &values, lock).filter(|uses| self.is_flag(uses));
        let found = values.iter().find_map(|free| locks.iter().find_map(|lock| of(free, *lock)))?;
        Some(found.owned)
    }

    /// Locks that are held around a write.
    fn locks(&self) -> Vec<SyncId> {
        let mut locks: Vec<SyncId> = Vec::new();
        let writes = self.accesses.iter().filter(|event| self.trace.event(**event).op.writes());
        for write in writes.take(MOST_WRITES) {
            for lock in (0..self.reads.regions().len()).map(SyncId::from_index) {
                if locks.len() < MOST_LOCKS && !locks.contains(&lock) && self.region(lock, *write).is_some() {
                    locks.push(lock);
                }
            }
            if locks.len() == MOST_LOCKS {
                break;
            }
        }
        locks
    }

    /// The critical section of a lock that an event is in, if no other thread can be in one then.
    fn region(&self, lock: SyncId, event: EventId) -> Option<Region> {
        let own = self.reads.regions().get(lock.index())?.get(self.trace.event(event).thread.index())?;
        region_around(own, event).filter(|region| !region.shared)
    }

    /// What threads do with the variable, if this value means that it is free and this lock is held around tests.
    fn uses(&self, free: &Value, values: &[&Value], lock: SyncId) -> Option<Uses> {
        struct Own {
            owner_since: Option<EventId>,
            read: Option<EventId>,
        }
        self.looks.set(self.looks.get().checked_sub(self.accesses.len())?);
        let mut threads: FxHashMap<ThreadId, Own> = FxHashMap::default();
        let mut uses = Uses::default();
        for event in self.accesses {
            let access = self.trace.event(*event);
            let thread = access.thread;
            let own = threads.entry(thread).or_insert(Own { owner_since: None, read: None });
            if !access.op.writes() {
                own.read = Some(*event);
                continue;
            }
            let is_free = self.reads.literal(*event)? == free;
            let test = own.read.take().filter(|read| self.is_tested(*read, *event, (free, values), lock));
            match (own.owner_since, is_free) {
                (Some(from), true) => {
                    let to = self.region(lock, *event).map_or(Some(*event), |region| region.end);
                    uses.owned.push((thread, Owned { from, to, shared: false }));
                    own.owner_since = None;
                }
                (Some(_), false) => {}
                (None, true) if test.is_some() => {}
                (None, true) => uses.untested.push((thread, *event)),
                (None, false) => {
                    own.owner_since = Some(*event);
                    uses.begins.push((thread, test.unwrap_or(*event)));
                    match test {
                        Some(_) => uses.tests += 1,
                        None => uses.untested.push((thread, *event)),
                    }
                }
            }
        }
        let last = threads.into_iter().filter_map(|(thread, own)| Some((thread, own.owner_since?)));
        uses.owned.extend(last.map(|(thread, from)| (thread, Owned { from, to: None, shared: false })));
        uses.owned.sort_by_key(|(_, owned)| owned.from);
        Some(uses)
    }

    /// Whether the read returned the free value in every prefix with the write, and no other thread is in a section of the lock between the two.
    fn is_tested(&self, read: EventId, write: EventId, (free, values): (&Value, &[&Value]), lock: SyncId) -> bool {
        let region = self.region(lock, read);
        let is_one = region.is_some() && region == self.region(lock, write);
        let mut others = values.iter().filter(|value| **value != free);
        is_one && others.all(|value| self.reads.excludes(self.rule, read, write, value))
    }

    /// Whether writes without a test come before all that other threads do to own the variable.
    fn is_flag(&self, uses: &Uses) -> bool {
        let comes_first = |(thread, write): &(ThreadId, EventId)| {
            let mut others = uses.begins.iter().filter(|(other, _)| other != thread);
            others.all(|(_, begin)| self.clocks.before(*write, *begin))
        };
        uses.tests > 0 && uses.untested.len() * uses.begins.len() <= MOST_PAIRS && uses.untested.iter().all(comes_first)
    }
}

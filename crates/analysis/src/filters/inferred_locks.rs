//! Locks that a program makes of one variable: `while (exchange(&l, 1)) {}` or `while (!compare_exchange(&l, 0, 1)) {}` takes it, `l = 0`
//! gives it back.
//!
//! A variable is such a lock if it has a value, *free*, so that for all of its writes holds:
//!
//! - An rmw of a thread that does not own the lock writes *free* only if it read *free*. If conditions before the thread's next write say
//!   that it did, and if it wrote another value, the thread owns the lock from there on.
//! - A write of an owner writes *free*, and gives the lock back, or another value, and changes nothing.
//! - All other writes are one thread's, come before all rmw, and the last of them writes *free*. Where there are none, *free* is the initial value.
//!
//! Lemma: in every prefix of the model the variable is not *free* exactly while some thread owns it, and that is one thread. Proof, by the
//! writes in their order. An rmw that reads *free* finds no owner, and its thread is the next. One that reads another value leaves
//! another value. Where no condition in the prefix says what it read, its thread may own the lock without our knowledge. It never gives
//! the lock back then: later it makes rmw alone, each of which finds another value than *free* and leaves one. So only threads that are known to own
//! the lock give it back.
//!
//! So two threads do not own it at once. A thread's section starts where it is known to own the lock, at the condition, and ends at the first
//! write that may give the lock back. Such sections exclude each other as those of a mutex do. In a prefix with the condition the
//! thread owned the lock from the rmw on.

use super::forced_reads::{ReadRule, Reads};
use super::regions::RegionsByThread;
use foretrace_index::{MustHappenBefore, Region, TraceIndex};
use foretrace_trace::{EventId, Observed, Op, SyncId, ThreadId, Trace, Value, VarId};
use rustc_hash::FxHashMap;

/// Locks that are looked for in one trace.
const MOST_LOCKS: usize = 256;
/// Different values of a variable that may be a lock.
const MOST_VALUES: usize = 16;
/// Accesses of such a variable.
const MOST_ACCESSES: usize = 1 << 16;
/// Pairs of a write and a value that are looked at for all variables together.
const MOST_LOOKS: usize = 1 << 21;

/// The locks that the trace's variables turn out to be.
#[derive(Debug, Default)]
pub(super) struct InferredLocks {
    /// The variable of each lock: of a ticket lock the one that says whose turn it is.
    pub vars: Vec<VarId>,
    /// Its sections by thread. The numbers of these locks follow on those of the trace's own locks.
    pub sections: RegionsByThread,
    /// For the start of a section, a condition: the rmw or read from which on the thread owned the lock.
    pub taken_at: FxHashMap<EventId, EventId>,
}

impl InferredLocks {
    /// Those of a trace, by what a rule for reads says of them and the orders that hold in every prefix.
    pub fn new(
        (trace, trace_index, observed): (&Trace, &TraceIndex, &Observed),
        reads: &Reads<'_>,
        rule: ReadRule,
        clocks: &MustHappenBefore,
    ) -> InferredLocks {
        let mut found = InferredLocks::default();
        if matches!(rule, ReadRule::Free | ReadRule::SameWrite) {
            return found;
        }
        let mut looks = MOST_LOOKS;
        for (var, accesses) in trace_index.accesses.iter().enumerate() {
            if found.vars.len() == MOST_LOCKS {
                break;
            }
            let lock = SyncId::from_index(trace.syncs.len() + found.vars.len());
            let var = VarId::from_index(var);
            let of_var = Writes::new((trace, observed), reads, rule, (var, accesses), &mut looks);
            let Some(by_thread) = of_var.and_then(|writes| writes.sections(lock, clocks)) else { continue };
            found.add(var, by_thread);
        }
        found
    }

    /// Adds a lock with its sections by thread.
    pub(super) fn add(&mut self, var: VarId, by_thread: Vec<Vec<Section>>) {
        self.vars.push(var);
        self.taken_at.extend(by_thread.iter().flatten().map(|section| (section.known.start, section.taken_at)));
        let known = |own: Vec<Section>| own.into_iter().map(|section| section.known).collect();
        self.sections.push(by_thread.into_iter().map(known).collect());
    }
}

/// A stretch in which a thread owns a lock.
pub(super) struct Section {
    /// The rmw or read that took it.
    pub taken_at: EventId,
    /// From the event on in whose presence that is known.
    pub known: Region,
}

/// What one write may do.
struct Write {
    event: EventId,
    is_rmw: bool,
    /// Per value of the variable, what the write leaves if it finds that one; nothing where it cannot find it.
    leaves: Vec<Option<usize>>,
    /// The values that it may have found, where the thread has made its next write.
    found: Vec<bool>,
}

/// The writes of one variable that has few values.
struct Writes<'a, 'r> {
    trace: &'a Trace,
    reads: &'a Reads<'r>,
    rule: ReadRule,
    values: Vec<Value>,
    initial: Option<usize>,
    by_thread: Vec<(ThreadId, Vec<Write>)>,
}

impl<'a, 'r> Writes<'a, 'r> {
    fn new(
        (trace, observed): (&'a Trace, &Observed),
        reads: &'a Reads<'r>,
        rule: ReadRule,
        (var, accesses): (VarId, &[EventId]),
        looks: &mut usize,
    ) -> Option<Writes<'a, 'r>> {
        let events: Vec<EventId> = accesses.iter().copied().filter(|event| trace.event(*event).op.writes()).collect();
        let is_rmw = |event: EventId| matches!(trace.event(event).op, Op::Rmw { .. });
        let several = || {
            let thread = |event: &EventId| trace.event(*event).thread;
            let mut by_rmw = events.iter().filter(|event| is_rmw(**event)).map(thread);
            let first = by_rmw.next();
            first.is_some_and(|first| by_rmw.any(|other| other != first))
        };
        if accesses.len() > MOST_ACCESSES || !several() {
            return None;
        }
        let mut values: Vec<Value> = trace.vars[var.index()].init.iter().cloned().collect();
        let initial = values.first().map(|_| 0);
        // A counter shows by its recorded values that it is no lock.
        for event in &events {
            add(&mut values, observed.written(*event)?.clone())?;
        }
        let mut leaves: Vec<Vec<Option<usize>>> = vec![Vec::new(); events.len()];
        let mut at = 0;
        while at < values.len() {
            *looks = looks.checked_sub(events.len())?;
            for (number, event) in events.iter().enumerate() {
                let finds = !is_rmw(*event) || !reads.excludes(rule, *event, *event, &values[at]);
                let left = match (finds, is_rmw(*event)) {
                    (false, _) => None,
                    (true, true) => Some(reads.stored(*event, &values[at])?),
                    (true, false) => Some(reads.literal(*event)?.clone()),
                };
                let left = match left {
                    Some(value) => Some(add(&mut values, value)?),
                    None => None,
                };
                leaves[number].push(left);
            }
            at += 1;
        }
        let mut threads: FxHashMap<ThreadId, usize> = FxHashMap::default();
        let mut by_thread: Vec<(ThreadId, Vec<Write>)> = Vec::new();
        for (event, leaves) in events.into_iter().zip(leaves) {
            let thread = trace.event(event).thread;
            let at = *threads.entry(thread).or_insert_with(|| {
                by_thread.push((thread, Vec::new()));
                by_thread.len() - 1
            });
            by_thread[at].1.push(Write { event, is_rmw: is_rmw(event), leaves, found: Vec::new() });
        }
        for (_, own) in &mut by_thread {
            for at in 0..own.len() {
                let next = own.get(at + 1).map_or(EventId(u32::MAX), |next| next.event);
                let write = &own[at];
                let may_find = |(number, value): (usize, &Value)| {
                    write.leaves[number].is_some() && !(write.is_rmw && reads.excludes(rule, write.event, next, value))
                };
                own[at].found = values.iter().enumerate().map(may_find).collect();
            }
        }
        Some(Writes { trace, reads, rule, values, initial, by_thread })
    }

    /// The sections of the lock that the variable is, by thread, if it is one that several threads own.
    fn sections(&self, lock: SyncId, clocks: &MustHappenBefore) -> Option<Vec<Vec<Section>>> {
        (0..self.values.len()).find_map(|free| {
            let mut by_thread: Vec<Vec<Section>> = self.trace.threads.iter().map(|_| Vec::new()).collect();
            let mut others: Vec<(EventId, usize)> = Vec::new();
            for (thread, own) in &self.by_thread {
                by_thread[thread.index()] = self.of_thread((*thread, own), (lock, free), &mut others)?;
            }
            let owners = by_thread.iter().filter(|own| !own.is_empty()).count();
            (owners > 1 && self.begins_free(free, &others, clocks)).then_some(by_thread)
        })
    }

    /// One thread's sections, if this value means that the lock is free. Writes of a thread that does not own the lock, and that are no
    /// rmw, are added to `others`, with what they write.
    fn of_thread(
        &self,
        (thread, own): (ThreadId, &[Write]),
        (lock, free): (SyncId, usize),
        others: &mut Vec<(EventId, usize)>,
    ) -> Option<Vec<Section>> {
        let mut sections: Vec<Section> = Vec::new();
        let mut owns = false;
        for (at, write) in own.iter().enumerate() {
            let taken = || (0..self.values.len()).filter(|value| *value != free);
            if owns {
                let gives = |value: usize| write.leaves[value].map(|left| left == free);
                let open = sections.last_mut().filter(|section| section.known.end.is_none());
                if let Some(open) = open.filter(|_| taken().any(|value| gives(value) == Some(true))) {
                    open.known.end = Some(write.event);
                }
                let mut known = taken().filter(|value| write.found[*value]).filter_map(gives);
                let first = known.next();
                if known.any(|gives| Some(gives) != first) && at + 1 < own.len() {
                    return None; // nobody can tell whether it gave the lock back
                }
                owns = first != Some(true);
            } else if write.is_rmw {
                if taken().any(|value| write.leaves[value] == Some(free)) {
                    return None;
                }
                let takes = write.leaves[free].is_some_and(|left| left != free);
                let found_taken = taken().any(|value| write.found[value]);
                if takes && write.found[free] && !found_taken {
                    let start = self.known_at(write, free)?;
                    let known = Region { lock, thread, shared: false, start, end: None };
                    sections.push(Section { taken_at: write.event, known });
                    owns = true;
                }
            } else {
                others.push((write.event, write.leaves[free]?));
            }
        }
        Some(sections)
    }

    /// The first event in whose presence the rmw found `free`.
    fn known_at(&self, write: &Write, free: usize) -> Option<EventId> {
        let excluded = |value: usize, at: EventId| {
            write.leaves[value].is_none() || self.reads.excludes(self.rule, write.event, at, &self.values[value])
        };
        let known = |at: &EventId| (0..self.values.len()).all(|value| value == free || excluded(value, *at));
        let conditions = self.reads.condition_events(self.rule, write.event);
        std::iter::once(write.event).chain(conditions).filter(known).min()
    }

    /// Whether these writes of threads that do not own the lock leave it free before any thread may take it.
    fn begins_free(&self, free: usize, others: &[(EventId, usize)], clocks: &MustHappenBefore) -> bool {
        let Some((last, left)) = others.iter().max() else { return self.initial == Some(free) };
        let thread = |event: EventId| self.trace.event(event).thread;
        let all = self.by_thread.iter().flat_map(|(_, own)| own.iter().find(|write| write.is_rmw));
        *left == free
            && others.iter().all(|(event, _)| thread(*event) == thread(*last))
            && all.into_iter().all(|rmw| clocks.before(*last, rmw.event))
    }
}

/// The number of a value among `values`, added if it is new; nothing if there are too many.
fn add(values: &mut Vec<Value>, value: Value) -> Option<usize> {
    if let Some(known) = values.iter().position(|other| *other == value) {
        return Some(known);
    }
    values.push(value);
    (values.len() <= MOST_VALUES).then_some(values.len() - 1)
}

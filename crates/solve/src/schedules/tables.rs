//! Regions, writes and reads, each in the order of its thread.

use crate::partial_order::{AtomId, NodeId};
use foretrace_trace::{EventId, SyncId, VarId};
use rustc_hash::FxHashMap;
use std::ops::Range;

pub(super) type RegionId = u32;
pub(super) type WriteId = u32;
pub(super) type ReadId = u32;
pub(crate) type WakeId = u32;
pub(super) type SignalId = u32;

/// An event: its step, its place, and by what it is known to be part of the prefix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct At {
    pub(super) node: NodeId,
    pub(super) thread: u32,
    /// Where its step begins.
    pub(super) step: u32,
    pub(super) position: u32,
    /// The position of the event whose inclusion stands for its own, and that one's atom; none: every execution holds it.
    pub(super) included: u32,
    pub(super) atom: AtomId,
}

/// A region of a lock.
#[derive(Clone, Copy)]
pub(super) struct Region {
    pub(super) lock: u32,
    pub(super) shared: bool,
    pub(super) start: At,
    pub(super) end: Option<At>,
}

/// A write.
pub(super) struct Write {
    pub(super) event: EventId,
    pub(super) var: VarId,
    pub(super) at: At,
    /// The reads that take their values from it, as far as is decided.
    pub(super) readers: Vec<ReadId>,
}

/// A read.
#[derive(Clone, Copy)]
pub(super) struct Read {
    pub(super) event: EventId,
    pub(super) var: VarId,
    pub(super) at: At,
    /// Where its value comes from, and the atom that says so.
    pub(super) source: Option<(WriteId, AtomId)>,
}

/// A wake that needs a signal.
pub(super) struct Wake {
    pub(super) event: EventId,
    pub(super) cond: SyncId,
    pub(super) wait: At,
    pub(super) at: At,
    /// How many signals were decided to be its own.
    pub(super) released: u32,
}

/// A signal or a broadcast.
pub(super) struct Signal {
    pub(super) event: EventId,
    pub(super) cond: SyncId,
    pub(super) at: At,
    pub(super) serves_all: bool,
    /// The wake that was decided to have it, and the atom that says so.
    pub(super) taken: Option<(WakeId, AtomId)>,
}

/// What begins to count with an event of the prefix.
#[derive(Clone, Copy)]
pub(super) enum Thing {
    Region(RegionId),
    Write(WriteId),
}

/// What a step has to do with locks and variables, in the order of its events.
#[derive(Clone, Copy)]
pub(super) enum Role {
    Start(RegionId),
    End(RegionId),
    Read(ReadId),
    Write(WriteId),
    Wait(WakeId),
    Wake(WakeId),
    Signal(SignalId),
}

/// Regions of a lock in one thread, and those of them that do not share it.
#[derive(Clone, Default)]
struct OfThread {
    all: Vec<RegionId>,
    exclusive: Vec<RegionId>,
}

/// A variable: its writes thread by thread, and its reads that have a source.
#[derive(Default)]
struct Variable {
    writes: Vec<Vec<WriteId>>,
    sourced: Vec<ReadId>,
}

/// All of them.
#[derive(Default)]
pub(super) struct Tables {
    threads: usize,
    pub(super) regions: Vec<Region>,
    pub(super) writes: Vec<Write>,
    pub(super) reads: Vec<Read>,
    pub(super) wakes: Vec<Wake>,
    pub(super) signals: Vec<Signal>,
    signal_of: FxHashMap<EventId, SignalId>,
    lock_of: FxHashMap<SyncId, u32>,
    locks: Vec<Vec<OfThread>>,
    /// Per thread: the locks that it has regions of.
    locks_of: Vec<Vec<u32>>,
    /// Per thread, by where their steps begin: the reads that have a source, and the writes that are one.
    sourced_in: Vec<Vec<(u32, ReadId)>>,
    sources_in: Vec<Vec<(u32, WriteId)>>,
    vars: FxHashMap<VarId, Variable>,
    write_of: FxHashMap<EventId, WriteId>,
    read_of: FxHashMap<EventId, ReadId>,
    /// Per thread, by position: what begins to count when the prefix holds the event there.
    things: Vec<Vec<(u32, Thing)>>,
    /// Per node, by position.
    roles: Vec<Vec<(u32, Role)>>,
}

impl Tables {
    pub(super) fn new(threads: usize) -> Tables {
        Tables {
            threads,
            locks_of: vec![Vec::new(); threads],
            sourced_in: vec![Vec::new(); threads],
            sources_in: vec![Vec::new(); threads],
            things: vec![Vec::new(); threads],
            ..Tables::default()
        }
    }

    pub(super) fn add_region(&mut self, lock: SyncId, shared: bool, start: At, end: Option<At>) -> RegionId {
        let id = self.regions.len() as RegionId;
        let locks = self.lock_of.len() as u32;
        let lock = *self.lock_of.entry(lock).or_insert(locks);
        if lock == locks {
            self.locks.push(vec![OfThread::default(); self.threads]);
        }
        let own = &mut self.locks[lock as usize][start.thread as usize];
        if own.all.is_empty() {
            self.locks_of[start.thread as usize].push(lock);
        }
        let regions = &self.regions;
        let by_start = |region: &RegionId| regions[*region as usize].start.position;
        for list in [Some(&mut own.all), (!shared).then_some(&mut own.exclusive)].into_iter().flatten() {
            let place = list.partition_point(|region| by_start(region) < start.position);
            list.insert(place, id);
        }
        self.regions.push(Region { lock, shared, start, end });
        self.add_thing(start, Thing::Region(id));
        self.add_role(start, Role::Start(id));
        if let Some(end) = end {
            self.add_role(end, Role::End(id));
        }
        id
    }

    pub(super) fn add_write(&mut self, event: EventId, var: VarId, at: At) -> WriteId {
        let id = self.writes.len() as WriteId;
        let threads = self.threads;
        let variable = self.vars.entry(var).or_default();
        variable.writes.resize(threads, Vec::new());
        let own = &mut variable.writes[at.thread as usize];
        let place = own.partition_point(|write| self.writes[*write as usize].at.position < at.position);
        own.insert(place, id);
        self.writes.push(Write { event, var, at, readers: Vec::new() });
        self.write_of.insert(event, id);
        self.add_thing(at, Thing::Write(id));
        self.add_role(at, Role::Write(id));
        id
    }

    pub(super) fn add_read(&mut self, event: EventId, var: VarId, at: At) -> ReadId {
        let id = self.reads.len() as ReadId;
        self.reads.push(Read { event, var, at, source: None });
        self.read_of.insert(event, id);
        self.vars.entry(var).or_default().writes.resize(self.threads, Vec::new());
        self.add_role(at, Role::Read(id));
        id
    }

    pub(super) fn add_wake(&mut self, event: EventId, cond: SyncId, wait: At, at: At) -> WakeId {
        let id = self.wakes.len() as WakeId;
        self.wakes.push(Wake { event, cond, wait, at, released: 0 });
        self.add_role(wait, Role::Wait(id));
        self.add_role(at, Role::Wake(id));
        id
    }

    /// The number of a signal, which may be told already.
    pub(super) fn signal(&mut self, event: EventId, cond: SyncId, at: At, serves_all: bool) -> SignalId {
        if let Some(known) = self.signal_of.get(&event) {
            return *known;
        }
        let id = self.signals.len() as SignalId;
        self.signals.push(Signal { event, cond, at, serves_all, taken: None });
        self.signal_of.insert(event, id);
        self.add_role(at, Role::Signal(id));
        id
    }

    fn add_thing(&mut self, at: At, thing: Thing) {
        let things = &mut self.things[at.thread as usize];
        let place = things.partition_point(|(position, _)| *position <= at.included);
        things.insert(place, (at.included, thing));
    }

    fn add_role(&mut self, at: At, role: Role) {
        let node = at.node as usize;
        self.roles.resize(self.roles.len().max(node + 1), Vec::new());
        let roles = &mut self.roles[node];
        // An access reads before it writes.
        let rank = |position: u32, role: &Role| (position, matches!(role, Role::Write(_)));
        let place = roles.partition_point(|(other, known)| rank(*other, known) <= rank(at.position, &role));
        roles.insert(place, (at.position, role));
    }

    pub(super) fn read_of(&self, event: EventId) -> ReadId {
        self.read_of[&event]
    }

    pub(super) fn write_of(&self, event: EventId) -> WriteId {
        self.write_of[&event]
    }

    /// What begins to count when the prefix grows from so many events of the thread to so many.
    pub(super) fn included_between(&self, thread: u32, old: u32, new: u32) -> impl Iterator<Item = Thing> + '_ {
        let things = &self.things[thread as usize];
        let begin = things.partition_point(|(position, _)| *position < old);
        things[begin..].iter().take_while(move |(position, _)| *position < new).map(|(_, thing)| *thing)
    }

    /// The thread's regions that start before this position and do not end before it.
    pub(super) fn regions_over(&self, thread: u32, position: u32) -> impl Iterator<Item = RegionId> + '_ {
        let last = move |lock: &Vec<OfThread>| {
            let all = &lock[thread as usize].all;
            let before = all.partition_point(|region| self.regions[*region as usize].start.included < position);
            before.checked_sub(1).map(|last| all[last])
        };
        self.locks.iter().filter_map(last)
    }

    /// How many roles a node has.
    pub(super) fn roles(&self, node: NodeId) -> usize {
        self.roles.get(node as usize).map_or(0, Vec::len)
    }

    pub(super) fn role(&self, node: NodeId, nth: usize) -> Role {
        self.roles[node as usize][nth].1
    }

    /// The regions of the thread that cannot be held together with this one.
    pub(super) fn excluded_by(&self, region: RegionId, thread: u32) -> &[RegionId] {
        let Region { lock, shared, .. } = self.regions[region as usize];
        let OfThread { all, exclusive } = &self.locks[lock as usize][thread as usize];
        if shared { exclusive } else { all }
    }

    /// The locks that the thread has regions of.
    pub(super) fn locks_of(&self, thread: u32) -> &[u32] {
        &self.locks_of[thread as usize]
    }

    /// The thread's first region of the lock, and its first one that is not shared, that end in a step that begins at one of
    /// these positions.
    pub(super) fn first_ending_at(&self, lock: u32, thread: u32, at: &Range<u32>) -> [Option<RegionId>; 2] {
        let OfThread { all, exclusive } = &self.locks[lock as usize][thread as usize];
        let end = |region: &RegionId| self.regions[*region as usize].end.map_or(u32::MAX, |end| end.step);
        let first_of = |list: &[RegionId]| {
            let first = list.partition_point(|region| end(region) < at.start);
            list.get(first).copied().filter(|region| end(region) < at.end)
        };
        let first = first_of(all);
        match first {
            Some(region) if self.regions[region as usize].shared => [first, first_of(exclusive)],
            _ => [first, None],
        }
    }

    /// The thread's writes of the variable.
    pub(super) fn writes_of(&self, var: VarId, thread: u32) -> &[WriteId] {
        &self.vars[&var].writes[thread as usize]
    }

    /// The thread's first write of the variable in a step that begins at one of these positions.
    pub(super) fn first_write_at(&self, var: VarId, thread: u32, at: &Range<u32>) -> Option<WriteId> {
        let writes = self.writes_of(var, thread);
        let step = |write: &WriteId| self.writes[*write as usize].at.step;
        let first = writes.partition_point(|write| step(write) < at.start);
        writes.get(first).copied().filter(|write| step(write) < at.end)
    }

    /// Which of the thread's reads with a source are in steps that begin at these positions.
    pub(super) fn sourced_at(&self, thread: u32, at: &Range<u32>) -> Range<usize> {
        places(&self.sourced_in[thread as usize], at)
    }

    pub(super) fn nth_sourced(&self, thread: u32, nth: usize) -> ReadId {
        self.sourced_in[thread as usize][nth].1
    }

    /// Which of the thread's writes that are sources are in steps that begin at these positions.
    pub(super) fn sources_at(&self, thread: u32, at: &Range<u32>) -> Range<usize> {
        places(&self.sources_in[thread as usize], at)
    }

    pub(super) fn nth_source(&self, thread: u32, nth: usize) -> WriteId {
        self.sources_in[thread as usize][nth].1
    }

    /// The reads of the variable that have a source.
    pub(super) fn sourced(&self, var: VarId) -> &[ReadId] {
        &self.vars[&var].sourced
    }

    /// A read has a source.
    pub(super) fn set_source(&mut self, read: ReadId, write: WriteId, atom: AtomId) {
        let Read { var, at, source, .. } = &mut self.reads[read as usize];
        *source = Some((write, atom));
        insert(&mut self.sourced_in[at.thread as usize], (at.step, read));
        self.vars.entry(*var).or_default().sourced.push(read);
        if let Some(Write { at, readers, .. }) = self.writes.get_mut(write as usize) {
            if readers.is_empty() {
                insert(&mut self.sources_in[at.thread as usize], (at.step, write));
            }
            readers.push(read);
        }
    }

    /// The read that got a source last no longer has it.
    pub(super) fn forget_source(&mut self, read: ReadId) {
        let Read { var, at, source, .. } = &mut self.reads[read as usize];
        self.vars.entry(*var).or_default().sourced.pop();
        remove(&mut self.sourced_in[at.thread as usize], (at.step, read));
        let Some((write, _)) = source.take() else { return };
        if let Some(Write { at, readers, .. }) = self.writes.get_mut(write as usize) {
            readers.pop();
            if readers.is_empty() {
                remove(&mut self.sources_in[at.thread as usize], (at.step, write));
            }
        }
    }
}

/// Where the list has these positions.
fn places(list: &[(u32, u32)], at: &Range<u32>) -> Range<usize> {
    let below = |position: u32| list.partition_point(|(other, _)| *other < position);
    below(at.start)..below(at.end)
}

fn insert(list: &mut Vec<(u32, u32)>, entry: (u32, u32)) {
    let place = list.partition_point(|other| *other < entry);
    list.insert(place, entry);
}

fn remove(list: &mut Vec<(u32, u32)>, entry: (u32, u32)) {
    if let Ok(place) = list.binary_search(&entry) {
        list.remove(place);
    }
}

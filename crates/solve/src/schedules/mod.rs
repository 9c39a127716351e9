//! A theory of schedules: what locks exclude, what reads find and what wakes need, on top of a partial order of steps.
//!
//! Two rules add orders as soon as enough is known, so that no constraint speaks of pairs of regions or of two writes
//! and a read:
//! - A region of a lock that starts before another one of it ends is over before that one starts.
//! - Where a read takes its value from a write, every other write that comes before the read comes before that write, and
//!   every one that comes after the write comes after the read.
//!
//! Both are about events of the prefix only. Orders that are open at the end are tried out ([`execution`]): steps one by one, as locks and
//! pending reads allow. If no step is possible, the pairs that prevent it become atoms to decide. Otherwise reads find the latest write and
//! wakes are served ([`releases`]), unless it was decided otherwise.
//!
//! Sources: the from-read and lock rules of ordering consistency theories (He, Sun and Fan; Deagle), with lazily made atoms.

mod execution;
mod releases;
mod rules;
mod tables;
#[cfg(test)]
mod tests;

use super::partial_order::{AtomId, Because, Conflict, NONE, NodeId, PartialOrder, StepPosition};
pub(super) use execution::Executed;
use foretrace_trace::{EventId, SyncId, VarId};
pub(super) use tables::WakeId;
use tables::{ReadId, RegionId, SignalId, Tables, Thing, WriteId};

/// An event of a step, and whether the prefix holds it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    /// Its step's place.
    pub(super) place: StepPosition,
    /// Its own position in its thread.
    pub(super) position: u32,
    /// The event whose inclusion stands for its own: that one's position and atom.
    pub(super) included: Option<(u32, AtomId)>,
}

/// What an atom says.
#[derive(Clone, Copy)]
enum Meaning {
    Order,
    /// The prefix holds the events of the thread up to this position.
    Included {
        thread: u32,
        position: u32,
    },
    /// The read takes its value from the write, or the initial one.
    Source {
        read: ReadId,
        write: WriteId,
    },
    /// The wake has the signal.
    Release {
        wake: WakeId,
        signal: SignalId,
    },
}

/// How much of a thread the prefix holds, and by which atom.
#[derive(Clone, Copy)]
struct Reach {
    events: u32,
    atom: AtomId,
}

/// What is still to be looked at.
enum Task {
    Region(RegionId),
    Write(WriteId),
    Source(ReadId),
}

/// What a level began with.
struct Level {
    reached: usize,
    bounded: usize,
    sourced: usize,
    released: usize,
}

/// The theory's state.
#[derive(Default)]
pub(super) struct Schedules {
    /// The order of steps.
    pub(super) order: PartialOrder,
    meanings: Vec<Meaning>,
    tables: Tables,
    /// Per thread: what is in the prefix, more and more.
    reach: Vec<Vec<Reach>>,
    /// Per thread: from where on nothing is in the prefix, less and less.
    bounds: Vec<Vec<Reach>>,
    /// The threads of which less is.
    bounded: Vec<u32>,
    /// The threads of which more is in the prefix, and the reads with a source, in the order in which that was decided.
    reached: Vec<u32>,
    sourced: Vec<ReadId>,
    /// The wakes that have a signal, with it, in the order in which that was decided.
    released: Vec<(WakeId, SignalId)>,
    tasks: Vec<Task>,
    levels: Vec<Level>,
}

/// A pair that must be decided: does the first node come before the second?
pub(super) type Split = (NodeId, NodeId);

/// How one event stands to another.
enum Order {
    /// It comes before the other, by this path or by program order.
    Before(Split),
    /// It comes after the other in the same thread.
    AfterInThread,
    /// It is not known to come before the other.
    Unknown,
}

impl Schedules {
    /// No step yet, of so many threads.
    pub(super) fn new(threads: usize) -> Schedules {
        Schedules {
            order: PartialOrder::with_gains(threads),
            tables: Tables::new(threads),
            reach: vec![Vec::new(); threads],
            bounds: vec![Vec::new(); threads],
            ..Schedules::default()
        }
    }

    /// A new order atom, as [`PartialOrder::add_atom`].
    pub(super) fn add_atom(&mut self, earlier: StepPosition, later: StepPosition) -> AtomId {
        self.meanings.push(Meaning::Order);
        self.order.add_atom(earlier, later)
    }

    /// A new atom that says where it is true that one step comes before another. Nothing is known of the two.
    pub(super) fn add_split(&mut self, before: NodeId, after: NodeId) -> AtomId {
        self.meanings.push(Meaning::Order);
        self.order.add_implying(before, after)
    }

    /// A new atom: the prefix holds the thread's events up to this position.
    pub(super) fn add_included(&mut self, thread: u32, position: u32) -> AtomId {
        self.meanings.push(Meaning::Included { thread, position });
        self.order.add_fact()
    }

    /// A region of a lock, told once.
    pub(super) fn add_region(&mut self, lock: SyncId, shared: bool, start: Member, end: Option<Member>) {
        let start = self.at(start);
        let end = end.map(|end| self.at(end));
        let region = self.tables.add_region(lock, shared, start, end);
        if self.holds(start) {
            self.tasks.push(Task::Region(region));
        }
    }

    /// A write, told once.
    pub(super) fn add_write(&mut self, event: EventId, var: VarId, write: Member) {
        let at = self.at(write);
        let write = self.tables.add_write(event, var, at);
        if self.holds(at) {
            self.tasks.push(Task::Write(write));
        }
    }

    /// A read of a variable, told once.
    pub(super) fn add_read(&mut self, event: EventId, var: VarId, read: Member) {
        let at = self.at(read);
        self.tables.add_read(event, var, at);
    }

    /// A new atom: the read takes its value from the write, or the initial one. Both are told. That it is false is only implied
    /// where that is known already: [`Schedules::is_too_late`] tells of it later.
    pub(super) fn add_source(&mut self, read: EventId, write: Option<EventId>) -> AtomId {
        let read = self.tables.read_of(read);
        let write = write.map_or(NONE, |write| self.tables.write_of(write));
        self.meanings.push(Meaning::Source { read, write });
        let reader = self.tables.reads[read as usize].at;
        match self.tables.writes.get(write as usize).map(|write| write.at) {
            Some(writer) if writer.thread != reader.thread => self.order.add_silent(writer.node, reader.node),
            _ => self.order.add_fact(),
        }
    }

    /// A wake, told once.
    pub(super) fn add_wake(&mut self, event: EventId, cond: SyncId, wait: Member, wake: Member) -> WakeId {
        let (wait, wake) = (self.at(wait), self.at(wake));
        self.tables.add_wake(event, cond, wait, wake)
    }

    /// Two new atoms: the wake has this signal, which then comes before it; and the signal comes after the wait, which the first
    /// one is to imply.
    pub(super) fn add_release(&mut self, wake: WakeId, signal: EventId, at: Member, serves_all: bool) -> [AtomId; 2] {
        let at = self.at(at);
        let tables::Wake { cond, wait, at: woken, .. } = self.tables.wakes[wake as usize];
        let signal = self.tables.signal(signal, cond, at, serves_all);
        self.meanings.push(Meaning::Release { wake, signal });
        let released = self.order.add_implying(at.node, woken.node);
        self.meanings.push(Meaning::Order);
        [released, self.order.add_implying(wait.node, at.node)]
    }

    /// Begins a level.
    pub(super) fn push(&mut self) {
        self.order.push();
        let (reached, bounded) = (self.reached.len(), self.bounded.len());
        let (sourced, released) = (self.sourced.len(), self.released.len());
        self.levels.push(Level { reached, bounded, sourced, released });
    }

    /// Takes back the last levels.
    pub(super) fn pop(&mut self, levels: usize) {
        self.order.pop(levels);
        let Some(kept) = self.levels.len().checked_sub(levels).filter(|_| levels > 0) else { return };
        let Level { reached, bounded, sourced, released } = self.levels.drain(kept..).next().expect("one or more");
        for thread in self.reached.drain(reached..) {
            self.reach[thread as usize].pop();
        }
        for thread in self.bounded.drain(bounded..) {
            self.bounds[thread as usize].pop();
        }
        for read in self.sourced.drain(sourced..).rev() {
            self.tables.forget_source(read);
        }
        for (wake, signal) in self.released.drain(released..).rev() {
            self.tables.wakes[wake as usize].released -= 1;
            self.tables.signals[signal as usize].taken = None;
        }
        self.tasks.clear();
    }

    /// Decides an atom.
    pub(super) fn assign(&mut self, atom: AtomId, value: bool) -> Result<(), Conflict> {
        if self.order.value(atom).is_some() {
            return Ok(());
        }
        self.order.assign(atom, value)?;
        match self.meanings[atom as usize] {
            Meaning::Included { thread, position } if value => self.include(thread, position, atom),
            Meaning::Included { thread, position } => self.exclude(thread, position, atom),
            Meaning::Source { read, write } if value => self.take_source(read, write, atom)?,
            Meaning::Release { wake, signal } if value => self.take_signal(wake, signal, atom)?,
            _ => {}
        }
        self.settle()
    }

    /// What follows from what was told and decided so far.
    pub(super) fn settle(&mut self) -> Result<(), Conflict> {
        loop {
            if let Some(task) = self.tasks.pop() {
                match task {
                    Task::Region(region) => self.region_is_in(region)?,
                    Task::Write(write) => self.write_is_in(write)?,
                    Task::Source(read) => self.has_source(read)?,
                }
            } else if let Some(gain) = self.order.next_gain() {
                self.learn(&gain)?;
            } else {
                return Ok(());
            }
        }
    }

    /// The atoms that, with the values that they have, imply this one.
    pub(super) fn explain(&mut self, atom: AtomId, value: bool) -> Vec<AtomId> {
        let reasons = self.order.explain(atom, value);
        self.without_weaker(reasons)
    }

    /// Of all that say how much of a thread the prefix holds, the one that says most says it all.
    pub(super) fn without_weaker(&self, mut atoms: Vec<AtomId>) -> Vec<AtomId> {
        let included = |atom: AtomId| match self.meanings[atom as usize] {
            Meaning::Included { thread, position } if self.order.value(atom) != Some(false) => Some((thread, position)),
            _ => None,
        };
        let all: Vec<(u32, u32)> = atoms.iter().filter_map(|atom| included(*atom)).collect();
        atoms.retain(|atom| {
            included(*atom)
                .is_none_or(|(thread, position)| all.iter().all(|(other, most)| *other != thread || *most <= position))
        });
        atoms
    }

    /// Whether a source is known to come after its read.
    pub(super) fn is_too_late(&self, source: AtomId) -> bool {
        let Meaning::Source { read, write } = self.meanings[source as usize] else { return false };
        let (Some(write), read) = (self.tables.writes.get(write as usize), self.tables.reads[read as usize].at) else {
            return false;
        };
        write.at.thread != read.thread && self.order.reaches(read.node, write.at.node)
    }

    /// Whether some write is known to come between a source and its read, or another wake has the signal.
    pub(super) fn is_hidden(&self, source: AtomId) -> bool {
        let (read, write) = match self.meanings[source as usize] {
            Meaning::Source { read, write } => (read, write),
            Meaning::Release { signal, .. } => return self.tables.signals[signal as usize].taken.is_some(),
            _ => return false,
        };
        let from = self.tables.writes.get(write as usize).map(|write| write.at);
        (0..self.reach.len() as u32).any(|thread| {
            self.last_before(read, thread).filter(|last| *last != write).is_some_and(|last| match from {
                Some(from) => matches!(self.order_of(from, self.tables.writes[last as usize].at), Order::Before(_)),
                None => true,
            })
        })
    }

    fn at(&mut self, member: Member) -> tables::At {
        let Member { place, position, included } = member;
        let (included, atom) = included.unwrap_or((0, NONE));
        tables::At {
            node: self.order.node(place),
            thread: place.thread,
            step: place.position,
            position,
            included,
            atom,
        }
    }

    /// Whether the prefix holds the event, as far as is known.
    fn holds(&self, at: tables::At) -> bool {
        at.atom == NONE || self.reach[at.thread as usize].last().is_some_and(|reach| reach.events > at.included)
    }

    /// The first atom that said so.
    fn holds_by(&self, at: tables::At) -> AtomId {
        if at.atom == NONE {
            return NONE;
        }
        let reach = &self.reach[at.thread as usize];
        reach[reach.partition_point(|reach| reach.events <= at.included)].atom
    }

    fn include(&mut self, thread: u32, position: u32, atom: AtomId) {
        let reach = &mut self.reach[thread as usize];
        let (old, events) = (reach.last().map_or(0, |reach| reach.events), position + 1);
        if events <= old {
            return;
        }
        reach.push(Reach { events, atom });
        if !self.levels.is_empty() {
            self.reached.push(thread);
        }
        self.tasks.extend(self.tables.included_between(thread, old, events).map(|thing| match thing {
            Thing::Region(region) => Task::Region(region),
            Thing::Write(write) => Task::Write(write),
        }));
    }

    fn exclude(&mut self, thread: u32, position: u32, atom: AtomId) {
        let bounds = &mut self.bounds[thread as usize];
        if bounds.last().is_some_and(|bound| bound.events <= position) {
            return;
        }
        bounds.push(Reach { events: position, atom });
        if !self.levels.is_empty() {
            self.bounded.push(thread);
        }
        self.tasks.extend(self.tables.regions_over(thread, position).map(Task::Region));
    }

    /// The atom that says that the prefix does not hold the event.
    fn lacks_by(&self, at: tables::At) -> Option<AtomId> {
        if at.atom == NONE {
            return None;
        }
        let bounds = &self.bounds[at.thread as usize];
        bounds.get(bounds.partition_point(|bound| bound.events > at.included)).map(|bound| bound.atom)
    }

    /// Where a region ends; none where the prefix leaves it open, with the atom that says so.
    fn end_of(&self, region: RegionId) -> Result<tables::At, AtomId> {
        let end = self.tables.regions[region as usize].end.ok_or(NONE)?;
        self.lacks_by(end).map_or(Ok(end), Err)
    }

    fn take_source(&mut self, read: ReadId, write: WriteId, atom: AtomId) -> Result<(), Conflict> {
        if let Some((_, other)) = self.tables.reads[read as usize].source {
            return self.contradiction(Because { atoms: [atom, other, NONE], ..Because::ALWAYS });
        }
        self.tables.set_source(read, write, atom);
        if !self.levels.is_empty() {
            self.sourced.push(read);
        }
        self.tasks.push(Task::Source(read));
        Ok(())
    }

    fn take_signal(&mut self, wake: WakeId, signal: SignalId, atom: AtomId) -> Result<(), Conflict> {
        let taken = &mut self.tables.signals[signal as usize];
        if taken.serves_all {
            return Ok(());
        }
        if let Some((_, other)) = taken.taken {
            return self.contradiction(Because { atoms: [atom, other, NONE], ..Because::ALWAYS });
        }
        taken.taken = Some((wake, atom));
        self.tables.wakes[wake as usize].released += 1;
        if !self.levels.is_empty() {
            self.released.push((wake, signal));
        }
        Ok(())
    }

    fn contradiction(&mut self, because: Because) -> Result<(), Conflict> {
        Err(self.order.reasons(because))
    }
}

//! Early refutation: the orders that one candidate forces, closed until nothing changes; a cycle refutes it.
//!
//! The prefix in question ends with second: what a longer prefix holds after second can be dropped. So it holds first, remote, second and
//! what must come before them. Only such events take part here, so every order found holds in every prefix that shows the
//! candidate. The work is capped, and giving up refutes nothing. The same refutes other sequences of events, such as a use after a `free`.

use super::forced_reads::ForcedRead;
use super::orders::Orders;
use super::regions::RegionsByThread;
use foretrace_index::{Region, TraceIndex};
use foretrace_trace::{EventId, Feasibility, Trace, Triple, VarId};
use rustc_hash::FxHashMap;

/// Orders added for one candidate; a mask of them fits a word.
const MOST_ORDERS: usize = 64;
/// Orders looked at for one candidate.
const MOST_STEPS: usize = 512;
/// Events of one thread looked at for one order.
const MOST_EVENTS: usize = 64;
/// Reads of one thread looked at for one write.
const MOST_READS: usize = 4;

/// The forced order has a cycle.
struct Cycle;

/// What is the same for all candidates of a trace.
#[derive(Debug)]
pub struct EarlyRefutation<'a> {
    trace: &'a Trace,
    trace_index: &'a TraceIndex,
    regions: RegionsByThread,
    /// For starts of regions: the event at which the lock was taken, where that is an earlier one.
    taken_at: FxHashMap<EventId, EventId>,
    complete: bool,
    /// Per thread: the locks that it takes.
    locks: Vec<Vec<usize>>,
}

/// Reads with a single source, ready to be searched.
#[derive(Debug)]
pub struct ReadIndex {
    /// Per thread: its forced reads.
    by_thread: Vec<Vec<ForcedRead>>,
    /// The same by variable.
    by_var: FxHashMap<(VarId, u32), Vec<ForcedRead>>,
}

impl ReadIndex {
    /// Sorts forced reads by thread and variable.
    pub fn new(trace: &Trace, reads: &[ForcedRead]) -> ReadIndex {
        let mut by_thread = vec![Vec::new(); trace.threads.len()];
        let mut by_var: FxHashMap<(VarId, u32), Vec<ForcedRead>> = FxHashMap::default();
        for forced in reads {
            let event = trace.event(forced.read);
            by_thread[event.thread.index()].push(*forced);
            if let Some(var) = event.op.var() {
                by_var.entry((var, event.thread.0)).or_default().push(*forced);
            }
        }
        ReadIndex { by_thread, by_var }
    }
}

impl<'a> EarlyRefutation<'a> {
    /// Prepares a trace whose locks have these sections. In a prefix that holds the start of one, the lock was taken at the event that
    /// `taken_at` names, if any.
    pub fn new(
        (trace, trace_index): (&'a Trace, &'a TraceIndex),
        feasibility: Feasibility,
        (regions, taken_at): (RegionsByThread, FxHashMap<EventId, EventId>),
    ) -> EarlyRefutation<'a> {
        let takes = |thread: usize| {
            let lock = regions.iter().enumerate();
            lock.filter(|(_, by_thread)| by_thread.get(thread).is_some_and(|own| !own.is_empty()))
                .map(|(lock, _)| lock)
                .collect()
        };
        let locks = (0..trace.threads.len()).map(takes).collect();
        let complete = feasibility == Feasibility::Complete;
        EarlyRefutation { trace, trace_index, regions, taken_at, complete, locks }
    }

    /// Whether the candidate's orders have a cycle.
    pub fn refutes(&self, orders: &Orders, reads: &ReadIndex, Triple { first, remote, second }: Triple) -> bool {
        self.refutes_sequence(orders, reads, &[first, remote, second])
    }

    /// Whether the orders of these events, one after the other, have a cycle. The prefix ends with the last of them.
    pub fn refutes_sequence(&self, orders: &Orders, reads: &ReadIndex, sequence: &[EventId]) -> bool {
        sequence.last().is_some_and(|last| Closure::new(self, orders, reads, *last).run(sequence).is_err())
    }
}

/// The orders of one candidate, or of another sequence.
struct Closure<'a> {
    all: &'a EarlyRefutation<'a>,
    orders: &'a Orders,
    reads: &'a ReadIndex,
    /// The last event of the sequence, and of the prefix.
    last: EventId,
    /// Orders besides those of the clocks.
    added: Vec<(EventId, EventId)>,
    /// Per added order: the added orders that follow from its later event on, itself included.
    reach: Vec<u64>,
    /// Per thread: how many of its events are known to be in the prefix.
    included: Vec<u32>,
    /// Orders whose consequences are not drawn yet.
    open: Vec<(EventId, EventId)>,
    steps: usize,
}

impl<'a> Closure<'a> {
    fn new(all: &'a EarlyRefutation<'a>, orders: &'a Orders, reads: &'a ReadIndex, last: EventId) -> Closure<'a> {
        let length = |own: &Vec<EventId>| if all.complete { own.len() as u32 } else { 0 };
        let included = all.trace_index.threads.iter().map(length).collect();
        Closure { all, orders, reads, last, added: Vec::new(), reach: Vec::new(), included, open: Vec::new(), steps: 0 }
    }

    fn run(&mut self, sequence: &[EventId]) -> Result<(), Cycle> {
        for event in sequence {
            self.include(*event)?;
        }
        self.open.extend(sequence.iter().map(|event| (*event, *event)));
        for pair in sequence.windows(2) {
            self.add(pair[0], pair[1])?;
        }
        while let Some((from, to)) = self.open.pop() {
            self.steps += 1;
            if self.steps > MOST_STEPS || self.added.len() >= MOST_ORDERS {
                return Ok(());
            }
            self.consequences(from, to)?;
        }
        Ok(())
    }

    /// Notes that the prefix holds an event, and thus what must come before it.
    fn include(&mut self, event: EventId) -> Result<(), Cycle> {
        let own = self.thread(event);
        let mut grown = false;
        for thread in 0..self.included.len() {
            let seen = if thread == own { self.position(event) + 1 } else { self.orders.clocks.seen(event, thread) };
            grown |= seen > self.included[thread];
            self.included[thread] = self.included[thread].max(seen);
        }
        let local = self.thread(self.last);
        if !self.all.complete && self.included[local] > self.position(self.last) + 1 {
            return Err(Cycle); // the prefix ends with the last one
        }
        if grown {
            self.open.extend_from_slice(&self.added); // there is more that they have consequences for
        }
        Ok(())
    }

    fn thread(&self, event: EventId) -> usize {
        self.all.trace.event(event).thread.index()
    }

    fn position(&self, event: EventId) -> u32 {
        self.all.trace_index.position[event.index()]
    }

    fn at_or_before(&self, a: EventId, b: EventId) -> bool {
        a == b || self.orders.clocks.before(a, b)
    }

    /// The added orders that lie after an event.
    fn reach_of(&self, event: EventId) -> u64 {
        let later = |(number, (from, _)): (usize, &(EventId, EventId))| {
            if self.at_or_before(event, *from) { self.reach[number] } else { 0 }
        };
        self.added.iter().enumerate().map(later).fold(0, |all, one| all | one)
    }

    fn orders_in(&self, mask: u64) -> impl Iterator<Item = (EventId, EventId)> + '_ {
        self.added.iter().enumerate().filter(move |(number, _)| mask >> number & 1 == 1).map(|(_, order)| *order)
    }

    /// Whether `a` comes before `b`, both in the prefix, by all that is known.
    fn before(&self, a: EventId, b: EventId) -> bool {
        self.orders.clocks.before(a, b) || self.orders_in(self.reach_of(a)).any(|(_, to)| self.at_or_before(to, b))
    }

    /// Adds an order between two events of the prefix.
    fn add(&mut self, from: EventId, to: EventId) -> Result<(), Cycle> {
        let (from, to) = self.between_steps(from, to);
        if from == to || self.before(to, from) {
            return Err(Cycle);
        }
        if !self.all.complete && self.at_or_before(self.last, from) {
            return Err(Cycle); // nothing in the prefix comes after it
        }
        if self.before(from, to) || self.added.len() >= MOST_ORDERS {
            return Ok(());
        }
        let new = self.reach_of(to) | 1 << self.added.len();
        for (number, reach) in self.reach.iter_mut().enumerate() {
            let leads_here = self.added.iter().enumerate().any(|(other, (_, end))| {
                (*reach >> other & 1 == 1 || other == number) && (*end == from || self.orders.clocks.before(*end, from))
            });
            if leads_here {
                *reach |= new;
            }
        }
        self.added.push((from, to));
        self.reach.push(new);
        self.open.push((from, to));
        Ok(())
    }

    /// Between different steps an order of parts is an order of the steps.
    fn between_steps(&self, from: EventId, to: EventId) -> (EventId, EventId) {
        let step = |event| self.all.trace_index.step(self.all.trace, event);
        if step(from) == step(to) { (from, to) } else { (step(from).1, step(to).0) }
    }

    /// Per thread: how many of its events come at or before `event`.
    fn past(&self, event: EventId) -> Vec<u32> {
        if event == self.last && !self.all.complete {
            return self.included.clone();
        }
        let mut past = vec![0; self.included.len()];
        self.add_past(event, &mut past);
        for (number, (from, _)) in self.added.iter().enumerate() {
            if self.orders_in(self.reach[number]).any(|(_, to)| self.at_or_before(to, event)) {
                self.add_past(*from, &mut past);
            }
        }
        past
    }

    fn add_past(&self, event: EventId, past: &mut [u32]) {
        for (thread, seen) in past.iter_mut().enumerate() {
            *seen = (*seen).max(self.orders.clocks.seen(event, thread));
        }
        let own = &mut past[self.thread(event)];
        *own = (*own).max(self.position(event) + 1);
    }

    /// The position of the first event of the thread at or after one of `events`, if the prefix is known to hold it.
    fn future(&self, events: &[EventId], thread: usize) -> Option<u32> {
        let own = &self.all.trace_index.threads[thread][..self.included[thread] as usize];
        let last = own.last()?;
        let after = |other: &EventId| events.iter().any(|event| self.at_or_before(*event, *other));
        after(last).then(|| own.partition_point(|event| !after(event)) as u32)
    }

    /// What follows from `from` coming before `to` for lock regions and reads.
    fn consequences(&mut self, from: EventId, to: EventId) -> Result<(), Cycle> {
        let past = self.past(from);
        let mut later: Vec<EventId> = self.orders_in(self.reach_of(to)).map(|(_, later)| later).collect();
        later.push(to);
        for later_thread in 0..past.len() {
            let Some(start) = self.future(&later, later_thread) else { continue };
            for (thread, count) in past.iter().enumerate() {
                if thread != later_thread && *count > 0 {
                    self.locks(thread, *count, later_thread, start)?;
                    self.reads_after(thread, *count, later_thread, start)?;
                }
            }
            self.writes_after(later_thread, start)?;
        }
        Ok(())
    }

    /// The first `count` events of one thread come before the events of another from `start` on: a region of the former that
    /// starts there ends before one of the latter that is open there starts.
    fn locks(&mut self, earlier: usize, count: u32, later: usize, start: u32) -> Result<(), Cycle> {
        let all = self.all;
        for lock in &all.locks[earlier] {
            let (before, after) = (&all.regions[*lock][earlier], &all.regions[*lock][later]);
            let begins = |region: &Region| *all.taken_at.get(&region.start).unwrap_or(&region.start);
            let is_known = self.included[earlier];
            let begun = before.partition_point(|region| {
                self.position(begins(region)) < count && self.position(region.start) < is_known
            });
            let ended = |region: &Region| region.end.is_some_and(|end| self.position(end) < start);
            let open = after.partition_point(ended);
            let included = after.partition_point(|region| self.position(region.start) < self.included[later]);
            if begun == 0 || open >= included {
                continue;
            }
            for shared in [false, true] {
                let Some(next) = after[open..included].iter().find(|region| region.shared == shared) else { continue };
                if let Some(last) = before[..begun].iter().rev().find(|region| region.excludes(next)) {
                    let end = last.end.ok_or(Cycle)?; // never given back
                    self.include(end)?;
                    self.add(end, begins(next))?;
                }
            }
        }
        Ok(())
    }

    /// Reads of `later` from `start` on have a source after every other write among the first `count` events of `earlier`.
    fn reads_after(&mut self, earlier: usize, count: u32, later: usize, start: u32) -> Result<(), Cycle> {
        let reads = &self.reads.by_thread[later];
        let from = reads.partition_point(|forced| self.position(forced.read) < start);
        for forced in reads[from..].iter().take(MOST_EVENTS) {
            if !self.is_in(forced.by) {
                continue;
            }
            let Some(var) = self.all.trace.event(forced.read).op.var() else { continue };
            let Some(write) = self.last_write(var, earlier, count) else { continue };
            match forced.source {
                None => return Err(Cycle),
                Some(source) if source != write => self.add(write, source)?,
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Writes of a thread from `start` on come after the reads of what they overwrite.
    fn writes_after(&mut self, later: usize, start: u32) -> Result<(), Cycle> {
        let all = self.all;
        let own = &all.trace_index.threads[later][start as usize..self.included[later] as usize];
        for write in own.iter().take(MOST_EVENTS).filter(|event| all.trace.event(**event).op.writes()) {
            let Some(var) = all.trace.event(*write).op.var() else { continue };
            for thread in 0..self.included.len() {
                self.reads_before(*write, var, thread)?;
            }
        }
        Ok(())
    }

    fn reads_before(&mut self, write: EventId, var: VarId, thread: usize) -> Result<(), Cycle> {
        let Some(reads) = self.reads.by_var.get(&(var, thread as u32)) else { return Ok(()) };
        let held = reads.partition_point(|forced| self.position(forced.read) < self.included[thread]);
        for forced in reads[..held].iter().rev().take(MOST_READS) {
            let other = forced.source != Some(write) && forced.read != write && self.is_in(forced.by);
            if other && forced.source.is_none_or(|source| self.before(source, write)) {
                self.add(forced.read, write)?;
            }
        }
        Ok(())
    }

    fn is_in(&self, event: EventId) -> bool {
        self.position(event) < self.included[self.thread(event)]
    }

    /// The last write to the variable among the first `count` events of a thread.
    fn last_write(&self, var: VarId, thread: usize, count: u32) -> Option<EventId> {
        let writes = &self.all.trace_index.writes[var.index()];
        let own = &self.all.trace_index.threads[thread];
        let end = own.get(count as usize).map_or(writes.len(), |next| writes.partition_point(|write| write < next));
        writes[..end].iter().rev().take(MOST_EVENTS).copied().find(|write| self.thread(*write) == thread)
    }
}

//! The two rules: regions of a lock do not overlap, and no write comes between a read and its source.

use super::tables::{self, ReadId, RegionId, Write, WriteId};
use super::{Order, Schedules};
use crate::partial_order::{Because, Conflict, Gain, NONE};
use foretrace_trace::VarId;

impl Schedules {
    /// Events of a thread came to know more of another one.
    pub(super) fn learn(&mut self, gain: &Gain) -> Result<(), Conflict> {
        self.regions_that_learned(gain)?;
        self.reads_that_learned(gain)?;
        self.writes_that_learned(gain)
    }

    /// Of each lock the first region that learned, which those after it follow; and the first that is not shared, since it
    /// excludes more.
    fn regions_that_learned(&mut self, gain: &Gain) -> Result<(), Conflict> {
        for nth in 0..self.tables.locks_of(gain.knower).len() {
            let lock = self.tables.locks_of(gain.knower)[nth];
            let [first, exclusive] = self.tables.first_ending_at(lock, gain.knower, &gain.positions);
            for region in first.into_iter().chain(exclusive) {
                if self.holds(self.tables.regions[region as usize].start) {
                    self.after_regions_of(region, gain.known)?;
                }
            }
        }
        Ok(())
    }

    fn reads_that_learned(&mut self, gain: &Gain) -> Result<(), Conflict> {
        let reads = self.tables.sourced_at(gain.knower, &gain.positions);
        for nth in reads {
            self.writes_before(self.tables.nth_sourced(gain.knower, nth), gain.known)?;
        }
        Ok(())
    }

    /// Of each variable the first write that learned of a source, which those after it follow.
    fn writes_that_learned(&mut self, gain: &Gain) -> Result<(), Conflict> {
        for nth in self.tables.sources_at(gain.known, &gain.events) {
            let source = self.tables.nth_source(gain.known, nth);
            let Write { var, readers, .. } = &self.tables.writes[source as usize];
            let (var, readers) = (*var, readers.len());
            let Some(write) = self.tables.first_write_at(var, gain.knower, &gain.positions) else { continue };
            if self.holds(self.tables.writes[write as usize].at) {
                for reader in 0..readers {
                    self.write_and_read(write, self.tables.writes[source as usize].readers[reader])?;
                }
            }
        }
        Ok(())
    }

    /// A region is part of the prefix: those that it must follow, and those that must follow it.
    pub(super) fn region_is_in(&mut self, region: RegionId) -> Result<(), Conflict> {
        let at = self.tables.regions[region as usize];
        if !self.holds(at.start) {
            return Ok(());
        }
        for thread in (0..self.reach.len() as u32).filter(|thread| *thread != at.start.thread) {
            self.after_regions_of(region, thread)?;
            let others = self.tables.excluded_by(region, thread);
            let after = self.order.first_after(at.start.node, thread);
            let over_after = |other: &RegionId| self.end_of(*other).map_or(true, |end| end.step >= after);
            let first = others.partition_point(|other| !over_after(other));
            if let Some(then) = others.get(first).copied()
                && self.holds(self.tables.regions[then as usize].start)
            {
                self.closed_before(region, then)?;
            }
        }
        Ok(())
    }

    /// The last region of the thread that starts before this one ends is over before this one starts.
    fn after_regions_of(&mut self, region: RegionId, thread: u32) -> Result<(), Conflict> {
        let at = self.tables.regions[region as usize];
        if at.start.thread == thread {
            return Ok(());
        }
        let known = self.end_of(region).map_or(u32::MAX, |end| self.order.knows(end.node, thread));
        let others = self.tables.excluded_by(region, thread);
        let count = others.partition_point(|other| {
            let start = self.tables.regions[*other as usize].start;
            start.step < known && self.holds(start)
        });
        match count.checked_sub(1).map(|last| others[last]) {
            Some(first) => self.closed_before(first, region),
            None => Ok(()),
        }
    }

    /// The first region starts before the other one ends, and both are part of the prefix.
    fn closed_before(&mut self, first: RegionId, then: RegionId) -> Result<(), Conflict> {
        let (open, path) = match self.end_of(then) {
            Ok(end) => (NONE, (self.tables.regions[first as usize].start.node, end.node)),
            Err(open) => (open, (NONE, NONE)),
        };
        let (first, then) = (self.tables.regions[first as usize], self.tables.regions[then as usize]);
        let because = Because {
            atoms: [self.holds_by(first.start), self.holds_by(then.start), open],
            paths: [path, (NONE, NONE)],
        };
        let Some(end) = first.end else { return self.contradiction(because) };
        if !self.holds(end) {
            self.order.imply_fact(end.atom, because);
        }
        self.order.add_edge(end.node, then.start.node, because)
    }

    /// A write is part of the prefix.
    pub(super) fn write_is_in(&mut self, write: WriteId) -> Result<(), Conflict> {
        let var = self.tables.writes[write as usize].var;
        for nth in 0..self.tables.sourced(var).len() {
            self.write_and_read(write, self.tables.sourced(var)[nth])?;
        }
        Ok(())
    }

    /// A read has a source.
    pub(super) fn has_source(&mut self, read: ReadId) -> Result<(), Conflict> {
        let var = self.tables.reads[read as usize].var;
        let source = self.tables.reads[read as usize].source.map_or(NONE, |(write, _)| write);
        for thread in 0..self.reach.len() as u32 {
            self.writes_before(read, thread)?;
            if let Some(write) = self.first_after(source, var, thread) {
                self.write_and_read(write, read)?;
            }
        }
        Ok(())
    }

    /// The first write of the thread that is known to come after another one.
    fn first_after(&self, source: WriteId, var: VarId, thread: u32) -> Option<WriteId> {
        let writes = self.tables.writes_of(var, thread);
        let Some(source) = self.tables.writes.get(source as usize).map(|write| write.at) else {
            return writes.first().copied();
        };
        let after = self.order.first_after(source.node, thread);
        let comes_after = |write: &WriteId| {
            let write = self.tables.writes[*write as usize].at;
            if thread == source.thread { write.position > source.position } else { write.step >= after }
        };
        let first = writes.partition_point(|write| !comes_after(write));
        writes.get(first).copied()
    }

    /// The last write of the thread that comes before a read with a source comes before the source, or is it.
    fn writes_before(&mut self, read: ReadId, thread: u32) -> Result<(), Conflict> {
        match self.last_before(read, thread) {
            Some(write) => self.write_and_read(write, read),
            None => Ok(()),
        }
    }

    /// The last write of the thread that is part of the prefix and known to come before a read.
    pub(super) fn last_before(&self, read: ReadId, thread: u32) -> Option<WriteId> {
        let tables::Read { at, var, .. } = self.tables.reads[read as usize];
        let known = self.order.knows(at.node, thread);
        let writes = self.tables.writes_of(var, thread);
        let count = writes.partition_point(|write| {
            let write = self.tables.writes[*write as usize].at;
            let before = if thread == at.thread { write.position < at.position } else { write.step < known };
            before && self.holds(write)
        });
        count.checked_sub(1).map(|last| writes[last])
    }

    /// A write of the prefix does not come between a read and its source.
    fn write_and_read(&mut self, write: WriteId, read: ReadId) -> Result<(), Conflict> {
        let Some((source, atom)) = self.tables.reads[read as usize].source else { return Ok(()) };
        let at = self.tables.writes[write as usize].at;
        if source == write || !self.holds(at) {
            return Ok(());
        }
        let reader = self.tables.reads[read as usize].at;
        let by = self.holds_by(at);
        let because = |path| Because { atoms: [atom, by, NONE], paths: [path, (NONE, NONE)] };
        let Some(source) = self.tables.writes.get(source as usize).map(|source| source.at) else {
            return match self.order_of(at, reader) {
                Order::Before(path) => self.contradiction(because(path)),
                Order::AfterInThread => Ok(()),
                Order::Unknown => self.order.add_edge(reader.node, at.node, because((NONE, NONE))),
            };
        };
        if let Order::Before(path) = self.order_of(at, reader) {
            let because = because(path);
            match self.order_of(source, at) {
                Order::Before(between) => {
                    self.contradiction(Because { paths: [because.paths[0], between], ..because })?;
                }
                Order::AfterInThread => {}
                Order::Unknown => self.order.add_edge(at.node, source.node, because)?,
            }
        } else if let Order::Before(path) = self.order_of(source, at)
            && !matches!(self.order_of(at, reader), Order::AfterInThread)
        {
            self.order.add_edge(reader.node, at.node, because(path))?;
        }
        Ok(())
    }

    /// How two events stand to each other.
    pub(super) fn order_of(&self, a: tables::At, b: tables::At) -> Order {
        if a.thread == b.thread {
            return if a.position < b.position { Order::Before((NONE, NONE)) } else { Order::AfterInThread };
        }
        if self.order.reaches(a.node, b.node) { Order::Before((a.node, b.node)) } else { Order::Unknown }
    }
}

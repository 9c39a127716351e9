//! Executes the decided orders step by step, as near to the observed order as orders, locks and reads allow.

use super::tables::{ReadId, RegionId, Role, WriteId};
use super::{NONE, Schedules, Split};
use crate::partial_order::NodeId;
use foretrace_trace::{EventId, VarId};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a step may have to wait for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Awaited {
    Lock(u32),
    Var(VarId),
}

/// An execution of all steps.
#[derive(Debug)]
pub(crate) struct Executed {
    /// The steps in order.
    pub(crate) order: Vec<EventId>,
    /// What was found for reads without a source and for wakes without a signal. A read gets the last write of the prefix before it, if
    /// there is one. Wakes get a signal each, if there is one for each.
    pub(crate) found: Vec<(EventId, Option<EventId>)>,
}

/// An execution in progress.
struct Execution<'s> {
    schedules: &'s Schedules,
    /// For each node how many must come before it that did not happen yet.
    waits_for: Vec<u32>,
    ready: BinaryHeap<Reverse<(EventId, NodeId)>>,
    /// Per lock: the regions that hold it.
    held: FxHashMap<u32, Vec<RegionId>>,
    /// Per variable: the reads that its value is for and that did not happen yet.
    pending: FxHashMap<VarId, Vec<ReadId>>,
    waiting: FxHashMap<Awaited, Vec<NodeId>>,
    /// Per variable: its last write of the prefix.
    last: FxHashMap<VarId, WriteId>,
    /// Waits, signals and wakes as they happened.
    moments: Vec<Role>,
    done: Executed,
}

impl Schedules {
    /// The steps in an order in which they can happen; where none was found, pairs of which one must be decided otherwise.
    pub(crate) fn execute(&self) -> Result<Executed, Vec<Split>> {
        Execution::new(self).run()
    }
}

impl<'s> Execution<'s> {
    fn new(schedules: &'s Schedules) -> Execution<'s> {
        let waits_for = schedules.order.predecessors();
        let free = (0..schedules.order.steps()).filter(|node| waits_for[*node as usize] == 0);
        let ready = free.map(|node| Reverse((schedules.order.step(node), node))).collect();
        let mut pending: FxHashMap<VarId, Vec<ReadId>> = FxHashMap::default();
        for (id, read) in (0..).zip(&schedules.tables.reads) {
            if let Some((NONE, _)) = read.source {
                pending.entry(read.var).or_default().push(id);
            }
        }
        let done = Executed { order: Vec::with_capacity(waits_for.len()), found: Vec::new() };
        let (held, waiting, last) = (FxHashMap::default(), FxHashMap::default(), FxHashMap::default());
        Execution { schedules, waits_for, ready, held, pending, waiting, last, moments: Vec::new(), done }
    }

    fn run(mut self) -> Result<Executed, Vec<Split>> {
        while let Some(Reverse((step, node))) = self.ready.pop() {
            if let Some(awaited) = self.obstacle(node) {
                self.waiting.entry(awaited).or_default().push(node);
                continue;
            }
            self.done.order.push(step);
            self.happen(node);
        }
        if self.done.order.len() < self.waits_for.len() {
            return Err(self.splits());
        }
        self.done.found.extend(self.schedules.matched(&self.moments));
        Ok(self.done)
    }

    fn roles(&self, node: NodeId) -> impl Iterator<Item = Role> + 's {
        let tables = &self.schedules.tables;
        (0..tables.roles(node)).map(move |nth| tables.role(node, nth))
    }

    /// What the step has to wait for.
    fn obstacle(&self, node: NodeId) -> Option<Awaited> {
        self.roles(node).find_map(|role| match role {
            Role::Start(region) => {
                let lock = self.schedules.tables.regions[region as usize].lock;
                self.holder_against(region).map(|_| Awaited::Lock(lock))
            }
            Role::Write(write) => {
                let var = self.schedules.tables.writes[write as usize].var;
                self.reader_against(write).map(|_| Awaited::Var(var))
            }
            _ => None,
        })
    }

    /// A region that keeps this one from starting.
    fn holder_against(&self, region: RegionId) -> Option<RegionId> {
        let regions = &self.schedules.tables.regions;
        let at = &regions[region as usize];
        let excludes = |other: &&RegionId| {
            let other = &regions[**other as usize];
            other.start.thread != at.start.thread && !(other.shared && at.shared)
        };
        self.held.get(&at.lock).filter(|_| self.schedules.holds(at.start))?.iter().find(excludes).copied()
    }

    /// A read of another step that still needs the value.
    fn reader_against(&self, write: u32) -> Option<ReadId> {
        let tables = &self.schedules.tables;
        let at = tables.writes[write as usize].at;
        let elsewhere = |read: &&ReadId| tables.reads[**read as usize].at.node != at.node;
        let pending = self.pending.get(&tables.writes[write as usize].var).filter(|_| self.schedules.holds(at))?;
        pending.iter().find(elsewhere).copied()
    }

    fn happen(&mut self, node: NodeId) {
        for role in self.roles(node) {
            self.play(role);
        }
        for then in self.schedules.order.followers(node) {
            self.waits_for[then as usize] -= 1;
            if self.waits_for[then as usize] == 0 {
                self.ready.push(Reverse((self.schedules.order.step(then), then)));
            }
        }
    }

    fn play(&mut self, role: Role) {
        let tables = &self.schedules.tables;
        match role {
            Role::Start(region) => {
                let at = &tables.regions[region as usize];
                if self.schedules.holds(at.start) {
                    self.held.entry(at.lock).or_default().push(region);
                }
            }
            Role::End(region) => {
                let at = &tables.regions[region as usize];
                if at.end.is_some_and(|end| self.schedules.holds(end)) {
                    self.held.entry(at.lock).or_default().retain(|held| *held != region);
                    self.wake(Awaited::Lock(at.lock));
                }
            }
            Role::Read(read) => {
                let at = &tables.reads[read as usize];
                if at.source.is_some() {
                    self.pending.entry(at.var).or_default().retain(|other| *other != read);
                    self.wake(Awaited::Var(at.var));
                } else {
                    let last = self.last.get(&at.var).map(|last| tables.writes[*last as usize].event);
                    self.done.found.push((at.event, last));
                }
            }
            Role::Write(write) => {
                let at = &tables.writes[write as usize];
                if !at.readers.is_empty() {
                    self.pending.entry(at.var).or_default().extend(&at.readers);
                }
                if self.schedules.holds(at.at) {
                    self.last.insert(at.var, write);
                }
            }
            Role::Wait(_) | Role::Wake(_) | Role::Signal(_) => self.moments.push(role),
        }
    }

    fn wake(&mut self, awaited: Awaited) {
        for node in self.waiting.remove(&awaited).unwrap_or_default() {
            self.ready.push(Reverse((self.schedules.order.step(node), node)));
        }
    }

    /// The pairs that every step that could happen is stuck at.
    fn splits(&self) -> Vec<Split> {
        let tables = &self.schedules.tables;
        let mut stuck: Vec<NodeId> = self.waiting.values().flatten().copied().collect();
        stuck.sort_unstable();
        let mut splits = Vec::new();
        for role in stuck.into_iter().flat_map(|node| self.roles(node)) {
            match role {
                Role::Start(region) => {
                    if let Some(holder) = self.holder_against(region)
                        && let Some(end) = tables.regions[region as usize].end
                    {
                        splits.push((end.node, tables.regions[holder as usize].start.node));
                    }
                }
                Role::Write(write) => {
                    if let Some(read) = self.reader_against(write) {
                        splits.push((tables.writes[write as usize].at.node, tables.reads[read as usize].at.node));
                    }
                }
                _ => {}
            }
        }
        splits.sort_unstable();
        splits.dedup();
        splits
    }
}

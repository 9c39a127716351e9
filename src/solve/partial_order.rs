//! A theory of strict partial orders of steps, kept closed as orders are decided.
//!
//! Each step has a vector clock: how many events of each thread come before it. Program order is built in: it costs no edge
//! and is no part of an explanation. Setting an atom adds an edge and carries clocks along the edges; an edge against what
//! the clocks know already closes a cycle, whose atoms are the conflict; an atom that the clocks come to decide is implied,
//! by the atoms of a path.
//!
//! Source: ordering consistency theories (He, Sun and Fan, *Satisfiability modulo ordering consistency theory*), with clocks
//! in place of a search for cycles.

use foretrace_trace::{EventId, Structure, Trace};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// An order atom: "the step that is earlier in the observed run comes before the later one".
pub(super) type AtomId = u32;

/// Atoms that, with the values that they have, cannot be true together.
pub(super) type Conflict = Vec<AtomId>;

type NodeId = u32;
type EdgeId = u32;

const NONE: u32 = u32::MAX;

/// A step and where it stands in its thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub(super) step: EventId,
    pub(super) thread: u32,
    pub(super) position: u32,
}

impl Place {
    /// Where a step stands.
    pub(super) fn of(trace: &Trace, structure: &Structure, step: EventId) -> Place {
        Place { step, thread: trace.event(step).thread.0, position: structure.position[step.index()] }
    }
}

struct Node {
    place: Place,
    next: NodeId,
    out: Vec<EdgeId>,
    /// Atoms that this node decides when it comes to know the event at the place, by place.
    watches: Vec<Watch>,
}

#[derive(Clone, Copy)]
struct Watch {
    thread: u32,
    position: u32,
    atom: AtomId,
    value: bool,
}

struct Edge {
    from: NodeId,
    to: NodeId,
    /// None: it always holds.
    reason: Option<AtomId>,
}

struct Atom {
    earlier: NodeId,
    later: NodeId,
    value: Option<bool>,
    /// How many edges there were when the atom was found to be implied.
    implied_with: EdgeId,
}

/// What a level began with.
struct Level {
    edges: usize,
    clocks: usize,
    trail: usize,
}

/// The theory's state: what is decided of the order, by levels.
#[derive(Default)]
pub(super) struct PartialOrder {
    threads: usize,
    nodes: Vec<Node>,
    node_of: FxHashMap<EventId, NodeId>,
    chains: Vec<BTreeMap<u32, NodeId>>,
    /// Node by node, a number for each thread: events at smaller positions are before the node, or are it.
    clocks: Vec<u32>,
    edges: Vec<Edge>,
    atoms: Vec<Atom>,
    implied: Vec<(AtomId, bool)>,
    trail: Vec<AtomId>,
    changed_clocks: Vec<(u32, u32)>,
    levels: Vec<Level>,
    search: Search,
}

/// Memory of the search for paths, kept between searches.
#[derive(Default)]
struct Search {
    lowest: Vec<u32>,
    queue: VecDeque<(NodeId, u32, u32)>,
    /// An edge, and the entry that it continues.
    entries: Vec<(EdgeId, u32)>,
}

impl PartialOrder {
    /// No step yet, of so many threads.
    pub(super) fn new(threads: usize) -> PartialOrder {
        PartialOrder { threads, chains: vec![BTreeMap::new(); threads], ..PartialOrder::default() }
    }

    /// Whether nothing is decided that could be taken back: only then steps, atoms and fixed edges may be added.
    pub(super) fn is_at_base(&self) -> bool {
        self.levels.is_empty()
    }

    /// A new atom for two steps of different threads, the first one earlier in the observed run.
    pub(super) fn add_atom(&mut self, earlier: Place, later: Place) -> AtomId {
        debug_assert!(self.is_at_base());
        let (earlier, later) = (self.node(earlier), self.node(later));
        let atom = self.atoms.len() as AtomId;
        self.atoms.push(Atom { earlier, later, value: None, implied_with: 0 });
        self.watch(later, earlier, atom, true);
        self.watch(earlier, later, atom, false);
        if self.reaches(earlier, later) {
            self.imply(atom, true);
        } else if self.reaches(later, earlier) {
            self.imply(atom, false);
        }
        atom
    }

    /// An order that always holds. A conflict is one with what is decided for good.
    pub(super) fn add_fixed(&mut self, before: Place, after: Place) -> Result<(), Conflict> {
        debug_assert!(self.is_at_base());
        let (from, to) = (self.node(before), self.node(after));
        self.add_edge(from, to, None)
    }

    /// Begins a level.
    pub(super) fn push(&mut self) {
        let (edges, clocks, trail) = (self.edges.len(), self.changed_clocks.len(), self.trail.len());
        self.levels.push(Level { edges, clocks, trail });
    }

    /// Takes back the last levels.
    pub(super) fn pop(&mut self, levels: usize) {
        let Some(kept) = self.levels.len().checked_sub(levels).filter(|_| levels > 0) else { return };
        let Level { edges, clocks, trail } = self.levels.drain(kept..).next().expect("one or more");
        for edge in self.edges.drain(edges..).rev() {
            self.nodes[edge.from as usize].out.pop();
        }
        for (slot, old) in self.changed_clocks.drain(clocks..).rev() {
            self.clocks[slot as usize] = old;
        }
        for atom in self.trail.drain(trail..) {
            self.atoms[atom as usize].value = None;
        }
        self.implied.clear();
    }

    /// Decides an atom.
    pub(super) fn assign(&mut self, atom: AtomId, value: bool) -> Result<(), Conflict> {
        let Atom { earlier, later, value: known, .. } = self.atoms[atom as usize];
        if known.is_some() {
            return Ok(());
        }
        self.atoms[atom as usize].value = Some(value);
        if !self.is_at_base() {
            self.trail.push(atom);
        }
        let (from, to) = if value { (earlier, later) } else { (later, earlier) };
        self.add_edge(from, to, Some(atom))
    }

    /// What an atom was decided to be.
    pub(super) fn value(&self, atom: AtomId) -> Option<bool> {
        self.atoms[atom as usize].value
    }

    /// The next undecided atom that is implied.
    pub(super) fn next_implied(&mut self) -> Option<(AtomId, bool)> {
        while let Some((atom, value)) = self.implied.pop() {
            if self.atoms[atom as usize].value.is_none() {
                return Some((atom, value));
            }
        }
        None
    }

    /// The atoms that, with the values that they have, imply this one.
    pub(super) fn explain(&mut self, atom: AtomId, value: bool) -> Vec<AtomId> {
        let Atom { earlier, later, implied_with, .. } = self.atoms[atom as usize];
        let (from, to) = if value { (earlier, later) } else { (later, earlier) };
        let mut reasons = Vec::new();
        self.path(from, to, implied_with, &mut reasons);
        reasons
    }

    /// All steps in an order that keeps to what is decided, as near to the observed one as that allows.
    pub(super) fn linear_extension(&self) -> Vec<EventId> {
        let mut waits_for = vec![0u32; self.nodes.len()];
        for node in self.nodes.iter().filter(|node| node.next != NONE) {
            waits_for[node.next as usize] += 1;
        }
        for edge in &self.edges {
            waits_for[edge.to as usize] += 1;
        }
        let entry = |node: NodeId| Reverse((self.nodes[node as usize].place.step, node));
        let free = (0..self.nodes.len() as NodeId).filter(|node| waits_for[*node as usize] == 0);
        let mut ready: BinaryHeap<_> = free.map(entry).collect();
        let mut order = Vec::with_capacity(self.nodes.len());
        while let Some(Reverse((step, node))) = ready.pop() {
            order.push(step);
            let Node { next, out, .. } = &self.nodes[node as usize];
            let targets = out.iter().map(|edge| self.edges[*edge as usize].to);
            for then in targets.chain(Some(*next).filter(|next| *next != NONE)) {
                waits_for[then as usize] -= 1;
                if waits_for[then as usize] == 0 {
                    ready.push(entry(then));
                }
            }
        }
        order
    }

    /// The node of a step; a new one knows what the step before it in its thread knows.
    fn node(&mut self, place: Place) -> NodeId {
        if let Some(node) = self.node_of.get(&place.step) {
            return *node;
        }
        let id = self.nodes.len() as NodeId;
        let chain = &mut self.chains[place.thread as usize];
        let previous = chain.range(..place.position).next_back().map(|(_, node)| *node);
        let next = chain.range(place.position..).next().map_or(NONE, |(_, node)| *node);
        chain.insert(place.position, id);
        match previous {
            Some(previous) => {
                self.nodes[previous as usize].next = id;
                let row = previous as usize * self.threads;
                self.clocks.extend_from_within(row..row + self.threads);
            }
            None => self.clocks.resize(self.clocks.len() + self.threads, 0),
        }
        let own = self.slot(id, place.thread);
        self.clocks[own] = place.position + 1;
        self.nodes.push(Node { place, next, out: Vec::new(), watches: Vec::new() });
        self.node_of.insert(place.step, id);
        id
    }

    fn watch(&mut self, node: NodeId, other: NodeId, atom: AtomId, value: bool) {
        let Place { thread, position, .. } = self.nodes[other as usize].place;
        let watches = &mut self.nodes[node as usize].watches;
        let at = watches.partition_point(|watch| (watch.thread, watch.position) < (thread, position));
        watches.insert(at, Watch { thread, position, atom, value });
    }

    fn slot(&self, node: NodeId, thread: u32) -> usize {
        node as usize * self.threads + thread as usize
    }

    /// Whether one comes before the other, or is the other.
    fn reaches(&self, from: NodeId, to: NodeId) -> bool {
        let Place { thread, position, .. } = self.nodes[from as usize].place;
        self.clocks[self.slot(to, thread)] > position
    }

    fn imply(&mut self, atom: AtomId, value: bool) {
        let with = self.edges.len() as EdgeId;
        let atom_state = &mut self.atoms[atom as usize];
        if atom_state.value.is_none() {
            atom_state.implied_with = with;
            self.implied.push((atom, value));
        }
    }

    fn add_edge(&mut self, from: NodeId, to: NodeId, reason: Option<AtomId>) -> Result<(), Conflict> {
        if self.reaches(to, from) {
            let mut cycle: Conflict = reason.into_iter().collect();
            self.path(to, from, self.edges.len() as EdgeId, &mut cycle);
            return Err(cycle);
        }
        if !self.reaches(from, to) {
            let edge = self.edges.len() as EdgeId;
            self.edges.push(Edge { from, to, reason });
            self.nodes[from as usize].out.push(edge);
            self.carry(from, to);
        }
        Ok(())
    }

    /// Tells `to` and all after it what `from` knows.
    fn carry(&mut self, from: NodeId, to: NodeId) {
        let mut pending = vec![(from, to)];
        while let Some((from, to)) = pending.pop() {
            if self.join(from, to) {
                let Node { next, out, .. } = &self.nodes[to as usize];
                pending.extend(out.iter().map(|edge| (to, self.edges[*edge as usize].to)));
                pending.extend(Some((to, *next)).filter(|(_, next)| *next != NONE));
            }
        }
    }

    /// Whether `to` learned anything.
    fn join(&mut self, from: NodeId, to: NodeId) -> bool {
        let (from, row) = (from as usize * self.threads, to as usize * self.threads);
        let (known, old) = (&self.clocks[from..from + self.threads], &self.clocks[row..row + self.threads]);
        // Most often nothing: this way the look is a few machine instructions.
        if !known.iter().zip(old).fold(false, |more, (new, old)| more | (new > old)) {
            return false;
        }
        for thread in 0..self.threads {
            let (new, old) = (self.clocks[from + thread], self.clocks[row + thread]);
            if new > old {
                if !self.is_at_base() {
                    self.changed_clocks.push(((row + thread) as u32, old));
                }
                self.clocks[row + thread] = new;
                self.decide_watched(to, thread as u32, old..new);
            }
        }
        true
    }

    /// The node came to know the events of the thread at these positions.
    fn decide_watched(&mut self, node: NodeId, thread: u32, positions: std::ops::Range<u32>) {
        let with = self.edges.len() as EdgeId;
        let watches = &self.nodes[node as usize].watches;
        let begin = watches.partition_point(|watch| (watch.thread, watch.position) < (thread, positions.start));
        for watch in &watches[begin..] {
            if watch.thread != thread || watch.position >= positions.end {
                break;
            }
            let atom = &mut self.atoms[watch.atom as usize];
            if atom.value.is_none() {
                atom.implied_with = with;
                self.implied.push((watch.atom, watch.value));
            }
        }
    }

    /// Adds the atoms on a path that uses only edges below `limit`: one with few edges, which is not looked for anywhere but
    /// among what comes before `to`.
    fn path(&mut self, from: NodeId, to: NodeId, limit: EdgeId, reasons: &mut Vec<AtomId>) {
        let Place { thread, position, .. } = self.nodes[from as usize].place;
        let target = self.nodes[to as usize].place.thread;
        if thread == target {
            return;
        }
        let mut search = std::mem::take(&mut self.search);
        search.start(self.threads, from, thread, position, self.clocks[self.slot(to, thread)]);
        let mut entry = self.search(&mut search, to, target, limit);
        while entry != NONE {
            let (edge, before) = search.entries[entry as usize];
            reasons.extend(self.edges[edge as usize].reason);
            entry = before;
        }
        self.search = search;
    }

    /// The last entry of a path, breadth first. A stretch of a thread that was reached from an earlier event is left out.
    fn search(&self, search: &mut Search, to: NodeId, target: u32, limit: EdgeId) -> u32 {
        while let Some((start, end, before)) = search.queue.pop_front() {
            let mut at = start;
            while at != NONE && self.nodes[at as usize].place.position < end {
                for edge in self.nodes[at as usize].out.iter().take_while(|edge| **edge < limit) {
                    let next = self.edges[*edge as usize].to;
                    let Place { thread, position, .. } = self.nodes[next as usize].place;
                    let end = search.lowest[thread as usize].min(self.clocks[self.slot(to, thread)]);
                    if position >= end {
                        continue;
                    }
                    let entry = search.entries.len() as u32;
                    search.entries.push((*edge, before));
                    if thread == target {
                        return entry;
                    }
                    search.lowest[thread as usize] = position;
                    search.queue.push_back((next, end, entry));
                }
                at = self.nodes[at as usize].next;
            }
        }
        debug_assert!(false, "the clocks know of a path that is not there");
        NONE
    }
}

impl Search {
    fn start(&mut self, threads: usize, from: NodeId, thread: u32, position: u32, end: u32) {
        self.lowest.clear();
        self.lowest.resize(threads, u32::MAX);
        self.lowest[thread as usize] = position;
        self.queue.clear();
        self.queue.push_back((from, end, NONE));
        self.entries.clear();
    }
}

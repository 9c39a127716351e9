//! A theory of strict partial orders of steps, kept closed as orders are decided.
//!
//! Each step has a vector clock: how many events of each thread come before it. Program order is built in: it costs no edge
//! and is no part of an explanation. Setting an atom adds an edge and carries clocks along the edges; an edge against what
//! the clocks know already closes a cycle, whose atoms are the conflict; an atom that the clocks come to decide is implied,
//! by the atoms of a path. Every change of a clock keeps the edge that it came by, so that a path is read off.
//!
//! Besides orders there are *facts*, atoms that say nothing of order themselves, and edges that follow from atoms and paths:
//! what locks and reads make of them is [`super::schedules`]'s.
//!
//! Source: ordering consistency theories (He, Sun and Fan, *Satisfiability modulo ordering consistency theory*), with clocks
//! in place of a search for cycles.

mod explanation;

use foretrace_trace::{EventId, Structure, Trace};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// An order atom, "the step that is earlier in the observed run comes before the later one", or a fact.
pub(super) type AtomId = u32;

/// Atoms that, with the values that they have, cannot be true together.
pub(super) type Conflict = Vec<AtomId>;

/// A step that the order knows.
pub(super) type NodeId = u32;
type EdgeId = u32;

/// Nothing of what a number would say.
pub(super) const NONE: u32 = u32::MAX;

/// What something follows from: atoms with the values that they have, and that steps come before others. What is not needed
/// is [`NONE`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Because {
    pub(super) atoms: [AtomId; 3],
    pub(super) paths: [(NodeId, NodeId); 2],
}

impl Because {
    /// It always holds.
    pub(super) const ALWAYS: Because = Because { atoms: [NONE; 3], paths: [(NONE, NONE); 2] };

    fn atom(atom: AtomId) -> Because {
        Because { atoms: [atom, NONE, NONE], ..Because::ALWAYS }
    }
}

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
    previous: NodeId,
    next: NodeId,
    out: Vec<EdgeId>,
    /// Atoms that this node decides when it comes to know the event at the place, by place.
    watches: Vec<Watch>,
    /// Whether what it learns is noted.
    noted: bool,
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
    because: Because,
}

/// A clock's number before it grew, the edge that made it grow (none: program order), and the change before this one.
struct Change {
    slot: u32,
    old: u32,
    edge: EdgeId,
    before: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// One comes before the other, or the other before the one.
    Order,
    /// Where it is true the one comes before the other.
    Implies,
    /// Nothing about order.
    Fact,
}

struct Atom {
    kind: Kind,
    earlier: NodeId,
    later: NodeId,
    value: Option<bool>,
    /// Of a fact that is implied.
    because: Because,
}

/// What a level began with.
struct Level {
    edges: usize,
    changes: usize,
    trail: usize,
}

/// That a step came to know events of a thread: those at these positions.
pub(super) struct Learned {
    pub(super) node: NodeId,
    pub(super) thread: u32,
    pub(super) positions: std::ops::Range<u32>,
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
    /// For each number of a clock its last change.
    last_change: Vec<u32>,
    changes: Vec<Change>,
    edges: Vec<Edge>,
    atoms: Vec<Atom>,
    implied: Vec<(AtomId, bool)>,
    learned: Vec<Learned>,
    trail: Vec<AtomId>,
    levels: Vec<Level>,
    pending: VecDeque<(NodeId, NodeId, EdgeId)>,
    /// Edges and atoms that an explanation has used.
    used_edges: FxHashSet<EdgeId>,
    used_atoms: FxHashSet<AtomId>,
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
        let atom = self.new_atom(Kind::Order, earlier, later);
        self.watch(later, earlier, atom, true);
        self.watch(earlier, later, atom, false);
        if self.reaches(earlier, later) {
            self.imply(atom, true);
        } else if self.reaches(later, earlier) {
            self.imply(atom, false);
        }
        atom
    }

    /// A new atom that says where it is true that one step comes before another. It may be added at any level at which the
    /// other one is not known to come first.
    pub(super) fn add_implying(&mut self, before: NodeId, after: NodeId) -> AtomId {
        debug_assert!(self.is_at_base() || !self.reaches(after, before));
        let atom = self.new_atom(Kind::Implies, before, after);
        self.watch(before, after, atom, false);
        if self.reaches(after, before) {
            self.imply(atom, false);
        }
        atom
    }

    /// A new atom that says nothing of order.
    pub(super) fn add_fact(&mut self) -> AtomId {
        self.new_atom(Kind::Fact, NONE, NONE)
    }

    fn new_atom(&mut self, kind: Kind, earlier: NodeId, later: NodeId) -> AtomId {
        let atom = self.atoms.len() as AtomId;
        self.atoms.push(Atom { kind, earlier, later, value: None, because: Because::ALWAYS });
        atom
    }

    /// An order that always holds. A conflict is one with what is decided for good.
    pub(super) fn add_fixed(&mut self, before: Place, after: Place) -> Result<(), Conflict> {
        debug_assert!(self.is_at_base());
        let (from, to) = (self.node(before), self.node(after));
        self.add_edge(from, to, Because::ALWAYS)
    }

    /// Begins a level.
    pub(super) fn push(&mut self) {
        let (edges, changes, trail) = (self.edges.len(), self.changes.len(), self.trail.len());
        self.levels.push(Level { edges, changes, trail });
    }

    /// Takes back the last levels.
    pub(super) fn pop(&mut self, levels: usize) {
        let Some(kept) = self.levels.len().checked_sub(levels).filter(|_| levels > 0) else { return };
        let Level { edges, changes, trail } = self.levels.drain(kept..).next().expect("one or more");
        for edge in self.edges.drain(edges..).rev() {
            self.nodes[edge.from as usize].out.pop();
        }
        for Change { slot, old, before, .. } in self.changes.drain(changes..).rev() {
            self.clocks[slot as usize] = old;
            self.last_change[slot as usize] = before;
        }
        for atom in self.trail.drain(trail..) {
            self.atoms[atom as usize].value = None;
        }
        self.implied.clear();
        self.learned.clear();
    }

    /// Decides an atom.
    pub(super) fn assign(&mut self, atom: AtomId, value: bool) -> Result<(), Conflict> {
        let Atom { kind, earlier, later, value: known, .. } = self.atoms[atom as usize];
        if known.is_some() {
            return Ok(());
        }
        self.atoms[atom as usize].value = Some(value);
        if !self.is_at_base() {
            self.trail.push(atom);
        }
        match (kind, value) {
            (Kind::Order | Kind::Implies, true) => self.add_edge(earlier, later, Because::atom(atom)),
            (Kind::Order, false) => self.add_edge(later, earlier, Because::atom(atom)),
            _ => Ok(()),
        }
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

    /// What a noted step came to know.
    pub(super) fn next_learned(&mut self) -> Option<Learned> {
        self.learned.pop()
    }

    /// From now on what the step learns is noted.
    pub(super) fn note(&mut self, node: NodeId) {
        self.nodes[node as usize].noted = true;
    }

    /// All steps in an order that keeps to what is decided, as near to the observed one as that allows.
    pub(super) fn linear_extension(&self) -> Vec<EventId> {
        let mut waits_for = self.predecessors();
        let entry = |node: NodeId| Reverse((self.nodes[node as usize].place.step, node));
        let free = (0..self.nodes.len() as NodeId).filter(|node| waits_for[*node as usize] == 0);
        let mut ready: BinaryHeap<_> = free.map(entry).collect();
        let mut order = Vec::with_capacity(self.nodes.len());
        while let Some(Reverse((step, node))) = ready.pop() {
            order.push(step);
            for then in self.followers(node) {
                waits_for[then as usize] -= 1;
                if waits_for[then as usize] == 0 {
                    ready.push(entry(then));
                }
            }
        }
        order
    }

    /// The node of a step; a new one knows what the step before it in its thread knows.
    pub(super) fn node(&mut self, place: Place) -> NodeId {
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
        self.last_change.resize(self.clocks.len(), NONE);
        let own = self.slot(id, place.thread);
        self.clocks[own] = place.position + 1;
        if next != NONE {
            self.nodes[next as usize].previous = id;
        }
        let previous = previous.unwrap_or(NONE);
        self.nodes.push(Node { place, previous, next, out: Vec::new(), watches: Vec::new(), noted: false });
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

    /// The event that a node's step begins with.
    pub(super) fn step(&self, node: NodeId) -> EventId {
        self.nodes[node as usize].place.step
    }

    /// How many steps there are.
    pub(super) fn steps(&self) -> NodeId {
        self.nodes.len() as NodeId
    }

    /// How many events of the thread come before the node, or are it.
    pub(super) fn knows(&self, node: NodeId, thread: u32) -> u32 {
        self.clocks[self.slot(node, thread)]
    }

    /// Whether one comes before the other, or is the other.
    pub(super) fn reaches(&self, from: NodeId, to: NodeId) -> bool {
        let Place { thread, position, .. } = self.nodes[from as usize].place;
        self.clocks[self.slot(to, thread)] > position
    }

    /// The nodes that come right after this one: by program order, then by edges.
    pub(super) fn followers(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let Node { next, out, .. } = &self.nodes[node as usize];
        let next = Some(*next).filter(|next| *next != NONE);
        next.into_iter().chain(out.iter().map(|edge| self.edges[*edge as usize].to))
    }

    /// For each node how many come right before it.
    pub(super) fn predecessors(&self) -> Vec<u32> {
        let mut count = vec![0u32; self.nodes.len()];
        for node in self.nodes.iter().filter(|node| node.next != NONE) {
            count[node.next as usize] += 1;
        }
        for edge in &self.edges {
            count[edge.to as usize] += 1;
        }
        count
    }

    fn imply(&mut self, atom: AtomId, value: bool) {
        if self.atoms[atom as usize].value.is_none() {
            self.implied.push((atom, value));
        }
    }

    /// A fact is true, and why.
    pub(super) fn imply_fact(&mut self, atom: AtomId, because: Because) {
        if self.atoms[atom as usize].value.is_none() {
            self.atoms[atom as usize].because = because;
            self.implied.push((atom, true));
        }
    }

    /// One step comes before another, and why. A conflict is what speaks against it.
    pub(super) fn add_edge(&mut self, from: NodeId, to: NodeId, because: Because) -> Result<(), Conflict> {
        if self.reaches(to, from) {
            let mut cycle = vec![because];
            self.used_edges.clear();
            self.path(to, from, &mut cycle);
            return Err(self.reasons_of(cycle));
        }
        if !self.reaches(from, to) {
            let edge = self.edges.len() as EdgeId;
            self.edges.push(Edge { from, to, because });
            self.nodes[from as usize].out.push(edge);
            self.carry(from, to, edge);
        }
        Ok(())
    }

    /// Tells `to` and all after it what `from` knows; along few edges first, so that explanations are short.
    fn carry(&mut self, from: NodeId, to: NodeId, edge: EdgeId) {
        let mut pending = std::mem::take(&mut self.pending);
        pending.push_back((from, to, edge));
        while let Some((from, to, edge)) = pending.pop_front() {
            if self.join(from, to, edge) {
                let Node { next, out, .. } = &self.nodes[to as usize];
                pending.extend(out.iter().map(|edge| (to, self.edges[*edge as usize].to, *edge)));
                if *next != NONE {
                    pending.push_front((to, *next, NONE));
                }
            }
        }
        self.pending = pending;
    }

    /// Whether `to` learned anything.
    fn join(&mut self, from: NodeId, to: NodeId, edge: EdgeId) -> bool {
        let (from, row) = (from as usize * self.threads, to as usize * self.threads);
        let (known, old) = (&self.clocks[from..from + self.threads], &self.clocks[row..row + self.threads]);
        // Most often nothing: this way the look is a few machine instructions.
        if !known.iter().zip(old).fold(false, |more, (new, old)| more | (new > old)) {
            return false;
        }
        for thread in 0..self.threads {
            let (new, old) = (self.clocks[from + thread], self.clocks[row + thread]);
            if new > old {
                let slot = row + thread;
                let before = std::mem::replace(&mut self.last_change[slot], self.changes.len() as u32);
                self.changes.push(Change { slot: slot as u32, old, edge, before });
                self.clocks[slot] = new;
                self.decide_watched(to, thread as u32, old..new);
                if self.nodes[to as usize].noted {
                    self.learned.push(Learned { node: to, thread: thread as u32, positions: old..new });
                }
            }
        }
        true
    }

    /// The node came to know the events of the thread at these positions.
    fn decide_watched(&mut self, node: NodeId, thread: u32, positions: std::ops::Range<u32>) {
        let watches = &self.nodes[node as usize].watches;
        let begin = watches.partition_point(|watch| (watch.thread, watch.position) < (thread, positions.start));
        for watch in &watches[begin..] {
            if watch.thread != thread || watch.position >= positions.end {
                break;
            }
            if self.atoms[watch.atom as usize].value.is_none() {
                self.implied.push((watch.atom, watch.value));
            }
        }
    }
}

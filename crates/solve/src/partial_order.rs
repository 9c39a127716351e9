//! A theory of strict partial orders of steps, kept closed as orders are decided.
//!
//! For each step the theory knows how many events of each thread come before it ([`closure`]). Program order is built in: it costs
//! no edge and is part of no explanation.
//!
//! - Setting an atom adds an edge. An edge against a known order closes a cycle; the atoms of the cycle are the conflict.
//! - An atom whose order becomes known is implied by the atoms of a path.
//! - Every change of what is known keeps the edge that caused it, so that paths can be read off.
//!
//! Besides orders there are *facts*, which are atoms that are not about order, and edges that follow from atoms and paths.
//! [`super::schedules`] knows what locks and reads mean.
//!
//! Source: ordering consistency theories (He, Sun and Fan, *Satisfiability modulo ordering consistency theory*), with
//! what threads know of each other in place of a search for cycles.

mod closure;
mod explanation;
#[cfg(test)]
mod tests;

pub(super) use closure::NONE;
use closure::{Closure, EdgeId, Point};

pub(super) use closure::Gain;
use foretrace_index::TraceIndex;
use foretrace_trace::{EventId, Trace};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// An order atom, "the step that is earlier in the observed run comes before the later one", or a fact.
pub(super) type AtomId = u32;

/// Atoms that, with the values that they have, cannot be true together.
pub(super) type Conflict = Vec<AtomId>;

/// A step that the order knows.
pub(super) type NodeId = u32;

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
pub(super) struct StepPosition {
    pub(super) step: EventId,
    pub(super) thread: u32,
    pub(super) position: u32,
}

impl StepPosition {
    /// Where a step stands.
    pub(super) fn of_step(trace: &Trace, trace_index: &TraceIndex, step: EventId) -> StepPosition {
        StepPosition { step, thread: trace.event(step).thread.0, position: trace_index.position[step.index()] }
    }
}

struct Node {
    place: StepPosition,
    next: NodeId,
    out: Vec<EdgeId>,
}

/// An atom that is decided when an event comes to know that at a position of another thread.
#[derive(Clone, Copy)]
struct Watch {
    known: u32,
    atom: AtomId,
    value: bool,
}

#[derive(Clone, Copy)]
struct Edge {
    from: NodeId,
    to: NodeId,
    because: Because,
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

/// The theory's state: what is decided of the order, by levels.
#[derive(Default)]
pub(super) struct PartialOrder {
    nodes: Vec<Node>,
    node_of: FxHashMap<EventId, NodeId>,
    chains: Vec<BTreeMap<u32, NodeId>>,
    closure: Closure,
    /// By the thread that knows, the thread that is known, and the position that knows; then by the position that is known.
    watches: Vec<Vec<BTreeMap<u32, Vec<Watch>>>>,
    edges: Vec<Edge>,
    atoms: Vec<Atom>,
    implied: Vec<(AtomId, bool)>,
    /// What the newest edge told, and what all told that was not asked for yet, where that is of use.
    newest: Vec<Gain>,
    gains: Option<Vec<Gain>>,
    trail: Vec<AtomId>,
    levels: Vec<Level>,
    /// What an explanation has used.
    used_edges: FxHashSet<EdgeId>,
    used_paths: FxHashSet<(Point, Point)>,
    used_atoms: FxHashSet<AtomId>,
}

impl PartialOrder {
    /// No step yet, of so many threads.
    pub(super) fn new(threads: usize) -> PartialOrder {
        PartialOrder {
            chains: vec![BTreeMap::new(); threads],
            closure: Closure::new(threads),
            watches: vec![Vec::new(); threads],
            ..PartialOrder::default()
        }
    }

    /// The same, with what comes to be known kept for [`PartialOrder::next_gain`].
    pub(super) fn with_gains(threads: usize) -> PartialOrder {
        PartialOrder { gains: Some(Vec::new()), ..PartialOrder::new(threads) }
    }

    /// Whether nothing is decided that could be taken back: only then steps, atoms and fixed edges may be added.
    pub(super) fn is_at_base(&self) -> bool {
        self.levels.is_empty()
    }

    /// A new atom for two steps of different threads, the first one earlier in the observed run.
    pub(super) fn add_atom(&mut self, earlier: StepPosition, later: StepPosition) -> AtomId {
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

    /// The same, but that it comes to be false is not implied.
    pub(super) fn add_silent(&mut self, before: NodeId, after: NodeId) -> AtomId {
        debug_assert!(self.is_at_base());
        let atom = self.new_atom(Kind::Implies, before, after);
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
    pub(super) fn add_fixed(&mut self, before: StepPosition, after: StepPosition) -> Result<(), Conflict> {
        debug_assert!(self.is_at_base());
        let (from, to) = (self.node(before), self.node(after));
        self.add_edge(from, to, Because::ALWAYS)
    }

    /// Begins a level.
    pub(super) fn push(&mut self) {
        let (edges, changes, trail) = (self.edges.len(), self.closure.changes(), self.trail.len());
        self.levels.push(Level { edges, changes, trail });
    }

    /// Takes back the last levels.
    pub(super) fn pop(&mut self, levels: usize) {
        let Some(kept) = self.levels.len().checked_sub(levels).filter(|_| levels > 0) else { return };
        let Level { edges, changes, trail } = self.levels.drain(kept..).next().expect("one or more");
        for edge in self.edges.drain(edges..).rev() {
            self.nodes[edge.from as usize].out.pop();
        }
        self.closure.take_back(changes);
        for atom in self.trail.drain(trail..) {
            self.atoms[atom as usize].value = None;
        }
        self.implied.clear();
        if let Some(gains) = &mut self.gains {
            gains.clear();
        }
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

    /// What came to be known.
    pub(super) fn next_gain(&mut self) -> Option<Gain> {
        self.gains.as_mut().and_then(Vec::pop)
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

    /// The node of a step.
    pub(super) fn node(&mut self, place: StepPosition) -> NodeId {
        if let Some(node) = self.node_of.get(&place.step) {
            return *node;
        }
        let id = self.nodes.len() as NodeId;
        let chain = &mut self.chains[place.thread as usize];
        let previous = chain.range(..place.position).next_back().map(|(_, node)| *node);
        let next = chain.range(place.position..).next().map_or(NONE, |(_, node)| *node);
        chain.insert(place.position, id);
        if let Some(previous) = previous {
            self.nodes[previous as usize].next = id;
        }
        self.nodes.push(Node { place, next, out: Vec::new() });
        self.node_of.insert(place.step, id);
        id
    }

    /// The atom has this value where one node comes after another.
    fn watch(&mut self, node: NodeId, other: NodeId, atom: AtomId, value: bool) {
        let (knower, known) = (self.point(node), self.point(other));
        let row = &mut self.watches[knower.thread as usize];
        if row.len() <= known.thread as usize {
            row.resize_with(known.thread as usize + 1, BTreeMap::new);
        }
        let watches = row[known.thread as usize].entry(knower.position).or_default();
        let place = watches.partition_point(|other| other.known <= known.position);
        watches.insert(place, Watch { known: known.position, atom, value });
    }

    fn point(&self, node: NodeId) -> Point {
        let StepPosition { thread, position, .. } = self.nodes[node as usize].place;
        Point { thread, position }
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
        self.closure.events_before(self.point(node), thread)
    }

    /// Whether one comes before the other, or is the other.
    pub(super) fn reaches(&self, from: NodeId, to: NodeId) -> bool {
        self.closure.reaches(self.point(from), self.point(to))
    }

    /// The first position of the thread that the node comes before, or is at.
    pub(super) fn first_after(&self, node: NodeId, thread: u32) -> u32 {
        self.closure.first_after(self.point(node), thread).unwrap_or(u32::MAX)
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
            return Err(self.cycle(from, to, because));
        }
        if !self.reaches(from, to) {
            let edge = self.edges.len() as EdgeId;
            self.edges.push(Edge { from, to, because });
            self.nodes[from as usize].out.push(edge);
            self.newest.clear();
            self.closure.add(self.point(from), self.point(to), edge, &mut self.newest);
            self.decide_watched();
            if let Some(gains) = &mut self.gains {
                gains.append(&mut self.newest);
            }
        }
        Ok(())
    }

    /// Decides the atoms that the newest edge decides.
    fn decide_watched(&mut self) {
        for Gain { knower, positions, known, events } in &self.newest {
            let Some(watches) = self.watches[*knower as usize].get(*known as usize) else { continue };
            for (_, watches) in watches.range(positions.clone()) {
                let begin = watches.partition_point(|watch| watch.known < events.start);
                for watch in watches[begin..].iter().take_while(|watch| watch.known < events.end) {
                    if self.atoms[watch.atom as usize].value.is_none() {
                        self.implied.push((watch.atom, watch.value));
                    }
                }
            }
        }
    }
}

//! What atoms and orders rest on, read off the changes of what threads know.

use super::closure::Point;
use super::{Atom, AtomId, Because, Edge, Kind, NONE, NodeId, PartialOrder};

impl PartialOrder {
    /// The atoms that, with the values that they have, imply this one.
    pub(crate) fn explain(&mut self, atom: AtomId, value: bool) -> Vec<AtomId> {
        let Atom { kind, earlier, later, because, .. } = self.atoms[atom as usize];
        let path = |from, to| Because { paths: [(from, to), (NONE, NONE)], ..Because::ALWAYS };
        self.reasons(match (kind, value) {
            (Kind::Fact, _) => because,
            (_, true) => path(earlier, later),
            (_, false) => path(later, earlier),
        })
    }

    /// All atoms that something rests on.
    pub(crate) fn reasons(&mut self, because: Because) -> Vec<AtomId> {
        self.reasons_of(vec![because])
    }

    /// The atoms because of which the first node cannot come before the second, which comes before it.
    pub(super) fn cycle(&mut self, first: NodeId, second: NodeId, because: Because) -> Vec<AtomId> {
        let path = Because { paths: [(second, first), (NONE, NONE)], ..Because::ALWAYS };
        self.reasons_of(vec![because, path])
    }

    fn reasons_of(&mut self, mut pending: Vec<Because>) -> Vec<AtomId> {
        self.used_edges.clear();
        self.used_paths.clear();
        self.used_atoms.clear();
        let mut found = Vec::new();
        while let Some(Because { atoms, paths }) = pending.pop() {
            for atom in atoms.into_iter().filter(|atom| *atom != NONE) {
                if self.used_atoms.insert(atom) {
                    found.push(atom);
                }
            }
            for (from, to) in paths.into_iter().filter(|(from, _)| *from != NONE) {
                self.path(from, to, &mut pending);
            }
        }
        found
    }

    /// Adds what the edges rest on by which `to` came to know of `from`: those that were there first, so that no edge of a
    /// path rests on what the path implies.
    fn path(&mut self, from: NodeId, to: NodeId, reasons: &mut Vec<Because>) {
        let mut pending: Vec<(Point, Point)> = vec![(self.point(from), self.point(to))];
        while let Some((from, to)) = pending.pop() {
            if from.thread == to.thread || !self.used_paths.insert((from, to)) {
                continue;
            }
            let edge = self.closure.first_cause(from, to).expect("only what is known is explained");
            let Edge { from: before, to: after, because } = self.edges[edge as usize];
            if self.used_edges.insert(edge) {
                reasons.push(because);
            }
            pending.push((self.point(after), to));
            pending.push((from, self.point(before)));
        }
    }
}

//! What atoms and orders rest on, read off the changes of the clocks.

use super::{Atom, AtomId, Because, Change, Edge, Kind, NONE, NodeId, PartialOrder, Place};

impl PartialOrder {
    /// The atoms that, with the values that they have, imply this one.
    pub(in crate::solve) fn explain(&mut self, atom: AtomId, value: bool) -> Vec<AtomId> {
        let Atom { kind, earlier, later, because, .. } = self.atoms[atom as usize];
        let path = |from, to| Because { paths: [(from, to), (NONE, NONE)], ..Because::ALWAYS };
        self.reasons(match (kind, value) {
            (Kind::Fact, _) => because,
            (_, true) => path(earlier, later),
            (_, false) => path(later, earlier),
        })
    }

    /// All atoms that something rests on.
    pub(in crate::solve) fn reasons(&mut self, because: Because) -> Vec<AtomId> {
        self.used_edges.clear();
        self.reasons_of(vec![because])
    }

    /// The same for several things, some edges being accounted for.
    pub(super) fn reasons_of(&mut self, mut pending: Vec<Because>) -> Vec<AtomId> {
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
    pub(super) fn path(&mut self, from: NodeId, to: NodeId, reasons: &mut Vec<Because>) {
        let Place { thread, position, .. } = self.nodes[from as usize].place;
        let mut at = to;
        while self.nodes[at as usize].place.thread != thread {
            let mut change = self.last_change[self.slot(at, thread)];
            let mut edge = NONE;
            while change != NONE {
                let Change { old, edge: by, before, .. } = &self.changes[change as usize];
                if *old <= position {
                    edge = *by;
                    break;
                }
                change = *before;
            }
            at = match edge {
                NONE => self.nodes[at as usize].previous,
                edge => {
                    let Edge { from, because, .. } = &self.edges[edge as usize];
                    if self.used_edges.insert(edge) {
                        reasons.push(*because);
                    }
                    *from
                }
            };
        }
    }
}

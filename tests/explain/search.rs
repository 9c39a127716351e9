//! A search for assignments that knows nothing of Z3: atoms one by one, order atoms as a graph without cycles, terms by
//! our own evaluation. It is slow, and for small cores without values to solve for.

use foretrace_encodings::Atom;
use foretrace_trace::{EventId, Leaf, Node, Sort, TermId, Terms, Value};
use std::collections::{BTreeMap, BTreeSet};

/// More atoms than this are not searched.
const MOST_ATOMS: usize = 26;

/// Whether all terms can be true at once; nothing where the search would be too long or has values to find.
pub fn satisfiable(terms: &Terms<Atom>, roots: &[TermId]) -> Option<bool> {
    let mut atoms = BTreeSet::new();
    let mut numbers = BTreeSet::new();
    for term in terms.reachable(roots) {
        match terms.node(term) {
            Node::Leaf(atom) => {
                atoms.insert(*atom);
            }
            Node::Const(value) if value.sort() == Sort::Int => {
                numbers.insert(value.to_string());
            }
            _ => {}
        }
    }
    let values = atoms.iter().any(|atom| matches!(atom, Atom::Value { .. }));
    if values || atoms.len() > MOST_ATOMS {
        return None;
    }
    let tokens = atoms.iter().filter(|atom| matches!(atom, Atom::Token(_))).count();
    let mut numbers: Vec<Value> = numbers.iter().map(|text| Value::Int(text.parse().expect("a number"))).collect();
    numbers.extend((0..tokens as i64).map(|nth| Value::int(-1 - nth))); // as many others as there may be
    let mut search = Search { terms, atoms: Vec::new(), due: Vec::new(), numbers, values: BTreeMap::new() };
    search.plan(roots);
    Some(search.from(0))
}

struct Search<'t> {
    terms: &'t Terms<Atom>,
    /// In the order in which they get values.
    atoms: Vec<Atom>,
    /// What can be evaluated once so many atoms have values.
    due: Vec<Vec<TermId>>,
    numbers: Vec<Value>,
    values: BTreeMap<Atom, Value>,
}

impl Search<'_> {
    /// Small terms first, so that they cut the search early.
    fn plan(&mut self, roots: &[TermId]) {
        let mut sorted: Vec<(usize, TermId)> = roots.iter().map(|r| (self.terms.leaves(*r).len(), *r)).collect();
        sorted.sort();
        self.due.push(Vec::new());
        for (_, root) in sorted {
            for atom in self.terms.leaves(root) {
                if !self.atoms.contains(atom) {
                    self.atoms.push(*atom);
                    self.due.push(Vec::new());
                }
            }
            self.due.last_mut().expect("one for no atoms").push(root);
        }
    }

    fn from(&mut self, known: usize) -> bool {
        let values = &self.values;
        let holds = |term: &TermId| self.terms.evaluate(*term, &mut |atom| values[atom].clone()).is_true();
        if !self.due[known].iter().all(holds) {
            return false;
        }
        let Some(atom) = self.atoms.get(known).copied() else { return true };
        let choices = match atom.sort() {
            Sort::Bool => vec![Value::Bool(true), Value::Bool(false)],
            _ => self.numbers.clone(),
        };
        choices.into_iter().any(|value| {
            self.values.insert(atom, value);
            let found = self.is_order() && self.from(known + 1);
            self.values.remove(&atom);
            found
        })
    }

    /// Whether the order atoms that have values go round in no circle.
    fn is_order(&self) -> bool {
        let mut edges: Vec<(EventId, EventId)> = Vec::new();
        for (atom, value) in &self.values {
            if let Atom::Before(a, b) = atom {
                edges.push(if value.is_true() { (*a, *b) } else { (*b, *a) });
            }
        }
        while !edges.is_empty() {
            let targets: BTreeSet<EventId> = edges.iter().map(|(_, to)| *to).collect();
            let before = edges.len();
            edges.retain(|(from, _)| targets.contains(from)); // what nothing comes before is no part of a circle
            if edges.len() == before {
                return false;
            }
        }
        true
    }
}

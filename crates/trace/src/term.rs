//! Terms in an arena: hash-consed, sort-checked when made, children before parents.
//!
//! One arena type serves every term language of the project; they differ in their leaves (a
//! trace's terms mention local names, an encoding's mention event orders and read values). Nothing here recurses on
//! the depth of a term, since traces come from outside and chain terms without bound.

use crate::arguments::Arguments;
use crate::function::{Func, SortError};
use crate::interner::{Positions, hash_of};
use crate::users::Users;
use crate::value::{Sort, Value};
use rustc_hash::FxHashMap;
use std::hash::Hash;

pub use crate::ids::TermId;

/// What a term without arguments stands for, besides constants.
pub trait Leaf: Clone + Eq + Hash + std::fmt::Debug {
    /// The leaf's sort.
    fn sort(&self) -> Sort;
}

/// The outermost symbol of a term.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Node<L> {
    /// A literal.
    Const(Value),
    /// A name that the arena's language knows.
    Leaf(L),
    /// A function applied to arguments.
    App(Func, Arguments),
}

/// An arena of terms over leaves `L`.
#[derive(Clone, Debug)]
pub struct Terms<L> {
    nodes: Vec<Node<L>>,
    info: Vec<Info>,
    constants: Positions,
    /// Up to `listed`: those after it were appended.
    leaves: Positions,
    listed: usize,
    applications: Users,
}

/// Per term: its sort and its size as a tree (saturating), which picks the way to walk it.
#[derive(Clone, Copy, Debug)]
struct Info {
    sort: Sort,
    size: u32,
}

/// Terms up to this size as a tree are walked by recursion, larger ones with a work list.
const SMALL: u32 = 64;

impl<L> Default for Terms<L> {
    fn default() -> Self {
        Terms {
            nodes: Vec::new(),
            info: Vec::new(),
            constants: Positions::default(),
            leaves: Positions::default(),
            listed: 0,
            applications: Users::default(),
        }
    }
}

impl<L: Leaf> Terms<L> {
    /// The number of distinct terms.
    pub fn len(&self) -> usize {
        self.info.len()
    }

    /// Whether there are no terms.
    pub fn is_empty(&self) -> bool {
        self.info.is_empty()
    }

    /// All terms, arguments before what uses them.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = TermId> + ExactSizeIterator + use<L> {
        (0..self.info.len()).map(TermId::new)
    }

    /// The terms from this position to another one, that one included.
    pub fn iter_between(&self, first: usize, last: TermId) -> impl Iterator<Item = TermId> + use<L> {
        (first..=last.index()).map(TermId::new)
    }

    /// The term's outermost symbol.
    pub fn node(&self, term: TermId) -> &Node<L> {
        &self.nodes[term.index()]
    }

    /// The term's sort.
    pub fn sort(&self, term: TermId) -> Sort {
        self.info[term.index()].sort
    }

    /// The term's size as a tree, or the largest number if it is larger than that.
    pub fn size(&self, term: TermId) -> u32 {
        self.info[term.index()].size
    }

    /// The term's arguments; none for constants and leaves.
    pub fn args(&self, term: TermId) -> &[TermId] {
        match self.node(term) {
            Node::App(_, args) => args,
            _ => &[],
        }
    }

    /// The term's value where it is a literal.
    pub fn as_const(&self, term: TermId) -> Option<&Value> {
        match self.node(term) {
            Node::Const(value) => Some(value),
            _ => None,
        }
    }

    /// A literal.
    pub fn constant(&mut self, value: Value) -> TermId {
        let hash = hash_of(&value);
        let is_it = |position: usize| matches!(&self.nodes[position], Node::Const(other) if *other == value);
        if let Some(found) = self.constants.find(hash, is_it) {
            return TermId::new(found);
        }
        self.constants.insert(hash, self.nodes.len());
        let info = Info { sort: value.sort(), size: 1 };
        self.add(Node::Const(value), info)
    }

    /// A leaf.
    pub fn leaf(&mut self, leaf: L) -> TermId {
        match self.find_leaf(&leaf) {
            Some(found) => found,
            None => self.append_leaf(leaf),
        }
    }

    /// A function applied to arguments, exactly as given.
    pub fn app(&mut self, func: Func, args: &[TermId]) -> Result<TermId, SortError> {
        match self.find_app(func, args) {
            Some(found) => Ok(found),
            None => self.append_app(func, args.into()),
        }
    }

    /// A leaf that the arena does not have, as the caller knows: nothing is looked up.
    pub fn append_leaf(&mut self, leaf: L) -> TermId {
        debug_assert!(self.find_leaf(&leaf).is_none());
        let info = Info { sort: leaf.sort(), size: 1 };
        self.add(Node::Leaf(leaf), info)
    }

    /// An application that the arena does not have, as the caller knows: nothing is looked up.
    pub fn append_app(&mut self, func: Func, args: Arguments) -> Result<TermId, SortError> {
        debug_assert!(self.find_app(func, &args).is_none());
        let info = self.info_of_app(func, &args)?;
        if let Some(newest) = args.iter().max() {
            self.applications.insert(newest.index(), self.nodes.len(), || hash_of(&(func, &*args)));
        }
        Ok(self.add(Node::App(func, args), info))
    }

    /// Makes all leaves others; different ones stay different, and of the same sorts.
    pub fn rename_leaves(&mut self, rename: &mut dyn FnMut(&mut L)) {
        for node in &mut self.nodes {
            if let Node::Leaf(leaf) = node {
                rename(leaf);
            }
        }
        (self.leaves, self.listed) = (Positions::default(), 0);
    }

    fn find_leaf(&mut self, leaf: &L) -> Option<TermId> {
        while let Some(node) = self.nodes.get(self.listed) {
            if let Node::Leaf(leaf) = node {
                self.leaves.insert(hash_of(leaf), self.listed);
            }
            self.listed += 1;
        }
        let is_it = |position: usize| matches!(&self.nodes[position], Node::Leaf(other) if other == leaf);
        self.leaves.find(hash_of(leaf), is_it).map(TermId::new)
    }

    /// No function has no arguments.
    #[inline]
    fn find_app(&self, func: Func, args: &[TermId]) -> Option<TermId> {
        let is_it = |position: usize| match &self.nodes[position] {
            Node::App(other, of) => *other == func && **of == *args,
            _ => false,
        };
        let newest = args.iter().max()?.index();
        self.applications.find(newest, || hash_of(&(func, args)), is_it).map(TermId::new)
    }

    fn info_of_app(&self, func: Func, args: &[TermId]) -> Result<Info, SortError> {
        let mut sorts = [Sort::Bool; 4];
        let sort = if args.len() <= sorts.len() {
            for (sort, arg) in sorts.iter_mut().zip(args) {
                *sort = self.sort(*arg);
            }
            func.result_sort(&sorts[..args.len()])?
        } else {
            let sorts: Vec<Sort> = args.iter().map(|a| self.sort(*a)).collect();
            func.result_sort(&sorts)?
        };
        let size = args.iter().fold(1u32, |n, a| n.saturating_add(self.info[a.index()].size));
        Ok(Info { sort, size })
    }

    fn add(&mut self, node: Node<L>, info: Info) -> TermId {
        self.nodes.push(node);
        self.info.push(info);
        TermId::new(self.nodes.len() - 1)
    }

    /// The value of `term` when each leaf has the value that `leaf_value` gives.
    pub fn evaluate(&self, term: TermId, leaf_value: &mut dyn FnMut(&L) -> Value) -> Value {
        let any_size = self.evaluate_within(usize::MAX, term, leaf_value);
        any_size.expect("no integer has more bits than memory")
    }

    /// As [`Terms::evaluate`]; nothing where an integer on the way has more bits than `most`.
    pub fn evaluate_within(&self, most: usize, term: TermId, leaf_value: &mut dyn FnMut(&L) -> Value) -> Option<Value> {
        if self.info[term.index()].size <= SMALL {
            return self.evaluate_small(most, term, leaf_value);
        }
        let mut values: FxHashMap<TermId, Value> = FxHashMap::default();
        for t in self.reachable(&[term]) {
            let value = match self.node(t) {
                Node::Const(value) => value.clone(),
                Node::Leaf(leaf) => leaf_value(leaf),
                Node::App(func, args) => {
                    let args: Vec<&Value> = args.iter().map(|a| &values[a]).collect();
                    func.apply_within(most, &args)?
                }
            };
            values.insert(t, value);
        }
        values.remove(&term)
    }

    fn evaluate_small(&self, most: usize, term: TermId, leaf_value: &mut dyn FnMut(&L) -> Value) -> Option<Value> {
        match self.node(term) {
            Node::Const(value) => Some(value.clone()),
            Node::Leaf(leaf) => Some(leaf_value(leaf)),
            Node::App(func, args) => {
                let mut value = |arg: TermId| self.evaluate_small(most, arg, leaf_value);
                match **args {
                    [a] => func.apply_within(most, &[&value(a)?]),
                    [a, b] => func.apply_within(most, &[&value(a)?, &value(b)?]),
                    _ => {
                        let values: Vec<Value> = args.iter().map(|arg| value(*arg)).collect::<Option<_>>()?;
                        func.apply_within(most, &values.iter().collect::<Vec<_>>())
                    }
                }
            }
        }
    }

    /// All terms that `roots` are made of, themselves included, arguments before what uses them.
    pub fn reachable(&self, roots: &[TermId]) -> Vec<TermId> {
        let mut seen: rustc_hash::FxHashSet<TermId> = roots.iter().copied().collect();
        let mut found: Vec<TermId> = seen.iter().copied().collect();
        let mut next = 0;
        while next < found.len() {
            for arg in self.args(found[next]) {
                if seen.insert(*arg) {
                    found.push(*arg);
                }
            }
            next += 1;
        }
        found.sort_unstable(); // arena order is a topological order
        found
    }

    /// The distinct leaves of a term, in arena order.
    pub fn leaves(&self, term: TermId) -> Vec<&L> {
        let mut leaves = Vec::new();
        for t in self.reachable(&[term]) {
            if let Node::Leaf(leaf) = self.node(t) {
                leaves.push(leaf);
            }
        }
        leaves
    }
}

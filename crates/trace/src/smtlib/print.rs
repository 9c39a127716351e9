//! From terms to SMT-LIB 2 text.

use super::{RESERVED, is_symbol_byte};
use crate::function::Func;
use crate::term::{Leaf, Node, TermId, Terms};
use crate::value::Value;
use dashu_int::IBig;
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::fmt::Write;

/// Terms of at most this many symbols are printed as trees, whatever they share.
const TREE_BUDGET: usize = 64;

/// Subterms that are higher than this are named, so that the text never nests too deep to be read.
const HEIGHT_LIMIT: u32 = 1_000;

/// Literals longer than this many bits are named where they are used twice.
const LONG_LITERAL: usize = 256;

/// Appends the text of `term` to `out`; `name` gives a leaf's plain name.
///
/// Subterms that are used more than once are bound by `let`, one layer of bindings on the other.
pub fn print<'n, L: Leaf>(out: &mut String, terms: &Terms<L>, term: TermId, name: &dyn Fn(&L) -> &'n str) {
    let start = out.len();
    let mut tree = Tree { terms, name, names: &FxHashMap::default(), budget: TREE_BUDGET, out };
    if !tree.write(term) {
        out.truncate(start);
        print_shared(out, terms, term, name);
    }
}

/// A name as a symbol, in bars where it is not a simple one.
pub fn symbol(name: &str) -> Cow<'_, str> {
    let simple = !name.is_empty()
        && name.bytes().all(is_symbol_byte)
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && !RESERVED.contains(&name);
    if simple { Cow::Borrowed(name) } else { Cow::Owned(format!("|{name}|")) }
}

fn print_shared<'n, L: Leaf>(out: &mut String, terms: &Terms<L>, term: TermId, name: &dyn Fn(&L) -> &'n str) {
    let layers = layers(terms, term);
    let taken: FxHashSet<&str> = terms.leaves(term).into_iter().map(name).filter(|n| n.starts_with('?')).collect();
    let mut fresh = (1u64..).map(|number| format!("?{number}")).filter(|name| !taken.contains(name.as_str()));
    let mut names: FxHashMap<TermId, String> = FxHashMap::default();
    for layer in &layers {
        out.push_str("(let (");
        for (position, bound) in layer.iter().enumerate() {
            let fresh_name = fresh.next().unwrap_or_default();
            let separator = if position > 0 { " " } else { "" };
            let _ = write!(out, "{separator}({fresh_name} "); // writing to a string cannot fail
            Tree { terms, name, names: &names, budget: usize::MAX, out }.write(*bound);
            out.push(')');
            names.insert(*bound, fresh_name);
        }
        out.push_str(") ");
    }
    Tree { terms, name, names: &names, budget: usize::MAX, out }.write(term);
    out.extend(layers.iter().map(|_| ')'));
}

/// The subterms to bind, by layers; the terms of a layer use names of earlier layers only.
fn layers<L: Leaf>(terms: &Terms<L>, root: TermId) -> Vec<Vec<TermId>> {
    let reachable = terms.reachable(&[root]);
    let position: FxHashMap<TermId, usize> = reachable.iter().enumerate().map(|(i, t)| (*t, i)).collect();
    let mut uses = vec![0u32; reachable.len()];
    let mut must_bind = vec![false; reachable.len()];
    for term in &reachable {
        for arg in terms.args(*term) {
            uses[position[arg]] = uses[position[arg]].saturating_add(1);
            must_bind[position[arg]] |= is_negated_numeral(terms, *term);
        }
    }
    let mut height = vec![0u32; reachable.len()];
    let mut level = vec![0usize; reachable.len()];
    let mut layers: Vec<Vec<TermId>> = Vec::new();
    for (index, term) in reachable.iter().enumerate() {
        let args = terms.args(*term).iter().map(|arg| position[arg]);
        height[index] = args.clone().map(|arg| height[arg] + 1).max().unwrap_or(0);
        level[index] = args.map(|arg| level[arg]).max().unwrap_or(0);
        let shared = uses[index] > 1 && is_worth_a_name(terms, *term);
        if (shared || must_bind[index] || height[index] >= HEIGHT_LIMIT) && *term != root {
            if layers.len() <= level[index] {
                layers.resize_with(level[index] + 1, Vec::new);
            }
            layers[level[index]].push(*term);
            height[index] = 0;
            level[index] += 1;
        }
    }
    layers
}

fn is_worth_a_name<L: Leaf>(terms: &Terms<L>, term: TermId) -> bool {
    match terms.node(term) {
        Node::App(..) => true,
        Node::Const(Value::Int(number)) => {
            number >= &(IBig::ONE << LONG_LITERAL) || number <= &-(IBig::ONE << LONG_LITERAL)
        }
        Node::Const(Value::BitVec { width, .. }) => *width as usize > LONG_LITERAL,
        _ => false,
    }
}

/// Whether the term is minus a numeral, which would read as one literal if it were printed so.
fn is_negated_numeral<L: Leaf>(terms: &Terms<L>, term: TermId) -> bool {
    match terms.node(term) {
        Node::App(Func::Neg, args) => matches!(terms.as_const(args[0]), Some(Value::Int(n)) if *n >= IBig::ZERO),
        _ => false,
    }
}

/// Prints one term as a tree down to named subterms.
struct Tree<'t, 'n, L> {
    terms: &'t Terms<L>,
    name: &'t dyn Fn(&L) -> &'n str,
    names: &'t FxHashMap<TermId, String>,
    budget: usize,
    out: &'t mut String,
}

impl<L: Leaf> Tree<'_, '_, L> {
    /// Whether the term could be printed as a tree within the budget.
    fn write(&mut self, root: TermId) -> bool {
        let terms = self.terms;
        let mut open: Vec<std::slice::Iter<'_, TermId>> = Vec::new();
        let mut next = Some(root);
        loop {
            match next {
                Some(term) if self.budget == 0 || self.would_fold(term) => return false,
                Some(term) => {
                    self.budget -= 1;
                    if self.head(term) {
                        open.push(terms.args(term).iter());
                    }
                }
                None => {
                    open.pop();
                    self.out.push(')');
                }
            }
            let Some(args) = open.last_mut() else { return true };
            next = args.next().copied();
            if next.is_some() {
                self.out.push(' ');
            }
        }
    }

    fn would_fold(&self, term: TermId) -> bool {
        is_negated_numeral(self.terms, term) && !self.names.contains_key(&self.terms.args(term)[0])
    }

    /// Writes a name, a literal or the start of an application; whether arguments follow.
    fn head(&mut self, term: TermId) -> bool {
        if let Some(name) = self.names.get(&term) {
            self.out.push_str(name);
            return false;
        }
        let written = match self.terms.node(term) {
            Node::Const(value) => literal(self.out, value),
            Node::Leaf(leaf) => write!(self.out, "{}", symbol((self.name)(leaf))),
            Node::App(func, _) => write!(self.out, "({func}"),
        };
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
        matches!(self.terms.node(term), Node::App(..))
    }
}

fn literal(out: &mut String, value: &Value) -> std::fmt::Result {
    match value {
        Value::Int(number) if *number < IBig::ZERO => write!(out, "(- {})", -number),
        Value::BitVec { width: 1, bits } => write!(out, "#b{bits}"),
        Value::BitVec { width, bits } => write!(out, "(_ bv{bits} {width})"),
        plain => write!(out, "{plain}"),
    }
}

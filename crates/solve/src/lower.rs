//! From constraint terms to Z3's.

use super::order::OrderTheory;
use foretrace_encodings::Atom;
use foretrace_trace::{Func, Leaf, Node, Sort, TermId, Terms, Value};
use z3::ast::{Ast, BV, Bool, Dynamic, Int};

#[cfg(test)]
mod tests;

/// Lowers what the terms of a language are made of.
pub(super) trait Leaves {
    /// The language's leaves.
    type Leaf: Leaf;

    /// The Z3 term of a leaf.
    fn leaf(&mut self, leaf: &Self::Leaf) -> Dynamic;
}

impl<T: OrderTheory> Leaves for T {
    type Leaf = Atom;

    fn leaf(&mut self, atom: &Atom) -> Dynamic {
        let name = foretrace_encodings::smtlib::name(atom);
        match *atom {
            Atom::Before(a, b) => self.before(a, b).into(),
            Atom::Included(event) => {
                let term = Bool::new_const(name);
                self.included(event, &term);
                term.into()
            }
            _ => unknown(name, atom.sort()),
        }
    }
}

/// An unknown of this sort.
pub(super) fn unknown(name: String, sort: Sort) -> Dynamic {
    match sort {
        Sort::BitVec(width) => BV::new_const(name, width).into(),
        Sort::Int => Int::new_const(name).into(),
        Sort::Bool => Bool::new_const(name).into(),
    }
}

/// Lowers terms of one arena, each once.
pub(super) struct Lowering<T> {
    done: Vec<Option<Dynamic>>,
    pub(super) order: T,
}

impl<T: Leaves> Lowering<T> {
    pub(super) fn new(order: T) -> Self {
        Lowering { done: Vec::new(), order }
    }

    /// The Z3 term of a Boolean term.
    pub(super) fn boolean(&mut self, terms: &Terms<T::Leaf>, term: TermId) -> Bool {
        as_bool(&self.term(terms, term))
    }

    /// The Z3 term of a term.
    pub(super) fn term(&mut self, terms: &Terms<T::Leaf>, root: TermId) -> Dynamic {
        self.done.resize(terms.len(), None);
        let mut pending = vec![root];
        while let Some(term) = pending.last().copied() {
            let missing: Vec<TermId> =
                terms.args(term).iter().filter(|arg| self.done[arg.index()].is_none()).copied().collect();
            if missing.is_empty() {
                pending.pop();
                if self.done[term.index()].is_none() {
                    self.done[term.index()] = Some(self.node(terms, term));
                }
            } else {
                pending.extend(missing);
            }
        }
        self.done[root.index()].clone().expect("just lowered")
    }

    fn node(&mut self, terms: &Terms<T::Leaf>, term: TermId) -> Dynamic {
        match terms.node(term) {
            Node::Const(value) => constant(value),
            Node::Leaf(leaf) => self.order.leaf(leaf),
            Node::App(func, args) => {
                let args: Vec<Dynamic> =
                    args.iter().map(|arg| self.done[arg.index()].clone().expect("arguments come first")).collect();
                apply(*func, &args)
            }
        }
    }
}

fn constant(value: &Value) -> Dynamic {
    match value {
        Value::Bool(value) => Bool::from_bool(*value).into(),
        Value::Int(value) => {
            use std::str::FromStr;
            Int::from_str(&value.to_string()).expect("a decimal number").into()
        }
        Value::BitVec { width, bits } => BV::from_str(*width, &bits.to_string()).expect("a decimal number").into(),
    }
}

/// A value of this sort.
#[cfg(test)]
pub(super) fn value(sort: Sort, value: Dynamic) -> Value {
    match sort {
        Sort::Bool => value.as_bool().and_then(|value| value.as_bool()).expect("a truth value").into(),
        Sort::Int => {
            let text = value.to_string().replace(['(', ')', ' '], ""); // minus three is (- 3)
            Value::Int(text.parse().expect("a numeral"))
        }
        Sort::BitVec(width) => {
            let bits = value.as_bv().and_then(|value| value.as_u64()).expect("a word of a variable");
            Value::word(width, bits.into())
        }
    }
}

fn as_bool(term: &Dynamic) -> Bool {
    term.as_bool().expect("sort-checked: a Boolean")
}

fn as_int(term: &Dynamic) -> Int {
    term.as_int().expect("sort-checked: an integer")
}

fn as_word(term: &Dynamic) -> BV {
    term.as_bv().expect("sort-checked: a word")
}

fn apply(func: Func, args: &[Dynamic]) -> Dynamic {
    use Func::*;
    match func {
        Not | And | Or | Xor | Implies => connective(func, args).into(),
        Eq => chain(args, |a, b| a.eq(b)).into(),
        Distinct => Dynamic::distinct(args).into(),
        Ite => as_bool(&args[0]).ite(&args[1], &args[2]),
        Neg | Add | Sub | Mul | Div | Mod | Abs => integer(func, args).into(),
        Le => chain(args, |a, b| as_int(a).le(as_int(b))).into(),
        Lt => chain(args, |a, b| as_int(a).lt(as_int(b))).into(),
        Ge => chain(args, |a, b| as_int(a).ge(as_int(b))).into(),
        Gt => chain(args, |a, b| as_int(a).gt(as_int(b))).into(),
        Divisible(0) => Bool::from_bool(false).into(),
        Divisible(n) => as_int(&args[0]).modulo(Int::from_u64(u64::from(n))).eq(Int::from_u64(0)).into(),
        BvUlt | BvUle | BvUgt | BvUge | BvSlt | BvSle | BvSgt | BvSge => {
            comparison(func, &as_word(&args[0]), &as_word(&args[1])).into()
        }
        _ => word(func, args).into(),
    }
}

fn chain(args: &[Dynamic], holds: impl Fn(&Dynamic, &Dynamic) -> Bool) -> Bool {
    let pairs: Vec<Bool> = args.windows(2).map(|pair| holds(&pair[0], &pair[1])).collect();
    Bool::and(&pairs)
}

fn connective(func: Func, args: &[Dynamic]) -> Bool {
    let args: Vec<Bool> = args.iter().map(as_bool).collect();
    match func {
        Func::Not => args[0].not(),
        Func::And => Bool::and(&args),
        Func::Or => Bool::or(&args),
        Func::Xor => args[1..].iter().fold(args[0].clone(), |a, b| a.xor(b)),
        _ => {
            let (conclusion, premises) = args.split_last().expect("sort-checked: two arguments or more");
            premises.iter().rev().fold(conclusion.clone(), |then, premise| premise.implies(&then))
        }
    }
}

fn integer(func: Func, args: &[Dynamic]) -> Int {
    let args: Vec<Int> = args.iter().map(as_int).collect();
    match func {
        Func::Neg => args[0].unary_minus(),
        Func::Abs => args[0].ge(Int::from_u64(0)).ite(&args[0], &args[0].unary_minus()),
        Func::Add => Int::add(&args),
        Func::Sub => Int::sub(&args),
        Func::Mul => Int::mul(&args),
        Func::Div => args[1..].iter().fold(args[0].clone(), |a, b| a.div(b)),
        _ => args[0].modulo(&args[1]),
    }
}

fn comparison(func: Func, a: &BV, b: &BV) -> Bool {
    match func {
        Func::BvUlt => a.bvult(b),
        Func::BvUle => a.bvule(b),
        Func::BvUgt => a.bvugt(b),
        Func::BvUge => a.bvuge(b),
        Func::BvSlt => a.bvslt(b),
        Func::BvSle => a.bvsle(b),
        Func::BvSgt => a.bvsgt(b),
        _ => a.bvsge(b),
    }
}

fn word(func: Func, args: &[Dynamic]) -> BV {
    use Func::*;
    let args: Vec<BV> = args.iter().map(as_word).collect();
    let a = &args[0];
    let fold = |f: fn(&BV, &BV) -> BV| args[1..].iter().fold(a.clone(), |x, y| f(&x, y));
    match func {
        Concat => fold(|x, y| x.concat(y)),
        Extract { high, low } => a.extract(high, low),
        ZeroExtend(n) => a.zero_ext(n),
        SignExtend(n) => a.sign_ext(n),
        RotateLeft(n) => rotate(a, n % a.get_size()),
        RotateRight(n) => rotate(a, (a.get_size() - n % a.get_size()) % a.get_size()),
        Repeat(n) => (1..n).fold(a.clone(), |x, _| x.concat(a)),
        BvNot => a.bvnot(),
        BvNeg => a.bvneg(),
        BvAnd => fold(|x, y| x.bvand(y)),
        BvOr => fold(|x, y| x.bvor(y)),
        BvXor => fold(|x, y| x.bvxor(y)),
        BvNand => a.bvnand(&args[1]),
        BvNor => a.bvnor(&args[1]),
        BvXnor => fold(|x, y| x.bvxnor(y)),
        BvComp => a.eq(&args[1]).ite(&BV::from_u64(1, 1), &BV::from_u64(0, 1)),
        BvAdd => fold(|x, y| x.bvadd(y)),
        BvSub => a.bvsub(&args[1]),
        BvMul => fold(|x, y| x.bvmul(y)),
        BvUdiv => a.bvudiv(&args[1]),
        BvUrem => a.bvurem(&args[1]),
        BvSdiv => a.bvsdiv(&args[1]),
        BvSrem => a.bvsrem(&args[1]),
        BvSmod => a.bvsmod(&args[1]),
        BvShl => a.bvshl(&args[1]),
        BvLshr => a.bvlshr(&args[1]),
        BvAshr => a.bvashr(&args[1]),
        other => unreachable!("{other} makes no word"),
    }
}

/// A word rotated left by less than its width.
fn rotate(a: &BV, n: u32) -> BV {
    let width = a.get_size();
    if n == 0 { a.clone() } else { a.extract(width - n - 1, 0).concat(a.extract(width - 1, width - n)) }
}

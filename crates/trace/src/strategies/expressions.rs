//! Random expressions over a thread's local names: few values, so that different orders often give equal ones.

use crate::random::Random;
use crate::smtlib::symbol;
use crate::trace::EventId;
use crate::value::{Sort, Value};
use std::borrow::Cow;

/// A local name that can be used.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub name: &'static str,
    pub sort: Sort,
    pub definition: EventId,
}

impl Name {
    /// How an expression writes it.
    pub fn text(&self) -> Cow<'static, str> {
        symbol(self.name)
    }
}

/// A random expression of this sort, as SMT-LIB text.
pub(super) fn expression(random: &mut Random, names: &[Name], sort: Sort, depth: usize) -> String {
    let usable: Vec<&Name> = names.iter().filter(|name| name.sort == sort).collect();
    let leaf = depth == 0 || random.percent(35);
    match random.pick(&usable) {
        Some(name) if leaf && random.percent(70) => name.text().into_owned(),
        _ if leaf => literal(&value(random, sort)),
        _ => application(random, names, sort, depth - 1),
    }
}

/// A small value of this sort.
pub(super) fn value(random: &mut Random, sort: Sort) -> Value {
    match sort {
        Sort::Bool => Value::Bool(random.percent(50)),
        Sort::Int => Value::int(random.below(3)),
        Sort::BitVec(width) if random.percent(15) => Value::word_from_int(width, &(-1).into()),
        Sort::BitVec(width) => Value::word(width, random.below(3).into()),
    }
}

/// How an expression writes a value.
pub(super) fn literal(value: &Value) -> String {
    match value {
        Value::BitVec { width, bits } => format!("(_ bv{bits} {width})"),
        other => other.to_string(),
    }
}

fn application(random: &mut Random, names: &[Name], sort: Sort, depth: usize) -> String {
    if random.percent(8) {
        let condition = expression(random, names, Sort::Bool, depth);
        let (then, otherwise) = (expression(random, names, sort, depth), expression(random, names, sort, depth));
        return format!("(ite {condition} {then} {otherwise})");
    }
    match sort {
        Sort::Bool => condition(random, names, depth),
        Sort::Int => {
            let (a, b) = (expression(random, names, sort, depth), expression(random, names, sort, depth));
            match random.below(8) {
                0..=3 => format!("(+ {a} 1)"),
                4 => format!("(+ {a} {b})"),
                5 => format!("(- {a} {b})"),
                6 => format!("(* 2 {a})"),
                _ => format!("(mod {a} 2)"),
            }
        }
        Sort::BitVec(width) => {
            let (a, b) = (expression(random, names, sort, depth), expression(random, names, sort, depth));
            match random.below(8) {
                0..=3 => format!("(bvadd {a} (_ bv1 {width}))"),
                4 => format!("(bvand {a} {b})"),
                5 => format!("(bvsub {a} {b})"),
                6 => format!("(bvnot {a})"),
                _ => format!("(bvshl {a} {b})"),
            }
        }
    }
}

/// A comparison of a name with something, or a combination of such.
fn condition(random: &mut Random, names: &[Name], depth: usize) -> String {
    if depth > 0 && random.percent(15) {
        let connective = random.pick(&["and", "or", "=>", "xor"]).copied().unwrap_or("and");
        let (a, b) =
            (expression(random, names, Sort::Bool, depth - 1), expression(random, names, Sort::Bool, depth - 1));
        return format!("({connective} {a} {b})");
    }
    let Some(name) = random.pick(names).cloned() else { return "true".to_string() };
    let (a, b) = (name.text(), expression(random, names, name.sort, depth.min(1)));
    let compare = match name.sort {
        Sort::Bool => return if random.percent(50) { a.into_owned() } else { format!("(= {a} {b})") },
        Sort::Int => ["=", "=", "distinct", "<", ">="],
        Sort::BitVec(_) => ["=", "=", "distinct", "bvult", "bvsge"],
    };
    let compare = random.pick(&compare).copied().unwrap_or("=");
    format!("({compare} {a} {b})")
}

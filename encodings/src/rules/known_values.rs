//! What conditions say of single values, where they compare one with a constant.

use crate::term::{Atom, Builder};
use dashu_int::IBig;
use foretrace_trace::{Func, Node, TermId, ThreadId, Value};
use rustc_hash::FxHashMap;

/// How a word is read as a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reading {
    Signed,
    Unsigned,
}

/// What a condition says of a single value, where it is as plain as that.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Plain {
    Equal(Value),
    AtLeast(Reading, IBig),
    AtMost(Reading, IBig),
}

/// What is known of one value.
#[derive(Clone, Default, Debug)]
pub(super) struct Known {
    pub(super) equal: Option<Value>,
    /// Signed, unsigned.
    at_least: [Option<IBig>; 2],
    at_most: [Option<IBig>; 2],
}

impl Known {
    pub(super) fn add(&mut self, plain: &Plain) {
        match plain {
            Plain::Equal(value) => self.equal = self.equal.take().or_else(|| Some(value.clone())),
            Plain::AtLeast(reading, bound) => {
                let known = &mut self.at_least[*reading as usize];
                *known = known.take().map_or_else(|| Some(bound.clone()), |old| Some(old.max(bound.clone())));
            }
            Plain::AtMost(reading, bound) => {
                let known = &mut self.at_most[*reading as usize];
                *known = known.take().map_or_else(|| Some(bound.clone()), |old| Some(old.min(bound.clone())));
            }
        }
    }

    pub(super) fn implies(&self, plain: &Plain) -> bool {
        match plain {
            Plain::Equal(value) => self.equal.as_ref() == Some(value),
            Plain::AtLeast(reading, bound) => self.at_least[*reading as usize].as_ref().is_some_and(|old| old >= bound),
            Plain::AtMost(reading, bound) => self.at_most[*reading as usize].as_ref().is_some_and(|old| old <= bound),
        }
    }

    /// Whether nothing tighter is known.
    pub(super) fn is_tightest(&self, plain: &Plain) -> bool {
        match plain {
            Plain::Equal(_) => true,
            Plain::AtLeast(reading, bound) => self.at_least[*reading as usize].as_ref() == Some(bound),
            Plain::AtMost(reading, bound) => self.at_most[*reading as usize].as_ref() == Some(bound),
        }
    }
}

/// What conditions of threads say of single values; what is pinned apart from the rest.
#[derive(Default)]
pub(crate) struct KnownValues(FxHashMap<(ThreadId, TermId, bool), Known>);

impl KnownValues {
    /// A condition holds that says this of a value.
    pub(super) fn add(&mut self, thread: ThreadId, value: TermId, pinned: bool, plain: &Plain) {
        self.0.entry((thread, value, pinned)).or_default().add(plain);
    }

    /// What a condition, pinned or not, may take for granted of a value.
    pub(super) fn of_thread(&self, thread: ThreadId, value: TermId, pinned: bool) -> impl Iterator<Item = &Known> {
        let kinds: &[bool] = if pinned { &[false, true] } else { &[false] };
        kinds.iter().filter_map(move |kind| self.0.get(&(thread, value, *kind)))
    }
}

/// The only value that a condition speaks of.
pub(super) fn single_value(build: &Builder, condition: TermId) -> Option<TermId> {
    let mut found = None;
    for term in build.terms.reachable(&[condition]) {
        match build.terms.node(term) {
            Node::Leaf(Atom::Value { .. }) if found.is_none() => found = Some(term),
            Node::Leaf(_) => return None,
            _ => {}
        }
    }
    found
}

/// A condition as a comparison of a value with a constant.
pub(super) fn plain(build: &Builder, condition: TermId) -> Option<Plain> {
    let (comparison, negated) = match build.terms.node(condition) {
        Node::App(Func::Not, inner) => (inner[0], true),
        _ => (condition, false),
    };
    let Node::App(func, args) = build.terms.node(comparison) else { return None };
    let [left, right] = args[..] else { return None };
    let (term, constant, term_first) = match (build.terms.as_const(left), build.terms.as_const(right)) {
        (None, Some(constant)) => (left, constant, true),
        (Some(constant), None) => (right, constant, false),
        _ => return None,
    };
    let said = match func {
        Func::Eq if negated => return None,
        Func::Eq => Plain::Equal(constant.clone()),
        _ => bound(*func, constant, term_first, negated)?,
    };
    match said {
        // Nothing is below zero.
        Plain::AtMost(Reading::Unsigned, most) if most == IBig::ZERO => {
            without_offset(build, term, Value::zero(constant.sort())).map(Plain::Equal)
        }
        Plain::Equal(value) => without_offset(build, term, value).map(Plain::Equal),
        bound => is_value(build, term).then_some(bound),
    }
}

fn is_value(build: &Builder, term: TermId) -> bool {
    matches!(build.terms.node(term), Node::Leaf(Atom::Value { .. }))
}

/// What the value in `term` is where `term`, the value or a sum or difference with a constant, equals `equal`.
fn without_offset(build: &Builder, term: TermId, equal: Value) -> Option<Value> {
    if is_value(build, term) {
        return Some(equal);
    }
    let Node::App(func, args) = build.terms.node(term) else { return None };
    let [left, right] = args[..] else { return None };
    let offset = |value: TermId, constant: TermId| build.terms.as_const(constant).filter(|_| is_value(build, value));
    let (inverse, offset) = match func {
        Func::Add => (Func::Sub, offset(left, right).or_else(|| offset(right, left))?),
        Func::BvAdd => (Func::BvSub, offset(left, right).or_else(|| offset(right, left))?),
        Func::Sub => (Func::Add, offset(left, right)?),
        Func::BvSub => (Func::BvAdd, offset(left, right)?),
        _ => return None,
    };
    Some(inverse.apply(&[&equal, offset]))
}

/// A comparison with a constant as a bound that is part of what it allows.
fn bound(func: Func, constant: &Value, term_first: bool, negated: bool) -> Option<Plain> {
    let (reading, less, strict) = match func {
        Func::Lt | Func::BvSlt => (Reading::Signed, true, true),
        Func::Le | Func::BvSle => (Reading::Signed, true, false),
        Func::Gt | Func::BvSgt => (Reading::Signed, false, true),
        Func::Ge | Func::BvSge => (Reading::Signed, false, false),
        Func::BvUlt => (Reading::Unsigned, true, true),
        Func::BvUle => (Reading::Unsigned, true, false),
        Func::BvUgt => (Reading::Unsigned, false, true),
        Func::BvUge => (Reading::Unsigned, false, false),
        _ => return None,
    };
    let number = if reading == Reading::Signed { constant.to_signed() } else { constant.to_integer() };
    let strict = strict != negated;
    // `term < c`, or `c > term`, or the negation of `term ≥ c`.
    Some(if (less == term_first) != negated {
        Plain::AtMost(reading, if strict { number - 1 } else { number })
    } else {
        Plain::AtLeast(reading, if strict { number + 1 } else { number })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretrace_trace::{EventId, Sort};

    const WIDTH: u32 = 3;

    /// Every comparison of `v`, or of `v` and an offset, with a constant says of each value of `v` what it evaluates to.
    #[test]
    fn plain_conditions_say_what_they_evaluate_to() {
        let mut build = Builder::default();
        let word = |bits: u8| Value::word(WIDTH, bits.into());
        let value = build.atom(Atom::Value { at: EventId(0), sort: Sort::BitVec(WIDTH) });
        let comparisons = [
            Func::Eq,
            Func::BvUlt,
            Func::BvUle,
            Func::BvUgt,
            Func::BvUge,
            Func::BvSlt,
            Func::BvSle,
            Func::BvSgt,
            Func::BvSge,
        ];
        let mut said = 0;
        for (func, bits, way) in
            comparisons.iter().flat_map(|f| (0..8u8).flat_map(move |c| (0..12).map(move |w| (*f, c, w))))
        {
            let constant = build.terms.constant(word(bits));
            let offset = build.terms.constant(word(3));
            let term = match way / 4 {
                0 => value,
                1 => build.apply(Func::BvAdd, &[offset, value]),
                _ => build.apply(Func::BvSub, &[value, offset]),
            };
            let comparison = build.apply(func, &if way % 2 == 0 { [term, constant] } else { [constant, term] });
            let condition = if way % 4 < 2 { comparison } else { build.not(comparison) };
            let Some(plain) = plain(&build, condition) else { continue };
            said += 1;
            for v in 0..8u8 {
                let holds = build.terms.evaluate(condition, &mut |_| word(v)).is_true();
                let number = |reading| match reading {
                    Reading::Signed => word(v).to_signed(),
                    Reading::Unsigned => word(v).to_integer(),
                };
                let by_plain = match &plain {
                    Plain::Equal(equal) => *equal == word(v),
                    Plain::AtLeast(reading, bound) => number(*reading) >= *bound,
                    Plain::AtMost(reading, bound) => number(*reading) <= *bound,
                };
                assert_eq!(holds, by_plain, "{func:?} {bits} {way} for {v}: {plain:?}");
            }
        }
        // All of the value alone but disequalities; with an offset equalities, and the 8 ways to say "at most 0".
        assert_eq!(said, 8 * 8 * 4 + 8 * 2 + 2 * (8 * 2 + 8));
    }
}

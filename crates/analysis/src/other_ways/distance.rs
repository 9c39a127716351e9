//! How far values are from making a condition false.
//!
//! Source: B. Korel, *Automated Software Test Data Generation*, TSE 1990; P. McMinn, *Search-based Software Test Data Generation: A Survey*, STVR
//! 2004, section 3.

use foretrace_trace::{Func, Local, Node, TermId, Terms, Value};

/// How far a condition is from having a truth value: 0 where it has it, more the more its numbers must change.
pub(super) struct Distance<'t, 'v> {
    pub terms: &'t Terms<Local>,
    /// The value of a name.
    pub value: &'v dyn Fn(&Local) -> Value,
}

impl Distance<'_, '_> {
    /// From `wanted`.
    pub(super) fn from(&self, condition: TermId, wanted: bool) -> u128 {
        let arguments = self.terms.args(condition);
        let each = || arguments.iter().map(|argument| self.from(*argument, wanted));
        match self.terms.node(condition) {
            Node::App(Func::Not, _) => self.from(arguments[0], !wanted),
            Node::App(Func::And, _) if wanted => each().fold(0, u128::saturating_add),
            Node::App(Func::Or, _) if !wanted => each().fold(0, u128::saturating_add),
            Node::App(Func::And | Func::Or, _) => each().min().unwrap_or(0),
            Node::App(func, _) if arguments.len() == 2 => match self.of_numbers(*func, arguments, wanted) {
                Some(distance) => distance,
                None => self.of_truth(condition, wanted),
            },
            _ => self.of_truth(condition, wanted),
        }
    }

    fn of_truth(&self, condition: TermId, wanted: bool) -> u128 {
        u128::from(self.evaluated(condition).is_true() != wanted)
    }

    fn evaluated(&self, term: TermId) -> Value {
        self.terms.evaluate(term, &mut |local| (self.value)(local))
    }

    /// Of two numbers that are compared; nothing where they are none.
    fn of_numbers(&self, func: Func, arguments: &[TermId], wanted: bool) -> Option<u128> {
        use Func::{BvSge, BvSgt, BvSle, BvSlt, BvUge, BvUgt, BvUle, BvUlt, Distinct, Eq, Ge, Gt, Le, Lt};
        let [a, b] = [arguments[0], arguments[1]].map(|argument| self.evaluated(argument));
        if matches!(a, Value::Bool(_)) {
            return None;
        }
        let is_signed = matches!(func, BvSlt | BvSle | BvSgt | BvSge | Eq | Distinct);
        let number = |value: &Value| match value {
            Value::BitVec { .. } if is_signed => i128::try_from(value.to_signed()).ok(),
            _ => i128::try_from(value.to_integer()).ok(),
        };
        let (a, b) = (number(&a)?, number(&b)?);
        // How much must change for a < b, or a <= b.
        let below = |a: i128, b: i128, or_equal: bool| match a < b || (or_equal && a == b) {
            true => 0,
            false => a.abs_diff(b).saturating_add(u128::from(!or_equal)),
        };
        let equal = |wanted: bool| if wanted { a.abs_diff(b) } else { u128::from(a == b) };
        Some(match func {
            Eq => equal(wanted),
            Distinct => equal(!wanted),
            Lt | BvSlt | BvUlt if wanted => below(a, b, false),
            Lt | BvSlt | BvUlt => below(b, a, true),
            Le | BvSle | BvUle if wanted => below(a, b, true),
            Le | BvSle | BvUle => below(b, a, false),
            Gt | BvSgt | BvUgt if wanted => below(b, a, false),
            Gt | BvSgt | BvUgt => below(a, b, true),
            Ge | BvSge | BvUge if wanted => below(b, a, true),
            Ge | BvSge | BvUge => below(a, b, false),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretrace_trace::{Data, TraceBuilder};

    /// The distances of a condition over `x` and `y` from being true and from being false.
    fn distances(condition: &str, [x, y]: [i64; 2]) -> (u128, u128) {
        let mut b = TraceBuilder::new(Data::Symbolic);
        b.int_var("a", x);
        b.int_var("b", y);
        b.read(1, "a", "x");
        b.read(1, "b", "y");
        b.set(1, "holds", condition);
        let (trace, _) = b.finish().expect("an execution");
        let names: Vec<_> = trace.iter().map(|(id, _)| id).collect();
        let value = |local: &Local| Value::int(if local.definition == names[0] { x } else { y });
        let distance = Distance { terms: &trace.terms, value: &value };
        let foretrace_trace::Op::Let { expr, .. } = trace.event(names[2]).op else { panic!("a definition") };
        (distance.from(expr, true), distance.from(expr, false))
    }

    #[test]
    fn numbers_are_as_far_apart_as_they_must_change() {
        assert_eq!(distances("(< x y)", [7, 3]), (5, 0));
        assert_eq!(distances("(<= x y)", [7, 3]), (4, 0));
        assert_eq!(distances("(< x y)", [3, 7]), (0, 4));
        assert_eq!(distances("(>= x y)", [3, 7]), (4, 0));
        assert_eq!(distances("(> x y)", [7, 3]), (0, 4));
        assert_eq!(distances("(= x y)", [-7, 3]), (10, 0));
        assert_eq!(distances("(distinct x y)", [5, 5]), (1, 0));
    }

    #[test]
    fn of_several_conditions_all_count_or_the_nearest() {
        assert_eq!(distances("(and (= x 0) (= y 0))", [2, 3]), (5, 0));
        assert_eq!(distances("(or (= x 0) (= y 0))", [2, 3]), (2, 0));
        assert_eq!(distances("(or (< x 9) (< y 9))", [2, 3]), (0, 13));
        assert_eq!(distances("(not (and (< x 9) (< y 9)))", [2, 3]), (6, 0));
        assert_eq!(distances("(= (< x 3) (< y 3))", [2, 3]), (1, 0), "truth values are no numbers");
    }

    #[test]
    fn a_condition_has_a_truth_value_where_its_distance_is_0() {
        for [x, y] in [[0, 0], [-1, 0], [2, 1], [i64::MAX, i64::MIN]] {
            for condition in ["(< x y)", "(<= x y)", "(> x y)", "(>= x y)", "(= x y)", "(distinct x y)"] {
                let (from_true, from_false) = distances(condition, [x, y]);
                assert!((from_true == 0) != (from_false == 0), "{condition} of {x} and {y}: {from_true}, {from_false}");
            }
        }
    }
}

//! Every function has the same meaning in Z3 as in our evaluation.

use super::Lowering;
use crate::order::OrderTheory;
use foretrace_encodings::{Atom, Builder};
use foretrace_trace::strategies::applications;
use foretrace_trace::{EventId, TermId};
use z3::ast::{Ast, Bool, Dynamic};

/// No orders.
struct Unordered;

impl OrderTheory for Unordered {
    fn before(&mut self, a: EventId, b: EventId) -> Bool {
        unreachable!("no term has the order of {a} and {b}")
    }
}

/// Every function on every sort of argument: the lowered application of leaves, with the leaves' values put in, is what
/// [`foretrace_trace::Func::apply`] says.
#[test]
fn functions_mean_the_same_to_z3() {
    let mut build = Builder::default();
    let mut lowering = Lowering::new(Unordered);
    let cases = applications(1);
    for (func, args) in &cases {
        let leaves: Vec<TermId> = args
            .iter()
            .enumerate()
            .map(|(nth, arg)| build.atom(Atom::Value { at: EventId::from_index(nth), sort: arg.sort() }))
            .collect();
        let term = build.apply(*func, &leaves);
        let expected = func.apply(&args.iter().collect::<Vec<_>>());
        let expected = build.terms.constant(expected);
        let values: Vec<TermId> = args.iter().map(|arg| build.terms.constant(arg.clone())).collect();
        let mut lower = |term| lowering.term(&build.terms, term);
        let (found, expected) = (lower(term), lower(expected));
        let known: Vec<(Dynamic, Dynamic)> = leaves.iter().zip(&values).map(|(l, v)| (lower(*l), lower(*v))).collect();
        let known: Vec<(&Dynamic, &Dynamic)> = known.iter().map(|(leaf, value)| (leaf, value)).collect();
        let found = found.substitute(&known).simplify();
        assert_eq!(found.to_string(), expected.simplify().to_string(), "{func} of {args:?}");
    }
    assert!(cases.len() > 5_000, "only {} cases", cases.len());
}

//! Every fold of the builder keeps the meaning: random terms, folded and as they stand, have the same value.

use foretrace_encodings::{Atom, Builder};
use foretrace_trace::{EventId, FUNCTION_NAMES, Func, Sort, TermId, Terms, Value};
use proptest::prelude::*;

/// Width of the words here; a result of another width is not used again.
const WIDTH: u32 = 3;

/// One application: which function, how many arguments, which ones.
type Step = (usize, usize, [usize; 4]);

fn functions() -> Vec<Func> {
    let indexed = [
        Func::Neg,
        Func::Divisible(2),
        Func::Extract { high: 2, low: 1 },
        Func::ZeroExtend(2),
        Func::SignExtend(2),
        Func::RotateLeft(1),
        Func::RotateRight(1),
        Func::Repeat(2),
    ];
    FUNCTION_NAMES.iter().map(|(_, func)| *func).chain(indexed).collect()
}

/// The same term twice: folded, and as it stands.
#[derive(Clone, Copy)]
struct Twin {
    folded: TermId,
    plain: TermId,
    sort: Sort,
}

struct Pool {
    build: Builder,
    plain: Terms<Atom>,
    twins: Vec<Twin>,
}

impl Pool {
    fn new() -> Pool {
        let mut pool = Pool { build: Builder::default(), plain: Terms::default(), twins: Vec::new() };
        for value in [Value::Bool(true), Value::Bool(false), Value::int(0), Value::int(1), Value::int(-2)] {
            pool.constant(value);
        }
        for bits in [0u8, 1, 5, 7] {
            pool.constant(Value::word(WIDTH, bits.into()));
        }
        for event in [EventId(0), EventId(1)] {
            for sort in [Sort::Int, Sort::BitVec(WIDTH), Sort::Bool] {
                let atom = Atom::Value { at: event, sort };
                let twin = Twin { folded: pool.build.atom(atom), plain: pool.plain.leaf(atom), sort };
                pool.twins.push(twin);
            }
        }
        pool
    }

    fn constant(&mut self, value: Value) {
        let folded = self.build.terms.constant(value.clone());
        let sort = value.sort();
        self.twins.push(Twin { folded, plain: self.plain.constant(value), sort });
    }

    /// Adds the application, if it can be made well-sorted with one sort for all arguments (but for a condition).
    fn apply(&mut self, func: Func, arity: usize, picks: [usize; 4]) {
        for sort in [Sort::Bool, Sort::Int, Sort::BitVec(WIDTH)] {
            let args: Vec<Twin> = (0..arity)
                .map(|nth| {
                    let wanted = if func == Func::Ite && nth == 0 { Sort::Bool } else { sort };
                    let usable: Vec<Twin> = self.twins.iter().filter(|twin| twin.sort == wanted).copied().collect();
                    usable[picks[nth] % usable.len()]
                })
                .collect();
            let sorts: Vec<Sort> = args.iter().map(|twin| twin.sort).collect();
            let Ok(sort) = func.result_sort(&sorts) else { continue };
            let folded: Vec<TermId> = args.iter().map(|twin| twin.folded).collect();
            let plain: Vec<TermId> = args.iter().map(|twin| twin.plain).collect();
            let folded = self.build.apply(func, &folded);
            let plain = self.plain.app(func, &plain).expect("sort-checked just now");
            self.twins.push(Twin { folded, plain, sort });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn folding_keeps_the_meaning(
        steps in proptest::collection::vec((0usize..100, 1usize..=4, [0usize..64, 0..64, 0..64, 0..64]), 1..60),
        numbers in [-3i64..4, -3..4],
        words in [0u8..8, 0..8],
        truths in [proptest::bool::ANY, proptest::bool::ANY],
    ) {
        let functions = functions();
        let mut pool = Pool::new();
        let steps: Vec<Step> = steps;
        for (func, arity, picks) in steps {
            pool.apply(functions[func % functions.len()], arity, picks);
        }
        let mut value = |atom: &Atom| match atom {
            Atom::Value { at, sort: Sort::Int } => Value::int(numbers[at.index()]),
            Atom::Value { at, sort: Sort::BitVec(width) } => Value::word(*width, words[at.index()].into()),
            Atom::Value { at, .. } => Value::Bool(truths[at.index()]),
            other => panic!("{other:?} is not in the pool"),
        };
        for twin in &pool.twins {
            let folded = pool.build.terms.evaluate(twin.folded, &mut value);
            let plain = pool.plain.evaluate(twin.plain, &mut value);
            prop_assert_eq!(folded, plain, "{:?}", pool.plain.node(twin.plain));
            prop_assert_eq!(pool.build.terms.sort(twin.folded), twin.sort);
        }
    }
}

fn three_truths() -> (Builder, [TermId; 3]) {
    let mut build = Builder::default();
    let atoms = [0, 1, 2].map(|event| build.atom(Atom::Included(EventId(event))));
    (build, atoms)
}

/// What decides a junction, and what does not count in it.
#[test]
fn junctions_fold() {
    let (mut build, [a, b, c]) = three_truths();
    let (truth, falsity) = (build.truth(), build.falsity());
    assert_eq!(build.and([a, falsity, b]), falsity);
    assert_eq!(build.or([a, truth, b]), truth);
    assert_eq!(build.and([truth, a, truth]), a);
    assert_eq!(build.or([falsity, falsity]), falsity);
    assert_eq!(build.and([]), truth);
    let (twice, once) = (build.or([a, b, a, c, b]), build.or([a, b, c]));
    assert_eq!(twice, once);
}

/// Implications become disjunctions; a negation of a negation is nothing.
#[test]
fn implications_and_negations_fold() {
    let (mut build, [a, b, _]) = three_truths();
    let not_a = build.not(a);
    assert_eq!(build.not(not_a), a);
    let (implied, spelled) = (build.implies(a, b), build.or([not_a, b]));
    assert_eq!(implied, spelled);
    let (truth, falsity) = (build.truth(), build.falsity());
    assert_eq!(build.implies(falsity, b), truth);
    assert_eq!(build.implies(truth, b), b);
    assert_eq!(build.implies(a, falsity), not_a);
}

/// A division says itself that dividing by zero gives zero, but not where the divisor is known.
#[test]
fn divisions_fold() {
    let mut build = Builder::default();
    let dividend = build.atom(Atom::Token(EventId(0)));
    let divisor = build.atom(Atom::Token(EventId(1)));
    let (two, zero) = (build.terms.constant(Value::int(2)), build.terms.constant(Value::int(0)));
    assert_eq!(build.apply(Func::Div, &[dividend, zero]), zero);
    assert_eq!(build.apply(Func::Mod, &[dividend, zero]), zero);
    let known = build.apply(Func::Div, &[dividend, two]);
    assert_eq!(build.terms.args(known), [dividend, two]);
    let open = build.apply(Func::Div, &[dividend, divisor]);
    assert!(matches!(build.terms.node(open), foretrace_trace::Node::App(Func::Ite, _)));
}

/// Z3's own parser does not know `divisible`.
#[test]
fn divisible_is_a_remainder_of_zero() {
    let mut build = Builder::default();
    let number = build.atom(Atom::Token(EventId(0)));
    let three = build.terms.constant(Value::int(3));
    let zero = build.terms.constant(Value::int(0));
    let remainder = build.apply(Func::Mod, &[number, three]);
    let is_zero = build.apply(Func::Eq, &[remainder, zero]);
    assert_eq!(build.apply(Func::Divisible(3), &[number]), is_zero);
    assert_eq!(build.apply(Func::Divisible(0), &[number]), build.falsity());
}

/// SMT-LIB has these with two arguments; cvc5 refuses a `bvxnor` of three.
#[test]
fn functions_on_words_take_two_arguments() {
    let mut build = Builder::default();
    let words = [0, 1, 2].map(|at| build.atom(Atom::Value { at: EventId(at), sort: Sort::BitVec(WIDTH) }));
    for func in [Func::BvXnor, Func::Concat, Func::BvAdd] {
        let inner = build.apply(func, &words[..2]);
        let outer = build.apply(func, &words);
        assert_eq!(build.terms.args(outer), [inner, words[2]], "{func}");
    }
}

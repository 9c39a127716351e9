//! Terms: what their text means, that it is refused plainly, and that it prints and reads back.

use foretrace_trace::smtlib::{self, NESTING_LIMIT};
use foretrace_trace::{Func, Leaf, Node, Sort, TermId, Terms, Value};
use proptest::prelude::*;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Name(String, Sort);

impl Leaf for Name {
    fn sort(&self) -> Sort {
        self.1
    }
}

/// Names by their first letter: `i` integers, `b` truth values, `w` words of 8 bits.
fn resolve(name: &str) -> Option<Name> {
    let sort = match name.chars().next()? {
        'i' | 'r' | '?' => Sort::Int,
        'b' => Sort::Bool,
        'w' => Sort::BitVec(8),
        _ => return None,
    };
    Some(Name(name.to_string(), sort))
}

fn parse(terms: &mut Terms<Name>, text: &str) -> Result<TermId, String> {
    smtlib::parse(text, terms, &mut resolve).map_err(|error| error.to_string())
}

fn print(terms: &Terms<Name>, term: TermId) -> String {
    let mut text = String::new();
    // The printer borrows names from whoever knows them; here the arena itself does.
    let names: std::collections::HashMap<&Name, &str> =
        terms.leaves(term).into_iter().map(|name| (name, name.0.as_str())).collect();
    smtlib::print(&mut text, terms, term, &|name| names[name]);
    text
}

/// The value of a text in which every integer name is 7, every truth value true, every word 0xA5.
fn value(text: &str) -> Value {
    let mut terms = Terms::default();
    let term = parse(&mut terms, text).unwrap_or_else(|error| panic!("{text}: {error}"));
    terms.evaluate(term, &mut |name: &Name| match name.1 {
        Sort::Int => Value::int(7),
        Sort::Bool => Value::Bool(true),
        Sort::BitVec(width) => Value::word(width, 0xA5u8.into()),
    })
}

fn int(number: i64) -> Value {
    Value::int(number)
}

fn word(width: u32, bits: u64) -> Value {
    Value::word(width, bits.into())
}

#[test]
fn core_and_integers_mean_what_smtlib_says() {
    for (text, expected) in [
        ("(+ 1 2 3)", int(6)),
        ("(- 10 1 2)", int(7)),
        ("(- 5)", int(-5)),
        ("(- (- 5))", int(5)),
        ("(- i)", int(-7)),
        ("(* 2 3 4)", int(24)),
        ("(div 7 2)", int(3)),
        ("(div (- 7) 2)", int(-4)),
        ("(div 7 (- 2))", int(-3)),
        ("(mod (- 7) 2)", int(1)),
        ("(mod (- 7) (- 2))", int(1)),
        ("(div 7 0)", int(0)),
        ("(mod 7 0)", int(0)),
        ("(abs (- 3))", int(3)),
        ("(ite (< 1 2 3) 1 2)", int(1)),
        ("(ite (< 1 3 2) 1 2)", int(2)),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
    for (text, expected) in [
        ("(<= 1 1 2)", true),
        ("(>= 3 2 3)", false),
        ("(> 3 2 1)", true),
        ("(= 1 1 2)", false),
        ("(distinct 1 2 1)", false),
        ("(distinct 1 2 3)", true),
        ("(and true b b)", true),
        ("(or false false)", false),
        ("(xor true true true)", true),
        ("(=> true false true)", true),
        ("(=> true true false)", false),
        ("(not (=> false false))", false),
        ("((_ divisible 7) i)", true),
        ("((_ divisible 4) i)", false),
    ] {
        assert_eq!(value(text), Value::Bool(expected), "{text}");
    }
}

#[test]
fn let_binds_in_parallel_and_shadows() {
    assert_eq!(value("(let ((i 1)) (let ((i 2) (r i)) (+ (* 10 i) r)))"), int(21), "r is the outer i");
    assert_eq!(value("(+ (let ((i 1)) i) i)"), int(8), "the binding ends with the let");
    assert_eq!(value("(let ((|a b| 3)) (+ |a b| |a b|))"), int(6));
    let mut terms = Terms::default();
    parse(&mut terms, "(let ((x (+ i 1))) (* x x))").expect("a good term");
    assert_eq!(terms.len(), 4, "i, 1, the sum once, the product");
}

#[test]
fn literals_are_exact_at_any_size() {
    assert_eq!(value("#xA5"), word(8, 0xA5));
    assert_eq!(value("#b101"), word(3, 5));
    assert_eq!(value("(_ bv18446744073709551615 64)"), word(64, u64::MAX));
    let digits = "9".repeat(400);
    assert_eq!(value(&format!("(- {digits})")).to_string(), format!("-{digits}"));
    assert_eq!(value("(+ 9007199254740993 0)").to_string(), "9007199254740993", "2^53 + 1");
}

#[test]
fn indexed_functions_take_words_apart() {
    for (text, expected) in [
        ("(concat #b10 #b011)", word(5, 0b10011)),
        ("((_ extract 5 2) #xA5)", word(4, 0b1001)),
        ("((_ zero_extend 4) #xA)", word(8, 0x0A)),
        ("((_ sign_extend 4) #xA)", word(8, 0xFA)),
        ("((_ repeat 3) #b10)", word(6, 0b101010)),
        ("((_ rotate_left 5) #b0011)", word(4, 0b0110)),
        ("((_ rotate_right 1) #b0011)", word(4, 0b1001)),
        ("(bvcomp #xA #xA)", word(1, 1)),
        ("((_ extract 7 4) (bvadd w w w))", word(4, 0xE)), // 3 * 0xA5 = 0x1EF
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

/// Every binary function on words, against the machine's own arithmetic, for all pairs of 3-bit words.
#[test]
fn word_functions_agree_with_the_machine_on_all_small_words() {
    const WIDTH: u32 = 3;
    let signed = |bits: u8| ((bits << 5) as i8) >> 5;
    let low = |number: i16| number as u8 & 7;
    for a in 0..8u8 {
        for b in 0..8u8 {
            let (sa, sb) = (signed(a), signed(b));
            let shift = u32::from(b);
            let floor_mod = |x: i8, y: i8| if y == 0 { x } else { (x % y + y) % y };
            let words: [(&str, u8); 18] = [
                ("bvand", a & b),
                ("bvor", a | b),
                ("bvxor", a ^ b),
                ("bvnand", !(a & b) & 7),
                ("bvnor", !(a | b) & 7),
                ("bvxnor", !(a ^ b) & 7),
                ("bvadd", (a + b) & 7),
                ("bvsub", a.wrapping_sub(b) & 7),
                ("bvmul", (a * b) & 7),
                ("bvudiv", a.checked_div(b).unwrap_or(7)),
                ("bvurem", a.checked_rem(b).unwrap_or(a)),
                ("bvsdiv", low(if sb == 0 { if sa < 0 { 1 } else { -1 } } else { i16::from(sa) / i16::from(sb) })),
                ("bvsrem", low(i16::from(if sb == 0 { sa } else { sa % sb }))),
                ("bvsmod", low(i16::from(floor_mod(sa, sb)))),
                ("bvshl", if shift < WIDTH { (a << shift) & 7 } else { 0 }),
                ("bvlshr", if shift < WIDTH { a >> shift } else { 0 }),
                ("bvashr", low(i16::from(sa >> shift.min(WIDTH)))),
                ("bvneg", a.wrapping_neg() & 7),
            ];
            for (name, expected) in words {
                let second = if name == "bvneg" { String::new() } else { format!("(_ bv{b} 3)") };
                let text = format!("({name} (_ bv{a} 3) {second})");
                assert_eq!(value(&text), word(WIDTH, expected.into()), "{text}");
            }
            let comparisons = [
                ("bvult", a < b),
                ("bvule", a <= b),
                ("bvugt", a > b),
                ("bvuge", a >= b),
                ("bvslt", sa < sb),
                ("bvsle", sa <= sb),
                ("bvsgt", sa > sb),
                ("bvsge", sa >= sb),
                ("=", a == b),
                ("distinct", a != b),
            ];
            for (name, expected) in comparisons {
                let text = format!("({name} (_ bv{a} 3) (_ bv{b} 3))");
                assert_eq!(value(&text), Value::Bool(expected), "{text}");
            }
            for (text, expected) in [
                (format!("(bvnot (_ bv{a} 3))"), word(3, u64::from(!a & 7))),
                (format!("((_ zero_extend 2) (_ bv{a} 3))"), word(5, a.into())),
                (format!("((_ sign_extend 2) (_ bv{a} 3))"), word(5, (sa as u8 & 31).into())),
                (
                    format!("((_ rotate_left {b}) (_ bv{a} 3))"),
                    word(3, (0..b).fold(a, |x, _| (x << 1 | x >> 2) & 7).into()),
                ),
                (
                    format!("((_ rotate_right {b}) (_ bv{a} 3))"),
                    word(3, (0..b).fold(a, |x, _| (x >> 1 | x << 2) & 7).into()),
                ),
                (format!("(concat (_ bv{a} 3) (_ bv{b} 3))"), word(6, u64::from(a) << 3 | u64::from(b))),
            ] {
                assert_eq!(value(&text), expected, "{text}");
            }
        }
    }
}

#[test]
fn what_is_no_term_is_refused_with_its_place() {
    for (text, expected) in [
        ("", "at column 1: found the end of the expression, expected a term"),
        ("(+ 1", "at column 5: found the end of the expression, expected a term"),
        ("(+ 1 2))", "at column 8: found `)`, expected the end of the expression"),
        ("x", "at column 1: found unknown name `x`, expected a name that the thread has defined before"),
        (
            "(+ 1 (foo 2))",
            "at column 7: found unknown function `foo`, expected a function of Core, Ints or FixedSizeBitVectors",
        ),
        ("(+ 1 w)", "at column 1: found argument 2 of `+` of sort (_ BitVec 8), expected sort Int"),
        ("(and true i)", "at column 1: found argument 2 of `and` of sort Int, expected sort Bool"),
        ("(bvadd w #b1)", "at column 1: found argument 2 of `bvadd` of sort (_ BitVec 1), expected sort (_ BitVec 8)"),
        ("(bvsub w w w)", "at column 1: found `bvsub` of 3 arguments, expected two arguments"),
        ("(not)", "at column 1: found `not` of 0 arguments, expected one argument"),
        (
            "((_ extract 8 0) w)",
            "at column 1: found `(_ extract 8 0)` of a word of 8 bits, expected indices that fit the word",
        ),
        (
            "((_ repeat 60000) w)",
            "at column 1: found `(_ repeat 60000)` that makes a word of 480000 bits, expected at most 65536 bits",
        ),
        (
            "((_ extract 1) w)",
            "at column 5: found unknown function `(_ extract 1)`, expected a function of Core, Ints or FixedSizeBitVectors",
        ),
        (
            "((_ divisible 0) i)",
            "at column 5: found unknown function `(_ divisible 0)`, expected a function of Core, Ints or FixedSizeBitVectors",
        ),
        ("(_ bv8 3)", "at column 4: found `8`, expected a number below 2^3"),
        ("(_ bv0 0)", "at column 4: found a word of 0 bits, expected 1 to 65536 bits"),
        ("#xG", "at column 1: found `#xG`, expected digits of base 16"),
        ("(+ 1.5 1)", "at column 4: found `1.5`, expected an integer or a name"),
        ("(let ((x 1) (x 2)) x)", "at column 14: found `x` bound twice in one `let`, expected different names"),
        ("(let () 1)", "at column 1: found `let` with `)`, expected a binding `(name term)`"),
        ("(let ((true 1)) 1)", "at column 8: found the reserved word `true`, expected a term"),
        ("|a", "at column 1: found a quoted symbol without its end, expected `|`"),
        ("(+ 1 \u{e9})", "at column 6: found `\u{e9}`, expected a term"),
        (
            "(forall ((x Int)) true)",
            "at column 2: found unknown function `forall`, expected a function of Core, Ints or FixedSizeBitVectors",
        ),
    ] {
        let mut terms = Terms::default();
        assert_eq!(parse(&mut terms, text).expect_err(text), expected);
    }
}

#[test]
fn deep_nesting_is_refused_and_never_overflows_the_stack() {
    let nested = |depth: usize| format!("{}true{}", "(not ".repeat(depth), ")".repeat(depth));
    let mut terms = Terms::default();
    parse(&mut terms, &nested(NESTING_LIMIT)).expect("as deep as may be");
    let error = parse(&mut terms, &nested(100_000)).expect_err("deeper than that");
    let column = 5 * NESTING_LIMIT + 1;
    assert_eq!(
        error,
        format!(
            "at column {column}: found terms nested deeper than 10000, expected less nesting (name parts by `let`)"
        )
    );
    parse(&mut terms, &"(".repeat(100_000)).expect_err("not even a term");
    let bindings = format!("{}true{}", "(let ((b ".repeat(100_000), ")) b)".repeat(100_000));
    parse(&mut terms, &bindings).expect_err("bindings nest, too");
}

/// Sharing: 200 doublings are 2^200 leaves as a tree and 200 terms as a graph.
#[test]
fn printing_is_linear_in_shared_terms_and_exact() {
    let mut terms = Terms::default();
    let mut term = terms.leaf(Name("i".into(), Sort::Int));
    for _ in 0..200 {
        term = terms.app(Func::Add, &[term, term]).expect("integers");
    }
    let text = print(&terms, term);
    assert!(text.len() < 200 * 40, "{} characters", text.len());
    let count = terms.len();
    assert_eq!(parse(&mut terms, &text), Ok(term));
    assert_eq!(terms.len(), count, "no other term came up");
}

#[test]
fn terms_deeper_than_the_limit_print_so_that_they_can_be_read() {
    let mut terms = Terms::default();
    let (mut chain, one) = (terms.leaf(Name("i".into(), Sort::Int)), terms.constant(int(1)));
    let mut shared = chain;
    for _ in 0..50_000 {
        chain = terms.app(Func::Add, &[chain, one]).expect("integers");
        shared = terms.app(Func::Sub, &[shared, shared]).expect("integers");
    }
    for term in [chain, shared] {
        let text = print(&terms, term);
        assert_eq!(parse(&mut terms, &text), Ok(term));
    }
}

#[test]
fn names_and_literals_that_could_be_mistaken_survive() {
    let mut terms = Terms::default();
    for name in ["i 1", "", "?1", "ix.2", "b(", "itrue", "i;"] {
        let leaf = terms.leaf(Name(name.into(), Sort::Int));
        let text = print(&terms, leaf);
        let back = smtlib::parse(&text, &mut terms, &mut |found| (found == name).then(|| Name(name.into(), Sort::Int)));
        assert_eq!(back, Ok(leaf), "{text}");
    }
    assert_eq!((&*smtlib::symbol("true"), &*smtlib::symbol("r.1"), &*smtlib::symbol("1r")), ("|true|", "r.1", "|1r|"));

    // Minus applied to 5 is another term than the literal −5, though it has the same value.
    let five = terms.constant(int(5));
    let applied = terms.app(Func::Neg, &[five]).expect("an integer");
    let literal = terms.constant(int(-5));
    for term in [applied, literal] {
        let text = print(&terms, term);
        assert_eq!(parse(&mut terms, &text), Ok(term), "{text}");
    }
    assert_eq!(print(&terms, literal), "(- 5)");

    // A name of the term never clashes with one that the printer makes up.
    let mut clash = terms.leaf(Name("?1".into(), Sort::Int));
    for _ in 0..40 {
        clash = terms.app(Func::Mul, &[clash, clash]).expect("integers");
    }
    let text = print(&terms, clash);
    assert_eq!(parse(&mut terms, &text), Ok(clash));
}

/// A recipe for a random term: each step applies a function to earlier ones.
fn grow(terms: &mut Terms<Name>, steps: &[(u8, u8, u8, u8)]) -> TermId {
    let mut made: Vec<TermId> = Vec::new();
    made.extend(["i", "i2", "b", "w", "w 2"].map(|name| terms.leaf(resolve(name).expect("a known letter"))));
    made.extend([int(-3), int(5), word(8, 200), Value::Bool(false)].map(|value| terms.constant(value)));
    let functions: Vec<Func> = foretrace_trace::FUNCTION_NAMES
        .iter()
        .map(|(_, func)| *func)
        .chain([
            Func::Neg,
            Func::Divisible(3),
            Func::Extract { high: 4, low: 1 },
            Func::ZeroExtend(3),
            Func::SignExtend(4),
            Func::RotateLeft(3),
            Func::RotateRight(5),
            Func::Repeat(2),
        ])
        .collect();
    for (func, a, b, c) in steps {
        let func = functions[usize::from(*func) % functions.len()];
        let args = [a, b, c].map(|index| made[usize::from(*index) % made.len()]);
        // Ill-sorted and ill-counted applications are not made; others come up often enough.
        for count in 1..=3 {
            if let Ok(term) = terms.app(func, &args[..count]) {
                made.push(term);
            }
        }
    }
    made.pop().unwrap_or_else(|| terms.constant(int(0)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn terms_print_and_read_back(steps in prop::collection::vec(any::<(u8, u8, u8, u8)>(), 1..300)) {
        let mut terms = Terms::default();
        let term = grow(&mut terms, &steps);
        let text = print(&terms, term);
        prop_assert_eq!(parse(&mut terms, &text), Ok(term), "{}", text);
        prop_assert!(!matches!(terms.node(term), Node::App(Func::Sub, args) if args.len() == 1));
    }

    #[test]
    fn any_text_is_a_term_or_a_plain_error(text in "[()a-z0-9#|_ .+-]{0,60}") {
        let mut terms = Terms::default();
        if let Err(error) = parse(&mut terms, &text) {
            prop_assert!(error.starts_with("at column "), "{}", error);
        }
    }
}

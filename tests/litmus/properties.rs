//! Random programs: whatever they do, their traces are accepted; and no text makes the parser panic.

use crate::support::{accepted, program, shown};
use foretrace::litmus::{Options, Outcome, Scheduler, parse, run};
use foretrace_trace::Op;
use proptest::prelude::*;

/// What the statements below are about.
const DECLARATIONS: &str = "
shared x: int = 1;
shared y: int;
shared p: bool;
shared w: bv8 = 0xfe;
shared a: int[3] = [0, 1, 2];
mutex m;
recursive mutex r;
rwlock q;
condvar c;
semaphore s = 1;
barrier b(2);

fn twice(n: int) -> int {
    atomic \"twice\" {
        if (n > y) { return n + n; }
        x = x + n;
    }
    return x - n;
}

fn down_to_zero(n: int) -> int {
    if (n <= 0) { return 0; }
    return down_to_zero(n - 1) + a[0];
}
";

fn number() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("x".to_string()),
        Just("y".to_string()),
        Just("n".to_string()),
        Just("a[x % 3]".to_string()),
        Just("a[2]".to_string()),
        (-3..4i32).prop_map(|number| number.to_string()),
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        let pair = (inner.clone(), inner.clone(), prop::sample::select(vec!["+", "-", "*", "/", "%"]));
        prop_oneof![
            4 => pair.prop_map(|(left, right, operator)| format!("({left} {operator} {right})")),
            1 => inner.clone().prop_map(|argument| format!("twice({argument})")),
            1 => Just("down_to_zero(2)".to_string()),
            1 => inner.clone().prop_map(|amount| format!("fetch_add(x, {amount})")),
            1 => inner.prop_map(|new| format!("exchange(y, {new})")),
        ]
    })
}

fn truth() -> impl Strategy<Value = String> {
    let comparison = (number(), number(), prop::sample::select(vec!["<", "<=", "==", "!=", ">"]));
    let leaf = prop_oneof![
        3 => comparison.prop_map(|(left, right, operator)| format!("({left} {operator} {right})")),
        1 => Just("p".to_string()),
        1 => Just("w < 3 || slt(w, 3)".to_string()),
        1 => number().prop_map(|new| format!("cas(y, x, {new})")),
        1 => Just("cas(a[1], 1, 2)".to_string()),
        1 => Just("cas(p, false, true)".to_string()),
    ];
    leaf.prop_recursive(2, 4, 2, |inner| {
        let pair = (inner.clone(), inner.clone(), prop::sample::select(vec!["&&", "||", "^"]));
        prop_oneof![
            pair.prop_map(|(left, right, operator)| format!("(({left}) {operator} ({right}))")),
            inner.prop_map(|negated| format!("!({negated})")),
        ]
    })
}

fn statement() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => number().prop_map(|value| format!("x = {value};")),
        2 => number().prop_map(|value| format!("n = {value};")),
        2 => number().prop_map(|value| format!("a[y % 3] = {value};")),
        1 => truth().prop_map(|value| format!("p = {value};")),
        1 => Just("w = w * 3 + truncate(zero_extend(w, 12), 8);".to_string()),
        1 => prop::sample::select(vec!["signal(c);", "broadcast(c);", "post(s);", "down(s);", "await(b);"])
            .prop_map(String::from),
        1 => truth().prop_map(|condition| format!("assert({condition});")),
        1 => Just("free(a);".to_string()),
    ];
    leaf.prop_recursive(3, 10, 3, |inner| {
        let body = prop::collection::vec(inner, 0..3).prop_map(|statements| statements.join(" "));
        prop_oneof![
            (truth(), body.clone(), body.clone())
                .prop_map(|(condition, then, other)| format!("if ({condition}) {{ {then} }} else {{ {other} }}")),
            (truth(), body.clone()).prop_map(|(condition, body)| format!("while ({condition}) {{ {body} }}")),
            body.clone().prop_map(|body| format!("atomic {{ {body} }}")),
            body.clone().prop_map(|body| format!("lock(m); {body} unlock(m);")),
            body.clone().prop_map(|body| format!("lock(r); {body} lock(r); {body} unlock(r); unlock(r);")),
            body.clone().prop_map(|body| format!("if (trylock(m)) {{ {body} unlock(m); }}")),
            body.clone().prop_map(|body| format!("if (try_write_lock(q)) {{ {body} write_unlock(q); }}")),
            body.clone().prop_map(|body| format!("read_lock(q); {body} read_unlock(q);")),
            body.clone().prop_map(|body| format!("write_lock(q); {body} write_unlock(q);")),
            body.clone().prop_map(|body| format!("lock(m); wait(c, m); {body} unlock(m);")),
            body.prop_map(|body| format!("lock(r); lock(r); p = wait_timeout(c, r); {body} unlock(r); unlock(r);")),
        ]
    })
}

fn thread(name: &'static str) -> impl Strategy<Value = String> {
    let end = prop::sample::select(vec!["", "", "", "spawn Child;", "spawn Child; join Child;", "join T;"]);
    (prop::collection::vec(statement(), 1..5), end)
        .prop_map(move |(body, end)| format!("thread {name} {{ let n = 0; {} {end} }}", body.join(" ")))
}

fn programs() -> impl Strategy<Value = String> {
    let threads = (thread("T"), thread("U"), thread("V"), prop::collection::vec(statement(), 0..3));
    threads.prop_map(|(t, u, v, child)| {
        let child = format!("thread Child {{ let n = 7; {} }}", child.join(" "));
        [DECLARATIONS, &t, &u, &v, &child].join("\n")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn traces_are_accepted(source in programs(), seed: u64) {
        let program = program(&source);
        for scheduler in [Scheduler::Random(seed), Scheduler::Serial] {
            let options = Options { scheduler, max_steps: 300 };
            let first = accepted(run(&program, &options));
            let again = run(&program, &options);
            prop_assert_eq!(shown(&first.trace), shown(&again.trace));
            prop_assert_eq!(&first.outcome, &again.outcome);
            let failed = matches!(first.trace.events.last().map(|event| &event.op), Some(Op::Fail { .. }));
            prop_assert_eq!(failed, matches!(first.outcome, Outcome::AssertionFailed(_) | Outcome::Error(_)));
            prop_assert!(first.trace.events.len() <= 300);
        }
    }

    #[test]
    fn no_text_makes_the_parser_panic(source in "\\PC{0,60}") {
        if let Err(errors) = parse(&source) {
            prop_assert!(errors.render("any.lit", &source, false).contains("Error: "));
        }
    }

    #[test]
    fn no_tokens_make_the_parser_panic(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..40)) {
        let source = format!("{DECLARATIONS} thread T {{ {}", tokens.join(" "));
        if let Err(errors) = parse(&source) {
            prop_assert!(errors.render("any.lit", &source, true).contains("any.lit"));
        }
    }
}

const TOKENS: &[&str] = &[
    "let",
    "if",
    "else",
    "while",
    "atomic",
    "assert",
    "return",
    "spawn",
    "join",
    "T",
    "x",
    "p",
    "w",
    "a",
    "m",
    "r",
    "f",
    "cas",
    "lock",
    "ite",
    "fetch_add",
    "free",
    "truncate",
    "1",
    "0xff",
    "true",
    "\"text\"",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    "=",
    "==",
    "<",
    "+",
    "-",
    "!",
    "~",
    "&&",
    "<<",
    ":",
    "bv8",
    "\n",
    "é",
];

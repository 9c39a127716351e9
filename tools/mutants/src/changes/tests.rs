//! Which changes there are, and that the changed text is Rust.

use super::{Changes, changes_of};
use crate::rewrite::rewrite;

fn changes(body: &str) -> Vec<String> {
    let text = format!("fn f() {{\n{body}\n}}\n");
    let Changes { all, wraps } = changes_of("a.rs", &text, 7, &|_| false).expect("Rust");
    let (new, _) = rewrite(&text, &wraps);
    syn::parse_file(&new).unwrap_or_else(|error| panic!("{error}: {new}"));
    for (nth, change) in all.iter().enumerate() {
        assert_eq!(change.number, 7 + nth as u32);
        assert!(new.contains(&format!("is({})", change.number)), "{change:?} is not in {new}");
    }
    let name = |name: &str| name.strip_prefix("a.rs: f: ").expect("it says where it is").to_owned();
    all.into_iter().map(|change| name(&change.name)).filter(|name| name != "body → `()`").collect()
}

#[test]
fn a_condition_loses_each_operand() {
    assert_eq!(
        changes("if a && (b || !c) { return; }"),
        ["`a && (b || !c)` → `false`", "`a` → `true`", "`b || !c` → `true`", "`b` → `false`", "`c` → `true`"]
    );
}

#[test]
fn a_chain_with_let_is_left_by_a_condition_before_it() {
    assert_eq!(
        changes("if let Some(x) = y && x.is_good() { return; }"),
        ["`let Some(x) = y && x.is_good()` → `false`", "`x.is_good()` → `true`"]
    );
}

#[test]
fn comparisons_have_their_bounds_changed() {
    assert_eq!(changes("let _ = a <= b;"), ["`a <= b` → `true`", "`a <= b` → `false`", "`a <= b` → `a < b`"]);
}

#[test]
fn arms_are_left_out_where_another_takes_their_values() {
    assert_eq!(
        changes("match x { A | B => 1, C if good => 2, _ => 3 };"),
        [
            "without the arm `A | B`",
            "without `A` in the arm `A | B`",
            "without `B` in the arm `A | B`",
            "without the arm `C`",
            "`good` → `true`",
            "`good` → `false`",
        ]
    );
    assert_eq!(changes("match x { Some(y) => 1, None => 2 };"), [""; 0]);
}

#[test]
fn alternatives_of_matches_are_left_out() {
    assert_eq!(
        changes("let _ = matches!(x, A | B { .. });"),
        [
            "`matches!(x, A | B { .. })` → `true`",
            "`matches!(x, A | B { .. })` → `false`",
            "`matches!(x, A | B { .. })` → `matches!(x, B { .. })`",
            "`matches!(x, A | B { .. })` → `matches!(x, A)`",
        ]
    );
}

#[test]
fn statements_are_left_out() {
    assert_eq!(
        changes("x.push(1); y(2)?; z = 3; n += 1;"),
        ["without `x.push(1);`", "without `y(2)?;`", "without `z = 3;`", "without `n += 1;`", "`n += 1` → `n -= 1`"]
    );
}

#[test]
fn equal_changes_have_different_names() {
    assert_eq!(changes("x.push(1); x.push(1);"), ["without `x.push(1);`", "without `x.push(1);` (2)"]);
}

#[test]
fn constants_and_tests_stay() {
    let text =
        "const A: u32 = 1 + 2;\nconst fn b() -> bool { 1 < 2 }\n#[cfg(test)]\nmod tests { fn c() -> bool { true } }\n";
    assert_eq!(changes_of("a.rs", text, 0, &|_| false).expect("Rust").all, []);
}

//! The lines of a repair are the program's own, though what happens there lies in a library, a macro, or a function of a header.

use crate::support::{Workshop, ran, source};
use serde_json::{Value, json};
use std::process::Command;

/// Builds a program of `programs/seats-c`.
fn built(name: &str, flags: &str) -> Workshop {
    let workshop = Workshop::of_project("seats-c");
    let driver = if name.ends_with(".cpp") { "c++ -std=c++20" } else { "cc" };
    workshop.make(&format!("foretrace {driver} -g -pthread {flags} {name} -o program"));
    workshop
}

/// The lines of the code that has to be atomic, as comments in the source mark them.
fn marked_lines(file: &str) -> (u64, u64) {
    let text = std::fs::read_to_string(source(file)).expect("the source is there");
    let line = |mark: &str| {
        let is_marked = |line: &str| line.contains(&format!("// {mark}")) || line.contains(&format!("/* {mark} */"));
        text.lines().position(is_marked).expect("marked") as u64 + 1
    };
    (line("first"), line("last"))
}

/// Records a run that ends with this code.
fn record(workshop: &Workshop, code: i32) -> bool {
    (0..100).any(|seed| {
        workshop.record("run", &["--scheduler", "random", "--seed", &seed.to_string()]) == json!({ "code": code })
    })
}

fn json_of(command: &mut Command) -> Value {
    let run = ran(command);
    serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}{}", run.out, run.err))
}

/// The only section of a violation or repair: its file, its lines, and that no turns of loops are in it.
fn section(of: &Value) -> (&str, u64, u64) {
    let sections = of["sections"].as_array().expect("a list");
    let [section] = sections.as_slice() else { panic!("found {} sections, expected one: {of:#}", sections.len()) };
    assert_eq!(section["turns"], false, "{of:#}");
    let lines = section["lines"].as_array().expect("a list");
    let [lines] = lines.as_slice() else { panic!("found lines of several files: {of:#}") };
    (lines["file"].as_str().expect("a name"), lines["first"].as_u64().unwrap_or(0), lines["last"].as_u64().unwrap_or(0))
}

/// `repair` and `why` name these lines of a failing run first, and with them kept whole no run fails.
fn names(workshop: &Workshop, file: &str, lines: (u64, u64)) {
    assert!(record(workshop, 3), "no seed fails");
    let expected = (file, lines.0, lines.1);
    let repaired = json_of(&mut workshop.shell("foretrace repair run --format json"));
    assert_eq!(section(&repaired["repairs"][0]), expected, "{repaired:#}");
    let why = json_of(&mut workshop.shell("foretrace why run --times 5 --switch-runs 0 --format json -- ./program"));
    let first = &why["violations"][0];
    assert_eq!((section(first), &first["cause"]), (expected, &json!(true)), "{why:#}");
    assert_eq!((&why["again"], &first["gone"]), (&json!(5), &json!(5)), "{why:#}");
}

/// The twin needs no repair and never fails.
fn is_right(workshop: &Workshop) {
    for seed in 0..8 {
        assert_eq!(
            workshop.record("run", &["--scheduler", "random", "--seed", &seed.to_string()]),
            json!({"code": 0}),
            "seed {seed}"
        );
    }
    let repaired = json_of(&mut workshop.shell("foretrace repair run --format json"));
    assert_eq!(repaired["repairs"], json!([]), "{repaired:#}");
}

#[test]
fn a_macro_counts_as_the_line_that_has_it() {
    names(&built("macros.c", "-O1"), "macros.c", marked_lines("seats-c/macros.c"));
    is_right(&built("macros.c", "-O1 -DFIXED"));
}

/// A function's accesses are all in one critical section of its caller, so that the trace has no block of the function.
#[test]
fn a_function_of_a_header_counts_as_the_line_that_calls_it() {
    let lines = marked_lines("seats-c/helpers.c");
    for flags in ["-O0", "-O2", "-O2 --as-shipped"] {
        names(&built("helpers.c", flags), "helpers.c", lines);
        is_right(&built("helpers.c", &format!("{flags} -DFIXED")));
    }
}

#[test]
fn containers_of_the_cxx_library_count_as_the_lines_that_use_them() {
    for flags in ["", "-DUNORDERED"] {
        names(&built("map.cpp", flags), "map.cpp", marked_lines("seats-c/map.cpp"));
        is_right(&built("map.cpp", &format!("{flags} -DFIXED")));
    }
}

#[test]
fn containers_of_rusts_library_count_as_the_lines_that_use_them() {
    let (first, last) = marked_lines("seats/src/main.rs");
    names(&Workshop::of_crate("seats"), "src/main.rs", (first, last));
    is_right(&Workshop::of_crate_with("seats", &["fixed"]));
}

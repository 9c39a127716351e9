//! Which violations of whole blocks are sought, how they are grouped, and which count.

use crate::serializability::must_fit;
use crate::support::{Folder, LOST_UPDATE};

/// A block that changes two fields in two critical sections, and counts without a lock.
pub const BOTH: &str = r#"{"foretrace": 1, "data": "symbolic", "vars": {"a": {"sort": "Int", "init": 0}, "b": {"sort": "Int", "init": 0}, "x": {"sort": "Int", "init": 0}}, "sync": {"m": {"kind": "mutex"}}}
{"t": 1, "op": "begin", "label": "update", "loc": "both.c:1"}
{"t": 1, "op": "acquire", "lock": "m"}
{"t": 1, "op": "write", "var": "a", "expr": "1", "loc": "both.c:2"}
{"t": 1, "op": "release", "lock": "m"}
{"t": 1, "op": "read", "var": "x", "dst": "r", "loc": "both.c:3"}
{"t": 1, "op": "write", "var": "x", "expr": "(+ r 1)", "loc": "both.c:3"}
{"t": 1, "op": "acquire", "lock": "m"}
{"t": 1, "op": "write", "var": "b", "expr": "1", "loc": "both.c:4"}
{"t": 1, "op": "release", "lock": "m"}
{"t": 1, "op": "end"}
{"t": 2, "op": "begin", "label": "look", "loc": "both.c:8"}
{"t": 2, "op": "acquire", "lock": "m"}
{"t": 2, "op": "read", "var": "a", "dst": "p", "loc": "both.c:9"}
{"t": 2, "op": "read", "var": "b", "dst": "q", "loc": "both.c:10"}
{"t": 2, "op": "release", "lock": "m"}
{"t": 2, "op": "write", "var": "x", "expr": "5", "loc": "both.c:12"}
{"t": 2, "op": "end"}
"#;

/// A pop of a lock-free stack: it reads the head and what is below it, and puts that in the head's place if the head is the same. The
/// other thread changes both; `then` is what it does to the head after that.
fn pop(then: &str) -> String {
    format!(
        r#"{{"foretrace": 1, "data": "symbolic", "vars": {{"head": {{"sort": "Int", "init": 1}}, "below": {{"sort": "Int", "init": 2}}}}}}
{{"t": 1, "op": "begin", "label": "pop", "loc": "stack.c:1"}}
{{"t": 1, "op": "read", "var": "head", "dst": "h", "loc": "stack.c:2"}}
{{"t": 1, "op": "read", "var": "below", "dst": "n", "loc": "stack.c:3"}}
{{"t": 1, "op": "rmw", "var": "head", "dst": "o", "expr": "n", "guard": "(= o h)", "loc": "stack.c:4"}}
{{"t": 1, "op": "end"}}
{{"t": 2, "op": "rmw", "var": "head", "dst": "o", "expr": "(+ o 10)", "loc": "stack.c:9"}}
{{"t": 2, "op": "write", "var": "below", "expr": "7", "loc": "stack.c:10"}}
{then}"#
    )
}

/// A counter that is counted up by compare-exchange: the first attempt of the run failed.
const COUNTER: &str = r#"{"foretrace": 1, "data": "symbolic", "vars": {"c": {"sort": "Int", "init": 0}}}
{"t": 1, "op": "begin", "label": "count", "loc": "counter.c:1"}
{"t": 1, "op": "read", "var": "c", "dst": "r", "loc": "counter.c:2"}
{"t": 2, "op": "rmw", "var": "c", "dst": "o", "expr": "(+ o 1)", "loc": "counter.c:9"}
{"t": 1, "op": "read", "var": "c", "dst": "f", "guard": "(not (= f r))", "loc": "counter.c:3"}
{"t": 1, "op": "assume", "expr": "(not (= f r))", "loc": "counter.c:3"}
{"t": 1, "op": "read", "var": "c", "dst": "r", "loc": "counter.c:2"}
{"t": 1, "op": "rmw", "var": "c", "dst": "o", "expr": "(+ r 1)", "guard": "(= o r)", "loc": "counter.c:3"}
{"t": 1, "op": "end"}
"#;

#[test]
fn a_triple_hides_no_cycle_over_several_variables() {
    let folder = Folder::with("both.jsonl", BOTH);
    let run = folder.foretrace("predict both.jsonl");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    for part in [
        "lost update",
        "B1. marked block `update`, both.c:1: a cycle over a, b",
        "through marked block `look`, both.c:8",
    ] {
        assert!(run.stdout.contains(part), "`{part}` is missing in\n{}", run.stdout);
    }
    let report = must_fit("report.schema.json", &folder.foretrace("predict both.jsonl --format json").stdout);
    let violations = report["blocks"]["violations"].as_array().expect("a list");
    assert!(
        violations.iter().any(|one| one["violation"]["variables"] == serde_json::json!(["a", "b"])),
        "{violations:#?}"
    );
    assert_eq!(violations[0]["violation"]["against"][0]["label"], "look");
}

#[test]
fn cycles_of_one_pair_of_blocks_stand_together() {
    // The same two fields in a second pair of places.
    let twice = format!(
        "{BOTH}{}",
        BOTH.lines()
            .skip(1)
            .filter(|line| !line.contains("\"x\""))
            .map(|line| line
                .replace("\"t\": 1", "\"t\": 3")
                .replace("both.c:2", "both.c:22")
                .replace("both.c:4", "both.c:24")
                + "\n")
            .filter(|line| line.contains("\"t\": 3"))
            .collect::<String>()
    );
    let folder = Folder::with("twice.jsonl", &twice);
    let run = folder.foretrace("serializability twice.jsonl");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.stdout.contains("more cycles of these blocks"), "{}", run.stdout);
}

#[test]
fn attempts_that_fail_do_not_count() {
    let folder = Folder::with("right.jsonl", &pop(""));
    folder.add("counter.jsonl", COUNTER);
    for file in ["right", "counter"] {
        let run = folder.foretrace(&format!("serializability {file}.jsonl"));
        assert_eq!(run.code, Some(0), "{file}: {}{}", run.stdout, run.stderr);
        assert!(run.stdout.contains("Harmless, and not counted"), "{}", run.stdout);
        let json = folder.foretrace(&format!("serializability {file}.jsonl --format json"));
        let report = must_fit("serializability.schema.json", &json.stdout);
        assert_eq!(report["blocks"][0]["verdict"], "violated", "{file}");
        assert_eq!(report["blocks"][0]["violation"]["not_counted"], "failed-attempt", "{file}");
        assert_eq!(report["blocks"][0]["violation"]["weight"], "harmless", "{file}");
    }
    assert_eq!(folder.foretrace("predict right.jsonl").code, Some(0));
}

#[test]
fn attempts_that_succeed_do() {
    // The head comes back: the compare-exchange puts in its place what was below before.
    let back = r#"{"t": 2, "op": "rmw", "var": "head", "dst": "o", "expr": "(- o 10)", "loc": "stack.c:11"}"#;
    let folder = Folder::with("aba.jsonl", &pop(back));
    folder.add("lost.jsonl", LOST_UPDATE);
    for file in ["aba", "lost"] {
        let run = folder.foretrace(&format!("serializability {file}.jsonl --format json"));
        assert_eq!(run.code, Some(1), "{file}: {}", run.stderr);
        let report = must_fit("serializability.schema.json", &run.stdout);
        let violation = &report["blocks"][0]["violation"];
        assert_eq!(violation.get("not_counted"), None, "{file}: {violation:#}");
        assert_eq!(folder.foretrace(&format!("predict {file}.jsonl")).code, Some(1), "{file}");
    }
}

//! `foretrace explain --block`: why whole blocks can or cannot be violated.

use crate::serializability::{TWO_STAGES, must_fit};
use crate::support::{Folder, LOCKED};

/// A block that another thread looks at only after its flag is set.
const PUBLISHED: &str = r#"{"foretrace": 1, "data": "symbolic", "vars": {"a": {"sort": "Int", "init": 0}, "b": {"sort": "Int", "init": 0}, "ready": {"sort": "Int", "init": 0}}}
{"t": 1, "op": "begin", "label": "update", "loc": "flag.c:1"}
{"t": 1, "op": "write", "var": "a", "expr": "1", "loc": "flag.c:2"}
{"t": 1, "op": "write", "var": "b", "expr": "1", "loc": "flag.c:3"}
{"t": 1, "op": "end"}
{"t": 1, "op": "write", "var": "ready", "expr": "1", "loc": "flag.c:5"}
{"t": 2, "op": "read", "var": "ready", "dst": "r", "loc": "flag.c:8"}
{"t": 2, "op": "assume", "expr": "(= r 1)", "loc": "flag.c:8"}
{"t": 2, "op": "read", "var": "a", "dst": "p", "loc": "flag.c:9"}
{"t": 2, "op": "read", "var": "b", "dst": "q", "loc": "flag.c:10"}
"#;

#[test]
fn a_static_proof_names_the_lock() {
    let folder = Folder::with("locked.jsonl", LOCKED);
    let run = folder.foretrace("explain locked.jsonl --block 0-5");
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    for part in [
        "cannot be violated: model ctp; decided by the static check",
        "n (events 2, 3): accesses that conflict need m, which the block holds throughout",
        "Lock m: the critical sections from 1 to 4 of thread 1 and from 7 to 10 of thread 2 exclude each other.",
        "without any",
    ] {
        assert!(run.in_one_line().contains(part), "`{part}` is missing in\n{}", run.stdout);
    }
    let json = folder.foretrace("explain locked.jsonl --block 2 --format json");
    let report = must_fit("block-explanation.schema.json", &json.stdout);
    assert_eq!(report["proof"][0]["locks"], serde_json::json!(["m"]));
    assert_eq!(report["arguments"][0]["minimal"], true);
    assert_eq!(report["off_path"], false);
}

#[test]
fn an_argument_names_the_flag_and_the_branch() {
    let folder = Folder::with("flag.jsonl", PUBLISHED);
    let run = folder.foretrace("explain flag.jsonl --block update");
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    for part in [
        "cannot be violated on the path of this run",
        "another path of the program may violate it",
        "one of the events 1, 2",
        "Branch 6 (assume, flag.c:8)",
        "So 5 finds what 4 wrote.",
    ] {
        assert!(run.stdout.contains(part), "`{part}` is missing in\n{}", run.stdout);
    }
    must_fit(
        "block-explanation.schema.json",
        &folder.foretrace("explain flag.jsonl --block flag.c:1 --format json").stdout,
    );
    // Without values nothing keeps the reader away.
    let free = folder.foretrace("explain flag.jsonl --block update --model cam");
    assert_eq!(free.code, Some(1), "{}", free.stdout);
    assert!(free.stdout.contains("a cycle over a, b"), "{}", free.stdout);
    must_fit(
        "block-explanation.schema.json",
        &folder.foretrace("explain flag.jsonl --block update --model cam --format json").stdout,
    );
}

#[test]
fn a_violated_block_has_its_cycle_and_a_bound_its_number() {
    let folder = Folder::with("two.jsonl", TWO_STAGES);
    let run = folder.foretrace("explain two.jsonl --block update");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    for part in ["can be violated", "write a = 1 (event 2, two.c:2)", "read b = 0 (event 10, two.c:10)"] {
        assert!(run.stdout.contains(part), "`{part}` is missing in\n{}", run.stdout);
    }
    let run = folder.foretrace("explain two.jsonl --block update --context-switches 1");
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(run.stdout.contains("It can be violated with 2, and not with fewer."), "{}", run.stdout);
}

#[test]
fn what_names_no_block_is_refused() {
    let folder = Folder::with("two.jsonl", TWO_STAGES);
    for (arguments, message) in [
        ("explain two.jsonl --block nothing", "found no block `nothing` in two.jsonl (--atomic marked)"),
        ("explain two.jsonl --block 99", "found no block `99`"),
        ("explain two.jsonl --block 0-99", "found no block `0-99`"),
        ("explain two.jsonl 1 2", "<SECOND>"),
        ("explain two.jsonl 1 2 3 --block update", "cannot be used with"),
        ("explain two.jsonl --block update --feasibility complete", "--block asks about prefixes and conflicts"),
    ] {
        let run = folder.foretrace(arguments);
        assert_eq!(run.code, Some(2), "{arguments}: {}", run.stdout);
        assert!(run.stderr.contains(message), "`{message}` is missing in\n{}", run.stderr);
        assert_eq!(run.stdout, "");
    }
}

//! `foretrace cutpoints` and `foretrace schedules`: what they print, what they write, and that `check` takes it.

use crate::support::{Folder, LOCKED, LOST_UPDATE, repository};
use serde_json::Value;

/// Two critical sections, each under the lock: the second thread's comes between them.
const APART: &str = r#"{"foretrace": 1, "data": "none", "sync": {"m": {"kind": "mutex"}}}
{"t": 1, "op": "begin", "label": "deposit"}
{"t": 1, "op": "acquire", "lock": "m"}
{"t": 1, "op": "read", "var": "balance", "loc": "bank.c:4"}
{"t": 1, "op": "release", "lock": "m"}
{"t": 1, "op": "acquire", "lock": "m"}
{"t": 1, "op": "write", "var": "balance", "loc": "bank.c:8"}
{"t": 1, "op": "release", "lock": "m"}
{"t": 1, "op": "end"}
{"t": 2, "op": "acquire", "lock": "m"}
{"t": 2, "op": "write", "var": "balance", "loc": "bank.c:20"}
{"t": 2, "op": "release", "lock": "m"}
"#;

fn must_fit(schema: &str, text: &str) -> Value {
    let report: Value = serde_json::from_str(text).expect("JSON");
    let schema = std::fs::read_to_string(repository().join("schemas").join(schema)).expect("the schema is shipped");
    let validator = jsonschema::draft202012::new(&serde_json::from_str(&schema).expect("JSON")).expect("a schema");
    let errors: Vec<String> = validator.iter_errors(&report).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}: {text}");
    report
}

#[test]
fn cutpoints_lists_each_class() {
    let folder = Folder::with("bank.jsonl", APART);
    let run = folder.foretrace("cutpoints bank.jsonl");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    insta::assert_snapshot!(run.stdout);
    let all = folder.foretrace("cutpoints bank.jsonl --format json");
    let report = must_fit("cutpoints.schema.json", &all.stdout);
    assert_eq!(report["classes"], 1);
    assert_eq!(report["cut_points"][0]["then"], "second");
}

#[test]
fn cutpoints_lists_nothing_under_one_lock() {
    let run = Folder::with("locked.jsonl", LOCKED).foretrace("cutpoints locked.jsonl --format json");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let report = must_fit("cutpoints.schema.json", &run.stdout);
    assert_eq!((&report["classes"], &report["whole"]), (&Value::from(0), &Value::from(true)));
}

#[test]
fn schedules_are_files_that_check_accepts() {
    for (text, count) in [(APART, 1), (LOST_UPDATE, 2)] {
        let folder = Folder::with("trace.jsonl", text);
        let run = folder.foretrace("schedules trace.jsonl -o out --format json");
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let report = must_fit("schedules.schema.json", &run.stdout);
        let schedules = report["schedules"].as_array().expect("a list");
        assert_eq!(schedules.len(), count, "{report}");
        for schedule in schedules {
            let file = schedule["file"].as_str().expect("each has a file");
            let text = std::fs::read_to_string(folder.path(file)).expect("it was written");
            let witness = must_fit("witness.schema.json", &text);
            assert_eq!(witness["verdict"], "unproved");
            assert!(witness["note"].as_str().is_some_and(|note| note.starts_with("not proved")), "{witness}");
            let check = folder.foretrace(&format!("check trace.jsonl {file} --quiet"));
            assert_eq!(check.code, Some(0), "{}{}", check.stdout, check.stderr);
        }
    }
}

#[test]
fn schedules_that_end_with_the_remote_access_say_so() {
    let shut = r#"{"foretrace": 1, "data": "none", "sync": {"a": {"kind": "mutex"}, "b": {"kind": "mutex"}}}
{"t": 1, "op": "begin"}
{"t": 1, "op": "acquire", "lock": "a"}
{"t": 1, "op": "write", "var": "x"}
{"t": 1, "op": "acquire", "lock": "b"}
{"t": 1, "op": "write", "var": "x"}
{"t": 1, "op": "release", "lock": "b"}
{"t": 1, "op": "release", "lock": "a"}
{"t": 1, "op": "end"}
{"t": 2, "op": "acquire", "lock": "b"}
{"t": 2, "op": "write", "var": "x"}
{"t": 2, "op": "acquire", "lock": "a"}
{"t": 2, "op": "release", "lock": "a"}
{"t": 2, "op": "release", "lock": "b"}
"#;
    let folder = Folder::with("shut.jsonl", shut);
    let run = folder.foretrace("schedules shut.jsonl -o out");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("ends with the remote access"), "{}", run.stdout);
    let text = std::fs::read_to_string(folder.path("out/schedule-2-9-4.json")).expect("it was written");
    assert_eq!(must_fit("witness.schema.json", &text)["ends_at_remote"], true);
    let check = folder.foretrace("check shut.jsonl out/schedule-2-9-4.json --quiet");
    assert_eq!(check.code, Some(0), "{}", check.stdout);
    let listed = folder.foretrace("cutpoints shut.jsonl");
    assert!(listed.stdout.contains("waits for a lock of the other"), "{}", listed.stdout);
}

#[test]
fn bad_input_writes_nothing() {
    let folder = Folder::with("broken.jsonl", "{\"foretrace\": 1, \"data\": \"none\"}\n{\"t\": 1, \"op\": \"jump\"}\n");
    for command in ["cutpoints broken.jsonl", "schedules broken.jsonl -o out", "schedules missing.jsonl -o out"] {
        let run = folder.foretrace(command);
        assert_eq!(run.code, Some(2), "{command}");
        assert!(run.stdout.is_empty() && !folder.path("out").exists(), "{command}: {}", run.stdout);
    }
}

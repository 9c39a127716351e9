//! `foretrace repair` as people and programs see it.

use crate::support::{Folder, LOCKED, LOST_UPDATE, Run, repository};
use serde_json::Value;

/// The lost update as it happened: thread 2 read and wrote between the two accesses of thread 1.
fn failing() -> String {
    let lines: Vec<&str> = LOST_UPDATE.lines().collect();
    let order = [0, 1, 2, 5, 6, 7, 8, 3, 4];
    let text: Vec<String> = order.iter().map(|line| lines[*line].to_string()).collect();
    text.join("\n")
        .replace(r#""dst": "b", "value": 1"#, r#""dst": "b", "value": 0"#)
        .replace(r#""(+ b 1)", "value": 2"#, r#""(+ b 1)", "value": 1"#)
        + "\n"
}

fn folder() -> Folder {
    let folder = Folder::with("failing.jsonl", &failing());
    folder.add("passing.jsonl", LOST_UPDATE);
    folder
}

fn json(run: &Run) -> Value {
    let value: Value = serde_json::from_str(&run.stdout).expect("the report is JSON");
    let schema =
        std::fs::read_to_string(repository().join("schemas/repair.schema.json")).expect("the schema is shipped");
    let validator = jsonschema::draft202012::new(&serde_json::from_str(&schema).expect("JSON")).expect("a schema");
    let errors: Vec<String> = validator.iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    value
}

#[test]
fn the_lines_of_a_lost_update_are_named() {
    let run = folder().foretrace("repair failing.jsonl --passing passing.jsonl");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    insta::assert_snapshot!(run.stdout);
}

#[test]
fn the_json_report_fits_its_schema() {
    let run = folder().foretrace("repair failing.jsonl failing.jsonl --passing passing.jsonl --format json");
    let report = json(&run);
    let section = &report["repairs"][0]["sections"][0];
    assert_eq!(
        (run.code, section["lines"][0]["first"].as_u64(), section["lines"][0]["last"].as_u64()),
        (Some(1), Some(3), Some(4))
    );
    assert_eq!(report["repairs"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_run_in_turn_needs_no_repair() {
    for trace in [LOST_UPDATE, LOCKED] {
        let run = Folder::with("trace.jsonl", trace).foretrace("repair trace.jsonl");
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert!(run.stdout.contains("needs no repair"), "{}", run.stdout);
        let report = json(&Folder::with("trace.jsonl", trace).foretrace("repair trace.jsonl --format json"));
        assert_eq!(report["serializable"][0], "trace.jsonl");
    }
}

#[test]
fn repairs_need_a_trace_that_can_be_read() {
    let folder = folder();
    for arguments in ["repair", "repair none.jsonl", "repair failing.jsonl --passing none.jsonl"] {
        let run = folder.foretrace(arguments);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{arguments}: {}", run.stderr);
    }
}

//! `foretrace linearizable` as people and programs see it.

use crate::support::{Folder, LOST_UPDATE, Run, foretrace_in, repository};
use serde_json::Value;

/// Both pops return what was pushed once.
const STACK: &str = r#"{"process": 1, "call": 1, "return": 20, "method": "push", "args": ["a"]}
{"process": 2, "call": 2, "return": 3, "method": "push", "args": ["b"]}
{"process": 2, "call": 4, "return": 10, "method": "pop", "result": "b"}
{"process": 3, "call": 5, "return": 11, "method": "pop", "result": "b"}
"#;

/// The same as a trace.
const TRACE: &str = r#"{"foretrace": 1, "data": "none"}
{"t": 1, "op": "call", "method": "push", "args": ["b"]}
{"t": 1, "op": "return", "method": "push"}
{"t": 2, "op": "call", "method": "pop"}
{"t": 3, "op": "call", "method": "pop"}
{"t": 2, "op": "return", "method": "pop", "value": "b"}
{"t": 3, "op": "return", "method": "pop", "value": "b"}
"#;

fn json(run: &Run) -> Value {
    let value: Value = serde_json::from_str(&run.stdout).expect("the report is JSON");
    let path = repository().join("schemas/linearizable.schema.json");
    let schema = std::fs::read_to_string(path).expect("the schema is shipped");
    let validator = jsonschema::draft202012::new(&serde_json::from_str(&schema).expect("JSON")).expect("a schema");
    let errors: Vec<String> = validator.iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    value
}

#[test]
fn a_value_that_is_popped_twice_is_drawn() {
    let run = Folder::with("stack.jsonl", STACK).foretrace("linearizable stack.jsonl --spec stack");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    insta::assert_snapshot!(run.stdout);
}

#[test]
fn histories_of_traces_are_judged() {
    let folder = Folder::with("trace.jsonl", TRACE);
    let run = folder.foretrace("linearizable trace.jsonl --spec stack --format json");
    let report = json(&run);
    assert_eq!((run.code, &report["verdict"]), (Some(1), &Value::from("not-linearizable")));
    assert_eq!(report["explanation"].as_array().map(Vec::len), Some(3));
    folder.add(
        "right.jsonl",
        &TRACE.replace(
            "\"t\": 3, \"op\": \"return\", \"method\": \"pop\", \"value\": \"b\"",
            "\"t\": 3, \"op\": \"return\", \"method\": \"pop\", \"value\": null",
        ),
    );
    let run = folder.foretrace("linearizable right.jsonl --spec stack --format json");
    assert_eq!((run.code, &json(&run)["verdict"]), (Some(0), &Value::from("linearizable")), "{}", run.stderr);
}

#[test]
fn sequential_runs_can_be_the_specification() {
    let folder = Folder::with("stack.jsonl", STACK);
    folder.add("serial.jsonl", r#"{"process": 1, "call": 1, "return": 2, "method": "push", "args": ["b"]}"#);
    let run = folder.foretrace("linearizable stack.jsonl --spec-from serial.jsonl");
    assert_eq!(run.code, Some(3), "{}", run.stdout);
    let run = folder.foretrace("linearizable serial.jsonl --spec-from serial.jsonl --format json");
    assert_eq!((run.code, json(&run)["spec"].as_str()), (Some(0), Some("sequential runs")));
    let run = folder.foretrace("linearizable serial.jsonl --spec-from stack.jsonl");
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("expected a sequential run"), "{}", run.stderr);
}

#[test]
fn histories_that_make_no_sense_are_refused() {
    let folder = Folder::with("stack.jsonl", STACK);
    folder.add("update.jsonl", LOST_UPDATE).add("bad.edn", "{:process 0, :type :what}");
    for (arguments, message) in [
        ("linearizable stack.jsonl --spec register", "expected a method of a register"),
        ("linearizable update.jsonl --spec register", "found no operations"),
        ("linearizable bad.edn --spec register", "bad.edn: line 1: found"),
        ("linearizable none.edn --spec register", "none.edn"),
        ("linearizable stack.jsonl", "--spec"),
    ] {
        let run = folder.foretrace(arguments);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{arguments}: {}", run.stderr);
        assert!(run.stderr.contains(message), "{arguments}: {}", run.stderr);
    }
}

/// A queue by other names, which gives -1 where it is empty and refuses a third item.
const NAMED: &str = r#"{"process": 1, "call": 1, "return": 2, "method": "add_item", "args": [1], "result": true}
{"process": 1, "call": 3, "return": 4, "method": "add_item", "args": [2], "result": false}
{"process": 1, "call": 5, "return": 6, "method": "fetch", "result": 1}
{"process": 1, "call": 7, "return": 8, "method": "fetch", "result": -1}
"#;

#[test]
fn operations_may_have_other_names() {
    let folder = Folder::with("queue.jsonl", NAMED);
    let names = "--spec queue --operation-names add_item=enqueue,fetch=dequeue";
    let judged = |more: &str| folder.foretrace(&format!("linearizable queue.jsonl {names} {more}"));
    let run = judged("--empty -1");
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    assert_eq!(judged("").code, Some(1)); // nothing put -1 in
    let run = folder.foretrace("linearizable queue.jsonl --spec queue");
    assert!(run.code == Some(2) && run.stderr.contains("found add_item(1)"), "{}", run.stderr);
    let run = folder.foretrace("linearizable queue.jsonl --spec queue --operation-names add_item");
    assert!(run.code == Some(2) && run.stderr.contains("expected NAME=METHOD"), "{}", run.stderr);
}

#[test]
fn arguments_that_are_not_known_decide_nothing() {
    let wrong = STACK.replace(r#"["b"]"#, r#"[{"unknown": true}]"#);
    let run = Folder::with("stack.jsonl", &wrong).foretrace("linearizable stack.jsonl --spec stack");
    assert_eq!(run.code, Some(3), "{}", run.stdout);
    // Another object is judged all the same.
    let other = r#"{"process": 1, "call": 30, "return": 31, "object": "x", "method": "pop", "result": 7}"#;
    let run =
        Folder::with("stack.jsonl", &format!("{wrong}{other}\n")).foretrace("linearizable stack.jsonl --spec stack");
    assert_eq!(run.code, Some(1), "{}", run.stdout);
}

/// Two pops of a stack can take the same value; with the read and the write of a pop in one step they cannot.
#[test]
fn explore_judges_every_history_of_a_litmus_program() {
    let wrong = foretrace_in(repository(), "explore examples/objects/stack.lit --spec stack");
    assert_eq!(wrong.code, Some(1), "{}", wrong.stderr);
    let twice = "not linearizable as a stack: A#1: push(1); B#2: push(2), pop() → 2; C#3: pop() → 2";
    assert!(wrong.stdout.contains(twice), "{}", wrong.stdout);
    let right = foretrace_in(repository(), "explore examples/objects/stack-right.lit --spec stack");
    assert_eq!(right.code, Some(0), "{}", right.stdout);
    let by_end = foretrace_in(repository(), "explore examples/objects/stack.lit");
    assert_eq!(by_end.code, Some(0), "no thread fails: {}", by_end.stdout);
}

/// What is saved as failing is not linearizable by itself, and what is saved as passing is.
#[test]
fn explored_histories_are_judged_as_their_traces_are() {
    let source = std::fs::read_to_string(repository().join("examples/objects/stack.lit")).expect("the example");
    let folder = Folder::with("stack.lit", &source);
    let run = folder.foretrace("explore stack.lit --spec stack --save runs --passing --most 5 --format json");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    for (kind, code) in [("failing", 1), ("passing", 0)] {
        for number in 1..=5 {
            let judged = folder.foretrace(&format!("linearizable runs/{kind}-{number}.jsonl --spec stack"));
            assert_eq!(judged.code, Some(code), "{kind}-{number}: {}", judged.stdout);
        }
    }
}

#[test]
fn explore_refuses_a_specification_that_the_operations_are_none_of() {
    let folder = Folder::with("none.lit", "shared x: int;\nthread A { x = 1; }\n");
    folder.add("queue.lit", "operation fn enqueue(v: int) { }\nthread A { enqueue(1); }\n");
    for (program, expected) in [("none", "found none in the program"), ("queue", "expected a method of a stack")] {
        let run = folder.foretrace(&format!("explore {program}.lit --spec stack --save runs"));
        assert_eq!(run.code, Some(2));
        assert!(run.stderr.contains(expected), "{}", run.stderr);
        assert!(!folder.path("runs").exists());
    }
}

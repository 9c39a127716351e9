//! Marked operations of real programs: their calls and returns, whether they are linearizable, and what must be atomic.

use crate::support::{Workshop, expect, foretrace, ran, source};
use serde_json::{Value, json};

/// The calls and returns of a recording: thread, object, what it does, with what.
fn operations(workshop: &Workshop, recording: &str) -> Vec<(u64, Value, String, Value)> {
    let trace = workshop.trace(recording);
    let told = trace.iter().skip(1).filter_map(|event| {
        let op = event["op"].as_str().expect("an op");
        let given = match op {
            "call" => event.get("args").cloned().unwrap_or(json!([])),
            "return" => event.get("value").cloned().unwrap_or(json!("unknown")),
            _ => return None,
        };
        let method = event["method"].as_str().expect("a method");
        Some((event["t"].as_u64().expect("a thread"), event["object"].clone(), format!("{op} {method}"), given))
    });
    told.collect()
}

/// The exit status of `linearizable`, and its report.
fn judged(workshop: &Workshop, recording: &str, spec: &str) -> (Option<i32>, Value) {
    let mut command = foretrace();
    command.arg("linearizable").arg(workshop.path(recording)).args(["--spec", spec, "--format", "json"]);
    let run = ran(&mut command);
    (run.status, serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}", run.err)))
}

#[test]
fn an_operation_has_its_object_arguments_and_result() {
    let queue = Workshop::build(&source("operations/queue.cpp"), &["-std=c++17"]);
    queue.record("run", &[]);
    let (first, second) = ("object 1", "object 2");
    let expected = [
        (2, first, "call enqueue", json!([7])),
        (2, first, "return enqueue", Value::Null),
        (2, second, "call enqueue", json!([8])),
        (2, second, "return enqueue", Value::Null),
        (1, first, "call dequeue", json!([])),
        (1, first, "return dequeue", json!(7)),
        (1, first, "call dequeue", json!([])),
        (1, first, "return dequeue", Value::Null),
        (1, second, "call dequeue", json!([])),
        (1, second, "return dequeue", json!(8)),
        (1, first, "call enqueue", json!([-1])),
        (1, first, "return enqueue", json!("unknown")), // left by an exception
    ];
    let expected = expected.map(|(thread, object, what, given)| (thread, json!(object), what.to_string(), given));
    assert_eq!(operations(&queue, "run"), expected);
    let (status, report) = judged(&queue, "run", "queue");
    assert_eq!(
        (status, report["verdict"].as_str(), report["parts"].as_u64()),
        (Some(0), Some("linearizable"), Some(2))
    );
    // Marks are in the places of the code that has them, and do not keep a replay from following.
    let lines = queue
        .trace("run")
        .iter()
        .filter(|event| event["op"] == "call")
        .map(|event| event["loc"].clone())
        .collect::<Vec<_>>();
    assert!(lines.iter().all(|loc| loc.as_str().is_some_and(|loc| loc.contains("queue.cpp"))), "{lines:?}");
    queue.replay(&queue.path("run"), 3, 0);
}

#[test]
fn a_rust_program_marks_operations_too() {
    let stack = Workshop::of_crate("marked-stack");
    stack.record("run", &[]);
    let (first, second) = (json!("object 1"), json!("object 2"));
    let expected = [
        (2, &first, "call push", json!([-1])),
        (2, &first, "return push", Value::Null),
        (2, &second, "call add", json!([5])),
        (2, &second, "return add", json!(true)),
        (1, &first, "call pop", json!([])),
        (1, &first, "return pop", json!(-1)),
        (1, &first, "call pop", json!([])),
        (1, &first, "return pop", Value::Null),
        (1, &first, "call peek", json!([])),
        (1, &first, "return peek", json!("unknown")), // left by a panic
        (1, &Value::Null, "call nothing", json!([])),
        (1, &Value::Null, "return nothing", Value::Null),
    ];
    let expected = expected.map(|(thread, object, what, given)| (thread, object.clone(), what.to_string(), given));
    assert_eq!(operations(&stack, "run"), expected);
}

/// Fig. 1 of "Root Causing Linearizability Violations" (CAV 2020) as a C program: the repairs of any failing run are among the two of
/// section 2, or larger; the stack that takes an item in one step never fails.
#[test]
fn a_stack_without_locks_loses_values() {
    let (wrong, right) = (source("operations/stack.c"), source("operations/stack.c"));
    let (wrong, right) = (Workshop::build(&wrong, &[]), Workshop::build(&right, &["-DRIGHT"]));
    let mut failing = Vec::new();
    let mut passing = Vec::new();
    for seed in 1..=30 {
        let (name, seed) = (format!("run-{seed}"), seed.to_string());
        let options = ["--scheduler", "random", "--seed", &seed];
        wrong.record(&name, &options);
        match judged(&wrong, &name, "stack").0 {
            Some(0) => passing.push(wrong.path(&name)),
            Some(1) => failing.push(wrong.path(&name)),
            status => panic!("{status:?}"),
        }
        right.record(&name, &options);
        assert_eq!(judged(&right, &name, "stack").0, Some(0), "seed {seed}");
    }
    assert!(!failing.is_empty() && !passing.is_empty(), "{} failing, {} passing", failing.len(), passing.len());
    let mut command = foretrace();
    command.arg("repair").args(&failing).arg("--passing").args(&passing).args(["--format", "json"]);
    let report: Value = serde_json::from_slice(&expect(1, &mut command).stdout).expect("JSON");
    assert_eq!(report["atomic"], "operations", "{report:#}");
    let first = &report["repairs"][0]["sections"];
    let taken_apart = json!([{"function": "pop", "first": 24, "last": 25}]);
    let told: Vec<Value> = first
        .as_array()
        .expect("sections")
        .iter()
        .map(|one| json!({"function": one["function"], "first": one["lines"][0]["first"], "last": one["lines"][0]["last"]}))
        .collect();
    assert_eq!(json!(told), taken_apart, "{report:#}");
}

/// The same under gcc, whose code has no expressions.
#[test]
fn marks_are_recorded_of_programs_that_gcc_compiled() {
    if !crate::support::is_installed("gcc") {
        return;
    }
    let stack = Workshop::empty();
    let source = source("operations/stack.c");
    let mut command = foretrace();
    command.args(["cc", "--gcc", "-o"]).arg(&stack.program).arg(source);
    expect(0, &mut command);
    stack.record("run", &[]);
    let (status, report) = judged(&stack, "run", "stack");
    assert_eq!((status, report["operations"].as_u64()), (Some(0), Some(4)));
}

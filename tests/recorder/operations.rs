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

/// A passing run of a queue whose dequeue looks and takes apart: another schedule takes an item twice, and the program does.
#[test]
fn an_item_that_is_taken_twice_is_predicted_from_a_run_that_passes() {
    let wrong = Workshop::build(&source("operations/slot.c"), &[]);
    let right = Workshop::build(&source("operations/slot.c"), &["-DRIGHT"]);
    let predict = |workshop: &Workshop, status: i32| {
        workshop.record("run", &[]);
        assert_eq!(judged(workshop, "run", "queue").0, Some(0), "the run itself passes");
        let mut command = foretrace();
        command.arg("predict").arg(workshop.path("run")).args(["--property", "linearizability", "--spec", "queue"]);
        command.args(["--format", "json", "--witness-dir"]).arg(workshop.path("witnesses"));
        let report: Value = serde_json::from_slice(&expect(status, &mut command).stdout).expect("JSON");
        report
    };
    let report = predict(&wrong, 1);
    let given = |operation: &Value| (operation["method"].clone(), operation["result"].clone());
    let taken = report["explanation"].as_array().expect("operations").iter().map(given);
    assert_eq!(taken.filter(|one| *one == (json!("dequeue"), json!(1))).count(), 2, "{report:#}");
    let mut files = std::fs::read_dir(wrong.path("witnesses")).expect("a folder");
    let witness = files.next().expect("a witness").expect("a file").path();
    let replayed = wrong.replay(&witness, 5, 0);
    assert_eq!(replayed["followed"], 5, "{replayed:#}");
    assert_eq!(replayed["endings"], json!([{"code": 1, "times": 5}]), "the program fails: {replayed:#}");
    let report = predict(&right, 0);
    assert_eq!(report["verdict"], "linearizable", "{report:#}");
    let files = std::fs::read_dir(right.path("witnesses")).into_iter().flatten();
    files.for_each(|file| assert!(!histories_fail(&right, &file.expect("a file").path())));
}

/// In each other schedule the second add takes the branch of the first: off the path of the run. Only the program can tell what it gives there. The
/// wrong one adds the key twice, the right one once.
#[test]
fn a_schedule_off_the_path_is_tried_on_the_program() {
    for (flags, is_linearizable) in [(&[] as &[&str], false), (&["-DRIGHT"], true)] {
        let workshop = Workshop::build(&source("operations/once-set.c"), flags);
        workshop.record("run", &["--seed", "1"]);
        let mut command = foretrace();
        command.arg("predict").arg(workshop.path("run")).args(["--property", "linearizability", "--spec", "set"]);
        command.args(["--format", "json", "--witness-dir"]).arg(workshop.path("witnesses"));
        let report: Value = serde_json::from_slice(&expect(0, &mut command).stdout).expect("JSON");
        assert_eq!((&report["verdict"], &report["leaves_path"]), (&json!("linearizable"), &json!(true)), "{report:#}");
        let departures = report["off_path"].as_array().expect("a list");
        assert!(departures.iter().all(|departure| departure["within"]["method"] == "add"), "{report:#}");
        let mut fails = 0;
        for number in 1..=departures.len() {
            let witness = workshop.path(&format!("witnesses/history-off-path-{number}.json"));
            let told = expect(0, foretrace().arg("check").arg(workshop.path("run/trace.jsonl.zst")).arg(&witness));
            assert!(String::from_utf8_lossy(&told.stdout).contains("go on elsewhere after it"));
            fails += i32::from(histories_fail(&workshop, &witness));
        }
        assert_eq!((fails == 0, departures.is_empty()), (is_linearizable, false), "{report:#}");
    }
}

/// Whether the histories of three runs along a schedule off the path are not linearizable; they are all or none.
fn histories_fail(workshop: &Workshop, witness: &std::path::Path) -> bool {
    let mut command = foretrace();
    command.arg("replay").arg(witness).args(["--times", "3", "--format", "json", "--"]).arg(workshop.path("program"));
    let run = ran(&mut command);
    let replayed: Value = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}", run.err));
    assert_eq!(replayed["followed"], 3, "{replayed:#}");
    let (fail, pass) = (&replayed["histories"]["not_linearizable"], &replayed["histories"]["linearizable"]);
    assert!((fail, pass) == (&json!(3), &json!(0)) || (fail, pass) == (&json!(0), &json!(3)), "{replayed:#}");
    assert_eq!(run.status, Some(i32::from(fail == 0)), "{replayed:#}");
    fail == 3
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

/// The exit status of `linearizable` with operations by the names of functions, and what it reports and says.
fn judged_by_names(workshop: &Workshop, recording: &str, (names, spec): (&str, &str)) -> (Option<i32>, Value, String) {
    let mut command = foretrace();
    command.arg("linearizable").arg(workshop.path(recording)).args(["--spec", spec, "--format", "json"]);
    let run = ran(command.args(["--operations", names]));
    (run.status, serde_json::from_str(&run.out).unwrap_or_default(), run.err)
}

#[test]
fn functions_are_operations_by_their_names() {
    let queue = Workshop::build(&source("operations/named-queue.cpp"), &["-std=c++17"]);
    queue.record("run", &["--operations", "Queue::*,Pairs::*"]);
    let (first, second) = ("object 1", "object 2");
    let unknown = json!([{"unknown": true}]);
    let expected = [
        (2, first, "call enqueue", json!([7])),
        (2, first, "return enqueue", Value::Null),
        (2, second, "call try_push", json!([8])),
        (2, second, "return try_push", json!(true)),
        (2, second, "call try_push", json!([9])),
        (2, second, "return try_push", json!(true)),
        (2, second, "call try_push", json!([10])),
        (2, second, "return try_push", json!(false)),
        (1, first, "call try_pop", json!([])),
        (1, first, "return try_pop", json!(7)),
        (1, first, "call try_pop", json!([])),
        (1, first, "return try_pop", Value::Null),
        (1, second, "call dequeue", json!([])),
        (1, second, "return dequeue", json!(8)),
        (1, "object 3", "call push", unknown),
        (1, "object 3", "return push", Value::Null),
        (1, first, "call enqueue", json!([-1])),
        (1, first, "return enqueue", json!("unknown")), // left by an exception
    ];
    let expected = expected.map(|(thread, object, what, given)| (thread, json!(object), what.to_string(), given));
    assert_eq!(operations(&queue, "run"), expected);
    // What is not known decides nothing of its object, and nothing else.
    let (status, report, _) = judged_by_names(&queue, "run", ("Queue::*,Pairs::*", "queue"));
    assert_eq!((status, report["verdict"].as_str()), (Some(3), Some("unknown")));
    let (status, report, told) = judged_by_names(&queue, "run", ("Queue::*", "queue"));
    assert_eq!(
        (status, report["operations"].as_u64(), report["parts"].as_u64()),
        (Some(0), Some(8), Some(2)),
        "{told}"
    );
    queue.replay(&queue.path("run"), 2, 0);
}

#[test]
fn a_queue_that_looks_before_it_takes_is_found_by_names() {
    let source = source("operations/named-queue.cpp");
    let (wrong, right) = (
        Workshop::build(&source, &["-std=c++17", "-DTWO", "-DWRONG"]),
        Workshop::build(&source, &["-std=c++17", "-DTWO"]),
    );
    let mut failing = 0;
    for seed in 1..=12 {
        let (name, seed) = (format!("run-{seed}"), seed.to_string());
        let options = ["--scheduler", "random", "--seed", &seed, "--operations", "Queue::*"];
        wrong.record(&name, &options);
        right.record(&name, &options);
        let (status, report, told) = judged_by_names(&wrong, &name, ("Queue::*", "queue"));
        assert_eq!(report["operations"], 4, "{told}");
        failing += u32::from(status == Some(1));
        assert_eq!(judged_by_names(&right, &name, ("Queue::*", "queue")).0, Some(0), "seed {seed}");
    }
    assert!(failing > 0, "none of 12 runs failed");
}

/// The same stack as with marks: the same runs fail, and the same lines are to be atomic.
#[test]
fn names_find_what_marks_find() {
    let source = source("operations/named-stack.c");
    let (wrong, right) = (Workshop::build(&source, &[]), Workshop::build(&source, &["-DRIGHT"]));
    let names = "stack_p*";
    let mut failing = Vec::new();
    for seed in 1..=20 {
        let (name, seed) = (format!("run-{seed}"), seed.to_string());
        let options = ["--scheduler", "random", "--seed", &seed];
        wrong.record(&name, &options);
        right.record(&name, &options);
        let (status, _, told) = judged_by_names(&wrong, &name, (names, "stack"));
        assert!(matches!(status, Some(0 | 1)), "{told}");
        assert_eq!(judged_by_names(&right, &name, (names, "stack")).0, Some(0), "seed {seed}");
        failing.extend((status == Some(1)).then(|| wrong.path(&name)));
    }
    assert!(!failing.is_empty(), "none of 20 runs failed");
    let mut command = foretrace();
    command.arg("repair").args(&failing).args(["--operations", names, "--format", "json"]);
    let report: Value = serde_json::from_slice(&expect(1, &mut command).stdout).expect("JSON");
    assert_eq!(
        (&report["atomic"], &report["repairs"][0]["sections"][0]["function"]),
        (&json!("operations"), &json!("stack_pop"))
    );
}

#[test]
fn methods_of_rust_are_operations_by_their_names() {
    let stack = Workshop::build_crate("lock-free-stack-rust", &["fixed"]);
    stack.record("run", &["--operations", "Stack::*"]);
    let all = operations(&stack, "run");
    let told = |what: &str| all.iter().filter(|one| one.2 == what).map(|one| one.3.clone()).collect::<Vec<_>>();
    assert_eq!(told("call push")[..3], [json!([3]), json!([2]), json!([1])], "{all:?}");
    assert!(told("return pop").iter().all(|value| matches!(value.as_u64(), Some(1..=3))), "{all:?}");
    assert_eq!((told("call push").len(), told("call pop").len(), all.len()), (4, 4, 16), "{all:?}");
    assert_eq!(judged_by_names(&stack, "run", ("Stack::*", "stack")).0, Some(0));
}

#[test]
fn names_that_fit_nothing_are_refused() {
    let stack = Workshop::build(&source("operations/named-stack.c"), &[]);
    stack.record("run", &[]);
    for (names, recording, expected) in [
        ("queue_*", "run", "found no operations: no function that was called and recorded fits --operations"),
        ("stack_*", "run/trace.jsonl.zst", "--operations stack_*: found a trace, expected a recording"),
    ] {
        let (status, _, told) = judged_by_names(&stack, recording, (names, "stack"));
        assert!(status == Some(2) && told.contains(expected), "{status:?} {told}");
    }
    if !crate::support::is_installed("gcc") {
        return crate::support::left_out("gcc is not installed");
    }
    let stack = Workshop::empty();
    let mut command = foretrace();
    command.args(["cc", "--gcc", "-o"]).arg(&stack.program).arg(source("operations/named-stack.c"));
    expect(0, &mut command);
    stack.record("run", &[]);
    let (status, _, told) = judged_by_names(&stack, "run", ("stack_*", "stack"));
    assert!(status == Some(2) && told.contains("was built with gcc"), "{status:?} {told}");
}

/// All runs of the stack of Fig. 1, which never fails by its exit status: some give what no stack gives. Its first repair is the pop of
/// section 2. The stack that takes an item in one step gives what a stack gives.
#[test]
fn exploring_finds_the_histories_that_are_not_linearizable() {
    let stack = source("operations/stack.c");
    let (wrong, right) = (Workshop::build(&stack, &[]), Workshop::build(&stack, &["-DRIGHT"]));
    let explore = |workshop: &Workshop, options: &str| {
        let run = ran(&mut workshop.shell(&format!("foretrace explore {options} --format json -- ./program")));
        let report: Value = serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.err));
        (run.status, report)
    };
    let (status, plain) = explore(&wrong, "");
    assert_eq!((status, &plain["failed"]), (Some(0), &json!(0)), "{plain:#}");
    let (status, report) = explore(&wrong, "--spec stack --save runs --passing");
    assert_eq!((status, &report["undecided_histories"]), (Some(1), &json!(0)), "{report:#}");
    assert_eq!(report["interleavings"], plain["interleavings"], "{report:#}");
    let (mut failing, mut passing) = (0, 0);
    for run in std::fs::read_dir(wrong.path("runs")).expect("saved") {
        let name = run.expect("listed").file_name().to_string_lossy().into_owned();
        let is_failing = name.starts_with("failing-");
        *(if is_failing { &mut failing } else { &mut passing }) += 1;
        assert_eq!(judged(&wrong, &format!("runs/{name}"), "stack").0, Some(i32::from(is_failing)), "{name}");
    }
    assert_eq!((&report["failed"], &report["passed"]), (&json!(failing), &json!(passing)), "{report:#}");
    assert!(failing > 0 && passing > 0, "{report:#}");
    let kinds = report["failures"].as_array().expect("a list").iter().map(|failure| &failure["kind"]);
    assert!(kinds.clone().all(|kind| kind == "not-linearizable"), "{report:#}");
    let command = "foretrace repair runs/failing-* --passing runs/passing-* --format json";
    let repaired: Value = serde_json::from_str(&ran(&mut wrong.shell(command)).out).expect("JSON");
    let section = &repaired["repairs"][0]["sections"][0];
    let lines = (&section["lines"][0]["first"], &section["lines"][0]["last"]);
    assert_eq!((&section["function"], lines), (&json!("pop"), (&json!(24), &json!(25))), "{repaired:#}");
    let (status, report) = explore(&right, "--spec stack");
    assert_eq!((status, &report["failed"]), (Some(3), &json!(0)), "{report:#}");
    assert!(report["doubts"][0].as_str().is_some_and(|why| why.contains("the history of one run")), "{report:#}");
}

#[test]
fn exploring_histories_takes_operations_and_a_specification() {
    let stack = Workshop::build(&source("operations/named-stack.c"), &[]);
    for (options, message) in [
        ("--operations 'pu*'", "expected --spec"),
        ("--spec stack", "found a run without; expected marks in the program, or --operations"),
    ] {
        let run = ran(&mut stack.shell(&format!("foretrace explore {options} --save runs -- ./program")));
        assert_eq!((run.status, run.out.as_str()), (Some(2), ""), "{options}: {}", run.err);
        assert!(run.err.contains(message), "{options}: {}", run.err);
    }
}

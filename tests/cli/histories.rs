//! `foretrace predict --property linearizability` as people and programs see it.

use crate::serializability::must_fit;
use crate::support::{Folder, Run};

/// Two increments of a counter, one after the other. Each gives the old count; between its read and its write another may come.
const COUNTER: &str = r#"{"foretrace": 1, "data": "symbolic", "vars": {"n": {"sort": "Int", "init": 0}}}
{"t": 1, "op": "call", "method": "fetch_inc", "loc": "counter.c:1"}
{"t": 1, "op": "read", "var": "n", "dst": "a", "value": 0, "loc": "counter.c:2"}
{"t": 1, "op": "write", "var": "n", "expr": "(+ a 1)", "value": 1, "loc": "counter.c:3"}
{"t": 1, "op": "let", "dst": "result", "expr": "a"}
{"t": 1, "op": "return", "method": "fetch_inc", "value": 0, "loc": "counter.c:4"}
{"t": 2, "op": "call", "method": "fetch_inc", "loc": "counter.c:1"}
{"t": 2, "op": "read", "var": "n", "dst": "a", "value": 1, "loc": "counter.c:2"}
{"t": 2, "op": "write", "var": "n", "expr": "(+ a 1)", "value": 2, "loc": "counter.c:3"}
{"t": 2, "op": "let", "dst": "result", "expr": "a"}
{"t": 2, "op": "return", "method": "fetch_inc", "value": 1, "loc": "counter.c:4"}
"#;

/// The same where both accesses are in one critical section.
fn locked() -> String {
    let with_lock = |line: &str| {
        let thread = if line.contains("\"t\": 1") { 1 } else { 2 };
        let lock = |op: &str| format!("{{\"t\": {thread}, \"op\": \"{op}\", \"lock\": \"m\"}}\n");
        match line {
            _ if line.contains("\"read\"") => format!("{}{line}\n", lock("acquire")),
            _ if line.contains("\"write\"") => format!("{line}\n{}", lock("release")),
            _ => format!("{line}\n"),
        }
    };
    let text: String = COUNTER.lines().map(with_lock).collect();
    text.replace("\"vars\"", "\"sync\": {\"m\": {\"kind\": \"mutex\"}}, \"vars\"")
}

fn predict(folder: &Folder, rest: &str) -> Run {
    folder.foretrace(&format!("predict trace.jsonl --property linearizability {rest}"))
}

#[test]
fn a_lost_increment_is_predicted_drawn_and_checked() {
    let folder = Folder::with("trace.jsonl", COUNTER);
    assert_eq!(folder.foretrace("linearizable trace.jsonl --spec counter").code, Some(0), "the run itself is right");
    let run = predict(&folder, "--spec counter --witness-dir w");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    insta::assert_snapshot!(run.stdout);
    let witness = folder.path("w/history-5-0-9.json");
    let saved = std::fs::read_to_string(&witness).expect("the witness is there");
    must_fit("history-witness.schema.json", &saved);
    let check = folder.foretrace("check trace.jsonl w/history-5-0-9.json --quiet");
    assert_eq!(check.code, Some(0), "{}{}", check.stdout, check.stderr);
    assert!(check.stdout.contains("its history is not linearizable as a counter"), "{}", check.stdout);
    // A result that the schedule does not give is refused; so is a specification that the history fits.
    for (name, old, new) in [
        ("result.json", "\"result\":\"0\"", "\"result\":\"1\""),
        ("order.json", "\"performed\":[{\"event\":5},{\"event\":0}", "\"performed\":[{\"event\":0},{\"event\":5}"),
        ("given.json", "\"given_by\":3", "\"given_by\":8"),
        ("spec.json", "\"spec\":\"counter\"", "\"spec\":\"pipe\""),
    ] {
        assert!(saved.contains(old), "{saved}");
        folder.add(name, &saved.replace(old, new));
        let check = folder.foretrace(&format!("check trace.jsonl {name} --quiet"));
        assert_eq!(check.code, Some(1), "{name}: {}{}", check.stdout, check.stderr);
    }
    let report = must_fit("predicted-history.schema.json", &predict(&folder, "--spec counter --format json").stdout);
    assert_eq!((&report["verdict"], &report["observed"]), (&"not-linearizable".into(), &false.into()));
}

#[test]
fn with_a_lock_every_history_is_linearizable() {
    let folder = Folder::with("trace.jsonl", &locked());
    let run = predict(&folder, "--spec counter");
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("every schedule of the recorded path has a linearizable history"), "{}", run.stdout);
    assert!(!run.stdout.contains("may leave that path"), "{}", run.stdout);
    let report = must_fit("predicted-history.schema.json", &predict(&folder, "--spec counter --format json").stdout);
    assert_eq!((&report["verdict"], &report["leaves_path"]), (&"linearizable".into(), &false.into()));
}

#[test]
fn what_leaves_the_path_is_not_called_impossible() {
    // Each increment asks what it read: the other order leaves the path.
    let asks = |value: u32| {
        format!(
            "\"let\", \"dst\": \"b\", \"expr\": \"a\"}}\n{{\"t\": T, \"op\": \"assume\", \"expr\": \"(= a {value})\"}}\n"
        )
    };
    let mut trace = String::new();
    for line in COUNTER.lines() {
        let (thread, value) = if line.contains("\"t\": 1") { ("1", 0) } else { ("2", 1) };
        if line.contains("\"write\"") {
            trace.push_str(&format!("{{\"t\": {thread}, \"op\": {}", asks(value).replace('T', thread)));
        }
        trace.push_str(line);
        trace.push('\n');
    }
    let folder = Folder::with("trace.jsonl", &trace);
    let run = predict(&folder, "--spec counter");
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("may leave that path in other schedules"), "{}", run.stdout);
    assert!(run.stdout.contains("off the path: "), "{}", run.stdout);
    let run = predict(&folder, "--spec counter --witness-dir w --format json");
    let report = must_fit("predicted-history.schema.json", &run.stdout);
    let departures = report["off_path"].as_array().expect("a list");
    for number in 1..=departures.len() {
        let name = format!("w/history-off-path-{number}.json");
        let saved =
            must_fit("history-witness.schema.json", &std::fs::read_to_string(folder.path(&name)).expect("saved"));
        assert_eq!((&saved["verdict"], &saved["off_path"]), (&"off-path".into(), &"after-end".into()));
        let check = folder.foretrace(&format!("check trace.jsonl {name} --quiet"));
        assert_eq!(check.code, Some(0), "{}{}", check.stdout, check.stderr);
    }
    assert!(!departures.is_empty(), "{report:#}");
}

/// The run itself is sequential: the first increment gives 0, the second 1.
#[test]
fn sequential_runs_serve_as_the_specification() {
    let folder = Folder::with("trace.jsonl", COUNTER);
    let run = predict(&folder, "--spec-from trace.jsonl --witness-dir w --format json");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let report = must_fit("predicted-history.schema.json", &run.stdout);
    assert_eq!((&report["spec"], &report["observed"]), (&"sequential runs".into(), &false.into()), "{report:#}");
    let saved = std::fs::read_to_string(folder.path("w/history-5-0-9.json")).expect("the witness is there");
    must_fit("history-witness.schema.json", &saved);
    let check = folder.foretrace("check trace.jsonl w/history-5-0-9.json --quiet");
    assert_eq!(check.code, Some(0), "{}{}", check.stdout, check.stderr);
    assert!(check.stdout.contains("its history is not linearizable as sequential runs show"), "{}", check.stdout);
    folder.add("locked.jsonl", &locked());
    let command = "predict locked.jsonl --property linearizability --spec-from trace.jsonl";
    assert_eq!(folder.foretrace(command).code, Some(0), "with the lock each history is one of these");
    // Runs that never show a second increment say too little.
    let one: String = COUNTER.lines().take(6).map(|line| format!("{line}\n")).collect();
    folder.add("one.jsonl", &one);
    let left_open = predict(&folder, "--spec-from one.jsonl --format json");
    assert_eq!(left_open.code, Some(3), "{}{}", left_open.stdout, left_open.stderr);
    assert_eq!(must_fit("predicted-history.schema.json", &left_open.stdout)["reason"], "specification");
}

#[test]
fn the_recorded_order_comes_first() {
    // The second increment gives 0, too, in every schedule.
    let given = COUNTER.replace("\"dst\": \"result\"", "\"dst\": \"old\"");
    let twice = given.replace("\"value\": 1, \"loc\": \"counter.c:4\"", "\"value\": 0, \"loc\": \"counter.c:4\"");
    assert_ne!(twice, given);
    let folder = Folder::with("trace.jsonl", &twice);
    assert_eq!(folder.foretrace("linearizable trace.jsonl --spec counter").code, Some(1));
    let run = predict(&folder, "--spec counter --format json");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert_eq!(must_fit("predicted-history.schema.json", &run.stdout)["observed"], true);
}

#[test]
fn limits_leave_it_undecided() {
    let folder = Folder::with("trace.jsonl", &locked());
    let run = predict(&folder, "--spec counter --most-histories 1 --format json");
    assert_eq!(run.code, Some(3), "{}{}", run.stdout, run.stderr);
    assert_eq!(must_fit("predicted-history.schema.json", &run.stdout)["reason"], "histories");
    let run = predict(&folder, "--spec counter --time-limit 0.000001");
    assert_eq!(run.code, Some(3), "{}{}", run.stdout, run.stderr);
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let folder = Folder::with("trace.jsonl", COUNTER);
    let none = COUNTER.lines().filter(|line| !line.contains("method")).collect::<Vec<_>>().join("\n");
    folder.add("none.jsonl", &(none + "\n"));
    for (command, message) in [
        ("trace.jsonl --property linearizability", "needs --spec"),
        (
            "trace.jsonl --spec counter",
            "--spec, --spec-from, --operation-names and --empty are for --property linearizability",
        ),
        (
            "trace.jsonl --property linearizability --spec queue",
            "expected a method of a queue: enqueue(v), dequeue, peek",
        ),
        ("trace.jsonl --property linearizability --spec counter --model cam", "a model that knows results"),
        ("trace.jsonl --property linearizability --spec counter --repair", "--repair needs --property both or triples"),
        ("trace.jsonl --property linearizability --spec counter --context-switches 2", "--context-switches is for"),
        ("trace.jsonl --property linearizability --spec counter --feasibility complete", "found --feasibility"),
        ("none.jsonl --property linearizability --spec counter", "found no operations"),
    ] {
        let run = folder.foretrace(&format!("predict {command}"));
        assert_eq!(run.code, Some(2), "{command}: {}", run.stdout);
        assert!(run.stderr.contains(message), "{command}: {}", run.stderr);
    }
}

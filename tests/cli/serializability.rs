//! `foretrace serializability` and `foretrace explore` as people and programs run them.

use crate::support::{Folder, LOCKED, LOST_UPDATE, repository};
use serde_json::Value;

/// Two fields that a block changes in two critical sections, and a thread that looks at both.
pub const TWO_STAGES: &str = r#"{"foretrace": 1, "data": "symbolic", "vars": {"a": {"sort": "Int", "init": 0}, "b": {"sort": "Int", "init": 0}}, "sync": {"m": {"kind": "mutex"}}}
{"t": 1, "op": "begin", "label": "update", "loc": "two.c:1"}
{"t": 1, "op": "acquire", "lock": "m"}
{"t": 1, "op": "write", "var": "a", "expr": "1", "loc": "two.c:2"}
{"t": 1, "op": "release", "lock": "m"}
{"t": 1, "op": "acquire", "lock": "m"}
{"t": 1, "op": "write", "var": "b", "expr": "1", "loc": "two.c:4"}
{"t": 1, "op": "release", "lock": "m"}
{"t": 1, "op": "end"}
{"t": 2, "op": "acquire", "lock": "m"}
{"t": 2, "op": "read", "var": "a", "dst": "p", "loc": "two.c:9"}
{"t": 2, "op": "read", "var": "b", "dst": "q", "loc": "two.c:10"}
{"t": 2, "op": "release", "lock": "m"}
"#;

pub fn must_fit(schema: &str, text: &str) -> Value {
    let value: Value = serde_json::from_str(text).expect("it is JSON");
    let schema = std::fs::read_to_string(repository().join("schemas").join(schema)).expect("the schema is shipped");
    let schema = serde_json::from_str(&schema).expect("the schema is JSON");
    let validator = jsonschema::draft202012::new(&schema).expect("the schema is one");
    let errors: Vec<String> =
        validator.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    value
}

/// After the first update no read of thread 2 is possible in `mcm`, and after the last nothing at all: the order in which its reads come before is found
/// all the same.
#[test]
fn a_thread_is_tried_earlier_that_is_blocked_where_a_step_ends_all() {
    let trace = r#"{"foretrace": 1, "data": "symbolic", "vars": {"x": {"sort": {"BitVec": 2}, "init": 2}}}
{"t": 1, "op": "begin"}
{"t": 2, "op": "read", "var": "x", "dst": "p", "guard": "true"}
{"t": 2, "op": "read", "var": "x", "dst": "q", "value": 2}
{"t": 1, "op": "rmw", "var": "x", "dst": "r", "expr": "(_ bv0 2)", "value": 2, "stored": 0}
{"t": 1, "op": "rmw", "var": "x", "dst": "s", "expr": "(_ bv1 2)", "value": 0, "stored": 1, "part": [1, 2]}
{"t": 1, "op": "read", "var": "x", "dst": "t", "part": [2, 2]}
"#;
    let folder = Folder::with("ends.jsonl", trace);
    for decide in ["explore", "solve", "both"] {
        let run = folder.foretrace(&format!("serializability ends.jsonl --model mcm --decide {decide} --format json"));
        assert_eq!(run.code, Some(1), "{decide}: {}", run.stderr);
        let report = must_fit("serializability.schema.json", &run.stdout);
        assert_eq!(report["blocks"][0]["verdict"], "violated", "{decide}");
    }
}

#[test]
fn a_cycle_over_two_variables_is_told_and_checked() {
    let folder = Folder::with("two.jsonl", TWO_STAGES);
    let run = folder.foretrace("serializability two.jsonl --witness-dir w");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    for part in [
        "1. marked block `update`, two.c:1: a cycle over a, b",
        "write a = 1 (event 2, two.c:2)",
        "read b = 0 (event 10, two.c:10)",
        "1 block by --atomic marked: 1 violated (0 by the recorded order itself)",
    ] {
        assert!(run.stdout.contains(part), "`{part}` is missing in\n{}", run.stdout);
    }
    let saved = std::fs::read_to_string(folder.path("w/block-2-9-5.json")).expect("the witness is there");
    must_fit("block-witness.schema.json", &saved);
    let check = folder.foretrace("check two.jsonl w/block-2-9-5.json --quiet");
    assert_eq!(check.code, Some(0), "{}{}", check.stdout, check.stderr);
    assert!(check.stdout.contains("it holds the violation path of the block"), "{}", check.stdout);
    // A path that the schedule does not hold is refused.
    folder.add("other.json", &saved.replace("\"path\":[{\"event\":2", "\"path\":[{\"event\":5"));
    assert_eq!(folder.foretrace("check two.jsonl other.json --quiet").code, Some(1));
    let predict = folder.foretrace("predict two.jsonl --candidates all --property triples");
    assert_eq!(predict.code, Some(0), "no triple shows it: {}", predict.stdout);
}

#[test]
fn predict_reports_what_no_triple_shows() {
    let folder = Folder::with("two.jsonl", TWO_STAGES);
    let run = folder.foretrace("predict two.jsonl --witness-dir w");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    for part in [
        "Blocks that are violated in a way that no triple shows",
        "B1. marked block `update`, two.c:1: a cycle over a, b",
    ] {
        assert!(run.stdout.contains(part), "`{part}` is missing in\n{}", run.stdout);
    }
    assert!(folder.path("w/block-2-9-5.json").exists());
    let report = must_fit("report.schema.json", &folder.foretrace("predict two.jsonl --format json").stdout);
    assert_eq!(report["blocks"]["violations"][0]["violation"]["shape"], "several-variables");
    assert_eq!(report["blocks"]["count"], 1);
    let report =
        must_fit("report.schema.json", &folder.foretrace("predict two.jsonl --property triples --format json").stdout);
    assert_eq!(report.get("blocks"), None);
    let alone = folder.foretrace("predict two.jsonl --property serializability --format json");
    assert_eq!(alone.code, Some(1));
    must_fit("serializability.schema.json", &alone.stdout);
    // What a triple shows is not said twice.
    let lost = Folder::with("lost.jsonl", LOST_UPDATE).foretrace("predict lost.jsonl --format json");
    let lost = must_fit("report.schema.json", &lost.stdout);
    assert_eq!(lost["blocks"]["violations"], serde_json::json!([]));
}

#[test]
fn the_solver_alone_says_the_same() {
    let folder = Folder::with("two.jsonl", TWO_STAGES);
    folder.add("locked.jsonl", LOCKED);
    for model in ["cam", "ctp", "mcm", "avp"] {
        for file in ["two", "locked"] {
            let of = |method: &str| {
                let run = folder.foretrace(&format!(
                    "serializability {file}.jsonl --format json --model {model} --decide {method}"
                ));
                let report = must_fit("serializability.schema.json", &run.stdout);
                report["blocks"]
                    .as_array()
                    .expect("a list")
                    .iter()
                    .map(|block| block["verdict"] == "violated")
                    .collect::<Vec<_>>()
            };
            assert_eq!(of("solve"), of("explore"), "{file} {model}");
            assert_eq!(of("both"), of("explore"), "{file} {model}");
        }
    }
    let run = folder.foretrace("serializability two.jsonl --decide solve --context-switches 2");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
}

#[test]
fn benign_cycles_come_last() {
    let folder = Folder::with("two.jsonl", TWO_STAGES);
    let weight = |options: &str| {
        let run = folder.foretrace(&format!("serializability two.jsonl --format json {options}"));
        must_fit("serializability.schema.json", &run.stdout)["blocks"][0]["violation"]["weight"].clone()
    };
    assert_eq!(weight(""), "full");
    assert_eq!(weight("--benign a"), "partial");
    assert_eq!(weight("--benign a --benign b*"), "harmless");
}

#[test]
fn the_json_report_says_the_same_whatever_is_switched_off() {
    let folder = Folder::with("two.jsonl", TWO_STAGES);
    for options in ["", "--no-segment", "--no-static-check", "--no-hunt", "--no-hunt --no-reduction", "--model cam"] {
        let run = folder.foretrace(&format!("serializability two.jsonl --format json {options}"));
        assert_eq!(run.code, Some(1), "{options}: {}", run.stderr);
        let report = must_fit("serializability.schema.json", &run.stdout);
        assert_eq!(report["blocks"][0]["verdict"], "violated", "{options}");
        assert_eq!(report["blocks"][0]["violation"]["shape"], "several-variables", "{options}");
    }
    // In avp a read that reads something else ends its thread, which here keeps the lock.
    assert_eq!(folder.foretrace("serializability two.jsonl --model avp").code, Some(0));
    // It takes two switches.
    let run = folder.foretrace("serializability two.jsonl --format json --context-switches 1");
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert_eq!(must_fit("serializability.schema.json", &run.stdout)["blocks"][0]["verdict"], "not-within");
    let run = folder.foretrace("serializability two.jsonl --context-switches 2");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let run = folder.foretrace("serializability two.jsonl --vars a");
    assert_eq!(run.code, Some(0), "one variable alone has no cycle: {}", run.stdout);
}

#[test]
fn blocks_that_hold_are_proved() {
    let run = Folder::with("locked.jsonl", LOCKED).foretrace("serializability locked.jsonl --format json");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let report = must_fit("serializability.schema.json", &run.stdout);
    assert_eq!(report["totals"]["proved"], 2);
}

#[test]
fn the_recorded_order_is_told_apart() {
    let shown = TWO_STAGES.lines().collect::<Vec<_>>();
    let order = [0, 1, 2, 3, 4, 9, 10, 11, 12, 5, 6, 7, 8];
    let text: String = order.iter().map(|line| format!("{}\n", shown[*line])).collect();
    let folder = Folder::with("shown.jsonl", &text);
    for options in ["", "--observed-only"] {
        let run = folder.foretrace(&format!("serializability shown.jsonl --format json {options}"));
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        let report = must_fit("serializability.schema.json", &run.stdout);
        assert_eq!(report["blocks"][0]["observed"], true);
        assert_eq!(report["totals"]["observed"], 1);
    }
    let run = Folder::with("two.jsonl", TWO_STAGES).foretrace("serializability two.jsonl --observed-only");
    assert_eq!(run.code, Some(0), "{}", run.stdout);
}

#[test]
fn what_cannot_be_asked_is_an_error() {
    let folder = Folder::with(
        "none.jsonl",
        "{\"foretrace\": 1, \"data\": \"none\"}\n{\"t\": 1, \"op\": \"write\", \"var\": \"x\"}\n",
    );
    let run = folder.foretrace("serializability none.jsonl --model ctp");
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
    assert!(run.stderr.contains("found data: none"), "{}", run.stderr);
    folder.add("lost.jsonl", LOST_UPDATE);
    assert_eq!(folder.foretrace("serializability lost.jsonl --context-switches x").code, Some(2));
}

#[test]
fn explore_counts_and_saves_what_fails() {
    let program = "shared x: int = 0;\nthread A { let a = x; x = a + 1; }\nthread B { let b = x; x = b + 1; assert(x == 2, \"lost\"); }\n";
    let folder = Folder::with("lost.lit", program);
    let run = folder.foretrace("explore lost.lit --save runs --passing --format json");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let report = must_fit("exploration.schema.json", &run.stdout);
    let count = |field: &str| report[field].as_u64().expect("a number");
    assert!(count("failed") > 0 && count("finished") > 0);
    assert_eq!(count("failed") + count("finished"), count("interleavings"));
    for (kind, number) in [("failing", count("failed")), ("passing", count("finished"))] {
        for n in 1..=number {
            let check = folder.foretrace(&format!("check runs/{kind}-{n}.jsonl"));
            assert_eq!(check.code, Some(0), "{}", check.stderr);
        }
    }
    let text = folder.foretrace("explore lost.lit --first");
    assert_eq!(text.code, Some(1));
    assert!(text.stdout.contains("there may be more"), "{}", text.stdout);
    folder.add("wrong.lit", "shared x: int = 0;\nthread A { y = 1; }\n");
    assert_eq!(folder.foretrace("explore wrong.lit").code, Some(2));
}

#[test]
fn models_are_compared_block_by_block() {
    let folder = Folder::with("two.jsonl", TWO_STAGES);
    let run = folder.foretrace("compare two.jsonl --property serializability");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let part = "marked block `update`, two.c:1: violated in cam, ctp; not in mcm, avp (events 0 to 7)";
    assert!(run.stdout.contains(part), "`{part}` is missing in\n{}", run.stdout);
    let run = folder.foretrace("compare two.jsonl --property serializability --format json");
    let report = must_fit("block-comparison.schema.json", &run.stdout);
    let models: Vec<_> = report["models"].as_array().expect("a list").iter().map(|of| of["model"].clone()).collect();
    for (nth, model) in models.iter().enumerate() {
        let alone = folder
            .foretrace(&format!("serializability two.jsonl --format json --model {}", model.as_str().expect("a name")));
        let alone = must_fit("serializability.schema.json", &alone.stdout);
        // A model says of a block what it knows of this run's path; alone, the command says what holds on every path.
        let (said, alone) = (&report["blocks"][0]["verdicts"][nth], &alone["blocks"][0]["verdict"]);
        let is_off_path = alone == "off-path" && (said == "holds" || said == "proved");
        assert!(said == alone || is_off_path, "{model}: {said} {alone}");
    }
    let run = folder.foretrace("compare two.jsonl --property serializability --feasibility complete");
    assert_eq!(run.code, Some(2), "{}", run.stderr);
}

#[test]
fn odd_blocks_get_a_verdict_or_one_clear_message() {
    let head = r#"{"foretrace": 1, "data": "none"}"#;
    let read = |thread: u32, var: &str| format!(r#"{{"t": {thread}, "op": "read", "var": "{var}"}}"#);
    let write = |thread: u32, var: &str| format!(r#"{{"t": {thread}, "op": "write", "var": "{var}"}}"#);
    let op = |thread: u32, rest: &str| format!(r#"{{"t": {thread}, "op": {rest}}}"#);
    let verdict = |lines: &[String]| {
        let folder = Folder::with("odd.jsonl", &(head.to_string() + "\n" + &lines.join("\n") + "\n"));
        let run = folder.foretrace("serializability odd.jsonl --atomic marked --format json");
        match run.code {
            Some(2) => run.stderr,
            _ => must_fit("serializability.schema.json", &run.stdout)["blocks"][0]["verdict"].to_string(),
        }
    };
    // An end without a begin is refused; a begin without an end runs to its thread's last event.
    let refused = verdict(&[op(1, r#""end""#), write(1, "x"), write(2, "x")]);
    assert!(refused.starts_with("error: ") && refused.contains("end"), "{refused}");
    assert_eq!(verdict(&[op(1, r#""begin""#), write(1, "x"), write(1, "x"), write(2, "x")]), "\"violated\"");
    // Empty, and with a single access.
    assert_eq!(verdict(&[op(1, r#""begin""#), op(1, r#""end""#), write(1, "x"), write(2, "x")]), "\"proved\"");
    assert_eq!(verdict(&[op(1, r#""begin""#), write(1, "x"), op(1, r#""end""#), write(2, "x")]), "\"proved\"");
    // Across fork and join: what the block hands to a thread and takes back is a path that every run shows.
    let (fork, join) = (op(1, r#""fork", "child": 2"#), op(1, r#""join", "child": 2"#));
    let across = [op(1, r#""begin""#), write(1, "x"), fork, write(2, "x"), join, read(1, "x"), op(1, r#""end""#)];
    assert_eq!(verdict(&across), "\"violated\"");
    // 10^5 events, with a writer beside it; and the same under a lock that the writer takes, too.
    let long = |locked: bool| {
        let lock = |thread: u32, kind: &str| locked.then(|| op(thread, &format!(r#""{kind}", "lock": "m""#)));
        let mut lines = vec![op(1, r#""begin""#)];
        lines.extend(lock(1, "acquire"));
        lines.extend(
            (0..100_000).map(|nth| if nth % 2 == 0 { read(1, "x") } else { write(1, &format!("v{}", nth % 1_000)) }),
        );
        lines.extend(lock(1, "release"));
        lines.push(op(1, r#""end""#));
        lines.extend(lock(2, "acquire"));
        lines.extend([write(2, "x"), write(2, "v1")]);
        lines.extend(lock(2, "release"));
        verdict(&lines)
    };
    assert_eq!(long(true), "\"proved\"");
    assert_eq!(long(false), "\"violated\"");
}

/// A lost update as RAPID writes it, up to the `end` of the block.
const STREAMED: &str = "T1|begin(deposit)|5\nT1|r(acct)|6\nT2|w(acct)|9\nT1|w(acct)|7\nT1|end(deposit)|8\n";

#[test]
fn violated_blocks_are_found_in_a_pipe() {
    let folder = Folder::with("lost.std", STREAMED);
    let run = folder.foretrace_reading("serializability - --observed-only --stream", STREAMED);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let expected = "mark block `deposit` of thread 1 (T1) (event 0, 5) is violated: a path comes back to it at acct (event 3, 7)\n\
                    1 blocks violated by the recorded order, 5 events\n";
    assert_eq!(run.stdout, expected);
    let run = folder.foretrace("serializability lost.std --observed-only --stream --format json");
    let lines: Vec<Value> = run.stdout.lines().map(|line| must_fit("observed-blocks.schema.json", line)).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!((&lines[0]["block"]["first"], &lines[0]["block"]["end"]), (&0.into(), &3.into()));
    assert_eq!(lines[1]["total"], serde_json::json!({"events": 5, "violated": 1, "ended": true}));
    let whole = folder.foretrace("serializability lost.std --observed-only --format json");
    assert_eq!(must_fit("serializability.schema.json", &whole.stdout)["totals"]["observed"], 1);
    // Other variables are not looked at; nothing is found where locks are held.
    let run = folder.foretrace("serializability lost.std --observed-only --stream --vars other");
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "0 blocks violated by the recorded order, 5 events\n"));
    folder.add("locked.jsonl", LOCKED);
    assert_eq!(folder.foretrace("serializability locked.jsonl --observed-only --stream").code, Some(0));
}

#[test]
fn what_is_found_in_a_pipe_is_told_before_the_pipe_ends() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;
    let folder = Folder::with("unused", "");
    let mut command = folder.command("serializability - --observed-only --stream");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it can be run");
    let (mut input, output) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
    input.write_all(STREAMED.as_bytes()).expect("it reads");
    let mut lines = BufReader::new(output).lines();
    let first = lines.next().expect("a line").expect("text");
    assert!(first.contains("`deposit` of thread 1"), "{first}");
    // The program goes on; Ctrl-C ends it with what was found, though the pipe is open and silent.
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.expect("kill is there").success());
    let rest: Vec<String> = lines.map(|line| line.expect("text")).collect();
    let told = |events: u32| format!("1 blocks violated by the recorded order, {events} events so far");
    assert!(rest == [told(5)] || rest == [told(4)], "the line came with the fourth event: {rest:?}");
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
    drop(input);
}

/// Rounds of two threads that are forked and joined. Under a lock both count up; without it one does, and the other writes.
fn forked_rounds(rounds: u32, locked: bool) -> String {
    let count = |thread: u32| {
        let (lock, unlock) = match locked {
            true => (format!("T{thread}|acq(m)|2\n"), format!("T{thread}|rel(m)|5\n")),
            false => (String::new(), String::new()),
        };
        let read = if locked || thread % 2 == 1 { format!("T{thread}|r(x)|3\n") } else { String::new() };
        format!("T{thread}|begin(count)|1\n{lock}{read}T{thread}|w(x)|4\n{unlock}T{thread}|end(count)|6\n")
    };
    let round = |round: u32| {
        let (one, other) = (2 * round + 1, 2 * round + 2);
        let (forks, joins) =
            (format!("T0|fork(T{one})|0\nT0|fork(T{other})|0\n"), format!("T0|join(T{one})|7\nT0|join(T{other})|7\n"));
        forks + &count(one) + &count(other) + &joins
    };
    (0..rounds).map(round).collect()
}

#[test]
fn a_window_decides_what_the_whole_trace_would() {
    let folder = Folder::with("unused", "");
    for (locked, code) in [(false, 1), (true, 0)] {
        let trace = forked_rounds(100, locked);
        folder.add("rounds.std", &trace);
        let whole = folder.foretrace("serializability rounds.std --format json");
        let whole = must_fit("serializability.schema.json", &whole.stdout);
        let run = folder.foretrace_reading("serializability - --window 256 --format json", &trace);
        assert_eq!(run.code, Some(code), "{}{}", run.stdout, run.stderr);
        let lines: Vec<Value> = run.stdout.lines().map(|line| must_fit("windowed-blocks.schema.json", line)).collect();
        let (total, blocks) = lines.split_last().expect("a last line");
        let total = &total["total"];
        assert_eq!((&total["cut"], &total["limit"], &total["ended"]), (&0.into(), &0.into(), &true.into()));
        let events = |report: &Value, place: &str| report[place].as_u64().expect("a number");
        let mut found: Vec<u64> = blocks.iter().map(|block| events(&block["block"], "first")).collect();
        found.sort_unstable();
        let of_whole = whole["blocks"].as_array().expect("a list").iter();
        let violated: Vec<u64> =
            of_whole.filter(|block| block["verdict"] == "violated").map(|block| events(block, "first")).collect();
        assert_eq!(found, violated);
        assert_eq!(total["safe"], 200 - violated.len());
        let path = blocks.first().map(|block| block["block"]["path"].as_array().expect("a list").len());
        assert_eq!(path, (!locked).then_some(3));
    }
}

#[test]
fn what_a_window_does_not_show_is_not_called_safe() {
    // Another thread may still come in between: only the end of the trace says that it does not.
    let folder = Folder::with("unused", "");
    let head = STREAMED.replace("T2|w(acct)|9\n", "");
    let idle = "T2|r(other)|1\n".repeat(600);
    for (trace, counts, code) in [
        (head.clone() + &idle, "0 safe, 1 not violated within the window", 3),
        (head.clone(), "1 safe, 0 not violated within the window", 0),
    ] {
        let run = folder.foretrace_reading("serializability - --window 256 --atomic marked", &trace);
        assert_eq!(run.code, Some(code), "{}", run.stdout);
        assert!(run.stdout.contains(counts), "`{counts}` is missing in {}", run.stdout);
    }
    let late = head + &idle + "T3|w(acct)|9\n";
    let run = folder.foretrace_reading("serializability - --window 1000 --atomic marked", &late);
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    assert!(run.stdout.contains("thread 3 (T3): write acct (event"), "{}", run.stdout);
}

#[test]
fn wrong_events_in_a_pipe_are_refused() {
    let folder = Folder::with("unused", "");
    let ended = STREAMED.to_string() + "T1|end(deposit)|8\n";
    for (options, input, message) in [
        ("", ended.as_str(), "<stdin>:6: event 5: found an `end` where thread 1 has no transaction open"),
        ("", "", "<stdin>: found an empty file, expected a trace"),
        ("", "{\"foretrace\": 1}\n", "<stdin>:1: found no `data`"),
        ("", "T1|r(x)\nT1|q(x)\n", "<stdin>:2: event 1: found `q(x)`"),
        ("--atomic functions=a*", "", "found a pattern for functions, expected none"),
    ] {
        let run = folder.foretrace_reading(&format!("serializability - --observed-only --stream {options}"), input);
        assert_eq!(run.code, Some(2), "{input}");
        assert!(run.stderr.contains(message), "`{message}` is missing in {}", run.stderr);
    }
    for (input, message) in [
        (ended.as_str(), "<stdin>:6: event 5: found an `end` where thread 1 has no transaction open"),
        ("T1|acq(m)\nT2|acq(m)\n", "<stdin>:2: event 1: found"),
        ("", "<stdin>: found an empty file, expected a trace"),
    ] {
        let run = folder.foretrace_reading("serializability - --window 256", input);
        assert_eq!(run.code, Some(2), "{input}");
        assert!(run.stderr.contains(message), "`{message}` is missing in {}", run.stderr);
    }
    folder.add("two.jsonl", TWO_STAGES);
    assert_eq!(folder.foretrace("convert two.jsonl two.ftb").code, Some(0));
    let run = folder.foretrace("serializability two.ftb --window 256");
    assert!(run.code == Some(2) && run.stderr.contains("two.ftb: found the binary form"), "{}", run.stderr);
    // A mark that comes too late for `auto` is refused, too; asked for by name it is found.
    let late = "T1|r(x)|1\n".repeat(70_000) + STREAMED;
    let run = folder.foretrace_reading("serializability - --observed-only --stream", &late);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("event 70000: found the first mark block"), "{}", run.stderr);
    let run = folder.foretrace_reading("serializability - --observed-only --stream --atomic marked", &late);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
}

/// A reader that looks at two fields only after a flag is set, or only where a try gave it the lock.
fn published(guard: &str) -> String {
    let block = |label: &str, inner: &str| {
        format!("{{\"t\": 1, \"op\": \"begin\", \"label\": \"{label}\"}}\n{inner}{{\"t\": 1, \"op\": \"end\"}}\n")
    };
    let write = |var: &str| format!("{{\"t\": 1, \"op\": \"write\", \"var\": \"{var}\", \"expr\": \"1\"}}\n");
    let read = |var: &str| format!("{{\"t\": 2, \"op\": \"read\", \"var\": \"{var}\", \"dst\": \"{var}2\"}}\n");
    let lock =
        |thread: u32, op: &str, rest: &str| format!("{{\"t\": {thread}, \"op\": \"{op}\", \"lock\": \"m\"{rest}}}\n");
    let head = r#"{"foretrace": 1, "data": "symbolic", "vars": {"a": {"sort": "Int", "init": 0}, "b": {"sort": "Int", "init": 0}, "ready": {"sort": "Int", "init": 0}}, "sync": {"m": {"kind": "mutex"}}}"#;
    let inner = block("inner", &(write("a") + &write("b")));
    let (update, looks) =
        (block("outer", &(lock(1, "acquire", "") + &inner + &lock(1, "release", ""))), read("a") + &read("b"));
    let reader = match guard {
        "flag" => read("ready") + "{\"t\": 2, \"op\": \"assume\", \"expr\": \"(= ready2 1)\"}\n" + &looks,
        "try" => lock(2, "acquire", ", \"try\": true") + &looks + &lock(2, "release", ""),
        _ => lock(2, "acquire", "") + &looks + &lock(2, "release", ""),
    };
    format!("{head}\n{update}{}{reader}", write("ready"))
}

#[test]
fn what_this_path_alone_makes_safe_is_off_the_path() {
    let folder = Folder::with("unused", "");
    for (guard, model, inner, outer) in [
        ("flag", "ctp", "off-path", "off-path"),
        ("flag", "mcm", "off-path", "off-path"),
        ("flag", "cam", "violated", "violated"),
        ("try", "ctp", "off-path", "off-path"),
        ("try", "cam", "off-path", "off-path"),
        ("lock", "ctp", "proved", "proved"),
        ("lock", "cam", "proved", "proved"),
    ] {
        folder.add("guarded.jsonl", &published(guard));
        let run = folder.foretrace(&format!("serializability guarded.jsonl --model {model} --format json"));
        let report = must_fit("serializability.schema.json", &run.stdout);
        let told = format!("{guard} {model}: {report:#}");
        assert_eq!(run.code, Some(i32::from(inner == "violated")), "{told}");
        let blocks = report["blocks"].as_array().expect("a list");
        let of = |label: &str| blocks.iter().find(|block| block["label"] == label).expect("it is there");
        assert_eq!((&of("inner")["verdict"], &of("outer")["verdict"]), (&inner.into(), &outer.into()), "{told}");
        if inner == "off-path" {
            assert_eq!((&of("inner")["off_path"], &of("outer")["off_path"]), (&"violated".into(), &"inside".into()));
            assert_eq!(of("inner")["other_path"].as_array().expect("a list").len(), 4, "{told}");
            assert_eq!((&report["totals"]["off_path"], &report["totals"]["off_path_unasked"]), (&2.into(), &0.into()));
        } else {
            assert_eq!(of("inner").get("off_path"), None, "{told}");
        }
        let text = folder.foretrace(&format!("serializability guarded.jsonl --model {model}")).stdout;
        assert_eq!(text.contains("Off the path of this run"), inner == "off-path", "{text}");
    }
}

/// Triples do not see it, so `predict` told nothing of it.
#[test]
fn predict_shows_blocks_off_the_path_with_a_schedule_each() {
    let folder = Folder::with("flag.jsonl", &published("flag"));
    let predict = "predict flag.jsonl --atomic marked --witness-dir witnesses";
    let run = folder.foretrace(&format!("{predict} --format json"));
    let report = must_fit("report.schema.json", &run.stdout);
    let off_path = report["blocks"]["off_path"].as_array().unwrap_or_else(|| panic!("{report:#}"));
    let told: Vec<_> = off_path.iter().map(|block| (block["label"].as_str(), block["verdict"].as_str())).collect();
    assert_eq!((told, run.code), (vec![(Some("inner"), Some("off-path"))], Some(0)), "{report:#}");
    let text = folder.foretrace(predict).stdout;
    assert!(text.contains("Off the path of this run") && text.contains("marked block `inner`: a, b by"), "{text}");
    let names = std::fs::read_dir(folder.path("witnesses")).expect("it is there");
    let names: Vec<_> = names.map(|file| file.expect("listed").file_name().into_string().expect("text")).collect();
    assert!(names.len() == 1 && names[0].starts_with("off-path-block-"), "{names:?}");
    let witness = std::fs::read_to_string(folder.path("witnesses").join(&names[0])).expect("read");
    must_fit("block-witness.schema.json", &witness);
    let checked = folder.foretrace(&format!("check flag.jsonl witnesses/{}", names[0]));
    assert_eq!(checked.code, Some(0), "{}{}", checked.stdout, checked.stderr);
}

#[test]
fn what_the_recorded_order_does_not_show_is_not_called_safe() {
    let folder = Folder::with("two.jsonl", TWO_STAGES);
    let run = folder.foretrace("serializability two.jsonl --observed-only --format json");
    let report = must_fit("serializability.schema.json", &run.stdout);
    assert_eq!(report["blocks"][0]["verdict"], "not-observed");
    assert_eq!((&report["totals"]["not_observed"], &report["totals"]["holds"]), (&1.into(), &0.into()));
    let text = folder.foretrace("serializability two.jsonl --observed-only").stdout;
    assert!(text.contains("1 not; other orders were"), "{text}");
}

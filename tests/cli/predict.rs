//! `foretrace predict` as people and programs run it.

use crate::support::{Folder, LOCKED, LOST_UPDATE, UNMARKED, foretrace_in, repository};
use serde_json::Value;
use std::collections::BTreeSet;

/// The report, which must be what its schema says.
fn report(stdout: &str) -> Value {
    let report: Value = serde_json::from_str(stdout).expect("the report is JSON");
    must_fit("report.schema.json", &report);
    report
}

fn must_fit(schema: &str, value: &Value) {
    let text = std::fs::read_to_string(repository().join("schemas").join(schema)).expect("the schema is shipped");
    let schema = serde_json::from_str(&text).expect("the schema is JSON");
    let validator = jsonschema::draft202012::new(&schema).expect("the schema is one");
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

fn triples_that_can_happen(report: &Value) -> Vec<[u64; 3]> {
    let candidates = report["candidates"].as_array().expect("candidates are listed");
    let number = |candidate: &Value, field: &str| candidate[field].as_u64().expect("an index");
    candidates
        .iter()
        .filter(|candidate| candidate["verdict"] == "feasible")
        .map(|candidate| ["first", "remote", "second"].map(|field| number(candidate, field)))
        .collect()
}

#[test]
fn a_violation_is_shown_and_exits_with_1() {
    let run = Folder::with("counter.jsonl", LOST_UPDATE).foretrace("predict counter.jsonl");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    for part in [
        "1. lost update on n (R-W-W), in `increment`",
        "thread 1 reads at counter.c:3 (event 1)",
        "thread 2 writes at counter.c:4 (event 6)",
        "transactions: 2 by --atomic marked",
        "model ctp, prefix feasibility, conflict independence",
    ] {
        assert!(run.stdout.contains(part), "`{part}` is missing in\n{}", run.stdout);
    }
}

#[test]
fn nothing_to_find_exits_with_0() {
    let run = Folder::with("locked.jsonl", LOCKED).foretrace("predict locked.jsonl");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("0 can happen, 0 off the path, 2 cannot happen, 0 undecided"), "{}", run.stdout);
}

#[test]
fn a_repair_names_lines_and_a_lock_and_is_proved() {
    let folder = Folder::with("counter.jsonl", LOST_UPDATE);
    let run = folder.foretrace("predict counter.jsonl --repair");
    let repairs = run.stdout.split_once("Repairs").expect("they are there").1;
    insta::assert_snapshot!(repairs);
    let json = report(&folder.foretrace("predict counter.jsonl --repair --format json").stdout);
    let lock = &json["repairs"][0]["locks"][0];
    assert_eq!((&lock["proof"], lock["lock"].is_null()), (&Value::from("proved"), true), "{lock:#}");
    assert_eq!(json["repairs"][0]["of"].as_array().map(Vec::len), Some(1));
    let run = Folder::with("locked.jsonl", LOCKED).foretrace("predict locked.jsonl --repair");
    assert!(run.stdout.contains("none is needed"), "{}", run.stdout);
}

#[test]
fn repairs_are_tried_on_the_recording_of_a_program_only() {
    let folder = Folder::with("counter.jsonl", LOST_UPDATE);
    let run = folder.foretrace("predict counter.jsonl --repair -- true");
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
    assert!(run.stderr.contains("counter.jsonl: found no folder, expected the recording"), "{}", run.stderr);
}

#[test]
fn what_a_run_does_not_come_to_exits_with_3() {
    let folder = Folder::with("counter.jsonl", LOST_UPDATE);
    let run = folder.foretrace("predict counter.jsonl --budget 0.000000001 --format json");
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    let report = report(&run.stdout);
    let left = report["totals"]["unreached"].as_u64().unwrap_or(0) + report["totals"]["unknown"].as_u64().unwrap_or(0);
    assert_eq!(left, 2);
}

#[test]
fn the_json_report_lists_every_triple_with_all() {
    let folder = Folder::with("counter.jsonl", LOST_UPDATE);
    let run = folder.foretrace("predict counter.jsonl --format json --candidates all");
    let report = report(&run.stdout);
    assert_eq!(report["per"], "event", "all implies that each is decided");
    assert_eq!(report["candidates"].as_array().map(Vec::len), Some(2));
    assert_eq!(triples_that_can_happen(&report), [[1, 6, 2], [5, 2, 6]]);
    let schedule = report["candidates"][0]["schedule"].as_array().expect("a schedule");
    assert_eq!(schedule.last(), Some(&Value::from(2)), "a prefix ends at second");
}

#[test]
fn per_location_stops_at_the_first_of_a_class() {
    let folder = Folder::with("counter.jsonl", LOST_UPDATE);
    let report = report(&folder.foretrace("predict counter.jsonl --format json").stdout);
    assert_eq!(triples_that_can_happen(&report).len(), 1);
    assert_eq!(report["totals"]["skipped"], 1);
}

/// The solver is asked first about the candidates of a class that a short part of the run contains, of these about the nearest.
#[test]
fn the_nearest_candidate_in_a_short_part_of_the_run_is_shown() {
    let turn = |name: &str| {
        format!(
            r#"{{"t": 1, "op": "begin", "label": "turn"}}
{{"t": 1, "op": "read", "var": "n", "dst": "{name}", "value": 0, "loc": "a.c:3"}}
{{"t": 1, "op": "write", "var": "n", "expr": "(* {name} 2)", "value": 0, "loc": "a.c:4"}}
{{"t": 1, "op": "end"}}
"#
        )
    };
    let head = LOST_UPDATE.lines().next().expect("a header");
    let write = r#"{"t": 2, "op": "write", "var": "n", "expr": "7", "value": 7, "loc": "a.c:9"}"#;
    let folder = Folder::with("turns.jsonl", &format!("{head}\n{}{}{write}\n{write}\n", turn("a"), turn("b")));
    let report = report(&folder.foretrace("predict turns.jsonl --format json --without early-witness").stdout);
    assert_eq!(triples_that_can_happen(&report), [[5, 8, 6]]);
    assert_eq!(report["totals"]["skipped"], 3);
}

#[test]
fn complete_feasibility_gives_whole_executions() {
    let folder = Folder::with("counter.jsonl", LOST_UPDATE);
    let run = folder.foretrace("predict counter.jsonl --format json --feasibility complete");
    let report = report(&run.stdout);
    let schedules: Vec<usize> = report["candidates"]
        .as_array()
        .expect("candidates")
        .iter()
        .filter_map(|c| Some(c["schedule"].as_array()?.len()))
        .collect();
    assert_eq!(schedules, [8]);
}

#[test]
fn the_same_report_comes_out_twice_and_without_filters() {
    let folder = Folder::with("counter.jsonl", LOST_UPDATE);
    let candidates = |options: &str| {
        let report = report(&folder.foretrace(&format!("predict counter.jsonl --format json {options}")).stdout);
        report["candidates"].clone()
    };
    assert_eq!(candidates(""), candidates("--jobs 1"));
    let verdicts = |options: &str| {
        let list = candidates(&format!("--candidates all {options}"));
        let list = list.as_array().expect("candidates").clone();
        list.into_iter()
            .map(|c| [c["first"].clone(), c["remote"].clone(), c["second"].clone(), c["verdict"].clone()])
            .collect::<Vec<_>>()
    };
    let without = "--without must-happen-before --without cut-points --without segment --without early-witness \
                   --without early-refutation";
    assert_eq!(verdicts(""), verdicts(without));
}

#[test]
fn witness_files_fit_their_schema_and_pass_check() {
    let folder = Folder::with("counter.jsonl", LOST_UPDATE);
    folder.foretrace("predict counter.jsonl --witness-dir witnesses --candidates all");
    for name in ["witness-1-6-2.json", "witness-5-2-6.json"] {
        let text = std::fs::read_to_string(folder.path("witnesses").join(name)).expect("the witness is there");
        must_fit("witness.schema.json", &serde_json::from_str(&text).expect("the witness is JSON"));
        let run = folder.foretrace(&format!("check counter.jsonl witnesses/{name}"));
        assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
        assert!(run.stdout.contains("happens in it"), "{}", run.stdout);
    }
    let files = std::fs::read_dir(folder.path("witnesses")).expect("the folder is there").count();
    assert_eq!(files, 2, "no part of a file is left over");
}

#[test]
fn a_witness_says_what_its_reads_return() {
    let folder = Folder::with("counter.jsonl", LOST_UPDATE);
    folder.foretrace("predict counter.jsonl --witness-dir w --candidates all");
    let text = std::fs::read_to_string(folder.path("w/witness-5-2-6.json")).expect("the witness is there");
    let witness: Value = serde_json::from_str(&text).expect("the witness is JSON");
    let steps = witness["schedule"].as_array().expect("steps");
    let step = |event: u64| steps.iter().find(|step| step["event"] == event).expect("the event is in the schedule");
    assert_eq!(step(5)["read"], 0, "thread 2 reads before thread 1 writes");
    assert_eq!(step(6)["written"], 1);
    assert_eq!(step(6)["loc"], "counter.c:4");
    assert_eq!(witness["guarded"], false, "both write 1: their order makes no difference");
}

#[test]
fn choices_that_do_not_fit_are_refused() {
    let folder = Folder::with("plain.jsonl", UNMARKED);
    let cases = [
        ("--model ctp", "needs a trace with expressions (data: symbolic), found data: concrete"),
        ("--model cam --independence guarded", "it goes with --model ctp and mcm, found cam"),
        ("--strategy paper", "the paper's method answers --model ctp and --feasibility prefix, found mcm and prefix"),
        ("--timeout 0", "expected a number of seconds above 0"),
        ("--without smt", "invalid value 'smt'"),
        ("--jobs 0", "0 is not in 1.."),
    ];
    for (options, message) in cases {
        let run = folder.foretrace(&format!("predict plain.jsonl --witness-dir w {options}"));
        assert_eq!(run.code, Some(2), "{options}");
        assert!(run.stderr.contains(message), "{options}: {}", run.stderr);
        assert_eq!(run.stdout, "");
        assert!(!folder.path("w").exists(), "{options}: something was written");
    }
}

#[test]
fn a_trace_without_transactions_gets_advice() {
    let folder = Folder::with("plain.jsonl", UNMARKED);
    for command in ["predict", "compare"] {
        let run = folder.foretrace(&format!("{command} plain.jsonl --atomic marked"));
        assert_eq!((run.code, &*run.stdout), (Some(2), ""));
        let advice = "no transactions that access shared memory twice (--atomic marked), expected one at least: \
                      try --atomic threads (1)";
        assert!(run.stderr.contains(advice), "{}", run.stderr);
    }
}

/// Nothing can come between one access and itself, so a block of one judges nothing, but for what the user marked.
#[test]
fn a_block_of_one_access_is_nothing_to_judge() {
    let block = |kind: &str, reads: usize| {
        let header = r#"{"foretrace": 1, "data": "symbolic", "vars": {"x": {"sort": "Int", "init": 0}}}"#;
        let begin = format!(r#"{{"t": 1, "op": "begin", "kind": "{kind}", "label": "get"}}"#);
        let reads =
            (0..reads).map(|read| format!(r#"{{"t": 1, "op": "read", "var": "x", "dst": "a{read}", "value": 0}}"#));
        let others = [r#"{"t": 1, "op": "end"}"#, r#"{"t": 2, "op": "read", "var": "x", "dst": "b", "value": 0}"#];
        let lines = [header.to_string(), begin].into_iter().chain(reads).chain(others.map(str::to_string));
        Folder::with("block.jsonl", &lines.map(|line| line + "\n").collect::<String>())
    };
    for command in ["predict", "compare", "cutpoints"] {
        let run = block("function", 1).foretrace(&format!("{command} block.jsonl"));
        assert_eq!((run.code, &*run.stdout), (Some(2), ""), "{command}");
        assert!(run.stderr.contains("no transactions that access shared memory twice"), "{}", run.stderr);
        for judged in [block("function", 2), block("mark", 1)] {
            let run = judged.foretrace(&format!("{command} block.jsonl"));
            assert_eq!(run.code, Some(0), "{command}: {}", run.stderr);
        }
    }
}

#[test]
fn threads_as_transactions_find_the_unmarked_violation() {
    let run = Folder::with("plain.jsonl", UNMARKED).foretrace("predict plain.jsonl --atomic threads");
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    assert!(run.stdout.contains("model mcm"), "{}", run.stdout);
}

#[test]
fn bad_input_is_one_message_with_its_place() {
    let broken = LOST_UPDATE.replace(r#""value": 2"#, r#""value": 7"#);
    let folder = Folder::with("broken.jsonl", &broken);
    let run = folder.foretrace("predict broken.jsonl --witness-dir w");
    assert_eq!(run.code, Some(2));
    assert_eq!(run.stdout, "");
    assert!(run.stderr.contains("broken.jsonl:8: event 6: found"), "{}", run.stderr);
    assert!(!folder.path("w").exists());
}

#[test]
fn the_lost_update_of_the_shipped_bank_is_found_from_a_passing_run() {
    let run = foretrace_in(repository(), "predict examples/traces/bank-seed1.thread.jsonl --format json --per event");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let report = report(&run.stdout);
    // bank.c: one depositor reads the balance (line 19), the other writes it (25), the first writes it (25).
    let found = triples_that_can_happen(&report);
    assert!(found.contains(&[10, 38, 14]) && found.contains(&[34, 14, 38]), "{found:?}");
    assert_eq!(report["totals"]["unknown"], 0);
}

#[test]
fn colour_is_for_terminals_only() {
    let run = Folder::with("counter.jsonl", LOST_UPDATE).foretrace("predict counter.jsonl");
    assert!(!run.stdout.contains('\u{1b}') && !run.stderr.contains('\u{1b}'));
}

/// Two threads that each read and write one variable `accesses` times: far more candidates than a test has time for.
fn endless(accesses: usize) -> String {
    let mut trace = LOST_UPDATE.lines().next().expect("a header").to_string();
    let mut value = 0;
    for thread in [1, 2] {
        trace.push_str(&format!("\n{{\"t\": {thread}, \"op\": \"begin\"}}"));
        for _ in 0..accesses {
            let read =
                format!("\n{{\"t\": {thread}, \"op\": \"read\", \"var\": \"n\", \"dst\": \"a\", \"value\": {value}}}");
            value += 1;
            let write = "\"op\": \"write\", \"var\": \"n\", \"expr\": \"(+ a 1)\"";
            trace.push_str(&format!("{read}\n{{\"t\": {thread}, {write}, \"value\": {value}}}"));
        }
        trace.push_str(&format!("\n{{\"t\": {thread}, \"op\": \"end\"}}"));
    }
    trace.push('\n');
    trace
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_was_decided() {
    use std::process::{Command, Stdio};
    let folder = Folder::with("endless.jsonl", &endless(200));
    let mut child = Command::new(env!("CARGO_BIN_EXE_foretrace"))
        .args(["predict", "--candidates", "all", "--format", "json"])
        .arg(folder.path("endless.jsonl"))
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command can be run");
    let mut stdout = std::io::BufReader::new(child.stdout.take().expect("piped"));
    let mut text = String::new();
    // The report has begun: the command is at work, and listens to signals.
    let read = std::io::BufRead::read_line(&mut stdout, &mut text).expect("output is UTF-8");
    assert!(read > 0, "ended by itself");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("there is a kill");
    assert!(sent.success());
    std::io::Read::read_to_string(&mut stdout, &mut text).expect("output is UTF-8");
    let code = child.wait().expect("it ends").code();
    let report: Value = serde_json::from_str(&text).expect("the report is whole");
    assert_eq!(report["totals"]["interrupted"], true);
    assert!(report["totals"]["unreached"].as_u64() > Some(0));
    let found = report["totals"]["feasible"].as_u64() > Some(0);
    assert_eq!(code, Some(if found { 1 } else { 3 }));
}

/// The candidate that the report shows is the one to try.
#[test]
fn each_class_off_the_path_has_the_schedule_of_what_is_shown() {
    let trace = repository().join("tests/corpus/traces/hard-par.thread.jsonl");
    let folder = Folder::with("unused.jsonl", LOST_UPDATE);
    let run = folder.foretrace(&format!("predict {} --off-path --witness-dir witnesses", trace.display()));
    let classes =
        run.stdout.lines().filter(|line| line.contains(". before-remote ") || line.contains(". after-remote "));
    let shown: BTreeSet<String> = classes
        .map(|line| {
            let triple = line.split_once('(').and_then(|(_, rest)| rest.split_once(')')).expect("a candidate").0;
            triple.replace(", ", "-")
        })
        .map(|triple| format!("off-path-{triple}.json"))
        .collect();
    let files = std::fs::read_dir(folder.path("witnesses")).expect("a folder");
    let names = files.map(|file| file.expect("listed").file_name().to_string_lossy().into_owned());
    let written: BTreeSet<String> = names.filter(|name| name.starts_with("off-path-")).collect();
    assert!(shown.len() > 5 && shown.is_subset(&written), "{shown:?} in {written:?}");
}

/// A thread that looks at `x` twice, in two functions under a lock; `middle` stands between. Another thread writes it once.
fn two_looks(middle: &str, second: &str) -> String {
    let head = r#"{"foretrace": 1, "data": "symbolic", "vars": {"x": {"sort": "Int", "init": 0}}, "sync": {"m": {"kind": "mutex"}}}
{"t": 1, "op": "begin", "kind": "thread", "label": "main"}
{"t": 1, "op": "acquire", "lock": "m", "loc": "a.c:11"}
{"t": 1, "op": "read", "var": "x", "dst": "a", "value": 0, "loc": "a.c:12"}
{"t": 1, "op": "release", "lock": "m", "loc": "a.c:13"}"#;
    let tail = r#"{"t": 1, "op": "release", "lock": "m", "loc": "a.c:23"}
{"t": 1, "op": "end"}
{"t": 2, "op": "acquire", "lock": "m", "loc": "a.c:31"}
{"t": 2, "op": "write", "var": "x", "expr": "7", "value": 7, "loc": "a.c:32"}
{"t": 2, "op": "release", "lock": "m", "loc": "a.c:33"}"#;
    let lock = r#"{"t": 1, "op": "acquire", "lock": "m", "loc": "a.c:21"}"#;
    [head, middle, lock, second, tail]
        .iter()
        .filter(|part| !part.is_empty())
        .fold(String::new(), |all, part| all + part + "\n")
}

const LOOK: &str = r#"{"t": 1, "op": "read", "var": "x", "dst": "b", "value": 0, "loc": "a.c:22"}"#;

/// Alone it is shown, since it may be what the user looks for; it does not count. Beside others it is a number.
#[test]
fn what_only_a_whole_thread_holds_does_not_count_as_found() {
    let run = Folder::with("right.jsonl", &two_looks("", LOOK)).foretrace("predict right.jsonl");
    assert_eq!(run.code, Some(0), "{}", run.stdout);
    let heading = "In whole thread `main`, which is seldom meant to be atomic: this does not count as found\n1. unrepeatable read on x";
    for part in [heading, "1 can happen (1 of them in whole threads alone"] {
        assert!(run.stdout.contains(part), "{}", run.stdout);
    }
    let beside = two_looks(COUNTS, LOOK).replace(r#""vars": {"#, r#""vars": {"z": {"sort": "Int", "init": 0}, "#);
    let run = Folder::with("beside.jsonl", &beside).foretrace("predict beside.jsonl");
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    for part in ["1. lost update on z", "1 class more in no block but whole threads"] {
        assert!(run.stdout.contains(part), "{}", run.stdout);
    }
    assert!(!run.stdout.contains("on x"), "{}", run.stdout);
    for asked in ["--atomic threads", "--all"] {
        let run = Folder::with("right.jsonl", &two_looks("", LOOK)).foretrace(&format!("predict right.jsonl {asked}"));
        assert!(run.stdout.contains("1. unrepeatable read on x"), "{}", run.stdout);
    }
}

/// A function of the first thread that loses the second one's write.
const COUNTS: &str = r#"{"t": 1, "op": "begin", "kind": "function", "label": "count"}
{"t": 1, "op": "read", "var": "z", "dst": "c", "value": 0, "loc": "a.c:41"}
{"t": 1, "op": "write", "var": "z", "expr": "(+ c 1)", "value": 1, "loc": "a.c:42"}
{"t": 1, "op": "end"}
{"t": 2, "op": "write", "var": "z", "expr": "5", "value": 5, "loc": "a.c:51"}"#;

/// A thread that waits for a condition lets others change what it looks at; that is the least of what they can do to it.
#[test]
fn what_a_wait_lets_in_comes_after_the_rest() {
    let trace = r#"{"foretrace": 1, "data": "symbolic", "vars": {"full": {"sort": "Int", "init": 0}, "last": {"sort": "Int", "init": 0}}, "sync": {"m": {"kind": "mutex"}, "c": {"kind": "condvar"}}}
{"t": 1, "op": "begin", "kind": "function", "label": "get"}
{"t": 1, "op": "acquire", "lock": "m", "loc": "a.c:11"}
{"t": 1, "op": "read", "var": "full", "dst": "a", "value": 0, "loc": "a.c:12"}
{"t": 1, "op": "wait", "cond": "c", "lock": "m", "loc": "a.c:13"}
{"t": 2, "op": "acquire", "lock": "m", "loc": "a.c:31"}
{"t": 2, "op": "write", "var": "full", "expr": "1", "value": 1, "loc": "a.c:32"}
{"t": 2, "op": "signal", "cond": "c", "loc": "a.c:33"}
{"t": 2, "op": "release", "lock": "m", "loc": "a.c:34"}
{"t": 1, "op": "wake", "cond": "c", "lock": "m", "by": 6, "loc": "a.c:13"}
{"t": 1, "op": "read", "var": "full", "dst": "b", "value": 1, "loc": "a.c:12"}
{"t": 1, "op": "release", "lock": "m", "loc": "a.c:14"}
{"t": 1, "op": "end"}
{"t": 1, "op": "begin", "kind": "function", "label": "note"}
{"t": 1, "op": "write", "var": "last", "expr": "1", "value": 1, "loc": "a.c:21"}
{"t": 1, "op": "read", "var": "last", "dst": "d", "value": 1, "loc": "a.c:22"}
{"t": 1, "op": "end"}
{"t": 2, "op": "write", "var": "last", "expr": "2", "value": 2, "loc": "a.c:35"}
"#;
    let run = Folder::with("wait.jsonl", trace).foretrace("predict wait.jsonl");
    assert_eq!(run.code, Some(1), "{}{}", run.stdout, run.stderr);
    for part in ["1. own write overwritten before it is read back on last", "2. unrepeatable read on full"] {
        assert!(run.stdout.contains(part), "{}", run.stdout);
    }
}

#[test]
fn a_check_and_an_act_on_it_in_two_sections_of_a_thread_count() {
    let branch = r#"{"t": 1, "op": "assume", "expr": "(= a 0)", "loc": "a.c:14"}"#;
    let writes =
        |expr: &str| format!(r#"{{"t": 1, "op": "write", "var": "x", "expr": "{expr}", "value": 1, "loc": "a.c:22"}}"#);
    let looks_and_writes = format!("{LOOK}\n{}", writes("(+ b 1)"));
    for (middle, second) in [(branch, writes("1")), ("", writes("(+ a 1)")), (branch, looks_and_writes)] {
        let run = Folder::with("wrong.jsonl", &two_looks(middle, &second)).foretrace("predict wrong.jsonl");
        assert_eq!(run.code, Some(1), "{}", run.stdout);
        assert!(!run.stdout.contains("in no block but whole threads"), "{}", run.stdout);
    }
    let run = Folder::with("apart.jsonl", &two_looks("", &writes("1"))).foretrace("predict apart.jsonl");
    assert_eq!(run.code, Some(0), "nothing that was read decides what is written: {}", run.stdout);
}

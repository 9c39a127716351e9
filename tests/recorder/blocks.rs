//! Blocks by themselves: which candidates belong to which, and what reports make of that.

use crate::support::{Workshop, expect, foretrace, ran};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// A program of `tests/cases`, built with flags and recorded as `run`.
fn case(file: &str, flags: &[&str]) -> Workshop {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/programs").join(file);
    let workshop = Workshop::build(&source, &[&["-g", "-pthread", "-w"], flags].concat());
    workshop.record("run", &[]);
    workshop
}

/// What can happen in a trace or recording: variable, pattern, and the kind and label of the block.
fn found(workshop: &Workshop, options: &str) -> BTreeSet<[String; 4]> {
    let report = ran(&mut workshop.shell(&format!("foretrace predict --format json {options}")));
    let report: Value = serde_json::from_str(&report.out).unwrap_or_else(|_| panic!("{}", report.err));
    let candidates = report["candidates"].as_array().expect("a list").iter();
    let text = |value: &Value| value.as_str().unwrap_or("").to_string();
    let row = |one: &Value| {
        let block = &one["block"];
        [text(&one["var"]), text(&one["pattern"]), text(&block["kind"]), text(&block["label"])]
    };
    candidates.filter(|one| one["verdict"] == "feasible").map(row).collect()
}

fn row(columns: [&str; 4]) -> [String; 4] {
    columns.map(str::to_string)
}

#[test]
fn a_threads_own_function_or_lambda_is_the_thread() {
    for flags in [&[][..], &["-DLAMBDA"]] {
        let workshop = case("thread-function.cpp", flags);
        let found = found(&workshop, "run");
        assert!(found.contains(&row(["counter", "R-W-W", "function", "incr"])), "{found:?}");
        let functions: BTreeSet<&str> = found.iter().filter(|one| one[2] == "function").map(|one| &*one[3]).collect();
        assert_eq!(functions, BTreeSet::from(["incr"]));
        let text = ran(&mut workshop.shell("foretrace predict run")).out;
        let first = text.find("\n1. lost update on counter (R-W-W)").expect("the lost update first");
        assert!(text[..first].contains("\nIn function `incr`, "), "{text}");
        assert!(text.contains("more in no block but whole threads"), "{text}");
    }
}

#[test]
fn turns_of_outer_loops_are_blocks_too() {
    for flags in [&[][..], &["-DINNER"]] {
        let workshop = case("outer-loop.c", flags);
        let lost = row(["x", "R-W-W", "loop", "t"]);
        assert!(found(&workshop, "run").contains(&lost));
        assert!(found(&workshop, "run --atomic loops").contains(&lost));
    }
}

#[test]
fn guarded_independence_is_not_spoken_of_unasked() {
    let workshop = case("increment.c", &[]);
    let text = ran(&mut workshop.shell("foretrace predict run")).out;
    assert!(text.contains("\n1. lost update on counter (R-W-W)"), "{text}");
    assert!(!text.contains("guarded-dependent"), "{text}");
}

const HANDED_OVER: &str = r"
#include <pthread.h>
int given, taken;
static void *child(void *unused) { given++; taken++; return unused; }
static void start_and_end(void) {
    pthread_t thread;
    given = 1;
    pthread_create(&thread, 0, child, 0);
    taken = 1;
    taken = 2;
    pthread_join(thread, 0);
    given = 2;
}
int main(void) { start_and_end(); return 0; }
";

/// What is handed to a thread and taken back after its end is no violation; what is written twice meanwhile is one.
#[test]
fn no_block_spans_a_fork_or_join_unless_asked() {
    let workshop = Workshop::build_text(HANDED_OVER, "handed.c");
    workshop.record("run", &[]);
    let vars = |options: &str| found(&workshop, options).into_iter().map(|[var, ..]| var).collect::<BTreeSet<_>>();
    assert_eq!(vars("run"), BTreeSet::from(["taken".to_string()]));
    assert_eq!(vars("run --atomic threads"), BTreeSet::from(["given".to_string(), "taken".to_string()]));
}

const MARKED: &str = r#"
#include <foretrace.h>
#include <pthread.h>
int inside, outside;
static void bump(int *count) { int was = *count; *count = was + 1; }
static void count_outside(void) { outside++; }
static void *work(void *unused) {
    FORETRACE_ATOMIC_BEGIN("outer");
    FORETRACE_ATOMIC_BEGIN("inner");
    bump(&inside);
    FORETRACE_ATOMIC_END("inner");
    FORETRACE_ATOMIC_END("outer");
    count_outside();
    return unused;
}
int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
"#;

#[test]
fn marks_are_the_only_blocks_where_there_are_any() {
    let workshop = Workshop::build_text(MARKED, "marked.c");
    workshop.record("run", &[]);
    let marks = found(&workshop, "run");
    assert!(
        marks.iter().all(|[var, _, kind, label]| [&**var, kind, label] == ["inside", "mark", "inner"]),
        "{marks:?}"
    );
    assert!(marks.contains(&row(["inside", "R-W-W", "mark", "inner"])));
    // With another choice the recording is walked again, and its own trace stays.
    let functions = found(&workshop, "run --atomic functions");
    assert!(functions.contains(&row(["outside", "R-W-W", "function", "count_outside"])), "{functions:?}");
    assert!(workshop.path("run/trace-functions.jsonl.zst").is_file());
    assert_eq!(found(&workshop, "run"), marks);
}

#[test]
fn nothing_to_judge_is_an_error_that_says_what_to_do() {
    let workshop = Workshop::build_text(MARKED, "marked.c");
    workshop.record("run", &["--focus", "no such variable"]);
    let predicted = ran(&mut workshop.shell("foretrace predict run"));
    assert_eq!((predicted.status, &*predicted.out), (Some(2), ""));
    assert!(predicted.err.contains("found no transactions"), "{}", predicted.err);
    assert!(predicted.err.contains("walked with --focus no such variable"), "{}", predicted.err);
    workshop.record("all", &[]);
    let predicted = ran(&mut workshop.shell("foretrace predict all --atomic functions=nothing"));
    assert_eq!((predicted.status, &*predicted.out), (Some(2), ""));
    assert!(predicted.err.contains("found no transactions"), "{}", predicted.err);
}

const CHECKED: &str = r"
#include <assert.h>
#include <pthread.h>
int early, stock = 2;
static void take(void) { int left = stock; if (left > 0) stock = left - 1; }
static void *work(void *unused) { early++; take(); return unused; }
int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    assert(stock == 0);
    return 0;
}
";

#[test]
fn what_a_failing_run_shows_comes_first() {
    let workshop = Workshop::build_text(CHECKED, "checked.c");
    workshop.make("foretrace record -o runs --runs 200 -- ./program >/dev/null 2>&1; test $? = 1");
    let runs: Vec<_> =
        std::fs::read_dir(workshop.path("runs")).expect("there").map(|run| run.expect("listed").path()).collect();
    assert!(!runs.is_empty());
    for run in runs {
        let text = expect(1, foretrace().arg("predict").arg(&run)).stdout;
        let text = String::from_utf8(text).expect("UTF-8");
        let first = text.split("\n2. ").next().expect("a part");
        assert!(first.contains("1. lost update on stock (R-W-W)"), "{text}");
        assert!(first.contains("this happened in this run"), "{text}");
        let report = expect(1, foretrace().arg("predict").arg(&run).args(["--format", "json"])).stdout;
        let report: Value = serde_json::from_slice(&report).expect("JSON");
        assert_eq!(report["candidates"][0]["observed"], json!(true));
    }
}

//! `foretrace predict --repair` of recordings: the code that must be atomic, the lock that would do, and what the program then does.

use crate::support::{Workshop, ran};
use serde_json::{Value, json};

/// Two threads each add one, reading and writing under the lock but in two holds of it, and count without it. A lost addition
/// makes the run fail; a lost count does no harm.
const ADDED: &str = r#"
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum, count;

static void add(void)
{
    pthread_mutex_lock(&lock);
    int before = sum;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    sum = before + 1;
    pthread_mutex_unlock(&lock);
}

static void note(void)
{
    count = count + 1;
}

static void *worker(void *unused)
{
    (void)unused;
    note();
    add();
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return sum == 2 ? 0 : 3;
}
"#;

/// From a run that passed: the code that must be atomic, the lock that would do, and the program that passes with it.
#[test]
fn a_repair_of_what_is_predicted_makes_the_program_pass() {
    let workshop = Workshop::build_text(ADDED, "added.c");
    let is_passing = |seed: &i32| workshop.record("passing", &["--seed", &seed.to_string()]) == json!({"code": 0});
    assert!((0..200).any(|seed| is_passing(&seed)), "no seed passes");
    let command = "foretrace predict passing --repair --repair-runs 5 --format json -- ./program";
    let run = ran(&mut workshop.shell(command));
    assert_eq!(run.status, Some(1), "{}", run.err);
    let report: Value = serde_json::from_str(&run.out).expect("the report is JSON");
    let first = &report["repairs"][0];
    assert_eq!(first["sections"][0]["function"], "add", "{first:#}");
    assert_eq!((&first["locks"][0]["lock"], &first["locks"][0]["proof"]), (&json!("lock"), &json!("proved")));
    assert_eq!(
        first["runs"],
        json!({
            "runs_before": 5, "failed_before": 5, "shown_before": 5, "by": "lock", "failed": 0, "passed": 5, "left": 0, "shown": 0
        }),
        "{first:#}"
    );
    let second = &report["repairs"][1];
    assert_eq!(second["sections"][0]["function"], "note", "{second:#}");
    assert_eq!((&second["locks"][0]["lock"], &second["runs"]["failed_before"]), (&Value::Null, &json!(0)));
    // No run fails by it, but the update that is lost is seen, and not with the section kept whole.
    assert_eq!((&second["runs"]["shown_before"], &second["runs"]["shown"]), (&json!(5), &json!(0)), "{second:#}");
}

/// Its twin, with one hold of the lock.
#[test]
fn what_is_right_needs_no_repair() {
    let right = ADDED
        .replace("    pthread_mutex_unlock(&lock);\n    pthread_mutex_lock(&lock);\n", "")
        .replace("    count = count + 1;\n", "");
    let workshop = Workshop::build_text(&right, "added.c");
    assert_eq!(workshop.record("passing", &["--seed", "1"]), json!({"code": 0}));
    let run = ran(&mut workshop.shell("foretrace predict passing --atomic functions --repair -- ./program"));
    assert!(run.out.contains("none is needed: nothing was found"), "{}{}", run.out, run.err);
}

/// What tries do if they come out the other way is off the path. No run comes to most of it, and some blocks are shown by runs.
#[test]
fn what_no_run_comes_to_is_repaired_last() {
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/programs/tries.c");
    let workshop = Workshop::build(&source, &["-w", "-pthread"]);
    assert_eq!(workshop.record("passing", &["--seed", "1"]), json!({"code": 0}));
    let command = "foretrace predict passing --repair --off-path --repair-runs 3 --format json -- ./program";
    let run = ran(&mut workshop.shell(command));
    let report: Value = serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.err));
    let repairs = report["repairs"].as_array().expect("a list");
    let is_shown = |repair: &Value| {
        let runs = &repair["runs"];
        repair["off_path"] == json!(false) || runs["shown_before"] != json!(0) || runs["failed_before"] != json!(0)
    };
    let shown = repairs.iter().take_while(|repair| is_shown(repair)).count();
    assert!(0 < shown && shown < repairs.len(), "{report:#}");
    assert!(!repairs[shown..].iter().any(is_shown), "{report:#}");
    let text =
        ran(&mut workshop.shell("foretrace predict passing --repair --off-path --repair-runs 3 -- ./program")).out;
    assert!(text.contains("no run along this schedule came to it, so that it may be impossible"), "{text}");
    let (_, apart) = text.split_once("Off the path of this run, not proved:").expect("they stand apart");
    assert!(!apart.contains("against what can happen"), "{text}");
}

/// One thread adds under two holds of the lock, another one in one hold. The first one sees that it was interrupted. Then it begins again,
/// or, if it is wrong, goes on. On the path of a run in which it was not interrupted, no interruption can happen.
fn interrupted_addition(is_right: bool) -> Workshop {
    const TEXT: &str = r#"
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum, changed, late;

static void add(void)
{
    pthread_mutex_lock(&lock);
    int before = sum;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    if (changed)
        WHAT;
    sum = before + 1;
    pthread_mutex_unlock(&lock);
}

static void *first(void *unused)
{
    add();
    return unused;
}

static void *other(void *unused)
{
    pthread_mutex_lock(&lock);
    sum = sum + 1;
    changed = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, other, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return sum == 2 ? 0 : 3;
}
"#;
    Workshop::build_text(&TEXT.replace("WHAT", if is_right { "before = sum" } else { "late = 1" }), "interrupted.c")
}

/// The report on a run in which the first thread was not interrupted.
fn report_of_uninterrupted(workshop: &Workshop, options: &str) -> Value {
    let report = |seed: i32, options: &str| -> Value {
        let run = ran(&mut workshop.shell(&format!("foretrace predict run-{seed} --repair --format json {options}")));
        serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.err))
    };
    let is_uninterrupted = |seed: &i32| {
        workshop.record(&format!("run-{seed}"), &["--seed", &seed.to_string()]) == json!({"code": 0})
            && report(*seed, "")["totals"]["feasible"] == json!(0)
    };
    report((0..40).find(is_uninterrupted).expect("some seed does not interrupt it"), options)
}

/// What is off the path gets a repair if the program fails by it. It gets none if the program is right, or was not run; and nor does the violated block
/// by which no run fails.
#[test]
fn what_is_off_the_path_is_repaired_only_if_the_program_fails_by_it() {
    const TRIED: &str = "--repair-runs 5 -- ./program";
    let wrong = interrupted_addition(false);
    let found = report_of_uninterrupted(&wrong, TRIED);
    let first = &found["repairs"][0];
    assert_eq!((&first["off_path"], &first["sections"][0]["function"]), (&json!(true), &json!("add")), "{found:#}");
    assert_eq!((&first["runs"]["failed_before"], &first["runs"]["failed"]), (&json!(5), &json!(0)), "{found:#}");
    assert_eq!(first["runs"]["passed"], 5, "{found:#}");
    let untried = report_of_uninterrupted(&wrong, "");
    assert_eq!(untried["repairs"], json!([]), "{untried:#}");
    let numbers = |untried: u32, harmless: u32, harmless_blocks: u32| json!({"beyond_limit": 0, "untried": untried, "not_reached": 0, "harmless": harmless, "harmless_blocks": harmless_blocks});
    assert_eq!(untried["not_repaired"], numbers(1, 0, 0), "{untried:#}");
    let right = interrupted_addition(true);
    let harmless = report_of_uninterrupted(&right, TRIED);
    assert_eq!((&harmless["repairs"], &harmless["not_repaired"]), (&json!([]), &numbers(0, 1, 1)), "{harmless:#}");
    let all = report_of_uninterrupted(&right, &format!("--off-path {TRIED}"));
    assert_eq!((&all["repairs"][0]["off_path"], all.get("not_repaired")), (&json!(true), None), "{all:#}");
    for report in [&found, &untried, &harmless, &all] {
        assert_fits_schema(report);
    }
}

fn assert_fits_schema(report: &Value) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/report.schema.json");
    let schema = std::fs::read_to_string(path).expect("the schema is shipped");
    let validator = jsonschema::draft202012::new(&serde_json::from_str(&schema).expect("JSON")).expect("a schema");
    assert!(validator.is_valid(report), "{report:#}");
}

/// Nothing is wrong with it; no run comes to what is off the path.
#[test]
fn a_right_program_with_something_off_its_path_needs_no_repair() {
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/programs/static-local.cpp");
    let workshop = Workshop::build(&source, &["-w", "-std=c++20", "-pthread"]);
    assert_eq!(workshop.record("passing", &["--seed", "1"]), json!({"code": 0}));
    let command = "foretrace predict passing --repair --repair-runs 3 -- ./program";
    let run = ran(&mut workshop.shell(command));
    assert!(run.out.contains("none is needed: nothing is proved"), "{}{}", run.out, run.err);
    let text = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("off the path of this run (1 happened in no run of the program)"), "{}", run.out);
}

/// Two fields that change one after the other, each under a lock, and a reader of both.
const TWO: &str = r#"
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int first, second, seen, also;

static void *update(void *unused)
{
    pthread_mutex_lock(&lock);
    first = 1;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    second = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *look(void *unused)
{
    pthread_mutex_lock(&lock);
    seen = first;
    also = second;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, update, NULL);
    pthread_create(&threads[1], NULL, look, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return seen == also ? 0 : 3;
}
"#;

/// The reader begins again where it has seen a state between.
const AGAIN: &str = "    while (seen != also) {
        pthread_mutex_lock(&lock);
        seen = first;
        also = second;
        pthread_mutex_unlock(&lock);
    }
";

/// What the reader sees between is of several variables. With one lock
/// around both updates there is nothing to repair.
#[test]
fn a_whole_block_is_repaired() {
    let right = TWO.replacen("    pthread_mutex_unlock(&lock);\n    pthread_mutex_lock(&lock);\n", "", 1);
    let report = |text: &str| {
        let workshop = Workshop::build_text(text, "two.c");
        assert_eq!(workshop.record("passing", &["--seed", "1"]), json!({"code": 0}));
        let command = "foretrace predict passing --repair --repair-runs 5 --format json -- ./program";
        let run = ran(&mut workshop.shell(command));
        let report: Value = serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.err));
        assert_fits_schema(&report);
        report
    };
    let wrong = report(TWO);
    assert_eq!(wrong["repairs"], json!([]), "no triple shows it: {wrong:#}");
    let repair = &wrong["block_repairs"][0];
    let lines = &repair["sections"][0]["lines"][0];
    assert_eq!((&lines["first"], &lines["last"]), (&json!(10), &json!(13)), "{wrong:#}");
    assert_eq!((&repair["off_path"], &repair["runs"]["failed"]), (&json!(false), &json!(0)), "{wrong:#}");
    assert_eq!(repair["runs"]["passed"], 5, "{wrong:#}");
    assert_eq!(repair["as_it_is"], json!({"runs": 5, "failed": 5}), "{wrong:#}");
    assert_eq!(report(&right).get("block_repairs"), None);
}

/// What the look finds between the two updates it looks at once more: the block is violated as before, and no run fails.
#[test]
fn a_violated_block_by_which_no_run_fails_gets_a_repair_only_if_asked_for() {
    let looked = "    also = second;\n    pthread_mutex_unlock(&lock);\n";
    let again = TWO.replacen(looked, &format!("{looked}{AGAIN}"), 1);
    let workshop = Workshop::build_text(&again, "two.c");
    assert_eq!(workshop.record("passing", &["--seed", "1"]), json!({"code": 0}));
    let report = |options: &str| {
        let command = format!("foretrace predict passing --repair --format json {options}");
        let run = ran(&mut workshop.shell(&command));
        let report: Value = serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.err));
        assert_fits_schema(&report);
        assert_eq!(report["totals"]["feasible"], 0, "no triple shows it: {report:#}");
        report
    };
    let default = report("--repair-runs 5 -- ./program");
    assert_eq!(default.get("block_repairs"), None, "{default:#}");
    assert_eq!(default["not_repaired"]["harmless_blocks"], 1, "{default:#}");
    let asked_for = report("--off-path --repair-runs 5 -- ./program");
    let as_it_is = &asked_for["block_repairs"][0]["as_it_is"];
    assert_eq!(as_it_is, &json!({"runs": 5, "failed": 0}), "{asked_for:#}");
    let not_run = report("");
    assert_eq!(not_run["block_repairs"].as_array().map(Vec::len), Some(1), "nothing tells it from a bug: {not_run:#}");
    let text = ran(&mut workshop.shell("foretrace predict passing --repair --repair-runs 5 -- ./program")).out;
    assert!(text.contains("Without a repair: 1 whole block."), "{text}");
}

/// Across a wait no lock can be held: the report says so, and proposes none.
#[test]
fn no_lock_is_proposed_across_a_wait() {
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/programs/timedwait.c");
    let workshop = Workshop::build(&source, &["-w", "-pthread"]);
    assert_eq!(workshop.record("passing", &["--seed", "1"]), json!({"code": 0}));
    let run = ran(&mut workshop.shell("foretrace predict passing --repair --format json"));
    let report: Value = serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.err));
    let locks = &report["repairs"][0]["locks"];
    assert_eq!((&locks[0]["proof"], &locks[1]), (&json!("waits"), &Value::Null), "{report:#}");
    let text = ran(&mut workshop.shell("foretrace predict passing --repair")).out;
    assert!(text.contains("no lock can be held there: the thread waits for others meanwhile"), "{text}");
}

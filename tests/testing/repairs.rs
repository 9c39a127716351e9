//! Repairs of what a test has found: the code and the lock that it names.

use super::{built, report, source};
use serde_json::json;
use std::path::Path;

#[test]
fn a_repair_is_named_and_tried() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/programs");
    let report = report(&built(&examples.join("bank/bank.c")), "--repair");
    let repair = &report["tests"][0]["finds"][0]["repair"];
    assert_eq!(repair["sections"][0]["lines"][0]["file"], "bank.c", "{report:#}");
    assert_eq!(repair["runs"]["failed"], 0, "{report:#}");
    assert!(repair["runs"]["failed_before"].as_u64() > Some(0), "{report:#}");
}

/// Kept whole by the controller, neither thread's code keeps the program from failing. The lock of the other thread does, where it was forgotten:
/// the controller makes the code hold it.
#[test]
fn the_repair_of_a_forgotten_lock_is_that_lock() {
    let workshop = built(&source("forgotten-lock.c"));
    let report = report(&workshop, "--repair --patch lock.diff");
    let repair = &report["tests"][0]["finds"][0]["repair"];
    assert_eq!(
        repair["sections"][0]["lines"][0],
        json!({ "file": "forgotten-lock.c", "first": 16, "last": 17 }),
        "{report:#}"
    );
    assert_eq!(
        (&repair["locks"][0]["lock"], &repair["locks"][0]["proof"]),
        (&json!("lock"), &json!("proved")),
        "{report:#}"
    );
    let runs = &repair["runs"];
    assert_eq!((&runs["by"], &runs["failed"], &runs["left"]), (&json!("lock"), &json!(0), &json!(0)), "{report:#}");
    assert!(runs["failed_before"].as_u64() > Some(0), "{report:#}");
    let added =
        |diff: String| diff.lines().filter(|line| line.starts_with('+')).map(str::to_string).collect::<Vec<_>>();
    let diff = std::fs::read_to_string(workshop.path("lock.diff")).expect("a proposal");
    assert_eq!(
        added(diff)[1..],
        ["+    pthread_mutex_lock(&lock);", "+    pthread_mutex_unlock(&lock);"],
        "{report:#}"
    );
}

/// A pair is torn between two critical sections of one lock: holding it on mends that.
#[test]
fn a_torn_pair_is_mended_by_its_lock() {
    let workshop = built(&source("torn-pair.c"));
    let report = report(&workshop, "--repair --patch pair.diff");
    let repair = &report["tests"][0]["finds"][0]["repair"];
    assert_eq!(repair["sections"][0]["function"], json!("set"), "{report:#}");
    assert_eq!((&repair["lock"], &repair["runs"]["failed"]), (&json!("lock"), &json!(0)), "{report:#}");
    let diff = std::fs::read_to_string(workshop.path("pair.diff")).expect("a proposal");
    let removed: Vec<&str> = diff.lines().filter(|line| line.starts_with("-  ")).collect();
    assert_eq!(removed, ["-    pthread_mutex_unlock(&lock);", "-    pthread_mutex_lock(&lock);"], "{diff}");
}

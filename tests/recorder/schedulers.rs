//! `record --scheduler`: what each finds in threads that are too short for turns, and that a seed means one run.

use crate::support::{Workshop, expect, foretrace, ran};
use serde_json::Value;

/// Two threads of a few records each count up without a lock; the program fails if a count is lost.
const SHORT: &str = "#include <pthread.h>
int n;
static void *count(void *arg) { int seen = n; n = seen + 1; return arg; }
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, count, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return n != 2;
}
";

/// The right one: under a lock no scheduler loses a count, and none comes to a standstill.
const LOCKED: &str = "#include <pthread.h>
int n;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *count(void *arg) {
    pthread_mutex_lock(&m);
    int seen = n; n = seen + 1;
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, count, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return n != 2;
}
";

/// A thread that waits for another in a loop: priorities must not keep the other from its turn for ever.
const SPINS: &str = "#include <pthread.h>
#include <stdatomic.h>
atomic_int ready;
static void *set(void *arg) { atomic_store(&ready, 1); return arg; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, set, 0);
    while (!atomic_load(&ready)) {}
    pthread_join(thread, 0);
    return 0;
}
";

const SCHEDULERS: [&str; 7] = ["turns", "random", "round-robin", "pct", "pos", "urw", "order"];

/// The seeds that fail, of so many from 0.
fn failing(workshop: &Workshop, scheduler: &str, runs: u64) -> Vec<u64> {
    let folder = workshop.path("runs");
    let _ = std::fs::remove_dir_all(&folder); // of the scheduler before
    let options = ["--scheduler", scheduler, "--runs", &runs.to_string()];
    let run = ran(foretrace().args(["record", "-o"]).arg(&folder).args(options).arg("--").arg(&workshop.program));
    let seeds =
        run.err.lines().filter_map(|line| line.strip_prefix("foretrace: seed ")?.split(':').next()?.parse().ok());
    let seeds: Vec<u64> = seeds.collect();
    let summary = format!("foretrace: {} of {runs} runs failed", seeds.len());
    assert!(run.err.contains(&summary), "{scheduler}: {}", run.err);
    seeds
}

#[test]
fn short_threads_are_interrupted() {
    let workshop = Workshop::build_text(SHORT, "short.c");
    for scheduler in ["random", "pct", "pos", "urw"] {
        let seeds = failing(&workshop, scheduler, 30);
        assert!(seeds.len() >= 2 && seeds.len() < 30, "{scheduler}: {seeds:?}");
        assert_eq!(failing(&workshop, scheduler, 30), seeds, "{scheduler}: the same seeds fail again");
    }
}

#[test]
fn locks_hold_and_loops_that_wait_end_under_every_scheduler() {
    for (text, name) in [(LOCKED, "locked.c"), (SPINS, "spins.c")] {
        let workshop = Workshop::build_text(text, name);
        for scheduler in SCHEDULERS {
            assert_eq!(failing(&workshop, scheduler, 10), [] as [u64; 0], "{name}, {scheduler}");
        }
    }
}

#[test]
fn a_recording_says_how_it_was_scheduled() {
    let workshop = Workshop::build_text(LOCKED, "locked.c");
    let folder = workshop.path("run");
    let options = ["--scheduler", "pct", "--depth", "5", "--seed", "7"];
    expect(0, foretrace().args(["record", "-o"]).arg(&folder).args(options).arg("--").arg(&workshop.program));
    let text = std::fs::read(folder.join("recording.json")).expect("written");
    let recording: Value = serde_json::from_slice(&text).expect("JSON");
    assert_eq!(
        (&recording["scheduler"], &recording["depth"], &recording["seed"]),
        (&"pct".into(), &5.into(), &7.into())
    );
    for wrong in [["--scheduler", "fair"], ["--depth", "0"], ["--depth", "many"]] {
        let run = ran(foretrace().args(["record"]).args(wrong).arg("--").arg(&workshop.program));
        assert_eq!(run.status, Some(2), "{wrong:?}: {}", run.err);
    }
}

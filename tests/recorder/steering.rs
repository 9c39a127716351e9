//! Replays that leave the schedule: steered to the triple all the same, or told why not.

use crate::edited::is_report;
use crate::support::{Workshop, ran, source};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// `departures.c`, recorded without arguments, and the witness of its unrepeatable read.
fn departures() -> (Workshop, PathBuf) {
    let workshop = Workshop::build(&source("departures.c"), &[]);
    assert_eq!(workshop.record("run", &["--seed", "1"]), json!({"code": 0}));
    let found = workshop.predict("run");
    let witness = found.into_iter().find(|found| found.pattern == "R-W-R").expect("the check gets old").witness;
    (workshop, witness)
}

/// The report of a replay with these arguments of the program, its exit status in it.
fn replay(workshop: &Workshop, witness: &Path, options: &str, arguments: &str) -> Value {
    let script = format!("foretrace replay {} {options} --format json -- ./program {arguments}", witness.display());
    let run = ran(&mut workshop.shell(&script));
    let mut report: Value = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{script}: {}", run.err));
    is_report(&report);
    report["status"] = run.status.into();
    report
}

/// Lines of the triple's accesses.
fn lines(report: &Value) -> Vec<String> {
    let accesses = report["triple"].as_array().expect("a triple").iter();
    accesses.map(|one| one["loc"].as_str().expect("a place").split(':').nth(1).expect("a line").to_string()).collect()
}

#[test]
fn a_run_that_follows_is_told_from_one_that_comes_there_another_way() {
    let (workshop, witness) = departures();
    let letter = replay(&workshop, &witness, "--exactly", "");
    let counts =
        |report: &Value| ["followed", "another_way", "not_reached", "status"].map(|field| report[field].clone());
    assert_eq!(counts(&letter), [json!(1), json!(0), json!(0), json!(0)]);
    assert_eq!((&letter["recorded"], &letter["endings"][0]["code"]), (&json!({"code": 0}), &json!(1)));
    // More turns, another access in each turn, a second look where the first is late: all events have other numbers.
    for arguments in ["2", "1 extra", "3 extra", "2 retry", "3 retry"] {
        let report = replay(&workshop, &witness, "", arguments);
        assert_eq!(counts(&report), [json!(0), json!(1), json!(0), json!(0)], "{arguments}: {report}");
        assert_eq!((lines(&report), &report["endings"][0]["code"]), (lines(&letter), &json!(1)), "{arguments}");
        let left = &report["left"];
        assert!(left["expected"].is_string() && left["at"].is_u64(), "{arguments}: {left}");
        assert_eq!(replay(&workshop, &witness, "--exactly", arguments)["status"], 1, "{arguments}");
    }
}

#[test]
fn what_cannot_be_reached_is_told_with_the_reason() {
    let (workshop, witness) = departures();
    let reasons = [
        ("1 locked", "thread 3 (withdraw) never came to the place of first"),
        ("1 never", "thread 3 (withdraw) never came to the place of first"),
        ("1 lonely", "thread 3 (withdraw) never came to the place of first"),
        // The other thread is through before this one goes on: held or not, it cannot come between.
        (
            "1 spin",
            "thread 3 (withdraw) stood before second, and no other thread could make the remote access meanwhile",
        ),
        (
            "3 spin",
            "thread 3 (withdraw) stood before second 3 times, and no other thread could make the remote access meanwhile",
        ),
    ];
    for (arguments, reason) in reasons {
        let report = replay(&workshop, &witness, "--times 2", arguments);
        assert_eq!((&report["not_reached"], &report["status"]), (&json!(2), &json!(1)), "{arguments}: {report}");
        assert_eq!(report["reason"], reason, "{arguments}");
        assert_eq!(report["endings"], json!([{"code": 0, "times": 2}]), "{arguments}: nothing is held for good");
    }
}

/// A thread adds to a counter in two steps, and another one does so between them. With an argument the other one looks every second whether the
/// first one has done, instead; a third one waits for a signal.
const POLLS: &str = "#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int counter, done, looks;
static void *add(void *arg) {
    pthread_mutex_lock(&m);
    int seen = counter;
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m);
    counter = seen + 1;
    done = 1;
    pthread_mutex_unlock(&m);
    return arg;
}
static void *other(void *polls) {
    pthread_mutex_lock(&m);
    while (polls && !done && looks < 1000) {
        struct timeval now; struct timezone zone;
        gettimeofday(&now, &zone);
        struct timespec at = {now.tv_sec + 1, now.tv_usec * 1000};
        pthread_cond_timedwait(&c, &m, &at);
        looks++;
    }
    if (!polls) counter += 10;
    pthread_mutex_unlock(&m);
    return 0;
}
static void *listen(void *set) { int got; sigwait(set, &got); return 0; }
int main(int argc, char **argv) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    pthread_t threads[3];
    pthread_create(&threads[0], 0, listen, &set);
    pthread_create(&threads[1], 0, add, 0);
    pthread_create(&threads[2], 0, other, argc > 1 ? argv : 0);
    for (int i = 1; i < 3; i++) pthread_join(threads[i], 0);
    pthread_kill(threads[0], SIGUSR1);
    pthread_join(threads[0], 0);
    return counter != 11 && argc == 1;
}
";

/// The one that waits in vain takes no time: the program's clocks go on to the ends of its waits.
#[test]
fn waits_of_a_second_each_are_not_waited_for() {
    let workshop = Workshop::build_text(POLLS, "polls.c");
    assert_eq!(workshop.record("run", &["--seed", "1"]), json!({"code": 0}));
    let found = workshop.predict("run");
    let witness = found.into_iter().find(|found| found.pattern == "R-W-W").expect("a lost update").witness;
    let reached = replay(&workshop, &witness, "", "");
    assert_eq!((&reached["followed"], &reached["endings"][0]["code"]), (&json!(1), &json!(1)), "{reached}");
    let start = Instant::now();
    let report = replay(&workshop, &witness, "--times 3", "poll");
    assert_eq!((&report["not_reached"], &report["endings"][0]["code"]), (&json!(3), &json!(0)), "{report}");
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}: {report}", start.elapsed());
}

/// Bytes of the logs of a replay along this witness. A read takes 32 of them, with the branch after it 40.
fn bytes_of_logs(workshop: &Workshop, witness: &Path, arguments: &str) -> u64 {
    let script = format!("foretrace replay {} -o replayed -- ./program {arguments}", witness.display());
    ran(&mut workshop.shell(&script));
    let files = std::fs::read_dir(workshop.path("replayed")).expect("a recording").flatten();
    let logs = files.filter(|file| file.path().extension().is_some_and(|extension| extension == "log"));
    logs.map(|log| log.metadata().expect("a file").len()).sum()
}

/// Nobody waits long for a thread that repeats what it does in a loop: what it waits for is what the held thread is to do.
#[test]
fn a_loop_that_waits_for_the_held_thread_is_not_waited_for() {
    let (workshop, witness) = departures();
    for arguments in ["1 spin", "3 spin"] {
        let bytes = bytes_of_logs(&workshop, &witness, arguments);
        assert!((2000 * 32..6000 * 40).contains(&bytes), "{arguments}: {bytes}");
    }
    // One that looks a thousand times goes on by itself, and makes the remote access.
    let report = replay(&workshop, &witness, "", "1 patient");
    assert_eq!((&report["another_way"], &report["status"]), (&json!(1), &json!(0)), "{report}");
}

/// The compare-and-swap of a thread that waits for the lock fails again and again, which is no remote access.
#[test]
fn a_lock_by_compare_and_swap_is_not_waited_for() {
    let workshop = Workshop::build(&source("cas-lock.c"), &[]);
    assert_eq!(workshop.record("run", &["--seed", "1"]), json!({"code": 0}));
    ran(&mut workshop.shell("foretrace schedules run -o schedules"));
    let files = std::fs::read_dir(workshop.path("schedules")).expect("a folder").flatten();
    let mut held = 0;
    for file in files.map(|file| file.path()) {
        let text = std::fs::read_to_string(&file).expect("a schedule");
        let witness: Value = serde_json::from_str(&text).expect("JSON");
        let operation = |role: &str| witness["accesses"][role]["op"].as_str().unwrap_or_default().to_string();
        // Between taking and giving back, another thread takes the lock.
        if ["first", "remote", "second"].map(operation) != ["rmw", "rmw", "write"] {
            continue;
        }
        held += 1;
        let bytes = bytes_of_logs(&workshop, &file, "");
        assert!(bytes < 8000 * 56, "{}: {bytes}", file.display());
    }
    assert!(held > 0, "there are schedules that the lock forbids");
}

#[test]
fn what_the_program_did_is_said_first() {
    let (workshop, witness) = departures();
    let text = |options: &str, arguments: &str| {
        let script = format!("foretrace replay {} {options} -- ./program {arguments}", witness.display());
        ran(&mut workshop.shell(&script)).out
    };
    let told = text("", "2");
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines[1], "failed: exit status 1 (the recorded run: 0)"); // after the program's own output
    assert_eq!(lines[2], "reached the triple another way");
    assert!(lines[3].starts_with("  first   thread 3 (withdraw): read 1000 at "), "{told}");
    assert!(lines.iter().any(|line| line.starts_with("left the schedule at event ")), "{told}");
    let told = text("--times 3", "1 locked");
    assert!(told.starts_with("passed: exit status 0, 3 of 3 times (the recorded run: 0)\n"), "{told}");
    assert!(told.contains("\ndid not reach the triple, 3 of 3 times: thread 3 (withdraw) never came "), "{told}");
}

/// Of a class that is off the path after the remote access, the schedule up to there is proved. The program goes on to second.
#[test]
fn a_schedule_proved_up_to_the_remote_access_leads_to_the_triple() {
    let workshop = Workshop::build(&source("moved-index.c"), &[]);
    assert_eq!(workshop.record("run", &["--seed", "1"]), json!({"code": 0}));
    let predicted = ran(&mut workshop.shell("foretrace predict run --witness-dir files"));
    assert!(predicted.out.contains("1 off the path (1 after-remote;"), "{}", predicted.out);
    let listed = ran(&mut workshop.shell("ls files")).out;
    let file = PathBuf::from("files").join(listed.trim());
    assert!(listed.starts_with("off-path-"), "{listed}");
    let report = replay(&workshop, &file, "--times 3", "");
    assert_eq!((&report["followed"], &report["status"]), (&json!(3), &json!(0)), "{report}");
    assert_eq!(report["endings"], json!([{"code": 1, "times": 3}]), "the program sees the torn count");
}

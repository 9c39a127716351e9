//! `record` is told to end, is killed, is started twice; a log goes missing. The program's end and what was recorded are kept.

use super::support::{Ran, Workshop, expect, foretrace, ran};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Two threads count until a signal says that it is enough; then the exit status is 7. `ready` has the process's number.
const PROGRAM: &str = r#"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile sig_atomic_t enough;
static int count;
static void stop(int signal) { (void)signal; enough = 1; }
static void *add(void *arg) {
    for (int i = 0; i < 50; i++) count = count + 1;
    return arg;
}
int main(void) {
    signal(SIGTERM, stop);
    signal(SIGINT, stop);
    pthread_t other;
    pthread_create(&other, 0, add, 0);
    add(0);
    pthread_join(other, 0);
    FILE *file = fopen("starting", "w");
    fprintf(file, "%d", (int)getpid());
    fclose(file);
    rename("starting", "ready");
    while (!enough) usleep(10000);
    return 7;
}
"#;
/// Seconds that anything may take here.
const PATIENCE: Duration = Duration::from_secs(60);

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "not {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The program is recorded, and ready for a signal.
fn started(mode: &str) -> (Workshop, Child) {
    let workshop = Workshop::build_text(PROGRAM, "counting.c");
    let mut command = workshop.shell(&format!("exec foretrace record -o run {mode} -- ./program"));
    let record = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
    until("ready", || workshop.path("ready").is_file());
    (workshop, record)
}

fn send(signal: &str, process: u32) {
    expect(0, std::process::Command::new("sh").args(["-c", &format!("kill -{signal} {process}")]));
}

/// The trace of a recording is valid and has both threads' accesses.
fn check_trace(workshop: &Workshop, trace: &Path) {
    expect(0, foretrace().arg("check").arg(trace));
    let report = ran(foretrace().arg("predict").arg(trace));
    assert_eq!(report.status, Some(1), "{}", report.err);
    assert!(report.out.contains("count"), "{}", report.out);
    drop(workshop.trace("run"));
}

#[test]
fn a_signal_to_record_ends_the_program_and_its_status_is_kept() {
    for (signal, mode) in [("TERM", "--serial"), ("INT", "--serial"), ("TERM", "--parallel")] {
        let (workshop, mut record) = started(mode);
        send(signal, record.id());
        assert_eq!(record.wait().expect("ended").code(), Some(7), "{signal} {mode}");
        check_trace(&workshop, &workshop.path("run/trace.jsonl.zst"));
    }
}

#[test]
fn a_killed_record_ends_the_program_and_leaves_logs() {
    for mode in ["--serial", "--parallel"] {
        let (workshop, mut record) = started(mode);
        let process = std::fs::read_to_string(workshop.path("ready")).expect("read");
        let status = Path::new("/proc").join(process.trim()).join("status");
        let runs = || std::fs::read_to_string(&status).is_ok_and(|text| !text.contains("State:\tZ"));
        assert!(runs(), "{mode}");
        send("KILL", record.id());
        assert_eq!(record.wait().expect("ended").code(), None);
        until("ended with its recorder", || !runs());
        let trace = workshop.path("run/trace.jsonl.zst");
        expect(0, foretrace().arg("trace").arg(workshop.path("run")).arg("-o").arg(&trace));
        check_trace(&workshop, &trace);
    }
}

#[test]
fn one_record_at_a_time_has_a_folder() {
    let (workshop, mut record) = started("--serial");
    let second = ran(&mut workshop.shell("foretrace record -o run -- ./program"));
    assert_eq!(second.status, Some(2), "{}", second.err);
    assert!(second.err.contains("another foretrace records into this folder"), "{}", second.err);
    send("TERM", record.id());
    assert_eq!(record.wait().expect("ended").code(), Some(7));
    check_trace(&workshop, &workshop.path("run/trace.jsonl.zst"));
}

#[test]
fn a_missing_log_is_an_error() {
    let (workshop, mut record) = started("--serial");
    send("TERM", record.id());
    assert_eq!(record.wait().expect("ended").code(), Some(7));
    std::fs::remove_file(workshop.path("run/thread-2.log")).expect("removed");
    let Ran { status, err, .. } = ran(&mut workshop.shell("foretrace trace run -o new.jsonl"));
    assert_eq!(status, Some(2), "{err}");
    assert!(err.contains("thread") && err.contains('2') && !workshop.path("new.jsonl").exists(), "{err}");
}

/// A thread computes for long with what it has read. The trace has no room for a term of each turn: it needs gigabytes.
#[test]
fn a_long_computation_with_what_was_read_is_pinned() {
    let program = "#include <pthread.h>\nunsigned n = 3, sum;
        void *work(void *p) { n++; return p; }
        int main(void) { pthread_t t; pthread_create(&t, 0, work, 0);
            unsigned k = n, of = n; for (unsigned i = 0; i < 1500000; i++) k = (k ^ i) * 31 + of;
            sum = k; n = 9; pthread_join(t, 0); return 0; }\n";
    let workshop = Workshop::empty();
    std::fs::write(workshop.path("program.c"), program).expect("written");
    workshop.make("foretrace cc -O1 -g -pthread -o program program.c");
    assert_eq!(workshop.record("run", &[]), json!({"code": 0}));
    let trace = workshop.trace("run");
    let main: Vec<&Value> = trace.iter().filter(|event| event["t"] == 1).collect();
    let reads = main.iter().filter(|event| event["op"] == "read" && event["var"] == "n").count();
    let pins = main.iter().filter(|event| event["op"] == "assume" && event["why"] == "pin").count();
    assert_eq!((reads, pins), (2, 2), "the sum so far and what is added: {main:?}");
}

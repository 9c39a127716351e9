//! Replays beside those of the examples: programs that leave the schedule, hang or lock each other up, gdb, Ctrl-C.

use crate::support::{Workshop, is_installed, ran, source};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A passing run of a program, in `run`, with a witness.
fn with_witness(name: &str) -> (Workshop, PathBuf) {
    let workshop = Workshop::build(&source(name), &[]);
    let passing = (0..20).find(|seed| workshop.record("run", &["--seed", &seed.to_string()]) == json!({"code": 0}));
    passing.expect("a passing run");
    let witness = workshop.predict("run").swap_remove(0).witness;
    (workshop, witness)
}

fn replay(workshop: &Workshop, witness: &std::path::Path, options: &str) -> Value {
    let script = format!("foretrace replay {} --format json {options}", witness.display());
    let run = ran(&mut workshop.shell(&script));
    let mut report: Value = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{script}: {}", run.err));
    report["status"] = run.status.into();
    report
}

#[test]
fn another_argument_leaves_the_schedule() {
    let (workshop, witness) = with_witness("update.c");
    let text = ran(&mut workshop.shell(&format!("foretrace replay {} -- ./program 0", witness.display())));
    assert_eq!(text.status, Some(1), "{}", text.err);
    let lines: Vec<&str> = text.out.lines().collect();
    assert_eq!(lines[1], "passed: exit status 0 (the recorded run: 0)"); // after the program's own output
    assert!(lines[2].starts_with("did not reach the triple: thread 2 (add) "), "{}", text.out);
    assert_eq!(lines[3], "left the schedule at event 0 of thread 1 (main)");
    assert!(lines[4].starts_with("  expected  write at "), "{}", text.out);
    assert!(lines[5].starts_with("  found     thread 1 (main): read "), "{}", text.out);
    assert!(lines.iter().any(|line| line.starts_with("  because   thread 2 (add) ")), "{}", text.out);
    let report = replay(&workshop, &witness, "--times 3 -- ./program 0");
    assert_eq!((&report["status"], &report["followed"]), (&json!(1), &json!(0)));
    assert_eq!(report["endings"], json!([{"code": 0, "times": 3}]));
    assert_eq!((&report["left"]["thread"], &report["left"]["at"]), (&json!("0"), &json!(0)));
    assert!(report["triple"].is_null());
}

#[test]
fn times_are_counted() {
    let (workshop, witness) = with_witness("update.c");
    let script = format!("foretrace replay {} --times 5 -- ./program", witness.display());
    let text = ran(&mut workshop.shell(&script));
    assert_eq!(text.status, Some(0));
    let starts = "failed: exit status 1, 5 of 5 times (the recorded run: 0)\nfollowed the schedule to the letter, 5 of 5 times (";
    assert!(text.out.starts_with(starts), "{}", text.out);
}

/// What a program records that runs in circles after the schedule is no use to anyone, and is not read.
#[test]
fn a_program_that_runs_in_circles_does_not_fill_the_disk() {
    let (workshop, witness) = with_witness("circles.c");
    let script = format!("foretrace replay {} --time-limit 3 -- ./program", witness.display());
    let run = ran(&mut workshop.shell(&script));
    assert!(run.out.starts_with("failed: the program hung and was killed"), "{}{}", run.out, run.err);
    assert!(run.out.contains("followed the schedule to the letter"), "{}", run.out);
    assert!(run.err.contains("the logs of the replay reached"), "{}", run.err);
}

#[test]
fn a_hang_ends_at_the_time_limit() {
    let (workshop, witness) = with_witness("hang.c");
    let report = replay(&workshop, &witness, "--time-limit 0.5 -- ./program");
    assert_eq!((&report["status"], &report["followed"]), (&json!(0), &json!(1)));
    assert_eq!(report["endings"], json!([{"hang": null, "times": 1}]));
    let read = [&report["triple"][0]["read"], &report["triple"][2]["read"]];
    assert_eq!(read, [&json!(0), &json!(1)]);
}

#[test]
fn failing_seeds_are_kept_and_a_deadlock_happens_again() {
    let workshop = Workshop::build(&source("opposite-locks.c"), &[]);
    let run = ran(&mut workshop.shell("foretrace record -o runs --seed 0 --runs 300 -- ./program"));
    assert_eq!(run.status, Some(1), "{}", run.err);
    let kept: Vec<PathBuf> =
        std::fs::read_dir(workshop.path("runs")).expect("runs").map(|entry| entry.expect("listed").path()).collect();
    assert!(run.err.ends_with(&format!("foretrace: {} of 300 runs failed\n", kept.len())), "{}", run.err);
    let name = format!("runs/{}", kept[0].file_name().expect("a name").to_string_lossy());
    let last = workshop.trace(&name).pop().expect("events");
    assert_eq!((&last["op"], &last["reason"]), (&json!("fail"), &json!("deadlock")));
    let report = workshop.replay(&kept[0], 3, 0);
    assert_eq!((&report["followed"], &report["endings"]), (&json!(3), &json!([{"deadlock": null, "times": 3}])));
}

/// Whatever a parallel run was, one thread at a time makes the same of it, every time.
fn is_replayed(name: &str, flags: &[&str]) {
    let workshop = Workshop::build(&source(name), flags);
    let mut expected = workshop.record("run", &["--parallel"]);
    expected["times"] = json!(20);
    let report = workshop.replay(&workshop.path("run"), 20, 0);
    assert_eq!((&report["followed"], &report["endings"]), (&json!(20), &json!([expected])), "{name}");
}

#[test]
fn a_parallel_recording_is_replayed() {
    for name in ["threads.cpp", "c11.c", "posix.c"] {
        is_replayed(name, &[]);
    }
}

/// A signal arrives at any moment, and one to the process at any thread; a replay has it where the recording had it.
#[test]
fn a_signal_comes_where_it_came() {
    let workshop = Workshop::build(&source("handler_first.c"), &[]);
    let slow = workshop.path("slow");
    for arguments in ["", "process"] {
        for _ in 0..5 {
            std::fs::write(&slow, "").expect("write");
            let record =
                ran(&mut workshop.shell(&format!("foretrace record -o run --parallel -- ./program {arguments}")));
            assert_eq!(record.out, "5\n", "{}", record.err);
            std::fs::remove_file(&slow).expect("remove");
            let replay = format!("foretrace replay run --exactly --times 10 -- ./program {arguments}");
            let replay = ran(&mut workshop.shell(&replay));
            assert_eq!(replay.status, Some(0), "{arguments}: {}{}", replay.out, replay.err);
        }
    }
}

/// A timer goes off once. If it does while a replay follows a schedule that ends before that, its signal comes afterwards, with its value.
/// What hangs for another reason still hangs.
#[test]
fn a_timer_goes_off_after_the_schedule() {
    let workshop = Workshop::build(&source("timer_value.c"), &[]);
    let slow = workshop.path("slow");
    for (argument, hangs) in [("", false), ("hangs", true)] {
        std::fs::write(&slow, "").expect("write");
        let record = format!("foretrace record -o run --seed 0 -- ./program {argument}");
        let record = ran(&mut workshop.shell(&record));
        assert_eq!(record.out, "7\n", "{}", record.err);
        std::fs::remove_file(&slow).expect("remove");
        let found = workshop.predict("run");
        assert!(!found.is_empty());
        for one in found {
            let report = replay(&workshop, &one.witness, &format!("--time-limit 3 -- ./program {argument}"));
            assert_eq!(report["followed"], 1, "{report:#}");
            assert_eq!(
                report["endings"],
                if hangs { json!([{"hang": null, "times": 1}]) } else { json!([{"code": 0, "times": 1}]) }
            );
        }
    }
}

#[test]
fn a_parallel_recording_without_most_accesses_is_replayed() {
    is_replayed("handover.c", &["-DROUNDS=20"]);
}

#[test]
fn witnesses_of_a_parallel_recording_are_reached() {
    let workshop = Workshop::build(&source("update.c"), &[]);
    workshop.record("run", &["--parallel"]);
    let found = workshop.predict("run");
    assert!(!found.is_empty());
    for witness in found.iter().map(|found| &found.witness) {
        let report = workshop.replay(witness, 20, 0);
        assert_eq!((&report["times"], &report["followed"]), (&json!(20), &json!(20)), "{}", witness.display());
    }
}

/// Who waits for descriptors takes a session and what came there in one call, whatever other threads do.
#[test]
fn witnesses_of_an_event_loop_are_followed() {
    let workshop = Workshop::build(&source("../../testing/programs/echo-server.c"), &[]);
    for seed in ["0", "2", "5", "6"] {
        workshop.record(seed, &["--seed", seed]);
        for found in workshop.predict(seed) {
            let report = workshop.replay(&found.witness, 1, 0);
            assert_eq!(report["followed"], 1, "seed {seed}, {}: {report:#}", found.witness.display());
        }
    }
}

#[test]
fn what_is_no_witness_of_the_program_is_refused() {
    let (workshop, witness) = with_witness("update.c");
    let traces = r#"{"foretrace": 1, "data": "symbolic", "vars": {"n": {"sort": "Int", "init": 0}}}
{"t": 1, "op": "begin"}
{"t": 1, "op": "read", "var": "n", "dst": "a", "value": 0}
{"t": 1, "op": "write", "var": "n", "expr": "(+ a 1)", "value": 1}
{"t": 1, "op": "end"}
{"t": 2, "op": "write", "var": "n", "expr": "7", "value": 7}
"#;
    std::fs::write(workshop.path("litmus.jsonl"), traces).expect("written");
    workshop.make("foretrace predict litmus.jsonl --witness-dir litmus >report; echo '[0, 1, 2]' >plain.json");
    workshop.make("cp program other && foretrace cc -o other -x c - <<'E'\nint main(void) { return 0; }\nE");
    let witness = witness.display();
    let refused = [
        ("litmus/*.json -- ./program", "not recorded from a real program"),
        ("plain.json -- ./program", "found a plain schedule, expected a witness"),
        ("missing.json -- ./program", "No such file"),
        (&format!("{witness} -- ./other"), "has build id"),
        ("run -- ./other", "has build id"),
        ("run --gdb -- ./program", "needs a witness"),
    ];
    for (arguments, told) in refused {
        let run = ran(&mut workshop.shell(&format!("foretrace replay {arguments}")));
        assert_eq!((run.status, run.err.lines().count()), (Some(2), 1), "{arguments}: {}", run.err);
        assert!(run.err.contains(told), "{}", run.err);
    }
}

#[test]
fn gdb_stops_where_the_remote_access_is_about_to_happen() {
    if !is_installed("gdb") {
        return;
    }
    let (workshop, witness) = with_witness("update.c");
    let commands = "printf 'print count\\ncontinue\\nquit\\n'";
    let script = format!("{commands} | foretrace replay {} --gdb -- ./program 2>&1", witness.display());
    let run = ran(&mut workshop.shell(&script));
    let before = replay(&workshop, &witness, "-- ./program")["triple"][0]["read"].clone();
    assert!(run.out.contains("foretrace_at_remote"), "{}", run.out);
    let (_, own) = run.out.split_once("hit Breakpoint").expect("it stopped");
    let (own, _) = own.split_once("(gdb)").expect("it waits for commands");
    assert!(own.contains(" in add (") && own.contains("update.c:14"), "{}", run.out);
    assert!(run.out.contains(&format!("$1 = {before}")), "{}", run.out);
    assert!(run.out.contains("exited with code 01"), "{}", run.out);
}

/// The access itself is in a header of the C++ library; the user's line and variables are what gdb shows.
#[test]
fn gdb_shows_the_users_frame_of_an_access_in_a_header() {
    if !is_installed("gdb") {
        return;
    }
    let text = "#include <atomic>
#include <thread>
std::atomic<int> count;
void add(int more) {
    int seen = count.load();
    count.store(seen + more);
}
int main() {
    std::thread one(add, 1), other(add, 1);
    one.join();
    other.join();
    return count.load() != 2;
}
";
    let workshop = Workshop::build_text(text, "header.cpp");
    let passing = (0..20).find(|seed| workshop.record("run", &["--seed", &seed.to_string()]) == json!({"code": 0}));
    passing.expect("a passing run");
    let witness = workshop.predict("run").swap_remove(0).witness;
    let commands = "printf 'print more\\nkill\\nquit\\n'";
    let script = format!("{commands} | foretrace replay {} --gdb -- ./program 2>&1", witness.display());
    let run = ran(&mut workshop.shell(&script));
    let (_, own) = run.out.split_once("hit Breakpoint").expect("it stopped");
    assert!(own.contains(" add (more=1) at ") && own.contains("header.cpp:6"), "{}", run.out);
    assert!(own.contains("$1 = 1"), "{}", run.out);
}

#[test]
fn ctrl_c_leaves_a_trace() {
    let endless = "#include <unistd.h>\nint main(void) { write(1, \"on\\n\", 3); for (;;) usleep(1000); }\n";
    let workshop = Workshop::build_text(endless, "endless.c");
    // Both get it, as from a terminal: their process group is a new one.
    let mut recording = Command::new("setsid")
        .arg(env!("CARGO_BIN_EXE_foretrace"))
        .args(["record", "-o"])
        .arg(workshop.path("run"))
        .arg("--")
        .arg(&workshop.program)
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut started = [0; 3];
    std::io::Read::read_exact(recording.stdout.as_mut().expect("piped"), &mut started).expect("it says that it runs");
    let group = nix::unistd::Pid::from_raw(recording.id().cast_signed());
    nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGINT).expect("there");
    assert_eq!(recording.wait().expect("ends").code(), Some(130));
    let last = workshop.trace("run").pop().expect("a header at least");
    assert_eq!(last["op"], "fail", "{last}");
    assert!(last["reason"].as_str().is_some_and(|reason| reason.contains("SIGINT")), "{last}");
}

/// How a recording of an endless program ended that got a signal so long after its start.
fn signalled(workshop: &Workshop, after: std::time::Duration) -> std::process::ExitStatus {
    let _ = std::fs::remove_dir_all(workshop.path("run"));
    let mut recording = Command::new(env!("CARGO_BIN_EXE_foretrace"))
        .args(["record", "-o"])
        .arg(workshop.path("run"))
        .arg("--")
        .arg(&workshop.program)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    std::thread::sleep(after);
    let process = nix::unistd::Pid::from_raw(recording.id().cast_signed());
    nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGINT).expect("there");
    recording.wait().expect("ends")
}

/// How several runs end, and what is said, if a signal comes to one that goes on: to `foretrace` alone, or to the program as well.
fn signalled_runs(workshop: &Workshop, words: &str, signal: Signal, alone: bool) -> (Option<i32>, String) {
    let _ = std::fs::remove_file(workshop.path("goes-on"));
    let runs = Command::new("setsid")
        .arg(env!("CARGO_BIN_EXE_foretrace"))
        .args(words.split(' '))
        .current_dir(workshop.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    while !workshop.path("goes-on").exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let process = nix::unistd::Pid::from_raw(runs.id().cast_signed());
    match alone {
        true => nix::sys::signal::kill(process, signal).expect("there"),
        false => nix::sys::signal::killpg(process, signal).expect("there"),
    }
    let ended = runs.wait_with_output().expect("ends");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (ended.status.code(), text(&ended.stdout) + &text(&ended.stderr))
}

/// The first run fails, and each later one goes on until a signal comes: the first run is kept, and no run follows.
#[test]
fn a_signal_ends_all_runs_and_keeps_what_was_done() {
    let program = r#"
        #include <fcntl.h>
        #include <signal.h>
        #include <unistd.h>
        static volatile sig_atomic_t is_over;
        static void ends(int signal) { is_over = signal; }
        int main(int count, char **words) {
            if (count > 1) signal(SIGTERM, ends);
            if (access("failed", F_OK)) return close(creat("failed", 0600)), 1;
            close(creat("goes-on", 0600));
            while (!is_over) usleep(1000);
            return 0;
        }
    "#;
    let workshop = Workshop::build_text(program, "goes_on.c");
    for (signal, alone, word, status) in
        [(Signal::SIGTERM, true, " handles", 143), (Signal::SIGTERM, true, "", 143), (Signal::SIGINT, false, "", 130)]
    {
        let _ = std::fs::remove_dir_all(workshop.path("runs"));
        let _ = std::fs::remove_file(workshop.path("failed"));
        let words = format!("record -o runs --runs 4 -- ./program{word}");
        let (ended, said) = signalled_runs(&workshop, &words, signal, alone);
        assert_eq!(ended, Some(status), "{words}: {said}");
        assert!(said.ends_with("foretrace: stopped by a signal: 1 of 1 runs failed\n"), "{words}: {said}");
        assert!(!workshop.trace("runs/seed-0").is_empty(), "{words}");
        assert_eq!(workshop.path("runs/seed-1").exists(), word.is_empty(), "a run that ends well is not kept: {said}");
        assert!(!workshop.path("runs/seed-2").exists(), "{words}");
    }
    let (ended, said) = signalled_runs(&workshop, "replay runs/seed-1 --times 4 -- ./program", Signal::SIGTERM, true);
    assert_eq!((ended, &*said), (Some(143), "foretrace: stopped by a signal after 0 of 4 runs\n"));
    let (ended, said) = signalled_runs(&workshop, "replay runs/seed-1 -- ./program", Signal::SIGTERM, true);
    assert!(ended != Some(143) && said.contains("SIGTERM"), "one run is reported as it is: {ended:?} {said}");
}

/// The program is over, and its trace is being made.
#[test]
fn a_signal_that_ends_the_walk_says_how_to_go_on() {
    let program = r#"
        #include <pthread.h>
        static volatile int shared;
        static void *adds(void *none) { for (int i = 0; i < 60000; i++) shared++; return none; }
        int main(void) {
            pthread_t other;
            pthread_create(&other, 0, adds, 0);
            adds(0);
            return pthread_join(other, 0);
        }
    "#;
    let workshop = Workshop::build_text(program, "long_walk.c");
    let recording = Command::new(env!("CARGO_BIN_EXE_foretrace"))
        .args(["record", "-o", "run", "--", "./program"])
        .current_dir(workshop.path(""))
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let threads = format!("/proc/{}/task", recording.id());
    let waits_for_signals = || {
        let mut names =
            std::fs::read_dir(&threads).expect("it runs").flatten().map(|thread| thread.path().join("comm"));
        names.any(|name| std::fs::read_to_string(name).is_ok_and(|name| name == "signals\n"))
    };
    while !waits_for_signals() {
        std::thread::sleep(Duration::from_millis(2));
    }
    let process = nix::unistd::Pid::from_raw(recording.id().cast_signed());
    nix::sys::signal::kill(process, Signal::SIGTERM).expect("there");
    let ended = recording.wait_with_output().expect("ends");
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(143), "{said}");
    assert!(
        said.contains("exited with status 0; its recording has no trace, `foretrace trace run` makes one"),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
    workshop.make("foretrace trace run");
    assert!(workshop.trace("run").len() > 120_000);
}

/// The signal comes before the recording begins, before its program starts, before that has its first thread, and later.
#[test]
fn a_signal_at_any_time_ends_the_program_and_not_its_recording() {
    use std::os::unix::process::ExitStatusExt;
    let endless = "#include <unistd.h>\nint main(void) { for (;;) usleep(1000); }\n";
    let workshop = Workshop::build_text(endless, "endless.c");
    let mut traces = 0;
    for step in 0..1000_u32 {
        let status = signalled(&workshop, step * std::time::Duration::from_micros(500));
        match (status.signal(), status.code()) {
            (Some(_), _) => assert!(!workshop.path("run/recording.json").exists(), "step {step}: it had begun"),
            (None, code) => {
                assert_eq!(code, Some(130), "step {step}");
                let text = std::fs::read_to_string(workshop.path("run/recording.json")).expect("described");
                let described: serde_json::Value = serde_json::from_str(&text).expect("JSON");
                assert_eq!(described["exit"], serde_json::json!({ "signal": 2 }), "step {step}");
                traces += u32::from(workshop.path("run/trace.jsonl.zst").exists());
            }
        }
        if traces == 10 {
            return;
        }
    }
    panic!("only {traces} recordings came so far that there is a trace");
}

/// Whether it may get them is as for a program that is not recorded.
#[test]
fn a_recorded_program_gets_the_signals_that_its_user_lets_it_get() {
    let text = r#"#include <signal.h>
#include <stdio.h>
int main(void) {
    static const int all[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGCHLD, SIGPIPE, SIGUSR1 };
    sigset_t blocked;
    sigprocmask(SIG_BLOCK, 0, &blocked);
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        struct sigaction action;
        sigaction(all[i], 0, &action);
        printf("%d%c%c ", all[i], sigismember(&blocked, all[i]) ? 'b' : '-', action.sa_handler == SIG_IGN ? 'i' : '-');
    }
    return 0;
}
"#;
    let workshop = Workshop::build_text(text, "mask.c");
    let said = |before: &str| ran(&mut workshop.shell(&format!("{before} foretrace record -o run -- ./program"))).out;
    let of = |ignored: &[i32]| {
        let word = |signal: &i32| format!("{signal}-{} ", if ignored.contains(signal) { 'i' } else { '-' });
        [1, 2, 3, 15, 17, 13, 10].iter().map(word).collect::<String>()
    };
    let reset = "env --default-signal";
    assert_eq!(said(reset), of(&[]));
    std::fs::remove_dir_all(workshop.path("run")).expect("there");
    assert_eq!(said(&format!("{reset} env --ignore-signal=HUP,INT")), of(&[1, 2]));
}

/// Where the output goes is no part of a schedule.
#[test]
fn a_run_that_wrote_to_a_file_is_followed_by_one_that_writes_to_a_pipe() {
    let workshop = Workshop::build(&source("says.c"), &[]);
    for (name, to) in [("file", "> said"), ("pipe", "| cat")] {
        ran(&mut workshop.shell(&format!("foretrace record -o {name} -- ./program {to}")));
        let piped = replay(&workshop, std::path::Path::new(name), "-- ./program");
        assert_eq!(piped["followed"], json!(1), "{name}: {piped:#}");
    }
    let to_file = ran(&mut workshop.shell("foretrace replay pipe -- ./program > said; cat said"));
    assert!(to_file.out.contains("followed the schedule to the letter"), "{}{}", to_file.out, to_file.err);
}

/// Of an access that the library makes for the program's own code, both places are told.
#[test]
fn a_replay_tells_where_the_program_calls_the_library() {
    let workshop = Workshop::of_crate("atomic-step");
    let record = "foretrace record -o run --seed 1 -- ./program";
    let predict = "foretrace predict run --atomic functions --witness-dir witnesses";
    workshop.make(&format!("{record} && {{ {predict} || [ $? = 1 ]; }}"));
    let told = ran(&mut workshop.shell("foretrace replay $(ls witnesses/witness-*.json | head -n 1) -- ./program")).out;
    let lines: Vec<&str> = told.lines().filter(|line| line.starts_with("  ")).collect();
    assert_eq!(lines.len(), 3, "{told}");
    for (line, place) in lines.iter().zip(["src/main.rs:8:", "src/main.rs:9:", "src/main.rs:9:"]) {
        assert!(line.contains(&format!(" at {place}")) && line.contains(", then core/src/sync/atomic.rs:"), "{told}");
    }
}

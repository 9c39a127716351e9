//! Programs that call the hooks by hand, recorded in every way, and what their logs say.

#[path = "runtime/log.rs"]
mod log;

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use foretrace_instrument::runtime::RUNTIME;
use foretrace_runtime::record::{Kind, fail, stop};
use log::Recording;
use tempfile::TempDir;

const MODES: [&str; 2] = ["parallel", "serial"];

/// The folder in which programs are, compiled.
fn programs() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("runtime");
        std::fs::create_dir_all(&folder).expect("a writable folder");
        // Tests may be processes of their own, at the same time: each file comes into being whole.
        let archive = folder.join(format!("runtime-{}.a", std::process::id()));
        std::fs::write(&archive, RUNTIME).expect("a writable folder");
        for name in ["racy", "objects", "failures", "bank", "signals", "cancel"] {
            compile(&folder, &archive, name);
        }
        std::fs::remove_file(&archive).expect("a writable folder");
        folder
    })
}

fn compile(folder: &Path, archive: &Path, name: &str) {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runtime");
    let partial = folder.join(format!("{name}-{}", std::process::id()));
    let status = Command::new("cc")
        .args(["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-o"])
        .arg(&partial)
        .arg(sources.join(name).with_extension("c"))
        .arg("-Wl,--whole-archive")
        .arg(archive)
        .args(["-Wl,--no-whole-archive", "-rdynamic", "-pthread", "-ldl"])
        .status();
    assert!(status.expect("cc starts").success(), "{name} does not compile");
    std::fs::rename(partial, folder.join(name)).expect("a writable folder");
}

/// A run with this environment, at the same addresses each time.
fn run(program: &str, arguments: &[&str], variables: &[(&str, &str)]) -> (Output, Recording, TempDir) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = Command::new("setarch")
        .arg("-R")
        .arg(programs().join(program))
        .args(arguments)
        .env("FORETRACE_DIR", folder.path())
        .envs(variables.iter().copied())
        .output()
        .expect("setarch starts");
    let recording = Recording::read(folder.path());
    (output, recording, folder)
}

fn record(program: &str, arguments: &[&str], mode: &str, seed: &str) -> (Output, Recording) {
    let (output, recording, _) = run(program, arguments, &[("FORETRACE_MODE", mode), ("FORETRACE_SEED", seed)]);
    (output, recording)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn racy_accesses_agree_with_their_order() {
    for (mode, rounds) in [("parallel", "200000"), ("serial", "5000")] {
        let (output, recording) = record("racy", &[rounds], mode, "3");
        assert!(output.status.success(), "{mode}: {}", text(&output.stderr));
        let loads = recording.check();
        assert!(loads >= 2 * rounds.parse::<usize>().unwrap(), "{mode}: {loads} loads");
        assert_eq!(
            recording.count(Kind::BranchTrue) + recording.count(Kind::BranchFalse),
            2 * rounds.parse::<usize>().unwrap()
        );
        assert!(recording.ends_with(Kind::Stop));
    }
}

#[test]
fn objects_obey_their_rules() {
    for mode in MODES {
        for seed in ["1", "2", "3"] {
            let (output, recording) = record("objects", &[], mode, seed);
            assert_eq!(text(&output.stdout), "ok\n", "{mode} {seed}: {}", text(&output.stderr));
            recording.check();
            assert_eq!(recording.count(Kind::Fork), 7);
            assert_eq!(recording.count(Kind::Join), 7);
            assert_eq!(recording.count(Kind::Arrive), 60);
            assert_eq!(recording.count(Kind::Depart), 60);
            assert!(recording.count(Kind::Wait) > 0 && recording.count(Kind::Wait) == recording.count(Kind::Wake));
        }
    }
}

#[test]
fn a_seed_decides_a_serial_recording() {
    let (_, first) = record("objects", &[], "serial", "7");
    let (_, second) = record("objects", &[], "serial", "7");
    let (_, third) = record("objects", &[], "serial", "8");
    assert!(first == second, "one seed, two recordings");
    assert!(first != third, "two seeds, one recording");
}

#[test]
fn failures_are_the_last_that_logs_hold() {
    const SEGMENTATION_FAULT: i32 = 11;
    const ABORTED: i32 = 6;
    for mode in MODES {
        for (how, signal, reason, faulting) in [
            ("load", SEGMENTATION_FAULT, fail::SIGNAL, Some(Kind::Load4)),
            ("store", SEGMENTATION_FAULT, fail::SIGNAL, Some(Kind::Store4)),
            ("update", SEGMENTATION_FAULT, fail::SIGNAL, Some(Kind::Update8)),
            ("plain", SEGMENTATION_FAULT, fail::SIGNAL, None),
            ("lock", SEGMENTATION_FAULT, fail::SIGNAL, None),
            ("abort", ABORTED, fail::ABORT, None),
            ("assert", ABORTED, fail::ASSERT, None),
        ] {
            let (output, recording) = record("failures", &[how], mode, "1");
            assert_eq!(output.status.signal(), Some(signal), "{mode} {how}");
            recording.check();
            let failure = recording.only(Kind::Fail);
            assert_eq!((failure.thread, failure.words[0]), (1, reason), "{mode} {how}");
            assert_eq!(recording.without_effect(1), faulting, "{mode} {how}");
        }
        let (output, recording) = record("failures", &["kill"], mode, "1");
        assert_eq!(output.status.signal(), Some(9), "{mode}");
        recording.check();
        assert_eq!(recording.count(Kind::Fail), 0);
    }
}

#[test]
fn a_handler_may_repair_what_an_access_needs() {
    for mode in MODES {
        let (output, recording) = record("failures", &["repair"], mode, "1");
        assert_eq!(output.status.code(), Some(5), "{mode}: {}", text(&output.stderr));
        recording.check();
        assert_eq!((recording.count(Kind::HandlerBegin), recording.count(Kind::HandlerEnd)), (1, 1));
        assert_eq!(recording.at(40).map(|record| record.words[1]).collect::<Vec<_>>(), [5], "one of two took effect");
    }
}

#[test]
fn handlers_run_between_hooks() {
    for mode in MODES {
        let (output, recording) = record("signals", &[], mode, "1");
        assert_eq!(text(&output.stdout), "ok\n", "{mode}: {}", text(&output.stderr));
        recording.check();
        assert_eq!(recording.count(Kind::HandlerBegin), recording.count(Kind::HandlerEnd));
        assert!(recording.count(Kind::HandlerBegin) >= 5);
    }
}

#[test]
fn cancellation_ends_waits() {
    for mode in MODES {
        let (output, recording) = record("cancel", &[], mode, "1");
        assert_eq!(text(&output.stdout), "ok\n", "{mode}: {}", text(&output.stderr));
        recording.check();
        assert_eq!(recording.count(Kind::Join), 5);
    }
}

#[test]
fn a_deadlock_is_a_failure() {
    let (output, recording) = record("failures", &["deadlock"], "serial", "1");
    assert_eq!(output.status.signal(), Some(6));
    let message = text(&output.stderr);
    assert!(message.starts_with(
        "foretrace: deadlock: every thread waits\nforetrace:   thread 0 (number 1) waits for the end of thread 0."
    ));
    assert_eq!(recording.only(Kind::Fail).words[0], fail::DEADLOCK);
}

#[test]
fn a_child_process_is_not_recorded() {
    for mode in MODES {
        let (output, recording) = record("failures", &["fork"], mode, "1");
        assert_eq!(output.status.code(), Some(3), "{mode}");
        assert!(text(&output.stderr).contains("processes that this one forks are not recorded"), "{mode}");
        assert_eq!(recording.at(50).count(), 0, "{mode}");
    }
}

#[test]
fn a_limit_stops_all_threads_at_one_point() {
    for mode in MODES {
        let variables = [("FORETRACE_MODE", mode), ("FORETRACE_SEED", "1"), ("FORETRACE_MAX_BYTES", "3000000")];
        let (output, recording, folder) = run("racy", &["60000"], &variables);
        assert!(output.status.success(), "{mode}");
        let message = "foretrace: recording stopped: the logs reached 3000000 bytes (more: --max-size; the run's end: \
                       --window); the program goes on unrecorded\n";
        assert_eq!(text(&output.stderr), message, "{mode}");
        recording.check();
        assert!(recording.stops().all(|why| why == stop::LIMIT), "{mode}");
        let sizes = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().metadata().unwrap().len());
        assert!(sizes.sum::<u64>() < 3_100_000, "{mode}");
    }
}

/// The program's output, what became of the schedule, and the recording.
fn replay(schedule: &str) -> (String, String, Recording) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("schedule");
    std::fs::write(&file, schedule).expect("a writable folder");
    let variables = [("FORETRACE_MODE", "replay"), ("FORETRACE_SCHEDULE", file.to_str().unwrap())];
    let (output, recording, folder) = run("bank", &[], &variables);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let fate = std::fs::read_to_string(folder.path().join("replay")).expect("what became of the schedule");
    (text(&output.stdout), fate, recording)
}

#[test]
fn a_schedule_brings_a_lost_update_about_or_avoids_it() {
    // A depositor: Start 0, Acquire 1, Load 2, Release 3, Acquire 4, Store 5, Release 6, Exit 7.
    for (schedule, expected) in [
        ("0 3\n0.1 3\n0.2 7\n0.1 7\n", "balance 10"),
        ("0 3\n0.2 2\n0.2 3\n0.1 5\n0.1 6\n0.2 5\n", "balance 10"),
        ("0 3\n0.1 7\n0.2 7\n", "balance 20"),
    ] {
        let (output, fate, recording) = replay(schedule);
        assert!(output.starts_with(expected), "{schedule}{output}");
        assert_eq!(fate, "followed\n", "{schedule}");
        recording.check();
    }
}

#[test]
fn a_schedule_chooses_whom_a_signal_wakes() {
    for (chosen, expected) in [("0.3", "first 3"), ("0.4", "first 4")] {
        let before = "0 3\n0.4 2\n0.3 2\n0.1 7\n0.2 7\n0 10\n";
        let (output, fate, recording) = replay(&format!("{before}{chosen} 4\n"));
        assert_eq!((output.trim_end().ends_with(expected), fate.as_str()), (true, "followed\n"), "{output}");
        recording.check();
    }
}

#[test]
fn what_cannot_be_followed_is_said() {
    for (schedule, expected) in [
        ("0 3\n0.1 1\n0.2 2\n", "left 3 thread 0.2 waits for another thread\n"),
        ("0 3\n0.7 1\n", "left 2 thread 0.7 does not exist yet\n"),
        ("0 3\n0.1 7\n0.1 8\n", "left 3 thread 0.1 has ended\n"),
    ] {
        let (output, fate, recording) = replay(schedule);
        assert_eq!(fate, expected, "{schedule}");
        assert!(output.starts_with("balance"), "the program goes on");
        recording.check();
    }
}

#[test]
fn without_a_mode_nothing_is_recorded() {
    let (output, recording, folder) = run("objects", &[], &[]);
    assert_eq!(text(&output.stdout), "ok\n");
    assert!(recording.is_empty() && std::fs::read_dir(folder.path()).unwrap().count() == 0);
}

//! A test that was stopped goes on where it was: what was tried is not tried again, finds keep their numbers, and nothing is lost.

use super::support::{Workshop, ran};
use super::{built, built_with, foretrace, report, source, test};
use serde_json::Value;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

/// One recorded run gives the same schedules each time; two of them fail in different ways.
const OPTIONS: &str = "--runs 1 --jobs 1";

fn tried(report: &Value) -> u64 {
    report["tests"][0]["schedules"]["tried"].as_u64().expect("a number")
}

fn first_failure(report: &Value) -> String {
    report["tests"][0]["finds"][0]["failure"].as_str().expect("a failure").to_string()
}

fn is_kept(workshop: &Workshop) -> bool {
    workshop.path("program.finds/unfinished/state.json").is_file()
}

/// Whether the process has a handler for SIGINT: on a machine under load it takes its time to begin.
fn catches_ctrl_c(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    caught.is_some_and(|mask| mask >> (nix::sys::signal::Signal::SIGINT as u32 - 1) & 1 == 1)
}

#[test]
fn each_schedule_is_tried_once_over_all_parts_of_a_test() {
    let workshop = built(&source("lazy-cache.c"));
    let whole = report(&workshop, OPTIONS);
    assert!(whole["tests"][0]["complete"] == true && !is_kept(&workshop), "{whole:#}");
    let first = report(&workshop, &format!("{OPTIONS} --stop-after 1"));
    assert!(tried(&first) < tried(&whole) && is_kept(&workshop), "{first:#}");
    let rest = report(&workshop, &format!("{OPTIONS} --resume"));
    assert_eq!(tried(&rest), tried(&whole), "{first:#}{rest:#}");
    assert_eq!(first_failure(&rest), first_failure(&first));
    assert_eq!(rest["tests"][0]["runs"], whole["tests"][0]["runs"], "no run is recorded twice");
    assert!(rest["tests"][0]["complete"] == true && !is_kept(&workshop), "{rest:#}");
    let schedule = workshop.path(rest["tests"][0]["finds"][0]["schedule"].as_str().expect("kept"));
    let replayed = ran(foretrace().arg("replay").arg(schedule).arg("--").arg(workshop.path("program")));
    assert!(replayed.out.contains("failed:"), "{}{}", replayed.out, replayed.err);
}

/// A schedule is as long as the trace: those to cut-points are made when their turn comes, and the others are packed.
#[test]
fn what_waits_takes_little_room() {
    let workshop = built(&source("budget.c"));
    let waiting = |options: &str| -> Vec<Value> {
        report(&workshop, &format!("{OPTIONS} --stop-after 1 {options}"));
        let kept = std::fs::read(workshop.path("program.finds/unfinished/state.json")).expect("kept");
        let kept: Value = serde_json::from_slice(&kept).expect("JSON");
        kept["state"]["plan"]["waiting"].as_array().expect("schedules").clone()
    };
    let points = waiting("--predict cutpoints");
    assert!(!points.is_empty() && points.iter().all(|one| one["witness"] == ""), "{points:#?}");
    let tried = tried(&report(&workshop, &format!("{OPTIONS} --predict cutpoints --resume")));
    assert!(tried >= points.len() as u64, "{tried}: {points:#?}");
    let proved = waiting("--predict precise");
    assert!(!proved.is_empty());
    for one in proved {
        let file = one["witness"].as_str().expect("a path");
        let kept = workshop.path("program.finds/unfinished/runs").join(file);
        assert!(file.ends_with(".json.zst") && kept.is_file(), "{file}");
    }
}

/// Ctrl-C may come at any time: the rest is the same whenever that is.
#[test]
fn ctrl_c_keeps_all() {
    let workshop = built(&source("lazy-cache.c"));
    let whole = report(&workshop, OPTIONS);
    for after in [Duration::from_millis(200), Duration::from_millis(1500)] {
        let mut command: Command = foretrace();
        command.current_dir(workshop.path("program").parent().expect("in a folder"));
        command.arg("test").args(OPTIONS.split(' ')).args(["--", "./program"]).process_group(0);
        let mut test = command.stdout(Stdio::null()).spawn().expect("started");
        while !catches_ctrl_c(test.id()) && test.try_wait().expect("a child").is_none() {
            std::thread::sleep(Duration::from_millis(10));
        }
        std::thread::sleep(after);
        let process = nix::unistd::Pid::from_raw(i32::try_from(test.id()).expect("a process"));
        // `timeout` sends one to the process and one to its group. It may have ended.
        for _ in 0..2 {
            let _ = nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGINT);
        }
        let ended = test.wait().expect("it ends");
        if !is_kept(&workshop) {
            assert_eq!(ended.code(), Some(1), "it came to its end before");
            continue;
        }
        assert!(matches!(ended.code(), Some(1 | 3)), "{ended}");
        let rest = report(&workshop, &format!("{OPTIONS} --resume"));
        assert!(rest["tests"][0]["complete"] == true && !is_kept(&workshop), "{rest:#}");
        assert_eq!(tried(&rest), tried(&whole), "{rest:#}");
        assert_eq!(rest["tests"][0]["runs"], whole["tests"][0]["runs"], "{rest:#}");
    }
}

/// Only runs without recording have ended. How long these took sets the limit of recorded ones, in the second part, too: none has hung.
#[test]
fn how_long_runs_without_recording_take_is_known_later() {
    let workshop = built_with("hangs-once.c", "-DSLOW_FROM=9 -DWAITS");
    let run = test(&workshop, "--time 3 --jobs 1");
    assert!(run.status == Some(3) && is_kept(&workshop), "{}{}", run.out, run.err);
    let run = test(&workshop, "--time 9 --jobs 1 --resume");
    assert!(run.status == Some(3) && run.out.contains("0 runs recorded;"), "{}{}", run.out, run.err);
}

/// Each ends in one message, and what is kept stays.
#[test]
fn a_test_goes_on_only_as_what_it_was() {
    let workshop = built(&source("budget.c"));
    let refused = |options: &str, message: &str| {
        let run = test(&workshop, &format!("--resume {options}"));
        assert!(run.status == Some(2) && run.err.contains(message), "{options}: {}{}", run.out, run.err);
        assert_eq!(run.err.trim_end().lines().count(), 1, "{}", run.err);
    };
    refused(OPTIONS, "program.finds: keeps no test that a limit or Ctrl-C has stopped");
    assert!(!workshop.path("program.finds").exists());
    report(&workshop, &format!("{OPTIONS} --stop-after 1"));
    refused("--runs 1 --predict precise", "keeps a test in which --predict was both, found precise");
    refused("--runs 1 --seed 3", "keeps a test in which --seed was 0, found 3");
    let program = workshop.path("program");
    let mut other = foretrace();
    other.current_dir(program.parent().expect("in a folder")).args(["test", "--resume", "--", "./program", "7"]);
    let other = ran(&mut other);
    assert!(other.status == Some(2) && other.err.contains("with the arguments ``, found `7`"), "{}", other.err);
    workshop.make("foretrace cc -w -g -O2 -pthread budget.c -o program");
    refused(OPTIONS, "keeps a test of another build of");
    std::fs::write(workshop.path("program.finds/unfinished/state.json"), "{").expect("written");
    refused(OPTIONS, "unfinished/state.json");
}

//! `record --live`: what is found is said while the program runs, and what a copy of growing logs holds is a part of the run.

use crate::support::{Workshop, foretrace, ran, source};
use foretrace_walker::{Options, Snapshots, finish_logs, walk};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// What a live recording says, line by line. The program is told to end once something was found, or there was time to.
fn said(flags: &[&str], atomic: &str, wait: Duration) -> Vec<String> {
    let workshop = Workshop::build(&source("live.c"), flags);
    let mut command = foretrace();
    command.current_dir(workshop.path("")).args([
        "record",
        "--live",
        "--parallel",
        "--atomic",
        atomic,
        "--",
        "./program",
    ]);
    let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stderr.take().expect("it is a pipe")).lines();
    let go = workshop.path("go");
    let mut said = Vec::new();
    std::thread::scope(|scope| {
        let given_up = scope.spawn(|| {
            let begun = Instant::now();
            while begun.elapsed() < wait && !go.exists() {
                std::thread::sleep(Duration::from_millis(20));
            }
            fs::write(&go, "").expect("written");
        });
        while let Some(line) = lines.next().transpose().expect("text") {
            if line.contains("live: can happen") {
                fs::write(&go, "").expect("written");
            }
            said.push(line);
        }
        given_up.join().expect("it ends");
    });
    assert!(child.wait().expect("it ends").success(), "{said:#?}");
    said
}

fn position(said: &[String], part: &str) -> Option<usize> {
    said.iter().position(|line| line.contains(part))
}

#[test]
fn a_lost_update_is_said_before_the_program_ends() {
    let said = said(&[], "auto", Duration::from_secs(50));
    let found = position(&said, "live: can happen, by the first").unwrap_or_else(|| panic!("{said:#?}"));
    let over = position(&said, "over at").unwrap_or_else(|| panic!("{said:#?}"));
    assert!(found < over, "{said:#?}");
    let line = &said[found];
    assert!(line.contains("balance (R-W-W)"), "{line}");
    assert!(line.contains("live.c:11:18, 18:13; meanwhile 18:13"), "{line}");
    let times = said.iter().filter(|other| other.contains("live.c:11:18, 18:13; meanwhile 18:13"));
    assert_eq!(times.count(), 1, "{said:#?}");
    assert!(position(&said, "1 different violations can happen").is_some(), "{said:#?}");
}

/// The walk makes no blocks of whole threads: they are there all the same.
#[test]
fn whole_threads_are_judged_where_they_are_asked_for() {
    let said = said(&[], "threads", Duration::from_secs(50));
    assert!(position(&said, "live: can happen, by the first") < position(&said, "over at"), "{said:#?}");
    assert!(position(&said, "balance (R-W-W)").is_some(), "{said:#?}");
}

#[test]
fn of_the_right_twin_nothing_is_said() {
    let said = said(&["-DRIGHT"], "auto", Duration::from_secs(3));
    assert_eq!(position(&said, "can happen, by"), None, "{said:#?}");
    assert!(position(&said, "live: 0 different violations can happen").is_some(), "{said:#?}");
}

/// Cuts the logs of a recording at random, as if the program were at it, and gives the recording to a test.
fn while_it_runs(recording: &Path, seed: u64, test: impl FnOnce(&Path)) {
    let growing = tempfile::tempdir().expect("a folder");
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for entry in fs::read_dir(recording).expect("a recording") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let mut bytes = fs::read(&path).expect("a file");
        if name.starts_with("thread-") {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let from = 64 + (random as usize % (bytes.len() - 64)) / 8 * 8; // words are written whole
            bytes[from..].fill(0);
        }
        fs::write(growing.path().join(name), bytes).expect("written");
    }
    test(growing.path());
}

#[test]
fn copies_of_growing_logs_are_parts_of_the_run() {
    let right: &[(&str, &[&str])] =
        &[("live.c", &["--serial"]), ("posix.c", &["--serial"]), ("live.c", &["--parallel"])];
    for (name, options) in right {
        let workshop = Workshop::build(&source(name), &[]);
        fs::write(workshop.path("go"), "").expect("written");
        // In its folder, where it finds `go`: else it would nap for a minute.
        let recorded = ran(&mut workshop.shell(&format!("foretrace record {} -o run -- ./program", options.join(" "))));
        let recording = workshop.path("run");
        assert!(recording.join("trace.jsonl.zst").is_file(), "{}", recorded.err);
        let whole = walk(&recording, &Options::default(), |_| ()).expect("a trace").0.trace.events.len();
        let mut longest = 0;
        for seed in 1..=9 {
            while_it_runs(&recording, seed, |growing| {
                let copy = tempfile::tempdir().expect("a folder");
                let records = Snapshots::of_recording(growing).take(copy.path()).expect("a copy");
                if records == 0 {
                    return;
                }
                let walked = walk(copy.path(), &Options::default(), |_| ());
                let events = walked.unwrap_or_else(|error| panic!("{name} {seed}: {error}")).0.trace.events.len();
                assert!(events <= whole, "{name} {seed}: {events} events of {whole}");
                longest = longest.max(events);
            });
        }
        assert!(longest > whole / 10, "{name}: {longest} of {whole}");
        finish_logs(&recording).expect("they are finished");
    }
}

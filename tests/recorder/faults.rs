//! What cannot be built, recorded or read: refused with one clear message and nothing half-written, or told while the
//! program runs on as it would. After a wanted change: `INSTA_UPDATE=always cargo test --test recorder`.

use crate::support::{Ran, Workshop, expect, is_installed, left_out, ran, source};
use std::process::Command;

/// The workshop of a lost update, recorded as `run`.
fn recorded() -> Workshop {
    let workshop = Workshop::build(&source("update.c"), &[]);
    expect(0, &mut workshop.shell("foretrace record -o run -- ./program"));
    workshop
}

/// A message without what differs from machine to machine.
fn redacted(workshop: &Workshop, text: &str) -> String {
    let real = workshop.path("").canonicalize().expect("a folder");
    let text = text.replace(&*real.to_string_lossy(), "DIR");
    let is_id = |word: &str| word.len() == 40 && word.chars().all(|c| c.is_ascii_hexdigit());
    let words = text.split(' ').map(|word| match word.trim_end_matches([':', ';', ',']) {
        id if is_id(id) => word.replace(id, "BUILD-ID"),
        _ => word.to_string(),
    });
    words.collect::<Vec<String>>().join(" ")
}

/// Runs a script that must be refused with one line; that line. Nothing is left behind.
fn refused(workshop: &Workshop, script: &str) -> String {
    let files = || {
        let list = expect(0, &mut workshop.shell("find . | sort"));
        String::from_utf8(list.stdout).expect("names")
    };
    let before = files();
    let Ran { status, out, err } = ran(&mut workshop.shell(script));
    assert_eq!((status, &*out), (Some(2), ""), "{script}: {err}");
    assert_eq!(err.lines().count(), 1, "{script}: {err}");
    assert_eq!(files(), before, "{script}");
    format!("$ {script}\n{}", redacted(workshop, &err))
}

fn all_refused(workshop: &Workshop, scripts: &[&str]) -> String {
    scripts.iter().map(|script| refused(workshop, script)).collect()
}

#[test]
fn programs_that_cannot_be_recorded() {
    let workshop = recorded();
    workshop.make("echo 'int main(void) { return 0; }' >plain.c && cc -o plain plain.c");
    workshop.make("printf '#!/bin/sh\\n' >script && echo text >text && chmod +x script text");
    workshop.make("cp program locked && chmod a-x locked && strip -R .foretrace -o bare program");
    let source = source("update.c");
    workshop.make("echo 'int x;' >x.c && cc -shared -fPIC -o libx.so x.c");
    workshop.make(&format!("foretrace cc -g1 -o alone {} -L. -Wl,--no-as-needed -lx", source.display()));
    workshop.make(
        "sed 's#/lib64/ld-linux-x86-64.so.2#/lib64/ld-linux-x86-64.so.9#' program >unloaded && chmod +x unloaded",
    );
    let programs = ["./plain", "./script", "./text", "./missing", "missing", ".", "./locked", "./bare", "./unloaded"];
    let commands = programs.map(|name| format!("foretrace record -o new -- {name}"));
    let commands = commands.into_iter().chain(["foretrace test --time 5 -- ./alone".to_string()]);
    let told: String = commands.map(|command| refused(&workshop, &command)).collect();
    insta::assert_snapshot!(told);
}

#[test]
fn folders_that_cannot_be_used() {
    let workshop = recorded();
    workshop.make("mkdir photos && touch photos/one");
    let folders = ["photos", "program", "program/run", "/proc/run"];
    let told: String =
        folders.iter().map(|name| refused(&workshop, &format!("foretrace record -o {name} -- ./program"))).collect();
    insta::assert_snapshot!(told);
}

#[test]
fn recordings_that_cannot_be_read() {
    let workshop = recorded();
    workshop.make("for copy in later newer cut short empty nothing lost; do cp -r run $copy; done; mkdir folder");
    workshop.make("printf '\\004' | dd of=later/thread-1.log bs=1 seek=7 conv=notrunc");
    workshop.make("sed -i 's/\"foretrace\": 1/\"foretrace\": 2/' newer/recording.json");
    workshop
        .make("truncate -s -40 cut/thread-1.log; truncate -s 10 short/thread-1.log; truncate -s 0 empty/thread-1.log");
    workshop.make("rm nothing/thread-*.log");
    let recordings = ["later", "newer", "cut", "short", "empty", "nothing", "folder", "missing"];
    let told: String =
        recordings.iter().map(|name| refused(&workshop, &format!("foretrace trace {name} -o new.jsonl"))).collect();
    insta::assert_snapshot!(told);
}

#[test]
fn a_program_that_was_changed_since() {
    let workshop = recorded();
    workshop.make("mkdir witnesses; foretrace predict run --witness-dir witnesses >report || true");
    workshop.make("mv witnesses/*.json witness.json && cp program old");
    workshop.make(&format!("foretrace cc -DOTHER -g1 -o program {}", source("update.c").display()));
    let told = all_refused(
        &workshop,
        &[
            "foretrace trace run -o new.jsonl",
            "foretrace replay run -- ./program",
            "foretrace replay witness.json -- ./program",
        ],
    );
    insta::assert_snapshot!(told);
}

#[test]
fn compilers_that_are_not_there() {
    let workshop = Workshop::empty();
    workshop.make("echo 'int main(void) { return 0; }' >a.c");
    let told = all_refused(
        &workshop,
        &[
            "FORETRACE_CLANG=/nowhere/clang foretrace cc -o new a.c",
            "here=$(command -v foretrace); PATH= \"$here\" cc -o new a.c",
            "FORETRACE_LLVM=/nowhere/libLLVM.so foretrace cc -o new a.c",
            "FORETRACE_LLVM=/lib/x86_64-linux-gnu/libc.so.6 foretrace cc -o new a.c",
        ],
    );
    insta::assert_snapshot!(told);
}

#[test]
fn an_llvm_that_is_too_old() {
    let all = expect(0, Command::new("sh").args(["-c", "ls /usr/lib/llvm-1*/lib/libLLVM*.so.1 2>/dev/null || true"]));
    let all = String::from_utf8(all.stdout).expect("names");
    let Some(old) = all.lines().next() else {
        left_out("no old libLLVM is installed");
        return;
    };
    let workshop = Workshop::empty();
    workshop.make("echo 'int main(void) { return 0; }' >a.c");
    let told = refused(&workshop, &format!("FORETRACE_LLVM={old} foretrace cc -o new a.c"));
    assert!(told.contains("is too old") && told.contains("LLVM 22 or newer is needed"), "{told}");
}

/// What says how to record more of the run, or its end.
const BOUNDS: &str = " (more: --max-size; the run's end: --window)";

/// The program did what it always does, one line says why recording stopped, and the trace up to there is valid.
fn stopped_early(workshop: &Workshop, run: &Ran, recording: &str, why: &str) {
    assert_eq!((run.status, &*run.out), (Some(5), "40000\n"), "{}", run.err);
    let said: Vec<&str> = run.err.lines().filter(|line| line.contains("recording stopped")).collect();
    assert_eq!(said, [format!("foretrace: recording stopped: {why}; the program goes on unrecorded")]);
    let events = workshop.trace(recording).len();
    assert!((500..160_000).contains(&events), "{events} events");
    expect(0, &mut workshop.shell(&format!("foretrace info {recording}/trace.jsonl.zst")));
}

#[test]
fn logs_that_reach_their_limit() {
    let workshop = Workshop::build(&source("long.c"), &[]);
    for mode in ["--seed 1", "--parallel"] {
        for (size, bytes) in [("200K", 200 << 10), ("1M", 1 << 20)] {
            let script = format!("foretrace record -o run {mode} --max-size {size} -- ./program");
            let run = ran(&mut workshop.shell(&script));
            stopped_early(&workshop, &run, "run", &format!("the logs reached {bytes} bytes{BOUNDS}"));
        }
    }
}

/// A small disk; nothing where we may not mount one.
struct Disk<'w>(&'w Workshop);

impl<'w> Disk<'w> {
    fn mount(workshop: &'w Workshop) -> Option<Disk<'w>> {
        workshop.make("mkdir disk");
        let mounted = ran(&mut workshop.shell("mount -t tmpfs -o size=700k none disk"));
        if mounted.status != Some(0) {
            left_out(&format!("cannot mount a small disk: {}", mounted.err.trim()));
            return None;
        }
        Some(Disk(workshop))
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        ran(&mut self.0.shell("umount -l disk"));
    }
}

#[test]
fn a_disk_that_fills_up() {
    let workshop = Workshop::build(&source("long.c"), &[]);
    let Some(_disk) = Disk::mount(&workshop) else { return };
    for mode in ["--seed 1", "--parallel"] {
        let run = ran(&mut workshop.shell(&format!("foretrace record -o disk/run {mode} -- ./program")));
        stopped_early(&workshop, &run, "disk/run", "the disk is full");
        workshop.make("rm -r disk/run");
    }
    workshop.make("dd if=/dev/zero of=disk/fill bs=4k 2>/dev/null || true");
    let run = ran(&mut workshop.shell("foretrace record -o disk/run -- ./program"));
    assert_eq!((run.status, &*run.out, run.err.lines().count()), (Some(2), "", 1), "{}", run.err);
    assert!(run.err.contains("No space left on device") && !workshop.path("disk/run").exists(), "{}", run.err);
}

#[test]
fn a_debugger_that_is_not_there() {
    let workshop = recorded();
    if !is_installed("gdb") {
        return;
    }
    // The program runs in the environment of its recording, so that has no gdb either.
    let bare = "PATH=bin:$(dirname \"$(command -v foretrace)\") foretrace";
    workshop.make(&format!("mkdir bin witnesses; {bare} record -o run -- ./program"));
    workshop.make("foretrace predict run --witness-dir witnesses >report || true");
    let script = &format!("{bare} replay witnesses/*.json --gdb -- ./program");
    let run = ran(&mut workshop.shell(script));
    assert_eq!((run.status, run.err.lines().count()), (Some(2), 1), "{}", run.err);
    assert!(run.err.contains("gdb"), "{}", run.err);
}

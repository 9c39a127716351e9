//! Locks that programs make of atomic words: nothing fails with the right ones, and all that can be tried is; the wrong ones are found.

use super::{Workshop, built_with, foretrace, ran, report, support, test};
use std::path::Path;
use support::Ran;

/// Tests a program of the folder `locks`.
fn tested(name: &str, level: &str, macros: &str) -> Ran {
    let workshop = Workshop::empty();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/testing/locks").join(name);
    std::fs::copy(source, workshop.path(name)).expect("copied");
    let driver = if name.ends_with(".cpp") { "c++ -std=c++20" } else { "cc -std=gnu17" };
    workshop.make(&format!("foretrace {driver} -g {level} -pthread {macros} {name} -o program"));
    test(&workshop, "--runs 80 --stop-after 1")
}

/// The right program passes, the wrong one fails.
fn twins(name: &str, level: &str) {
    let right = tested(name, level, "");
    assert_eq!(right.status, Some(0), "{}{}", right.out, right.err);
    let wrong = tested(name, level, "-DWRONG");
    assert_eq!(wrong.status, Some(1), "{}{}", wrong.out, wrong.err);
}

#[test]
fn a_ticket_lock() {
    twins("ticket.c", "-O2");
}

#[test]
fn a_lock_with_a_queue_of_those_who_wait() {
    twins("queue.c", "-O0");
}

#[test]
fn a_count_that_readers_look_at_twice() {
    twins("seqlock.c", "-O2");
}

#[test]
fn a_word_of_permits() {
    twins("permits.c", "-O0");
}

#[test]
fn a_barrier_whose_sense_turns() {
    twins("barrier.c", "-O2");
}

#[test]
fn a_bounded_ring() {
    twins("ring.c", "-O0");
}

#[test]
fn a_word_for_readers_and_a_writer() {
    twins("readers.cpp", "-O2");
}

#[test]
fn versions_that_readers_hold() {
    twins("versions.c", "-O0");
}

/// A replay looks at the word of a futex where the recording did: before and after, the wait would be over at once.
#[test]
fn a_thread_that_waits_with_an_old_value_is_not_woken() {
    let run = test(&built_with("stale-wait.c", ""), "--stop-after 1");
    assert_eq!(run.status, Some(1), "{}{}", run.out, run.err);
    assert!(run.out.contains("1. deadlock") && run.out.contains("fails in 3 of 3 replays"), "{}", run.out);
    let waits = "waits for a wake-up that no thread gives, after stale-wait.c:";
    assert!(run.out.contains(waits), "{}", run.out);
    let right = test(&built_with("stale-wait.c", "-DRIGHT"), "--runs 30");
    assert_eq!(right.status, Some(0), "{}{}", right.out, right.err);
}

/// A lock that readers leave to a writer who waits: whoever reads under it and asks for it again waits for that writer.
#[test]
fn a_thread_that_reads_again_waits_for_the_writer_who_waits_for_it() {
    let run = test(&built_with("reads-again.c", ""), "--stop-after 1");
    assert_eq!(run.status, Some(1), "{}{}", run.out, run.err);
    assert!(run.out.contains("1. deadlock") && run.out.contains("fails in 3 of 3 replays"), "{}", run.out);
    let story = &report(&built_with("reads-again.c", ""), "--stop-after 1")["tests"][0]["finds"][0]["story"];
    let story = story.to_string();
    assert!(story.contains("waits for the lock that thread 2 took for reading"), "{story}");
    assert!(story.contains("and waits for that lock behind thread 1, which waits to write"), "{story}");
    let right = test(&built_with("reads-again.c", "-DRIGHT"), "--runs 30");
    assert_eq!(right.status, Some(0), "{}{}", right.out, right.err);
}

/// The trace does not have such an unlock, so what it leads to is not predicted: a test and a recording say so.
#[test]
fn an_unlock_of_a_lock_that_is_not_held_is_told() {
    let recorded = |workshop: &Workshop| {
        let program = workshop.path("program");
        let mut command = foretrace();
        command.current_dir(program.parent().expect("in a folder"));
        ran(command.args(["record", "-o", "recording", "--", "./program"])).err
    };
    let wrong = built_with("not-held.c", "");
    let run = test(&wrong, "--runs 10");
    let note = "note: a thread unlocks what it does not hold, which is an error with most locks and which no trace shows: \
                not-held.c:17:5, not-held.c:18:5\n";
    assert!(run.out.contains(note), "{}{}", run.out, run.err);
    let told = "without unlocks by a thread that does not hold the lock: not-held.c:17:5, not-held.c:18:5:";
    let said = recorded(&wrong);
    assert!(said.contains(told), "{said}");
    let right = built_with("not-held.c", "-DRIGHT");
    let run = test(&right, "--runs 10");
    assert!(!run.out.contains("note:"), "{}{}", run.out, run.err);
    let said = recorded(&right);
    assert!(!said.contains("not hold"), "{said}");
}

//! What a failure is told by: the lines and values of the run that fails, and of several ways to it the one that is its cause.

use super::support::{Workshop, expect, foretrace};
use super::{built, built_with, failures, report, source};
use serde_json::Value;
use std::path::Path;

/// Builds a Rust program of this folder, in a target folder that such builds share.
fn built_by_cargo(name: &str, features: &str) -> Workshop {
    let workshop = Workshop::empty();
    let manifest =
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[features]\nright = []\n");
    std::fs::write(workshop.path("Cargo.toml"), manifest).expect("written");
    std::fs::create_dir(workshop.path("src")).expect("made");
    std::fs::copy(source(&format!("{name}.rs")), workshop.path("src/main.rs")).expect("copied");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(["foretrace-stories", features].join("-"));
    let mut command = foretrace();
    command.args(["cargo", "build", "--offline", "--features", features, "--manifest-path"]);
    expect(0, command.arg(workshop.path("Cargo.toml")).arg("--target-dir").arg(&target));
    std::fs::copy(target.join("x86_64-unknown-linux-gnu/debug").join(name), workshop.path("program")).expect("copied");
    workshop
}

/// A thread that waits reads the state again and again, and another one that holds the first copy reads it after it is gone: both come of
/// the two that load it. No failure needs them: only without the lost update does the program pass.
#[test]
fn a_failure_is_told_by_the_interruption_that_it_needs() {
    let report = report(&built_by_cargo("lazy-config", ""), "--time 60 --stop-after 1");
    let find = &report["tests"][0]["finds"][0];
    let title = find["title"].as_str().expect("a title");
    assert!(title.contains("lost update") && title.contains("CONFIG.state"), "{find:#}");
    let right = self::report(&built_by_cargo("lazy-config", "right"), "--time 5");
    assert_eq!(failures(&right), "", "{right:#}");
}

/// The recorded runs came by the same code of the library from other lines than the run that fails.
#[test]
fn a_story_has_the_lines_of_the_run_that_fails() {
    let report = report(&built_with("observers.cpp", ""), "");
    assert!(failures(&report).contains("SIGABRT"), "{report:#}");
    let source = std::fs::read_to_string(source("observers.cpp")).expect("there");
    let line_of = |text: &str| 1 + source.lines().position(|line| line.contains(text)).expect("in the source");
    let never_reached = line_of("auto gone = ")..=line_of("observers.erase");
    for find in report["tests"][0]["finds"].as_array().expect("finds") {
        let story = find["story"].as_array().expect("lines");
        for line in story.iter().filter_map(Value::as_str) {
            assert!(
                !never_reached.clone().any(|number| line.contains(&format!("observers.cpp:{number} "))),
                "{find:#}"
            );
        }
    }
}

/// The first recorded run fails, and the test makes no other. What it shows is tried all the same.
#[test]
fn a_failure_after_which_the_test_stops_has_a_story() {
    let report = report(&built(&source("stock-refill.c")), "--seed 1 --runs 5 --stop-after 1");
    let find = &report["tests"][0]["finds"][0];
    assert_eq!(find["story"].as_array().map(Vec::len), Some(4), "three accesses and what they mean: {find:#}");
    assert!(find["title"].as_str().is_some_and(|title| title.contains("`refill`")), "{find:#}");
}

/// No schedule explains the failure: the reaper looks at a connection before it takes it from the table. Its critical section comes between
/// two of a request.
#[test]
fn a_recorded_run_that_fails_is_told_by_the_block_that_it_tears() {
    let report = report(&built_with("kept-alive.cpp", ""), "");
    assert!(failures(&report).contains("SIGABRT"), "{report:#}");
    let find = &report["tests"][0]["finds"][0];
    let title = find["title"].as_str().expect("a title");
    assert!(title.contains("in_use") && title.contains("idle_") && title.contains("`Table::take`"), "{find:#}");
    let right = self::report(&built_with("kept-alive.cpp", "-DRIGHT"), "");
    assert_eq!(failures(&right), "", "{right:#}");
}

/// Right before the write the thread decides by what it read: that branch is no access.
#[test]
fn the_line_of_a_write_is_not_that_of_the_branch_before_it() {
    let report = report(&built_with("tokens.c", ""), "");
    let source = std::fs::read_to_string(source("tokens.c")).expect("there");
    let line = 1 + source.lines().position(|line| line.contains("store(&tokens")).expect("in the source");
    let story = report["tests"][0]["finds"][0]["story"].as_array().expect("lines").clone();
    let mut writes = story.iter().filter_map(Value::as_str).filter(|line| line.contains(" writes "));
    assert!(writes.all(|told| told.contains(&format!("tokens.c:{line} "))), "line {line}: {report:#}");
    let right = self::report(&built_with("tokens.c", "-DRIGHT"), "--runs 30");
    assert_eq!(failures(&right), "", "{right:#}");
}

/// No accesses of memory explain the failure: a thread finds a lock taken.
#[test]
fn a_run_that_fails_after_a_try_in_vain_is_told_by_it() {
    let report = report(&built_with("two-locks-by-tries.c", ""), "--stop-after 1");
    let find = &report["tests"][0]["finds"][0];
    let title = find["title"].as_str().expect("a title");
    assert!(title.contains(" (transfer) does not get ") && title.ends_with(", which is taken"), "{find:#}");
    let story = find["story"].to_string();
    assert!(story.contains("two-locks-by-tries.c:12") && story.contains("two-locks-by-tries.c:11"), "{story}");
    let right = self::report(&built_with("two-locks-by-tries.c", "-DRIGHT"), "--runs 30");
    assert_eq!(failures(&right), "", "{right:#}");
}

/// Such a run is no deadlock: a signal could end it some day.
#[test]
fn a_hang_in_which_every_thread_waits_is_told_by_who_waits_for_what() {
    let report = report(&built_with("drain.c", "-DALARM"), "--run-limit 3 --stop-after 1");
    assert!(failures(&report).contains("hangs"), "{report:#}");
    let story = report["tests"][0]["finds"][0]["story"].to_string();
    for told in [
        "waits for a signal that no thread sends, after drain.c:",
        "gave the last signal before that wait, at drain.c:",
    ] {
        assert!(story.contains(told), "{told}: {story}");
    }
}

/// Nothing interrupts a block here: a thread looks at a variable too late. Passing runs say what it reads otherwise.
#[test]
fn a_value_that_passing_runs_do_not_read_is_told() {
    let report = report(&built_with("late-index.c", ""), "");
    let find = &report["tests"][0]["finds"][0];
    assert_eq!(find["title"], "next has another value than in runs that pass", "{report:#}");
    let story = find["story"].to_string();
    for told in ["thread 2 (take) reads next = 4", "passes", "thread 2 (take) reads next = 0", "taken[next] = 1;"] {
        assert!(story.contains(told), "{told}: {story}");
    }
}

/// The three accesses are where the thread looks at the pointer. It crashes elsewhere, and nothing that it writes says where.
#[test]
fn a_crash_is_told_by_the_thread_that_dies_and_its_line() {
    let report = report(&built(&source("closed-screen.c")), "");
    assert!(failures(&report).contains("SIGSEGV"), "{report:#}");
    let story = report["tests"][0]["finds"][0]["story"].to_string();
    let text = std::fs::read_to_string(source("closed-screen.c")).expect("there");
    let line = 1 + text.lines().position(|line| line.contains("screen->drawn++")).expect("in the source");
    let death = format!("thread 2 (draw) dies at closed-screen.c:{line}  screen->drawn++;");
    assert!(story.contains(&death), "{story}");
}

/// A writer stores eight bytes, of which the reader's four count.
#[test]
fn a_story_tells_the_part_of_a_wide_write_that_is_read() {
    let workshop = built(&source("halves.c"));
    let report = report(&workshop, "");
    let stories: Vec<String> =
        report["tests"][0]["finds"].as_array().expect("finds").iter().map(|find| find["story"].to_string()).collect();
    assert!(stories.iter().any(|story| story.contains("writes 7 ")), "{stories:?}");
    assert!(!stories.iter().any(|story| story.contains("30064771081")), "{stories:?}");
}

/// Threads that view a seat one after the other lead to the failure as well, a turn later.
#[test]
fn a_failure_is_told_by_what_comes_right_before_it() {
    let report = report(&built_with("seats.cpp", ""), "");
    assert!(failures(&report).contains("SIGABRT"), "{report:#}");
    let find = &report["tests"][0]["finds"][0];
    let title = find["title"].as_str().expect("a title");
    assert!(title.contains("main:plan.bookings"), "{find:#}");
    assert!(!report.to_string().contains("._M_"), "the library's own members are named: {find:#}");
    let line = |text: &str| {
        let source = std::fs::read_to_string(source("seats.cpp")).expect("there");
        let at = 1 + source.lines().position(|line| line.contains(text)).expect("in the source");
        format!("seats.cpp:{at} ")
    };
    let story: Vec<&str> = find["story"].as_array().expect("lines").iter().filter_map(Value::as_str).collect();
    assert!(story[0].contains(&line("bookings.find")) && story[2].contains(&line("bookings.insert")), "{find:#}");
}

/// What two calls of a thread make of the work of another one is an effect of what comes within one call.
#[test]
fn a_failure_is_told_by_what_is_not_atomic_within_a_function() {
    let wrong = report(&built_with("average.c", ""), "");
    let find = &wrong["tests"][0]["finds"][0];
    assert!(find["title"].as_str().is_some_and(|title| title.contains("`average` is not atomic")), "{find:#}");
    let right = report(&built_with("average.c", "-DRIGHT"), "--time 20");
    assert_eq!(failures(&right), "", "{right:#}");
}

/// The violations that let a thread use the memory are other ways to the same failure.
#[test]
fn a_use_after_free_is_told_as_one() {
    let wrong = report(&built_with("idle-sessions.c", ""), "");
    let finds = wrong["tests"][0]["finds"].as_array().expect("finds");
    let is_told = |find: &Value| {
        let title = find["title"].as_str().unwrap_or_default();
        title.contains("is used after its memory was freed")
    };
    assert!(finds.first().is_some_and(is_told), "{wrong:#}"); // of others perhaps no schedule to the use itself is known
    let right = report(&built_with("idle-sessions.c", "-DRIGHT"), "--time 20");
    assert_eq!(failures(&right), "", "{right:#}");
}

/// Functions that take a lock or make one access are not what is interrupted: a headline names the function around their calls.
#[test]
fn a_headline_names_the_function_around_small_ones() {
    let titles = |macros: &str| {
        let report = report(&built_with("helpers.c", macros), "");
        let find = &report["tests"][0]["finds"][0];
        format!("{} {}", find["title"], find["others"])
    };
    let of_sections = titles("");
    assert!(
        of_sections.contains("`audit` is not atomic") || of_sections.contains("`deposit` is not atomic"),
        "{of_sections}"
    );
    assert!(!of_sections.contains("`take`") && !of_sections.contains("`give`"), "{of_sections}");
    let of_calls = titles("-DSWAP");
    assert!(of_calls.contains("`update` interrupted by") && !of_calls.contains("`swap`"), "{of_calls}");
}

/// The accesses that are interrupted come from two calls of a function that only reads.
#[test]
fn a_headline_names_the_function_around_two_calls() {
    let report = report(&built_with("spent.c", ""), "");
    let find = &report["tests"][0]["finds"][0];
    assert!(find["failure"].as_str().is_some_and(|failure| failure.contains("take() != NOTHING")), "{report:#}");
    let title = find["title"].to_string();
    assert!(title.contains("`spender` interrupted by"), "{find:#}");
}

/// The runs that fail have 10,000 times as many events as those that pass: that the failing ones are explained must leave time for the others.
#[test]
fn a_failing_run_of_great_length_is_explained_by_schedules_of_short_ones() {
    let report = report(&built_with("below-zero.c", ""), "--time 12");
    let find = &report["tests"][0]["finds"][0];
    assert!(find["title"].as_str().is_some_and(|title| title.contains(" on left, ")), "{find:#}");
    let right = self::report(&built_with("below-zero.c", "-DRIGHT"), "--runs 30");
    assert_eq!(failures(&right), "", "{right:#}");
}

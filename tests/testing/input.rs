//! What programs read from their standard input.

use super::built_with;
use super::support::{Ran, foretrace, ran};
use std::fs::File;
use std::process::{Command, Stdio};

const ARGUMENTS: [&str; 7] = ["test", "--replays", "3", "--time", "20", "--", "./program"];

/// Tests the program with an input file, whose name a shell splits if it is not quoted.
fn with_file(macros: &str) -> (super::Workshop, Ran) {
    let workshop = built_with("sum-of-input.c", macros);
    std::fs::write(workshop.path("in put"), "1 2 3 4\n").expect("written");
    let input = File::open(workshop.path("in put")).expect("there");
    let run = ran(foretrace().current_dir(workshop.path(".")).args(ARGUMENTS).stdin(input));
    (workshop, run)
}

/// What stands behind `replays: ` can be given to a shell as it is.
#[test]
fn the_command_that_repeats_a_failure_redirects_its_input() {
    let (workshop, run) = with_file("");
    assert_eq!(run.status, Some(1), "{}\n{}", run.out, run.err);
    let (_, command) = run.out.split_once("fails in 3 of 3 replays: ").unwrap_or_else(|| panic!("{}", run.out));
    let command = command.lines().next().expect("a line").trim();
    assert!(command.ends_with("-- ./program < 'in put'"), "{command}");
    let command = command.replacen("foretrace", env!("CARGO_BIN_EXE_foretrace"), 1);
    let again = ran(Command::new("sh").args(["-c", &command]).current_dir(workshop.path(".")));
    assert!(again.out.contains("failed: exit status 1"), "{command}\n{}\n{}", again.out, again.err);
    let (_, right) = with_file("-DRIGHT");
    assert_eq!(right.status, Some(0), "{}\n{}", right.out, right.err);
}

#[test]
fn input_by_a_pipe_is_refused_with_a_note() {
    let workshop = built_with("sum-of-input.c", "");
    let told = |input: Stdio| {
        let run = ran(foretrace().current_dir(workshop.path(".")).args(ARGUMENTS).stdin(input));
        assert_eq!(run.status, Some(0), "{}\n{}", run.out, run.err);
        run.out.contains("note: a pipe brings input, which no run reads")
    };
    let mut numbers = Command::new("echo").arg("1 2 3 4").stdout(Stdio::piped()).spawn().expect("starts");
    assert!(told(numbers.stdout.take().expect("a pipe").into()));
    numbers.wait().expect("ends");
    let mut nothing = Command::new("true").stdout(Stdio::piped()).spawn().expect("starts");
    assert!(!told(nothing.stdout.take().expect("a pipe").into()));
    nothing.wait().expect("ends");
}

/// As a shell does with a here-document.
#[test]
fn a_file_that_is_deleted_is_read_all_the_same() {
    let workshop = built_with("sum-of-input.c", "");
    std::fs::write(workshop.path("input"), "1 2 3 4\n").expect("written");
    let input = File::open(workshop.path("input")).expect("there");
    std::fs::remove_file(workshop.path("input")).expect("deleted");
    let run = ran(foretrace().current_dir(workshop.path(".")).args(ARGUMENTS).stdin(input));
    assert_eq!(run.status, Some(1), "{}\n{}", run.out, run.err);
    assert!(run.out.contains("fails in 3 of 3 replays: ") && !run.out.contains(" < "), "{}", run.out);
}

//! Programs with OpenMP whose tasks or loops no recording shows as they are: a right one is not blamed, and the report says what is missed.

use super::{Workshop, failures, report, source, test};

fn built(name: &str, macros: &str) -> Workshop {
    let workshop = Workshop::empty();
    std::fs::copy(source(name), workshop.path(name)).expect("copied");
    workshop.make(&format!("foretrace cc -w -g -O1 -fopenmp {macros} {name} -o program"));
    workshop
}

/// What a task asks for is the number of the thread that runs it. No two that run at the same time get the same one.
#[test]
fn tasks_at_the_same_time_are_not_told_the_same_number() {
    let right = report(&built("task-numbers.c", "-DRIGHT"), "");
    assert_eq!(failures(&right), "", "{right:#}");
    let notes = right["tests"][0]["notes"].to_string();
    assert!(notes.contains("if the program asks for the number of a thread"), "{right:#}");
    let wrong = report(&built("task-numbers.c", ""), "--time 20 --stop-after 1");
    assert!(failures(&wrong).contains("exit status 1: 10 of "), "{wrong:#}");
}

/// The runtime ends the program. That is no failure of it.
#[test]
fn what_cannot_be_recorded_is_no_failure() {
    let run = test(&built("doacross.c", ""), "");
    assert_eq!(run.status, Some(2), "{}{}", run.out, run.err);
    assert!(run.err.contains("the program does what cannot be recorded"), "{}{}", run.out, run.err);
}

/// Recorded runs cannot show what fails here.
#[test]
fn what_fails_without_recording_alone_is_not_passed_over() {
    let workshop = built("doacross.c", "-fno-openmp");
    let script = "#!/bin/sh\n\"$@\" || exit 1\n[ -n \"$FORETRACE_DIR\" ] || exit 3\n";
    workshop.make(&format!("printf '%s' '{script}' > check.sh && chmod +x check.sh"));
    let run = test(&workshop, "--runs 4 --time 15 --harness ./check.sh");
    assert_eq!(run.status, Some(3), "{}{}", run.out, run.err);
    assert!(
        run.out.starts_with("nothing failed in recorded runs; without recording, the program failed"),
        "{}",
        run.out
    );
}

//! Programs that sleep: the runs of a test do not sleep where nothing can come meanwhile, and the program's clocks go on.

use super::support::{Workshop, ran};
use super::{built_with, failures, foretrace, report, test};

/// The last one to eat sleeps alone. Each run would take two seconds, and that of two guests has few orders.
#[test]
fn a_sleep_takes_no_time_where_nobody_else_can_go_on() {
    let right = report(&built_with("slow-meals.c", "-DRIGHT"), "--time 30");
    assert_eq!(failures(&right), "", "{right:#}");
    assert_eq!(right["tests"][0]["complete"], true, "{right:#}");
    let wrong = report(&built_with("slow-meals.c", ""), "--time 30 --run-limit 4 --stop-after 1");
    assert!(failures(&wrong).contains("deadlock"), "{wrong:#}");
}

/// Four recorded runs of the program end with 0.
fn recorded_runs_pass(workshop: &Workshop) {
    for seed in ["1", "2", "3", "4"] {
        let mut record = foretrace();
        record.args(["record", "--seed", seed, "-o"]).arg(workshop.path(seed)).arg("--").arg(workshop.path("program"));
        let run = ran(&mut record);
        assert_eq!(run.status, Some(0), "{}{}", run.out, run.err);
    }
}

/// A thread that sleeps lets the others run in its place; but its time has passed when it looks at a clock.
#[test]
fn who_looks_at_a_clock_has_slept() {
    let workshop = built_with("slept-right.c", "");
    recorded_runs_pass(&workshop);
    let report = report(&workshop, "--runs 40");
    assert!(failures(&report).is_empty() && report["tests"][0]["complete"] == true, "{report:#}");
}

/// So has the time passed for who waits for it.
#[test]
fn who_waits_for_a_sleeper_sees_that_time_has_passed() {
    let right = built_with("slept-elsewhere.c", "");
    recorded_runs_pass(&right);
    let right = report(&right, "--time 10");
    assert_eq!(failures(&right), "", "{right:#}");
    let wrong = report(&built_with("slept-elsewhere.c", "-DWRONG"), "--time 10 --stop-after 1");
    assert!(failures(&wrong).contains("MILLISECONDS"), "{wrong:#}");
}

/// Where threads look at the clock in another order than in the recording, none sees an earlier moment than another one has seen.
#[test]
fn who_looks_at_a_clock_later_sees_a_later_moment() {
    let right = report(&built_with("one-clock.c", ""), "");
    assert_eq!(failures(&right), "", "{right:#}");
    let wrong = report(&built_with("one-clock.c", "-DWRONG"), "--stop-after 1");
    assert!(failures(&wrong).contains("at > latest"), "{wrong:#}");
}

/// A schedule may go on where a thread waits in the kernel. It did not wait for half a minute before.
#[test]
fn no_wait_ends_by_a_limit_that_is_far_away() {
    let right = report(&built_with("result-in-time.cpp", ""), "--time 10");
    assert_eq!(failures(&right), "", "{right:#}");
    assert!(right["tests"][0]["schedules"]["tried"].as_u64() > Some(0), "{right:#}");
    let wrong = report(&built_with("result-in-time.cpp", "'-DLIMIT=milliseconds(1)'"), "--time 20 --stop-after 1");
    assert!(failures(&wrong).contains("SIGABRT"), "{wrong:#}");
}

/// Where a thread goes on alone its time goes on, too. No machine leaves the others standing for as long.
#[test]
fn who_polls_for_seconds_does_not_give_up_before_others_had_their_turns() {
    for how in ["", "-DBUSY"] {
        let right = report(&built_with("polled.c", how), "--time 30");
        assert_eq!(failures(&right), "", "{how} {right:#}");
        assert_eq!(right["tests"][0]["complete"], true, "{how} {right:#}");
        let wrong = report(&built_with("polled.c", &format!("{how} -DWRONG")), "--time 30 --stop-after 1");
        assert!(failures(&wrong).contains("exit status 1"), "{how} {wrong:#}");
    }
}

/// A run without recording really sleeps, and is stopped at the limit of a run. That is no failure, and it is not passed over.
#[test]
fn a_run_without_recording_that_takes_too_long_has_not_failed() {
    let report = report(&built_with("slow-meals.c", "-DRIGHT"), "--time 20 --run-limit 1 --runs 5");
    let notes = report["tests"][0]["notes"].to_string();
    assert!(notes.contains("without recording, the program did not end within 1 s"), "{report:#}");
    assert!(!notes.contains("failed"), "{report:#}");
    assert_eq!((failures(&report), &report["tests"][0]["complete"]), (String::new(), &false.into()), "{report:#}");
}

/// Such a program fails here, and hardly ever by itself. So the report says what its threads do.
#[test]
fn who_waits_by_sleeping_is_told() {
    let wrong = report(&built_with("waits-by-sleeping.c", ""), "--time 20 --stop-after 1");
    assert!(failures(&wrong).contains("exit status 1"), "{wrong:#}");
    assert!(wrong["tests"][0]["notes"].to_string().contains("a sleep lets others run and orders nothing"), "{wrong:#}");
    let hangs = built_with("waits-by-sleeping.c", "-DHANGS");
    let mut unreplayed = foretrace();
    unreplayed.args(["test", "--time", "20", "--run-limit", "1", "--stop-after", "1", "--replays", "0", "--save"]);
    let run = ran(unreplayed.arg(hangs.path("finds")).arg("--").arg(hangs.path("program")));
    assert!(run.out.contains("a sleep lets others run and orders nothing"), "{}{}", run.out, run.err);
    let right = report(&built_with("waits-by-sleeping.c", "-DRIGHT"), "--time 20");
    assert_eq!((failures(&right), &right["tests"][0]["notes"]), (String::new(), &serde_json::json!([])), "{right:#}");
}

/// The note has the limit that the run came to, and not the one that was learned from the other runs.
#[test]
fn a_run_without_recording_that_hangs_is_told_by_its_limit() {
    let run = test(&built_with("hangs-once.c", "-DSLOW_RUN=2 -DWAITS"), "--time 12 --jobs 1");
    assert!(run.out.contains("without recording, the program did not end within 2 s"), "{}", run.out);
}

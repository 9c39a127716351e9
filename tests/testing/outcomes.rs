//! Calls that come out otherwise than in any run that was recorded: waits that end by their limits, tries that find a lock taken.

use super::support::ran;
use super::{built_with, failures, report};

/// The failure of runs in which a wait ends by its limit, or a try finds its lock taken, which no recorded run shows; `told` stands in its
/// story.
fn finds_other_outcome(name: &str, flags: &str, told: &str) {
    let wrong = report(&built_with(name, flags), "");
    let finds = &wrong["tests"][0]["finds"];
    assert_eq!(finds.as_array().map(Vec::len), Some(1), "{wrong:#}");
    let find = &finds[0];
    assert_eq!(find["failure"], "exit status 1", "{wrong:#}");
    assert_eq!(find["replays"], serde_json::json!({ "failed": 3, "times": 3 }), "{wrong:#}");
    let story = find["story"].as_array().expect("a story");
    assert!(story.iter().any(|line| line.as_str().is_some_and(|line| line.contains(told))), "{wrong:#}");
    let right = report(&built_with(name, &format!("-DRIGHT {flags}")), "");
    assert_eq!(failures(&right), "", "{right:#}");
}

/// Its limit is a second, of which its replays wait for none.
#[test]
fn a_wait_that_always_ended_in_time_ends_by_its_limit_once() {
    finds_other_outcome("late-answer.c", "-DTURNS=6000", "a wait of thread 1 (main) ended by its time limit");
}

/// The limit is over, but the thread gets its mutex back after the other one has signalled.
#[test]
fn a_wait_that_is_over_its_limit_comes_back_after_a_signal() {
    finds_other_outcome("late-wait.c", "", "a wait of thread 1 (main) ended by its time limit");
}

/// A limit of several seconds is there for a machine that stands still: other threads come first.
#[test]
fn a_generous_time_limit_is_no_choice() {
    let run = report(&built_with("late-answer.c", "-DSECONDS=3"), "");
    assert_eq!(failures(&run), "", "{run:#}");
}

#[test]
fn a_wait_in_the_kernel_ends_by_its_limit_once() {
    finds_other_outcome("late-token.cpp", "", "a wait of thread 1 (main) ended by its time limit");
}

#[test]
fn a_try_that_always_found_its_lock_free_finds_it_taken_once() {
    finds_other_outcome("busy-once.c", "", "busy-once.c");
}

/// Only the user can tell whether it is wrong, so it is not said that nothing is.
#[test]
fn a_line_that_hardly_any_run_writes_is_left_to_the_user() {
    let workshop = built_with("rarely.c", "");
    let test = |options: &str| {
        workshop.make("rm -f runs");
        ran(&mut workshop.shell(&format!("foretrace test --time 20 {options} -- ./program")))
    };
    let open = test("");
    let head = "nothing failed for certain: a run that passed wrote what hardly any other wrote";
    assert!(open.status == Some(3) && open.out.starts_with(head), "{}{}", open.out, open.err);
    assert!(open.out.contains("wrote \"total 2\", and another run that passed wrote \"total 1\""), "{}", open.out);
    let told = test("--fail-when 'total 9'");
    assert!(told.status == Some(0) && told.out.starts_with("nothing failed\n"), "{}{}", told.out, told.err);
}

/// What whole turns of threads write in some order is not wrong because runs without recording write something else. A count that is lost within
/// a turn is.
#[test]
fn a_line_that_depends_on_the_order_of_whole_turns_is_no_failure() {
    let right = report(&built_with("ration.c", ""), "--seed 0");
    assert_eq!(failures(&right), "", "{right:#}");
    assert_eq!(right["tests"][0]["notes"], serde_json::json!([]), "{right:#}");
    let wrong = report(&built_with("ration.c", "-DWRONG"), "--seed 0");
    let told = "the output differs from that of passing runs: accepted";
    assert!(failures(&wrong).starts_with(told), "{wrong:#}");
}

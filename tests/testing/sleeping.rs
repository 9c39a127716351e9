//! Programs that sleep: the runs of a test do not sleep where nothing can come meanwhile, and the program's clocks go on.

use super::{built_with, failures, report};

/// The last one to eat sleeps alone. Each run would take two seconds, and that of two guests has few orders.
#[test]
fn a_sleep_takes_no_time_where_nobody_else_can_go_on() {
    let right = report(&built_with("slow-meals.c", "-DRIGHT"), "--time 30");
    assert_eq!(failures(&right), "", "{right:#}");
    assert_eq!(right["tests"][0]["complete"], true, "{right:#}");
    let wrong = report(&built_with("slow-meals.c", ""), "--time 30 --run-limit 4 --stop-after 1");
    assert!(failures(&wrong).contains("deadlock"), "{wrong:#}");
}

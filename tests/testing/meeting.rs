//! Runs of a program that go on at the same time must not meet outside: one that writes a file, or has a port, runs one at a time.

use super::support::Workshop;
use super::{Value, built_with, failures, report, test};
use std::net::TcpListener;

fn notes(report: &Value) -> String {
    report["tests"][0]["notes"].to_string()
}

/// The right program fails where two runs write the file at the same time.
#[test]
fn runs_that_write_the_same_file_go_one_at_a_time() {
    let told = "one run at a time, since each writes tally.txt";
    let right = report(&built_with("tally-file.c", "-DRIGHT"), "--jobs 4");
    assert_eq!(failures(&right), "", "{right:#}");
    assert!(notes(&right).contains(told), "{right:#}");
    let wrong = report(&built_with("tally-file.c", ""), "--jobs 4");
    assert!(failures(&wrong).contains("exit status 1") && notes(&wrong).contains(told), "{wrong:#}");
    let apart = report(&built_with("tally-file.c", "-DRIGHT"), "--jobs 4 --sandbox");
    assert_eq!(failures(&apart), "", "{apart:#}");
    assert!(!notes(&apart).contains("one run at a time"), "{apart:#}");
}

/// Of the first two runs one fails before it has opened the file: the other one has removed what both found.
#[test]
fn runs_that_make_the_same_file_go_one_at_a_time() {
    let workshop = built_with("fresh-file.c", "");
    std::fs::write(workshop.path("fresh.txt"), "").expect("written");
    let run = test(&workshop, "--jobs 2");
    assert!(run.out.starts_with("nothing failed\n"), "{}{}", run.out, run.err);
    assert!(run.out.contains("one run at a time, since each writes fresh.txt"), "{}", run.out);
    assert!(!run.out.contains("without recording"), "{}", run.out);
}

#[test]
fn runs_with_the_same_port_go_one_at_a_time() {
    let port = TcpListener::bind(("127.0.0.1", 0)).and_then(|free| free.local_addr()).expect("a port").port();
    let workshop: Workshop = built_with("port.c", &format!("-DPORT={port}"));
    let run = test(&workshop, "--jobs 4");
    assert_eq!(run.status, Some(0), "{}{}", run.out, run.err);
    assert!(run.out.contains(&format!("one run at a time, since each binds port {port}")), "{}", run.out);
}

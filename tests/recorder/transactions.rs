//! What `--atomic` makes of a recording: read off the programs' sources by hand.

use crate::support::{Workshop, example, expect, foretrace};
use serde_json::Value;

/// The label of each transaction of a trace, by thread, in order.
fn transactions(workshop: &Workshop, options: &[&str]) -> Vec<(u64, String)> {
    let trace = workshop.path("trace.jsonl");
    expect(0, foretrace().arg("trace").arg(workshop.path("run")).args(options).arg("-o").arg(&trace));
    let text = std::fs::read_to_string(trace).expect("read");
    let events = text.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let begins = events.filter(|event| event["op"] == "begin");
    let mut found: Vec<(u64, String)> = begins
        .map(|event| (event["t"].as_u64().expect("a thread"), event["label"].as_str().unwrap_or("").to_string()))
        .collect();
    found.sort_by_key(|(thread, _)| *thread); // each thread's stay in order
    found
}

fn recorded(source: &std::path::Path) -> Workshop {
    let workshop = Workshop::build(source, &[]);
    workshop.record("run", &[]);
    workshop
}

fn check(workshop: &Workshop, options: &[&str], expected: &[(u64, &str)]) {
    let found = transactions(workshop, options);
    let found: Vec<(u64, &str)> = found.iter().map(|(thread, label)| (*thread, label.as_str())).collect();
    assert_eq!(found, expected, "{options:?}");
}

/// Thread 1 is `main`, 2 and 4 are the customers, 3 is the branch office, which touches nothing that is shared.
#[test]
fn of_the_bank() {
    let bank = recorded(&example("bank/bank.c"));
    check(&bank, &[], &[(2, "deposit"), (4, "deposit")]);
    let (get, set) = ("deposit>get_balance", "deposit>set_balance");
    let sections = [(1, "main>set_balance"), (1, "main>get_balance"), (2, get), (2, set), (4, get), (4, set)];
    check(&bank, &["--atomic", "sections"], &sections);
    let calls = [(1, "set_balance"), (1, "get_balance"), (2, "deposit"), (4, "deposit")];
    check(&bank, &["--atomic", "functions"], &calls);
    let (get, set) = ("get_balance", "set_balance");
    let inner = [(1, set), (1, get), (2, get), (2, set), (4, get), (4, set)];
    check(&bank, &["--atomic", "inner-functions"], &inner);
    check(&bank, &["--atomic", "functions=get_*"], &[(1, get), (2, get), (4, get)]);
    check(&bank, &["--atomic", "loops"], &[]);
    check(&bank, &["--focus", "account.*"], &[(2, "deposit"), (4, "deposit")]);
    for nothing in [["--focus", "nothing"], ["--atomic", "functions=nothing"]] {
        let nowhere = bank.path("nowhere.jsonl");
        let message = expect(2, foretrace().arg("trace").arg(bank.path("run")).args(nothing).arg("-o").arg(&nowhere));
        let message = String::from_utf8_lossy(&message.stderr);
        assert!(message.contains("found no transactions"), "{message}");
        assert!(!nowhere.exists(), "something was written");
    }
}

#[test]
fn of_loops() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("loops.c");
    let code = r"
#include <pthread.h>
static int count;
static void *add(void *turns) {
    for (int turn = 0; turn < *(int *)turns; turn++)
        count++;
    return turns;
}
int main(void) {
    int few = 2, many = 3;
    pthread_t one, two;
    pthread_create(&one, 0, add, &few);
    pthread_create(&two, 0, add, &many);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
";
    std::fs::write(&source, code).expect("written");
    let found = transactions(&recorded(&source), &["--atomic", "loops"]);
    let turns = |thread| found.iter().filter(|(of, _)| *of == thread).count();
    assert_eq!((turns(2), turns(3)), (2 + 1, 3 + 1), "the last turn looks at its bound and ends: {found:?}");
}

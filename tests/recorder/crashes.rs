//! Programs that do not end well: the trace is there up to the failure.

use crate::support::{Workshop, expect, foretrace};
use serde_json::json;

/// A lost update to predict, then the end that `END` makes.
fn program(end: &str) -> Workshop {
    let text = format!(
        r#"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <assert.h>
#include <unistd.h>
#include <foretrace.h>

static int count;
static void *add(void *unused) {{
    FORETRACE_ATOMIC_BEGIN("add");
    int old = count;
    count = old + 1;
    FORETRACE_ATOMIC_END("add");
    return unused;
}}

int main(void) {{
    pthread_t one, two;
    pthread_create(&one, 0, add, 0);
    pthread_create(&two, 0, add, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    volatile int *nothing = 0;
    (void)nothing;
    {end}
    return 0;
}}
"#
    );
    Workshop::build_text(&text, "crash.c")
}

/// Records the program; its trace must end with a failure that mentions all of `told`, and predict.
fn check(end: &str, exit: serde_json::Value, told: &[&str]) {
    let workshop = program(end);
    assert_eq!(workshop.record("run", &[]), exit);
    let trace = workshop.path("run").join("trace.jsonl");
    expect(0, foretrace().arg("convert").arg(workshop.path("run").join("trace.jsonl.zst")).arg(&trace));
    let text = std::fs::read_to_string(&trace).expect("read");
    let last: serde_json::Value = serde_json::from_str(text.lines().last().expect("events")).expect("JSON");
    assert_eq!(last["op"], "fail", "{last}");
    let reason = last["reason"].as_str().expect("a reason");
    told.iter().for_each(|word| assert!(reason.contains(word), "{reason}"));
    let found = workshop.predict("run");
    assert!(found.iter().any(|found| found.var == "count" && found.pattern == "R-W-W"));
}

#[test]
fn a_null_pointer() {
    check("*nothing = 1;", json!({"signal": 11}), &["SIGSEGV"]);
}

#[test]
fn an_abort() {
    check("abort();", json!({"signal": 6}), &["abort"]);
}

#[test]
fn an_assertion() {
    check("assert(count == 3);", json!({"signal": 6}), &["count == 3"]);
}

#[test]
fn kill_9() {
    check("kill(getpid(), SIGKILL);", json!({"signal": 9}), &["SIGKILL"]);
}

//! `foretrace why` tells what makes a run fail from code that, kept whole, only makes threads meet in another order.

use crate::support::{Workshop, ran};
use serde_json::{Value, json};

/// main hands a line to the logger, says that no more comes, waits until the line is logged, and drops the file, which the logger still uses. If the
/// logger comes in before main has said so, it waits once more. With `BY_SUBMIT` it uses the file late only then.
const LOG: &str = r#"
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

struct file {
    int lines;
};

static struct file file, *_Atomic sink = &file;
static atomic_int pending, closing, stamp;
static sem_t work, logged;

static void submit(void)
{
    pending = 1;
    sem_post(&work); // FIRST
    for (int i = 0; i < 6; i++)
        stamp++;
    closing = 1; // LAST
    sem_post(&work);
}

static void *logger(void *unused)
{
    for (;;) {
        sem_wait(&work);
        if (pending) {
            pending = 0;
            sink->lines++;
            sem_post(&logged);
            if (!closing)
                continue;
#ifndef BY_SUBMIT
            sink->lines++;
#endif
            return unused;
        }
        sink->lines++;
        return unused;
    }
}

int main(void)
{
    pthread_t thread;
    sem_init(&work, 0, 0);
    sem_init(&logged, 0, 0);
    pthread_create(&thread, NULL, logger, NULL);
    submit();
    sem_wait(&logged);
#ifdef RIGHT
    pthread_join(thread, NULL);
    sink = NULL;
#else
    sink = NULL; // DROPPED
    pthread_join(thread, NULL);
#endif
    return 0;
}
"#;

/// The line that a comment marks.
fn line(text: &str, mark: &str) -> u64 {
    text.lines().position(|line| line.ends_with(&format!("// {mark}"))).expect("marked") as u64 + 1
}

/// The reports of `why` on runs that fail, as long as they are asked for.
fn failing_runs<'w>(workshop: &'w Workshop, seeds: std::ops::Range<u32>) -> impl Iterator<Item = Value> + 'w {
    let fails = |seed: &u32| {
        let options = ["--scheduler", "pos", "--seed", &seed.to_string()];
        workshop.record(&format!("run-{seed}"), &options) != json!({ "code": 0 })
    };
    seeds.filter(fails).map(|seed| {
        let why = format!("foretrace why run-{seed} --times 3 --switch-runs 0 --format json -- ./program");
        let run = ran(&mut workshop.shell(&why));
        let report: Value = serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.err));
        assert_eq!(report["again"], 3, "seed {seed}: {report:#}");
        report
    })
}

fn list<'r>(report: &'r Value, key: &str) -> &'r [Value] {
    report[key].as_array().map_or(&[], Vec::as_slice)
}

/// The causes of a report, each in a word or two.
fn causes(report: &Value) -> Vec<String> {
    let is_cause = |one: &&Value| one["cause"] == json!(true);
    let sections = list(report, "violations").iter().filter(is_cause).map(|one| {
        let section = &one["sections"][0];
        let lines = &section["lines"][0];
        format!("{}:{}–{}", section["function"].as_str().unwrap_or(""), lines["first"], lines["last"])
    });
    let writes = list(report, "too_early").iter().filter(is_cause).map(|one| {
        let loc = one["write"]["loc"].as_str().unwrap_or("");
        format!("early:{}", loc.split(':').nth(1).unwrap_or(""))
    });
    sections.chain(writes).collect()
}

/// The report of the first failing run that has a violation in this function without which it passes.
fn with_violation_in(workshop: &Workshop, function: &str, seeds: std::ops::Range<u32>) -> (Value, Value) {
    let is_it = |one: &&Value| one["sections"][0]["function"] == function && one["gone"] == json!(3);
    let found = failing_runs(workshop, seeds)
        .find_map(|report| list(&report, "violations").iter().find(is_it).cloned().map(|one| (report, one)));
    found.unwrap_or_else(|| panic!("no failing run has a violation in {function}"))
}

/// With `submit` whole the logger ends sooner, and the recorded schedule passes. Another one fails.
#[test]
fn code_that_only_delays_the_failing_thread_is_no_cause() {
    let workshop = Workshop::build_text(LOG, "log.c");
    let (report, submit) = with_violation_in(&workshop, "submit", 0..80);
    let lines = &submit["sections"][0]["lines"][0];
    assert_eq!((&lines["first"], &lines["last"]), (&json!(line(LOG, "FIRST")), &json!(line(LOG, "LAST"))));
    assert_eq!((&submit["gone"], &submit["delays"]), (&json!(3), &json!({ "too_early": 0 })), "{report:#}");
    assert_eq!(causes(&report), [format!("early:{}", line(LOG, "DROPPED"))], "{report:#}");
    let right = Workshop::build_text(&format!("#define RIGHT\n{LOG}"), "log.c");
    let passes =
        |seed: u32| right.record("right", &["--scheduler", "pos", "--seed", &seed.to_string()]) == json!({ "code": 0 });
    assert!((0..40).all(passes));
}

/// With `submit` whole no schedule fails: it is a cause beside the write.
#[test]
fn code_without_which_no_schedule_fails_stays_a_cause() {
    let text = format!("#define BY_SUBMIT\n{LOG}");
    let workshop = Workshop::build_text(&text, "log.c");
    let (report, submit) = with_violation_in(&workshop, "submit", 0..300);
    assert_eq!((&submit["cause"], submit.get("delays")), (&json!(true), None), "{report:#}");
    let expected = [
        format!("submit:{}–{}", line(&text, "FIRST"), line(&text, "LAST")),
        format!("early:{}", line(&text, "DROPPED")),
    ];
    assert_eq!(causes(&report), expected, "{report:#}");
}

/// An update is lost. If main starts the threads and opens the gate in one go, they happen to meet in another order.
const GATE: &str = r#"
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static int is_open, balance;

static void deposit(int by)
{
    pthread_mutex_lock(&lock);
    int old = balance; // FIRST
#ifndef RIGHT
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    balance = old + by; // LAST
    pthread_mutex_unlock(&lock);
}

static void *waiter(void *unused)
{
    pthread_mutex_lock(&lock);
    while (!is_open)
        pthread_cond_wait(&opened, &lock);
    pthread_mutex_unlock(&lock);
    deposit(10);
    return unused;
}

static void *other(void *unused)
{
    deposit(20);
    return unused;
}

static void start(pthread_t *threads)
{
    pthread_create(&threads[0], NULL, waiter, NULL);
    pthread_create(&threads[1], NULL, other, NULL);
    pthread_mutex_lock(&lock);
    is_open = 1;
    pthread_cond_broadcast(&opened);
    pthread_mutex_unlock(&lock);
}

int main(void)
{
    pthread_t threads[2];
    start(threads);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return balance != 30;
}
"#;

/// What main reads after the joins was not written too early either: it comes last in each schedule.
#[test]
fn code_that_only_keeps_another_cause_from_coming_about_is_no_cause() {
    let workshop = Workshop::build_text(GATE, "gate.c");
    let expected = [format!("deposit:{}–{}", line(GATE, "FIRST"), line(GATE, "LAST"))];
    let mut delays = 0;
    for report in failing_runs(&workshop, 0..120) {
        assert_eq!(causes(&report), expected, "{report:#}");
        assert_eq!(report.get("too_early"), None, "{report:#}");
        delays += list(&report, "violations").iter().filter(|one| one["delays"]["violation"].is_u64()).count();
        if delays > 0 {
            break;
        }
    }
    assert!(delays > 0, "in no failing run other code was in question");
    let right = Workshop::build_text(&format!("#define RIGHT\n{GATE}"), "gate.c");
    assert!((0..20).all(|seed: u32| right.record("right", &["--seed", &seed.to_string()]) == json!({ "code": 0 })));
}

/// A thread is started before what it reads is there.
const START: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int setting;

static void *reader(void *wrong)
{
    *(int *)wrong = setting != 7;
    return NULL;
}

static void start(pthread_t *thread, int *wrong)
{
#ifdef RIGHT
    setting = 7;
    pthread_create(thread, NULL, reader, wrong);
#else
    pthread_create(thread, NULL, reader, wrong); // FIRST
    setting = 7; // LAST
#endif
}

int main(void)
{
    pthread_t thread;
    int wrong = 0;
    start(&thread, &wrong);
    pthread_join(thread, NULL);
    return wrong;
}
"#;

/// The section begins at the start of the thread, which is no access.
#[test]
fn a_section_can_begin_where_a_thread_is_started() {
    let workshop = Workshop::build_text(START, "start.c");
    let report = failing_runs(&workshop, 0..60).next().expect("a run fails");
    let expected = format!("start:{}–{}", line(START, "FIRST"), line(START, "LAST"));
    assert!(causes(&report).contains(&expected), "{report:#}");
    let right = Workshop::build_text(&format!("#define RIGHT\n{START}"), "start.c");
    assert!((0..20).all(|seed: u32| right.record("right", &["--seed", &seed.to_string()]) == json!({ "code": 0 })));
}

/// main closes what the worker still writes to. If all turns of the worker are one section, main closes it later; it may as well close it before.
const CLOSED: &str = r#"
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *out;

static void write_one(int value)
{
    pthread_mutex_lock(&lock);
    *out += value;
    pthread_mutex_unlock(&lock);
}

static void *worker(void *unused)
{
    for (int i = 0; i < 3; i++)
        write_one(i);
    return unused;
}

static void close_it(void)
{
    pthread_mutex_lock(&lock);
    free(out);
    out = NULL; // CLOSED
    pthread_mutex_unlock(&lock);
}

int main(void)
{
    pthread_t thread;
    out = calloc(1, sizeof *out);
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RIGHT
    pthread_join(thread, NULL);
    close_it();
#else
    close_it();
    pthread_join(thread, NULL);
#endif
    return 0;
}
"#;

#[test]
fn all_turns_as_one_are_no_cause_where_the_write_may_come_before_them() {
    let workshop = Workshop::build_text(CLOSED, "closed.c");
    let is_turns = |one: &Value| one["sections"][0]["turns"] == json!(true) && one["gone"] == json!(3);
    let report = failing_runs(&workshop, 0..80).find(|report| list(report, "violations").iter().any(is_turns));
    let report = report.expect("in some failing run the worker was interrupted between two turns");
    assert_eq!(causes(&report), [format!("early:{}", line(CLOSED, "CLOSED"))], "{report:#}");
    let right = Workshop::build_text(&format!("#define RIGHT\n{CLOSED}"), "closed.c");
    assert!((0..20).all(|seed: u32| right.record("right", &["--seed", &seed.to_string()]) == json!({ "code": 0 })));
}

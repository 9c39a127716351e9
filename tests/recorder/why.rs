//! `foretrace why`: the violation that made a run fail is named, a harmless one beside it is not.

use crate::support::{Workshop, ran, source};
use serde_json::{Value, json};

/// Two threads check a slot and fill it, each step under the lock, and count without it. The run fails if both fill the slot; a
/// count that is lost does no harm.
const SLOT: &str = r#"
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int filled, fills, count;

static int is_filled(void)
{
    pthread_mutex_lock(&lock);
    int now = filled;
    pthread_mutex_unlock(&lock);
    return now;
}

static void fill(void)
{
    pthread_mutex_lock(&lock);
    filled = 1;
    fills++;
    pthread_mutex_unlock(&lock);
}

static void fill_once(void)
{
    if (!is_filled())
        fill();
}

static void note(void)
{
    count = count + 1;
}

static void *worker(void *unused)
{
    (void)unused;
    note();
    fill_once();
    note();
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return fills == 1 ? 0 : 3;
}
"#;

fn fitting(out: &str) -> Value {
    let report: Value = serde_json::from_str(out).expect("the report is JSON");
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/why.schema.json");
    let schema = std::fs::read_to_string(path).expect("the schema is shipped");
    let validator = jsonschema::draft202012::new(&serde_json::from_str(&schema).expect("JSON")).expect("a schema");
    let errors: Vec<String> = validator.iter_errors(&report).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    report
}

#[test]
fn the_cause_is_named_and_what_is_harmless_is_not() {
    let workshop = Workshop::build_text(SLOT, "slot.c");
    let is_failing = |seed: &i32| workshop.record("failing", &["--seed", &seed.to_string()]) == json!({"code": 3});
    assert!((0..200).any(|seed| is_failing(&seed)), "no seed fails");
    let run = ran(&mut workshop.shell("foretrace why failing --times 5 --format json -- ./program"));
    let report = fitting(&run.out);
    assert_eq!((run.status, &report["again"]), (Some(0), &json!(5)), "{}", run.err);
    let violations = report["violations"].as_array().expect("a list");
    for violation in violations {
        let function = &violation["sections"][0]["function"];
        assert_eq!(violation["cause"] == json!(true), function == "fill_once", "{violation:#}");
    }
    assert!(violations.iter().any(|violation| violation["cause"] == json!(true)));
    let switches = &report["switches"];
    assert_eq!(switches["fails"], 5);
    let left = switches["left"].as_array().map(Vec::len).expect("a list");
    assert!((1..=2).contains(&left), "{switches:#}");
}

/// A worker takes work until none is left. In the failing run it takes once. With that code kept whole it comes by it once more, and fails
/// there, so it has to be kept whole there, too.
#[test]
fn code_that_the_program_comes_by_once_more_is_kept_whole_there_too() {
    let workshop = Workshop::build_crate("work-queue-rust", &[]);
    assert_eq!(workshop.record("passing", &["--seed", "1"]), json!({"code": 0}));
    let found = workshop.predict("passing");
    let witness = found.first().expect("a witness").witness.display().to_string();
    let replay = format!("foretrace replay {witness} -o failing --time-limit 10 -- ./program");
    let replayed = ran(&mut workshop.shell(&replay));
    assert!(workshop.path("failing/recording.json").exists(), "{}", replayed.err);
    let run = ran(&mut workshop.shell("foretrace why failing --times 5 --switch-runs 0 --format json -- ./program"));
    let report = fitting(&run.out);
    assert_eq!((run.status, &report["again"]), (Some(0), &json!(5)), "{}", run.err);
    let cause = &report["violations"][0];
    assert_eq!((&cause["cause"], &cause["sections"][0]["function"]), (&json!(true), &json!("take")), "{cause:#}");
}

#[test]
fn a_run_that_passed_has_no_cause() {
    let workshop = Workshop::build_text(SLOT, "slot.c");
    let is_passing = |seed: &i32| workshop.record("passing", &["--seed", &seed.to_string()]) == json!({"code": 0});
    assert!((0..200).any(|seed| is_passing(&seed)), "no seed passes");
    let run = ran(&mut workshop.shell("foretrace why passing -- ./program"));
    assert_eq!((run.status, run.out.as_str()), (Some(2), ""));
    assert!(run.err.contains("exited with status 0, expected one that failed"), "{}", run.err);
}

/// A ring of two places: the producer says that a value is there before it has written it. Who is ahead waits in a loop.
const RING: &str = r#"
#include <pthread.h>
#include <stdatomic.h>

#define SIZE 2
#define COUNT 6
static int slots[SIZE], bad;
static atomic_uint head, tail;

static void *producer(void *unused)
{
    for (unsigned at = 0; at < COUNT; at++) {
        while (at - atomic_load(&head) == SIZE)
            ;
        atomic_store(&tail, at + 1);
        slots[at % SIZE] = at + 1;
    }
    return unused;
}

static void *consumer(void *unused)
{
    for (unsigned at = 0; at < COUNT; at++) {
        while (at == atomic_load(&tail))
            ;
        int value = slots[at % SIZE];
        atomic_store(&head, at + 1);
        if (value != (int)at + 1)
            bad = 1;
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, producer, NULL);
    pthread_create(&threads[1], NULL, consumer, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return bad;
}
"#;

/// With all turns of a waiting loop as one the program leaves its way before the bug: that is no cause. In the right ring the value is
/// there first, and no run fails.
#[test]
fn turns_of_a_waiting_loop_are_no_cause() {
    let workshop = Workshop::build_text(RING, "ring.c");
    let mut spurious = 0;
    let failing =
        |seed: &u32| workshop.record(&format!("run-{seed}"), &["--seed", &seed.to_string()]) == json!({"code": 1});
    for seed in (1..=60).filter(failing) {
        let command = format!("foretrace why run-{seed} --times 3 --switch-runs 0 --format json -- ./program");
        let run = ran(&mut workshop.shell(&command));
        let report = fitting(&run.out);
        let violations = report["violations"].as_array().expect("a list");
        let causes: Vec<&Value> = violations.iter().filter(|violation| violation["cause"] == json!(true)).collect();
        let lines = causes.iter().map(|cause| &cause["sections"][0]["lines"][0]);
        let lines: Vec<_> = lines.map(|lines| (&lines["first"], &lines["last"])).collect();
        assert_eq!(lines, [(&json!(15), &json!(16))], "{report:#}");
        for other in violations.iter().filter(|other| other["smaller"].is_u64()) {
            assert_eq!((&other["sections"][0]["turns"], &other["gone"]), (&json!(true), &json!(3)), "{report:#}");
            spurious += 1;
        }
        if spurious > 0 {
            break;
        }
    }
    assert!(spurious > 0, "in no failing run the turns of a loop were in question");
    let published = "        atomic_store(&tail, at + 1);\n";
    let right = RING.replace(published, "").replace(" = at + 1;\n    }", &format!(" = at + 1;\n{published}    }}"));
    assert_ne!(right, RING);
    let workshop = Workshop::build_text(&right, "ring.c");
    assert!((1..=12).all(|seed| workshop.record("right", &["--seed", &seed.to_string()]) == json!({"code": 0})));
}

/// A message is published before it is complete. Who reads it meanwhile aborts: the rest of the update is in no trace.
const PUBLISHED: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static volatile int text, *_Atomic current;

static void publish(void)
{
#ifndef RIGHT
    atomic_store(&current, &text);
#endif
    for (int i = 0; i < 8; i++)
        text = i;
#ifdef RIGHT
    atomic_store(&current, &text);
#endif
}

static void look(void)
{
    volatile int *seen = atomic_load(&current);
    if (seen && *seen != 7)
        abort();
}

static void *write_it(void *unused)
{
    publish();
    return unused;
}

static void *read_it(void *unused)
{
    for (int i = 0; i < 8; i++)
        look();
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, write_it, NULL);
    pthread_create(&threads[1], NULL, read_it, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"#;

/// The program ends while a thread is in the middle of a function: no cycle of the trace shows it. In the right program no run fails.
#[test]
fn a_function_that_the_run_did_not_finish_is_the_cause() {
    let workshop = Workshop::build_text(PUBLISHED, "published.c");
    let is_failing = |seed: &i32| workshop.record("failing", &["--seed", &seed.to_string()]) == json!({"signal": 6});
    assert!((0..200).any(|seed| is_failing(&seed)), "no seed fails");
    let run = ran(&mut workshop.shell("foretrace why failing --times 5 --format json -- ./program"));
    let report = fitting(&run.out);
    assert_eq!((run.status, &report["again"]), (Some(0), &json!(5)), "{}", run.err);
    let stopped = report["unfinished"].as_array().expect("a list");
    let causes: Vec<&Value> = stopped.iter().filter(|one| one["cause"] == json!(true)).collect();
    assert_eq!(causes.len(), 1, "{report:#}");
    assert_eq!((&causes[0]["function"], &causes[0]["gone"]), (&json!("publish"), &json!(5)), "{report:#}");
    let text = ran(&mut workshop.shell("foretrace why failing --times 2 --switch-runs 0 -- ./program")).out;
    assert!(text.contains("cause 1: not finished: publish, in which thread 2 (write_it) stopped at"), "{text}");
    let right = Workshop::build_text(&format!("#define RIGHT\n{PUBLISHED}"), "published.c");
    assert!((0..20).all(|seed| right.record("right", &["--seed", &seed.to_string()]) == json!({"code": 0})));
}

/// `main` starts a thread, and sets what that needs afterwards. EARLY: the thread reads it, and fails later.
const LATE: &str = r#"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

static int *config;

static void *use_it(void *unused)
{
#ifdef EARLY
    int *used = config;
    for (volatile int turn = 0; turn < 3; turn++)
        sched_yield();
    if (used == NULL)
        abort();
#else
    if (config == NULL)
        abort();
#endif
    return unused;
}

int main(void)
{
    static int value;
    pthread_t thread;
    pthread_create(&thread, NULL, use_it, NULL);
    config = &value;
    pthread_join(thread, NULL);
    return 0;
}
"#;

/// In the failing run `main` did not come to the write, or came to it too late. No code that is kept whole prevents either.
#[test]
fn what_a_thread_sets_after_it_started_the_one_that_needs_it_is_the_cause() {
    let why = |text: &str, key: &str| {
        let workshop = Workshop::build_text(text, "late.c");
        let is_failing = |seed: &i32| {
            let options = ["--scheduler", "pct", "--seed", &seed.to_string()];
            workshop.record("failing", &options) == json!({"signal": 6})
        };
        assert!((0..200).any(|seed| is_failing(&seed)), "no seed fails");
        let run =
            ran(&mut workshop.shell("foretrace why failing --times 5 --switch-runs 0 --format json -- ./program"));
        assert_eq!(run.status, Some(0), "{}{}", run.out, run.err);
        let report = fitting(&run.out);
        let causes: Vec<&Value> =
            report[key].as_array().into_iter().flatten().filter(|one| one["cause"] == json!(true)).collect();
        assert_eq!(causes.len(), 1, "{report:#}");
        causes[0].clone()
    };
    let is_at = |place: &Value, line: &str| place.as_str().is_some_and(|place| place.ends_with(line));
    let stopped = why(LATE, "unfinished");
    assert_eq!(stopped["function"], json!("main"), "{stopped:#}");
    assert!(is_at(&stopped["reached"], "late.c:28:12"), "{stopped:#}");
    let early = why(&format!("#define EARLY\n{LATE}"), "read_early");
    assert!(is_at(&early["read"]["loc"], "late.c:12:17"), "{early:#}");
    assert!(is_at(&early["write"]["loc"], "late.c:29:12"), "{early:#}");
}

/// A seat is looked at under a shared lock and taken under the lock for one. Two threads hold the shared lock at once in a failing run.
const SEAT: &str = r#"
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int taken, bookings;

static int is_free(void)
{
    pthread_rwlock_rdlock(&lock);
    int now = !taken;
    pthread_rwlock_unlock(&lock);
    return now;
}

static void book(void)
{
    if (is_free()) {
        pthread_rwlock_wrlock(&lock);
        taken = 1;
        bookings++;
        pthread_rwlock_unlock(&lock);
    }
}

static void *customer(void *unused)
{
    book();
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, customer, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return bookings != 1;
}
"#;

/// To keep the booking whole, the other thread must not take the shared lock first and look as soon as this one waits for it.
#[test]
fn code_is_kept_whole_from_the_shared_lock_on() {
    let workshop = Workshop::build_text(SEAT, "seat.c");
    let mut shared = 0;
    for seed in 0..300 {
        if shared == 2 {
            break;
        }
        if workshop.record("failing", &["--seed", &seed.to_string()]) != json!({"code": 1}) {
            continue;
        }
        let ops: Vec<Value> = workshop.trace("failing").iter().map(|event| event["op"].clone()).collect();
        let takes = |pair: &[Value]| pair[0] == json!("acquire_shared") && pair[1] == json!("acquire_shared");
        let locks: Vec<Value> =
            ops.into_iter().filter(|op| op.as_str().is_some_and(|op| op.ends_with("_shared"))).collect();
        if !locks.windows(2).any(takes) {
            continue;
        }
        shared += 1;
        let run =
            ran(&mut workshop.shell("foretrace why failing --times 3 --switch-runs 0 --format json -- ./program"));
        let report = fitting(&run.out);
        let first = &report["violations"][0];
        assert_eq!((&first["cause"], &first["sections"][0]["function"]), (&json!(true), &json!("book")), "{report:#}");
    }
    assert!(shared > 0, "no run fails in which both threads hold the shared lock");
}

/// main deletes the queue, and with it the mutex, while the consumer still uses it: the known bug of pbzip2 0.9.4. Where the consumer waits
/// meanwhile, no code that is kept whole prevents that. In the right program no run fails.
#[test]
fn a_lock_that_is_deleted_too_early_is_the_cause() {
    let file = source("deleted-queue.cpp");
    let text = std::fs::read_to_string(&file).expect("readable");
    let line = 1 + text.lines().position(|line| line.contains("q->mut = NULL")).expect("a line");
    let deletes = format!("deleted-queue.cpp:{line}:");
    let is_there = |place: &Value| place["loc"].as_str().is_some_and(|loc| loc.contains(&deletes));
    let workshop = Workshop::build(&file, &["-g", "-pthread"]);
    let (mut by_section, mut by_order) = (0, 0);
    for seed in 1..=40 {
        let name = format!("run-{seed}");
        if by_section > 0 && by_order > 0 {
            break;
        }
        if workshop.record(&name, &["--seed", &seed.to_string()]) == json!({"code": 0}) {
            continue;
        }
        let why = format!("foretrace why {name} --times 3 --switch-runs 0 --format json -- ./program");
        let run = ran(&mut workshop.shell(&why));
        let report = fitting(&run.out);
        assert_eq!(report["again"], 3, "seed {seed}: {report:#}");
        let is_cause = |one: &&Value| one["cause"] == json!(true);
        let list = |key: &str| report[key].as_array().cloned().unwrap_or_default();
        let has_link = |one: &Value| {
            let links = one["cycle"].as_array().expect("a list");
            links.iter().any(is_there)
        };
        let sections = list("violations").iter().filter(is_cause).any(has_link);
        let orders = list("too_early").iter().filter(is_cause).any(|one| is_there(&one["write"]));
        assert!(sections || orders, "seed {seed}: {report:#}");
        by_section += u32::from(sections);
        by_order += u32::from(!sections);
        if !sections {
            let text = ran(&mut workshop.shell(&why.replace("--format json", ""))).out;
            assert!(text.contains(": too early: thread 1 (main) writes queue.mut at "), "{text}");
        }
    }
    assert!(by_section > 0 && by_order > 0, "{by_section} by a section, {by_order} by an order");
    let right = Workshop::build(&file, &["-g", "-pthread", "-DRIGHT"]);
    assert!((1..=20).all(|seed| right.record("right", &["--seed", &seed.to_string()]) == json!({"code": 0})));
}

/// A thread looks whether the gate is open, and waits. If the gate opens in between, the thread waits for ever.
const GATE: &str = r#"
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static int is_open;

static void pass(void)
{
    pthread_mutex_lock(&lock);
    while (!is_open) {
#ifndef RIGHT
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
#endif
        pthread_cond_wait(&opened, &lock);
    }
    pthread_mutex_unlock(&lock);
}

static void *walker(void *unused)
{
    pass();
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, walker, NULL);
    pthread_mutex_lock(&lock);
    is_open = 1;
    pthread_mutex_unlock(&lock);
    pthread_cond_signal(&opened);
    pthread_join(thread, NULL);
    return 0;
}
"#;

/// The wait comes after the signal that it missed: the check and the wait are not atomic.
#[test]
fn a_check_before_a_wait_that_missed_its_signal_is_the_cause() {
    let workshop = Workshop::build_text(GATE, "gate.c");
    let seed = (0..200).find(|seed: &u32| {
        let ended = workshop.record("failing", &["--scheduler", "pos", "--seed", &seed.to_string()]);
        ended != json!({"code": 0})
    });
    assert!(seed.is_some(), "no seed fails");
    let run = ran(&mut workshop.shell("foretrace why failing --times 3 --switch-runs 0 --format json -- ./program"));
    let report = fitting(&run.out);
    let violations = report["violations"].as_array().expect("a list");
    let causes: Vec<&Value> = violations.iter().filter(|violation| violation["cause"] == json!(true)).collect();
    let lines = causes.iter().map(|cause| &cause["sections"][0]["lines"][0]);
    let lines: Vec<_> = lines.map(|lines| (&lines["first"], &lines["last"])).collect();
    let line = |text: &str| json!(GATE.lines().position(|line| line.contains(text)).expect("a line") + 1);
    assert_eq!(lines, [(&line("while"), &line("cond_wait"))], "{report:#}");
    let right = Workshop::build_text(&format!("#define RIGHT\n{GATE}"), "gate.c");
    let passes =
        |seed: u32| right.record("right", &["--scheduler", "pos", "--seed", &seed.to_string()]) == json!({"code": 0});
    assert!((0..30).all(passes));
}

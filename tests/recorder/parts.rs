//! Parts of runs: the last events of each thread, and what is recorded after a switch.

use crate::support::{Workshop, is_installed, ran};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Threads that count under a lock, one inside of another lock all the time, and one that waits for the end.
const LONG: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <foretrace.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, all_the_time = PTHREAD_MUTEX_INITIALIZER,
    gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t together;
static pthread_cond_t over = PTHREAD_COND_INITIALIZER;
static long total, rounds[3], sometimes;
static long *heap;
static int is_over;
static void add(int who, long by) {
    pthread_mutex_lock(&lock);
    FORETRACE_ATOMIC_BEGIN("add");
    total += by;
    rounds[who]++;
    if (total % 7 == 3) heap[who] += total;
    FORETRACE_ATOMIC_END("add");
    pthread_mutex_unlock(&lock);
}
static void *work(void *argument) {
    int who = (int)(long)argument;
    long own = 0;
    if (who == 1) pthread_mutex_lock(&all_the_time);
    for (int turn = 0; turn < TURNS; turn++) {
        if (turn % 5 == 0) pthread_barrier_wait(&together);
        add(who, who + 1);
        own += rounds[who];
        if (own % 5 == 0) sometimes = own;
    }
    if (who == 1) pthread_mutex_unlock(&all_the_time);
    return 0;
}
static void *wait(void *unused) {
    pthread_mutex_lock(&gate);
    while (!is_over) pthread_cond_wait(&over, &gate);
    pthread_mutex_unlock(&gate);
    return unused;
}
int main(void) {
    pthread_barrier_init(&together, 0, 3);
    heap = calloc(3, sizeof *heap);
    pthread_t threads[3], waiting;
    pthread_create(&waiting, 0, wait, 0);
    for (long i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    pthread_mutex_lock(&gate);
    is_over = 1;
    pthread_cond_broadcast(&over);
    pthread_mutex_unlock(&gate);
    pthread_join(waiting, 0);
    printf("total=%ld rounds[0]=%ld rounds[1]=%ld rounds[2]=%ld\n", total, rounds[0], rounds[1], rounds[2]);
    return 0;
}
"#;

/// A program of this text, built by the compiler of this option.
fn build(text: &str, compiler: &str) -> Workshop {
    let workshop = Workshop::empty();
    std::fs::write(workshop.path("part.c"), text).expect("written");
    workshop.make(&format!("foretrace cc {compiler} -o program part.c"));
    workshop
}

fn compilers() -> Vec<&'static str> {
    if is_installed("gcc") { vec!["", "--gcc"] } else { vec![""] }
}

/// What each variable holds after all writes of a trace, its initial value where there is none.
fn last_values(trace: &[Value]) -> HashMap<&str, &Value> {
    let variables = trace[0]["vars"].as_object().expect("a table");
    let mut values: HashMap<&str, &Value> =
        variables.iter().map(|(name, variable)| (name.as_str(), &variable["init"])).collect();
    for event in trace[1..].iter().filter(|event| event["op"] == "write") {
        assert!(event["external"].is_null(), "a write that is not the program's: {event}");
        values.insert(event["var"].as_str().expect("a name"), &event["value"]);
    }
    values
}

/// What the program printed is what the trace ends with.
fn ends_as_printed(trace: &[Value], printed: &str) {
    let values = last_values(trace);
    for pair in printed.split_whitespace() {
        let (name, printed) = pair.split_once('=').expect("name=value");
        if let Some(value) = values.get(name) {
            assert_eq!(value.to_string(), printed, "{name}");
        }
    }
    assert!(values.contains_key("total"));
}

fn log_bytes(workshop: &Workshop) -> u64 {
    let files = std::fs::read_dir(workshop.path("run")).expect("there").map(|file| file.expect("listed"));
    let logs = files.filter(|file| file.file_name().to_string_lossy().starts_with("thread-"));
    logs.map(|file| file.metadata().expect("there").len()).sum()
}

#[test]
fn a_window_holds_the_end_of_a_run_in_bounded_space() {
    for compiler in compilers() {
        let mut sizes = Vec::new();
        for turns in ["300", "2400"] {
            let workshop = build(&LONG.replace("TURNS", turns), compiler);
            for mode in ["--parallel", "--seed 1", "--seed 2"] {
                let script = format!("foretrace record -o run --window 200 {mode} -- ./program");
                let recorded = ran(&mut workshop.shell(&script));
                assert_eq!(recorded.status, Some(0), "{}", recorded.err);
                assert!(recorded.err.contains("cannot be replayed"), "{}", recorded.err);
                ends_as_printed(&workshop.trace("run"), &recorded.out);
            }
            assert!(workshop.predict("run").is_empty(), "all that transactions do is under one lock");
            sizes.push(log_bytes(&workshop));
        }
        assert!(sizes[1] < sizes[0] * 2, "{sizes:?}");
    }
}

#[test]
fn what_is_open_at_the_cut_stays_so() {
    let workshop = build(&LONG.replace("TURNS", "300"), "");
    assert_eq!(workshop.record("run", &["--window", "200", "--seed", "3"]), json!({"code": 0}));
    let trace = workshop.trace("run");
    let of = |thread: u64, ops: &'static [&'static str]| {
        let events = trace[1..].iter().filter(move |event| event["t"] == thread);
        events.filter(|event| ops.contains(&event["op"].as_str().expect("a name"))).cloned().collect::<Vec<Value>>()
    };
    // The second worker takes its outer lock before anything else, and nobody goes on before.
    let second = of(4, &["acquire", "release", "arrive", "depart", "read"]);
    assert_eq!((&second[0]["op"], &second[0]["lock"]), (&json!("acquire"), &json!("all_the_time")));
    assert!(
        second.iter().position(|event| event["op"] == "read") > second.iter().position(|event| event["op"] == "depart")
    );
    // The thread that waits is still in its wait, which ends by the broadcast.
    let waiting = of(2, &["wait", "wake", "acquire", "read"]);
    assert_eq!(waiting.iter().map(|event| &event["op"]).take(3).collect::<Vec<_>>(), ["acquire", "wait", "wake"]);
    assert!(trace[1..].iter().all(|event| event["at"].is_null()), "no replay could come there");
    let refused = ran(&mut workshop.shell("foretrace replay run -- ./program"));
    assert_eq!(refused.status, Some(2));
    assert!(refused.err.contains("begins later"), "{}", refused.err);
}

/// Two phases, of which the second is recorded: it begins inside of a function, with a value in a register.
const SWITCHED: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <foretrace.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long count, before, after, guarded;
static pthread_barrier_t phase;
static long twice(long value) { return value * 2 + before; }
static void *work(void *argument) {
    long kept = (long)argument + count;
    before += 5;
    pthread_barrier_wait(&phase);
    pthread_barrier_wait(&phase);
    for (int turn = 0; turn < 3; turn++) {
        pthread_mutex_lock(&lock);
        FORETRACE_ATOMIC_BEGIN("count");
        count += kept > 100 ? 1 : 2;
        guarded = twice(count);
        FORETRACE_ATOMIC_END("count");
        pthread_mutex_unlock(&lock);
    }
    return 0;
}
int main(void) {
    pthread_t threads[2];
    pthread_barrier_init(&phase, 0, 3);
    FORETRACE_RECORD_OFF();
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, (void *)(i * 1000));
    pthread_barrier_wait(&phase);
    pthread_mutex_lock(&lock);
    FORETRACE_RECORD_ON();
    count += 10;
    pthread_barrier_wait(&phase);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    FORETRACE_RECORD_OFF();
    after = count;
    printf("count=%ld guarded=%ld\n", count, guarded);
    return 0;
}
"#;

#[test]
fn what_is_recorded_after_a_switch_is_whole() {
    for compiler in compilers() {
        let workshop = build(SWITCHED, compiler);
        for mode in ["--seed 0", "--seed 1", "--seed 2", "--parallel"] {
            let recorded = ran(&mut workshop.shell(&format!("foretrace record -o run {mode} -- ./program")));
            assert_eq!(recorded.status, Some(0), "{}", recorded.err);
            let trace = workshop.trace("run");
            let values = last_values(&trace);
            for pair in recorded.out.split_whitespace() {
                let (name, printed) = pair.split_once('=').expect("name=value");
                assert_eq!(values[name].to_string(), printed, "{name}, {mode}");
            }
            assert!(!values.contains_key("after"), "recording was off");
            let count = trace[1..].iter().find(|event| event["var"] == "count").expect("accessed");
            assert_eq!((&count["op"], &count["value"], &count["t"]), (&json!("read"), &json!(0), &json!(1)));
            let first = trace[1..].iter().find(|event| event["op"] == "acquire").expect("taken");
            assert_eq!((&first["lock"], &first["t"]), (&json!("lock"), &json!(1)), "main holds it from the start");
        }
    }
}

#[test]
fn a_signal_switches_too() {
    let text = "#include <signal.h>\n#include <pthread.h>\nstatic long count;\n\
        static void *work(void *p) { count++; return p; }\n\
        int main(void) { count = 40; raise(SIGUSR2); count = 41; pthread_t t; pthread_create(&t, 0, work, 0);\n\
        pthread_join(t, 0); raise(SIGUSR2); count = 77; return count != 77; }\n";
    let workshop = build(text, "");
    let script = "foretrace record -o run --paused --switch-signal USR2 -- ./program";
    let recorded = ran(&mut workshop.shell(script));
    assert_eq!(recorded.status, Some(0), "{}", recorded.err);
    let trace = workshop.trace("run");
    assert_eq!(trace[0]["vars"]["count"]["init"], 40, "what the first write replaced");
    assert_eq!(last_values(&trace)["count"], &json!(42));
}

/// Nothing is known of a variable before the library writes it; another thread reads it under a lock that is given back later.
const FROM_THE_LIBRARY: &str = r#"
#include <pthread.h>
#include <unistd.h>
#include <foretrace.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];
static char got = 9;
static int seen, other;
static void *look(void *unused) {
    pthread_mutex_lock(&lock);
    FORETRACE_ATOMIC_BEGIN("look");
    seen = got + 1;
    if (got == 1) other = 1;
    FORETRACE_ATOMIC_END("look");
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void) {
    pthread_t thread;
    char byte = 1;
    if (pipe(ends) || write(ends[1], &byte, 1) != 1) return 2;
    FORETRACE_RECORD_OFF();
    got = 7;
    pthread_create(&thread, 0, look, 0);
    pthread_mutex_lock(&lock);
    FORETRACE_RECORD_ON();
    if (read(ends[0], &got, 1) != 1) return 2;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    return other != 1;
}
"#;

#[test]
fn what_is_not_known_at_the_start_is_read_by_nobody() {
    let workshop = build(FROM_THE_LIBRARY, "");
    assert_eq!(workshop.record("run", &["--seed", "0"]), json!({"code": 0}));
    let trace = workshop.trace("run");
    let init = trace[0]["vars"]["got"]["init"].as_u64().expect("a value");
    assert!(init != 1 && init != 7, "neither what came nor what only the program knows: {init}");
    let own: Vec<&Value> = trace.iter().filter(|event| event["t"] == 2).collect();
    let reads: Vec<usize> = (0..own.len()).filter(|index| own[*index]["var"] == "got").collect();
    assert!(!reads.is_empty());
    for read in reads {
        assert_eq!((&own[read + 1]["op"], &own[read + 1]["why"]), (&json!("assume"), &json!("pin")), "{:?}", own[read]);
    }
}

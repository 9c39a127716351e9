//! `record --scheduler`: what each finds in threads that are too short for turns, and that a seed means one run.

use crate::support::{Workshop, expect, foretrace, ran};
use foretrace::recorder::Scheduling;
use serde_json::Value;

/// Two threads of a few records each count up without a lock; the program fails if a count is lost.
const SHORT: &str = "#include <pthread.h>
int n;
static void *count(void *arg) { int seen = n; n = seen + 1; return arg; }
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, count, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return n != 2;
}
";

/// The right one: under a lock no scheduler loses a count, and none comes to a standstill.
const LOCKED: &str = "#include <pthread.h>
int n;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *count(void *arg) {
    pthread_mutex_lock(&m);
    int seen = n; n = seen + 1;
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, count, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return n != 2;
}
";

/// A thread that waits for another in a loop: priorities must not keep the other from its turn for ever.
const SPINS: &str = "#include <pthread.h>
#include <stdatomic.h>
atomic_int ready;
static void *set(void *arg) { atomic_store(&ready, 1); return arg; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, set, 0);
    while (!atomic_load(&ready)) {}
    pthread_join(thread, 0);
    return 0;
}
";

/// Two threads wait for one condition, the first one longer. One signal comes, then nothing but a broadcast. The program fails if the signal
/// wakes the second one, as POSIX allows; or if it wakes none, which cannot be.
const WAKES: &str = "#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER, came = PTHREAD_COND_INITIALIZER;
int waiting, woken[2], number;
static void *wait_for(void *arg) {
    int self = (int)(long)arg;
    pthread_mutex_lock(&m);
    waiting++;
    pthread_cond_signal(&came);
    pthread_cond_wait(&c, &m);
    woken[self] = ++number;
    pthread_cond_signal(&came);
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void) {
    pthread_t threads[2];
    pthread_mutex_lock(&m);
    for (long i = 0; i < 2; i++) {
        pthread_create(&threads[i], 0, wait_for, (void *)i);
        while (waiting <= i) pthread_cond_wait(&came, &m);
    }
    pthread_cond_signal(&c);
    while (!number) pthread_cond_wait(&came, &m);
#ifdef RIGHT
    int failed = number != 1;
#else
    int failed = woken[0] != 1;
#endif
    pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return failed;
}
";

/// Four threads hand tokens through one place. Both sides wait for one condition, and one signal may wake the wrong side: then all sleep. The right
/// one wakes all.
const BOTH_SIDES: &str = "#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int full;
#ifdef RIGHT
#define TELL pthread_cond_broadcast
#else
#define TELL pthread_cond_signal
#endif
static void *turn(void *to) {
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&m);
        while (full == (to != 0)) pthread_cond_wait(&changed, &m);
        full = to != 0;
        TELL(&changed);
        pthread_mutex_unlock(&m);
    }
    return 0;
}
int main(void) {
    pthread_t threads[4];
    for (long i = 0; i < 4; i++) pthread_create(&threads[i], 0, turn, i % 2 ? &m : 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    return 0;
}
";

/// Two threads count how often they take turns, in 800,000 reads. The program fails if that is in more than one of eight.
const LONG: &str = "#include <pthread.h>
enum { TURNS = 400000 };
volatile int last;
int turns;
static void *run(void *arg) {
    for (int i = 0; i < TURNS; i++) if (last != (arg != 0)) { last = arg != 0; turns++; }
    return arg;
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, run, 0);
    pthread_create(&threads[1], 0, run, &last);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return turns > 2 * TURNS / 8;
}
";

/// Two threads hand a token to each other, each time in a loop that waits. With `TRIES` the program fails if one takes so many tries.
const HANDS: &str = "#include <pthread.h>
enum { TIMES = 40 };
_Atomic int holder;
_Atomic int gave_up;
static void *run(void *arg) {
    for (int i = 0; i < TIMES; i++) {
        int tries = 0;
        while (holder != (arg != 0)) {
#ifdef TRIES
            if (++tries == TRIES) gave_up = 1;
#endif
        }
        holder = arg == 0;
    }
    return arg;
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, run, 0);
    pthread_create(&threads[1], 0, run, &holder);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return gave_up;
}
";

const SCHEDULERS: [&str; 7] = ["turns", "random", "round-robin", "pct", "pos", "urw", "order"];

/// The seeds that fail, of so many from 0.
fn failing(workshop: &Workshop, scheduler: &str, runs: u64) -> Vec<u64> {
    let folder = workshop.path("runs");
    let _ = std::fs::remove_dir_all(&folder); // of the scheduler before
    let options = ["--scheduler", scheduler, "--runs", &runs.to_string()];
    let run = ran(foretrace().args(["record", "-o"]).arg(&folder).args(options).arg("--").arg(&workshop.program));
    let seeds =
        run.err.lines().filter_map(|line| line.strip_prefix("foretrace: seed ")?.split(':').next()?.parse().ok());
    let seeds: Vec<u64> = seeds.collect();
    let summary = format!("foretrace: {} of {runs} runs failed", seeds.len());
    assert!(run.err.contains(&summary), "{scheduler}: {}", run.err);
    seeds
}

#[test]
fn short_threads_are_interrupted() {
    let workshop = Workshop::build_text(SHORT, "short.c");
    for scheduler in ["random", "pct", "pos", "urw"] {
        let seeds = failing(&workshop, scheduler, 30);
        assert!(seeds.len() >= 2 && seeds.len() < 30, "{scheduler}: {seeds:?}");
        assert_eq!(failing(&workshop, scheduler, 30), seeds, "{scheduler}: the same seeds fail again");
    }
}

#[test]
fn locks_hold_and_loops_that_wait_end_under_every_scheduler() {
    for (text, name) in [(LOCKED, "locked.c"), (SPINS, "spins.c")] {
        let workshop = Workshop::build_text(text, name);
        for scheduler in SCHEDULERS {
            assert_eq!(failing(&workshop, scheduler, 10), [] as [u64; 0], "{name}, {scheduler}");
        }
    }
}

/// A thread that waits in a loop gives its turn away soon, where a thread has waited in that loop before; the first time it may still give up.
#[test]
fn loops_in_which_threads_have_waited_are_short() {
    let workshop = Workshop::build_text(HANDS, "hands.c");
    let gives_up = Workshop::build_text(&format!("#define TRIES 500\n{HANDS}"), "hands.c");
    for scheduler in ["pct", "pos", "order"] {
        let folder = workshop.path("run");
        let _ = std::fs::remove_dir_all(&folder); // of the scheduler before
        let options = ["--scheduler", scheduler];
        expect(0, foretrace().args(["record", "-o"]).arg(&folder).args(options).arg("--").arg(&workshop.program));
        let records: u64 = Scheduling::steps_of(&folder).into_iter().sum();
        assert!(records < 15_000, "{scheduler}: {records}");
    }
    assert_ne!(failing(&gives_up, "order", 3), [] as [u64; 0]);
}

#[test]
fn turns_are_longer_in_long_runs() {
    let workshop = Workshop::build_text(LONG, "long.c");
    for scheduler in ["random", "urw"] {
        assert_eq!(failing(&workshop, scheduler, 1), [] as [u64; 0], "{scheduler}");
    }
}

#[test]
fn a_signal_wakes_any_of_those_who_wait() {
    let wrong = Workshop::build_text(WAKES, "wakes.c");
    let right = Workshop::build_text(&format!("#define RIGHT\n{WAKES}"), "wakes.c");
    for scheduler in SCHEDULERS {
        let seeds = failing(&wrong, scheduler, 30);
        assert!(seeds.len() >= 2 && seeds.len() < 20, "{scheduler}: {seeds:?}");
        assert_eq!(failing(&right, scheduler, 10), [] as [u64; 0], "{scheduler}");
    }
}

#[test]
fn a_signal_that_wakes_the_wrong_side_is_lost() {
    let wrong = Workshop::build_text(BOTH_SIDES, "sides.c");
    let right = Workshop::build_text(&format!("#define RIGHT\n{BOTH_SIDES}"), "sides.c");
    for scheduler in ["pct", "pos", "order"] {
        let seeds = failing(&wrong, scheduler, 40);
        assert!(seeds.len() >= 3, "{scheduler}: {seeds:?}");
        assert_eq!(failing(&right, scheduler, 20), [] as [u64; 0], "{scheduler}");
    }
}

#[test]
fn a_recording_says_how_it_was_scheduled() {
    let workshop = Workshop::build_text(LOCKED, "locked.c");
    let folder = workshop.path("run");
    let options = ["--scheduler", "pct", "--depth", "5", "--seed", "7"];
    expect(0, foretrace().args(["record", "-o"]).arg(&folder).args(options).arg("--").arg(&workshop.program));
    let text = std::fs::read(folder.join("recording.json")).expect("written");
    let recording: Value = serde_json::from_slice(&text).expect("JSON");
    assert_eq!(
        (&recording["scheduler"], &recording["depth"], &recording["seed"]),
        (&"pct".into(), &5.into(), &7.into())
    );
    for wrong in [["--scheduler", "fair"], ["--depth", "0"], ["--depth", "many"]] {
        let run = ran(foretrace().args(["record"]).args(wrong).arg("--").arg(&workshop.program));
        assert_eq!(run.status, Some(2), "{wrong:?}: {}", run.err);
    }
}

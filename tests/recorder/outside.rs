//! What comes from outside of a program, clocks, random numbers, its environment, is the same in a replay.

use crate::support::{Workshop, expect, ran};
use serde_json::{Value, json};

#[test]
fn the_order_of_a_hash_map_comes_back() {
    let workshop = Workshop::of_crate("outside");
    for seed in ["0", "1"] {
        assert_eq!(workshop.record("run", &["--seed", seed, "--atomic", "functions"]), json!({"code": 0}));
        workshop.replay(&workshop.path("run"), 3, 0);
        let found = workshop.predict("run");
        assert!(!found.is_empty());
        found.iter().for_each(|found| _ = workshop.replay(&found.witness, 1, 0));
    }
}

/// Each thread puts in a stamp and a later one. In the run one thread does both before the other does: only then is no stamp older than the latest.
const STAMPS: &str = r#"
#include <pthread.h>
#include <time.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long latest;
static int late;
static void *stamps(void *unused) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        long at = now.tv_sec * 1000000000L + now.tv_nsec;
        if (at < latest) late++;
        latest = at;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}
int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, stamps, 0);
    pthread_create(&other, 0, stamps, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return late;
}
"#;

/// In a trace a clock says the same in every schedule, and in the program none goes back.
#[test]
fn another_order_of_looks_at_a_clock_is_told() {
    let workshop = Workshop::build_text(STAMPS, "stamps.c");
    assert_eq!(workshop.record("run", &["--scheduler", "order"]), json!({"code": 0}));
    let run = ran(&mut workshop.shell("foretrace predict run --atomic threads --format json"));
    let report: Value = serde_json::from_str(&run.out).expect("JSON");
    let candidates = report["candidates"].as_array().expect("a list").iter();
    let feasible: Vec<&Value> = candidates.filter(|one| one["verdict"] == "feasible").collect();
    // Another stamp between two of a thread: older than both, or later than both.
    assert!(!feasible.is_empty(), "{report:#}");
    for one in feasible {
        assert_eq!(
            (&one["rests_on"], &one["unseen"]["what"]),
            (&json!("unseen"), &json!("a look at a clock")),
            "{one:#}"
        );
    }
}

/// Two threads look at clocks at the same time. What each has seen is printed.
const AT_ONCE: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <time.h>
static pthread_barrier_t begin;
static unsigned long seen[2];
static void *looks(void *to) {
    unsigned long sum = 0;
    pthread_barrier_wait(&begin);
    for (int i = 0; i < 3000; i++) {
        struct timespec fine, coarse;
        clock_gettime(CLOCK_MONOTONIC, &fine);
        clock_gettime(CLOCK_MONOTONIC_COARSE, &coarse);
        sum = sum * 31 + (unsigned long)fine.tv_nsec + (unsigned long)coarse.tv_nsec + (unsigned long)time(0);
    }
    *(unsigned long *)to = sum;
    return 0;
}
int main(void) {
    pthread_t one, other;
    pthread_barrier_init(&begin, 0, 2);
    pthread_create(&one, 0, looks, &seen[0]);
    pthread_create(&other, 0, looks, &seen[1]);
    pthread_join(one, 0);
    pthread_join(other, 0);
    printf("%lu %lu\n", seen[0], seen[1]);
    return 0;
}
"#;

/// A replay runs one thread after the other, and none may take the other's looks for earlier ones.
#[test]
fn threads_that_look_at_clocks_at_once_see_again_what_they_saw() {
    let workshop = Workshop::build_text(AT_ONCE, "at-once.c");
    let recorded = expect(0, &mut workshop.shell("foretrace record --parallel -o run -- ./program"));
    let replayed = ran(&mut workshop.shell("foretrace replay run -- ./program"));
    let printed = String::from_utf8_lossy(&recorded.stdout);
    assert!(replayed.out.starts_with(&*printed), "{printed}\n{}{}", replayed.out, replayed.err);
}

/// Each line of the result is a fact about the run that a variable of the environment or the stack's address decides.
const SURROUNDINGS: &str = r#"
#include <foretrace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int shared;
static void *work(void *argument) {
    FORETRACE_ATOMIC_BEGIN("add"); shared++; FORETRACE_ATOMIC_END("add");
    return argument;
}
int main(int count, char **arguments) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    int here;
    if (getenv("CHOICE")) shared++; else shared += 2;
    pthread_join(thread, 0);
    printf("%s %p %d\n", getenv("CHOICE") ? getenv("CHOICE") : "none", (void *)&here, count);
    return 0;
}
"#;

#[test]
fn a_replay_has_the_environment_and_the_stack_of_its_recording() {
    let workshop = Workshop::build_text(SURROUNDINGS, "surroundings.c");
    let recorded = expect(0, &mut workshop.shell("CHOICE=one foretrace record -o run -- ./program argument"));
    let replayed = ran(&mut workshop.shell("CHOICE=another NEW=1 foretrace replay run -- ./program argument"));
    let printed = String::from_utf8_lossy(&recorded.stdout);
    assert!(printed.starts_with("one 0x"), "{printed}");
    assert_eq!(replayed.status, Some(0), "{}{}", replayed.out, replayed.err);
    assert!(replayed.out.starts_with(&*printed), "{printed}{}", replayed.out);
    let expected = "the program gets the environment of its recording; it differs now in CHOICE, NEW";
    assert!(replayed.err.contains(expected), "{}", replayed.err);
    let other = ran(&mut workshop.shell("CHOICE=one foretrace replay run -- ./program"));
    let expected = "the program was recorded with the arguments [\"argument\"], found []";
    assert!(other.err.contains(expected), "{}", other.err);
}

#[test]
fn gdb_changes_neither_environment_nor_stack() {
    let workshop = Workshop::build_text(SURROUNDINGS, "surroundings.c");
    let recorded = expect(0, &mut workshop.shell("CHOICE=one foretrace record -o run -- ./program"));
    let printed = String::from_utf8_lossy(&recorded.stdout);
    workshop.make("foretrace predict run --witness-dir witnesses; test $? = 1");
    let script = "printf 'continue\nquit\n' | LINES=7 foretrace replay --gdb witnesses/*.json -- ./program";
    let debugged = ran(&mut workshop.shell(script));
    assert!(debugged.out.contains(&*printed), "{printed}\n{}{}", debugged.out, debugged.err);
}

#[test]
fn a_witness_without_its_recording_says_so() {
    let workshop = Workshop::build_text(SURROUNDINGS, "surroundings.c");
    workshop.record("run", &[]);
    let found = workshop.predict("run");
    let witness = workshop.path("witness.json");
    std::fs::copy(&found[0].witness, &witness).expect("copied");
    std::fs::rename(workshop.path("run"), workshop.path("moved")).expect("renamed");
    let replayed = ran(&mut workshop.shell("foretrace replay witness.json -- ./program"));
    assert!(replayed.err.contains("the recording is not where the witness names its trace"), "{}", replayed.err);
}

/// The second run reads the clock more often, since a file is there.
const MORE: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static int shared;
static void *work(void *argument) {
    struct timespec first, second;
    clock_gettime(CLOCK_MONOTONIC, &first);
    shared++;
    if (access("more", F_OK) == 0) clock_gettime(CLOCK_MONOTONIC, &second); else second = first;
    shared++;
    /* Time goes on from what was given. */
    long passed = (second.tv_sec - first.tv_sec) * 1000000000 + second.tv_nsec - first.tv_nsec;
    printf("%d\n", passed >= 0 && passed < 60000000000);
    return argument;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    return shared - 2;
}
"#;

#[test]
fn a_clock_that_is_read_more_often_goes_on_from_the_recorded_time() {
    let workshop = Workshop::build_text(MORE, "more.c");
    workshop.record("run", &[]);
    workshop.make("touch more");
    let replayed = ran(&mut workshop.shell("foretrace replay run -- ./program"));
    assert!(replayed.out.starts_with("1\n"), "{}", replayed.out);
    let expected = "thread 2 (work): clock_gettime was called more than the 1 times of the recording";
    assert!(replayed.err.contains(expected), "{}", replayed.err);
}

/// A wait with a deadline by a clock of the recording, which may be far from that of the replay.
const DEADLINE: &str = r#"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static void *work(void *argument) {
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_nsec += 20000000;
    if (at.tv_nsec >= 1000000000) { at.tv_sec++; at.tv_nsec -= 1000000000; }
    pthread_mutex_lock(&mutex);
    int result = pthread_cond_timedwait(&condition, &mutex, &at);
    pthread_mutex_unlock(&mutex);
    printf("%d\n", result == ETIMEDOUT);
    return argument;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    return 0;
}
"#;

#[test]
fn waits_end_in_a_replay_whatever_the_clock_was() {
    let workshop = Workshop::build_text(DEADLINE, "deadline.c");
    workshop.record("run", &[]);
    // The recording's clock is moved: entries are a header, a result, seconds and nanoseconds.
    let kept = workshop.path("run/outside-0.1");
    let before = std::fs::read(&kept).expect("kept");
    let seconds = i64::from_le_bytes(before[16..24].try_into().expect("eight bytes"));
    assert!(seconds > 1_500_000_000, "{seconds}");
    for moved in [seconds - 100_000_000, seconds + 100_000_000] {
        let mut bytes = before.clone();
        bytes[16..24].copy_from_slice(&moved.to_le_bytes());
        std::fs::write(&kept, bytes).expect("written");
        let run = ran(&mut workshop.shell("timeout 30 foretrace replay run -- ./program"));
        assert_eq!((run.status, run.out.starts_with("1\n")), (Some(0), true), "{}{}", run.out, run.err);
    }
}

/// A thread copies the text of the process's number; the program sends a signal to that number.
const OWN_NUMBER: &str = r#"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char text[16];
static volatile sig_atomic_t came;
static void on(int signal) { came = signal; }
static void *work(void *argument) {
    char own[16];
    int length = snprintf(own, sizeof own, "%d", (int)getpid());
    pthread_mutex_lock(&lock);
    memcpy(text, own, length);
    pthread_mutex_unlock(&lock);
    return argument;
}
int main(void) {
    pthread_t thread;
    signal(SIGUSR1, on);
    pthread_create(&thread, 0, work, 0);
    pthread_mutex_lock(&lock);
    printf("%lu\n", (unsigned long)strlen(text));
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    kill(getpid(), SIGUSR1);
    printf("process %s %d\n", text, came == SIGUSR1);
    return 0;
}
"#;

#[test]
fn a_replay_has_the_process_number_of_its_recording_where_it_can_be_chosen() {
    let workshop = Workshop::build_text(OWN_NUMBER, "own.c");
    let recorded = expect(0, &mut workshop.shell("foretrace record -o run -- ./program"));
    let recorded = String::from_utf8_lossy(&recorded.stdout).into_owned();
    let line = |text: &str| text.lines().find(|line| line.starts_with("process ")).map(str::to_string);
    let is_the_same = || {
        let replayed = expect(0, &mut workshop.shell("foretrace replay run -- ./program"));
        let replayed = String::from_utf8_lossy(&replayed.stdout);
        assert!(line(&replayed).is_some_and(|line| line.ends_with(" 1")), "{replayed}");
        line(&recorded) == line(&replayed)
    };
    let may_choose = std::fs::File::options().write(true).open("/proc/sys/kernel/ns_last_pid").is_ok();
    // Another process may get the number first.
    assert!((0..5).any(|_| is_the_same()) || !may_choose, "{recorded}");
}

/// The number of a file that a program opens decides how far it counts, as where it looks through its files.
const COUNTS_TO_FILE: &str = r#"
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int files;
static void *work(void *argument) {
    pthread_mutex_lock(&lock); files++; pthread_mutex_unlock(&lock);
    return argument;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    int file = open("/dev/null", O_RDONLY);
    for (int other = 0; other < file; other++) {
        pthread_mutex_lock(&lock); files++; pthread_mutex_unlock(&lock);
    }
    pthread_join(thread, 0);
    printf("file %d\n", file);
    return 0;
}
"#;

#[test]
fn a_replay_starts_with_the_descriptors_of_its_recording() {
    let workshop = Workshop::build_text(COUNTS_TO_FILE, "file.c");
    for (recorded, replayed) in [("3</dev/null 4</dev/null 6</dev/null", ""), ("", "3</dev/null 4</dev/null")] {
        let record = format!("foretrace record -o run -- ./program {recorded}");
        let number = String::from_utf8_lossy(&expect(0, &mut workshop.shell(&record)).stdout).into_owned();
        let replay = ran(&mut workshop.shell(&format!("foretrace replay run -- ./program {replayed}; rm -r run")));
        assert!(
            replay.out.contains(&number) && replay.out.contains("to the letter"),
            "{number}{}{}",
            replay.out,
            replay.err
        );
    }
}

/// Times, memory and free blocks differ in each run.
#[test]
fn what_the_kernel_says_of_the_machine_comes_back() {
    let text = r#"
        #define _GNU_SOURCE
        #include <pthread.h>
        #include <sched.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <sys/resource.h>
        #include <sys/statvfs.h>
        #include <sys/sysinfo.h>
        #include <sys/times.h>
        #include <sys/vfs.h>
        static int turns, count;
        static void *work(void *argument) {
            struct rusage usage;
            struct tms spent;
            struct sysinfo machine;
            struct statvfs room;
            struct statfs same;
            double load[3] = {0};
            unsigned processor = 0;
            if (getrusage(RUSAGE_SELF, &usage) || sysinfo(&machine) || statvfs("/", &room) || statfs("/", &same)) abort();
            if (getloadavg(load, 3) != 3 || getcpu(&processor, 0)) abort();
            long ticks = times(&spent);
            printf("%ld %ld %ld %ld ", usage.ru_minflt, usage.ru_utime.tv_usec, ticks, (long)spent.tms_utime);
            printf("%lu %lu %lu %f %u %d\n", machine.freeram, (long)room.f_bfree, (long)same.f_bfree, load[0], processor, sched_getcpu());
            turns = 2 + (usage.ru_minflt + usage.ru_utime.tv_usec + ticks + machine.freeram / 4096) % 20;
            for (int turn = 0; turn < turns; turn++) count++;
            return argument;
        }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, 0, work, 0);
            count++;
            pthread_join(thread, 0);
            return 0;
        }"#;
    let workshop = Workshop::build_text(text, "usage.c");
    for mode in ["--serial", "--parallel"] {
        let recorded = ran(&mut workshop.shell(&format!("rm -rf run; foretrace record {mode} -o run -- ./program")));
        assert_eq!(recorded.status, Some(0), "{}{}", recorded.out, recorded.err);
        let found = workshop.predict("run");
        let witness = &found.last().expect("an update that is lost").witness;
        for what in ["run", &witness.to_string_lossy()] {
            let replayed = ran(&mut workshop.shell(&format!("sleep 0.02; foretrace replay {what} -- ./program")));
            assert!(replayed.out.starts_with(&recorded.out), "{}{}{}", recorded.out, replayed.out, replayed.err);
            assert!(replayed.out.contains("to the letter"), "{}{}", replayed.out, replayed.err);
        }
    }
}

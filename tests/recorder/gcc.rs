//! Programs that gcc built: values without expressions, and the same commands.

use crate::examples::{is_repaired, shows};
use crate::support::{Workshop, expect, is_installed, ran, source};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;

/// The violations of these programs follow from the values of a passing run; those of the other four need
/// values that only expressions predict.
macro_rules! programs {
    ($($name:ident: $folder:literal;)*) => { $(
        #[test]
        fn $name() {
            if is_installed("gcc") && is_installed("g++") {
                shows($folder, 20, &["--gcc"]);
                is_repaired($folder, &["--gcc"]);
            }
        }
    )* };
}

programs! {
    a_count_of_references: "apache-refcount";
    a_pointer_set_to_null: "mozilla-script-pointer";
    a_string_that_shrinks: "string-buffer";
    a_lock_given_up: "bounded-buffer";
}

/// Structs are copied (gcc announces the write before the read), bits set, atomics used in every way; the end is printed.
const EVERYTHING: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
struct large { long a, b, c; int d; };
struct small { int x, y; };
struct large one, other;
struct small little, copy;
atomic_int count;
_Atomic unsigned char byte;
_Atomic long swapped;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *argument) {
    long number = (long)argument;
    for (int turn = 0; turn < 4; turn++) {
        pthread_mutex_lock(&lock);
        one.a += number;
        one.d--;
        other = one;
        other.b = other.a * 2;
        one = other;
        little.x++;
        copy = little;
        copy.y += copy.x;
        little = copy;
        pthread_mutex_unlock(&lock);
        atomic_fetch_add(&count, 3);
        atomic_fetch_xor(&byte, 7);
        long expected = turn;
        if (!atomic_compare_exchange_strong(&swapped, &expected, turn + 1)) atomic_fetch_sub(&swapped, expected);
    }
    return 0;
}
int main(void) {
    pthread_t threads[3];
    for (long i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, (void *)(i + 1));
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    printf("one.a=%ld one.b=%ld other.b=%ld little.x=%d little.y=%d count=%d byte=%d\n", one.a, one.b, other.b, little.x,
           little.y, count, byte);
    return 0;
}
"#;

/// What each variable holds after all writes of a trace.
pub fn last_values(trace: &[Value]) -> std::collections::HashMap<String, Value> {
    let mut values = std::collections::HashMap::new();
    for event in &trace[1..] {
        let written = if event["op"] == "rmw" { &event["stored"] } else { &event["value"] };
        if matches!(event["op"].as_str(), Some("write" | "rmw")) {
            assert!(event["external"].is_null(), "a write that is not the program's: {event}");
            values.insert(event["var"].as_str().expect("a name").to_string(), written.clone());
        }
    }
    values
}

#[test]
fn what_is_written_is_what_the_program_has_in_the_end() {
    if !is_installed("gcc") {
        return;
    }
    for flags in [&["--gcc"][..], &["--gcc", "--as-shipped", "-O2"]] {
        let workshop = Workshop::empty();
        std::fs::write(workshop.path("everything.c"), EVERYTHING).expect("written");
        workshop.make(&format!("foretrace cc {} -o program everything.c", flags.join(" ")));
        for seed in 0..4 {
            let recorded = ran(&mut workshop.shell(&format!("foretrace record -o run --seed {seed} -- ./program")));
            let trace = workshop.trace("run");
            assert_eq!(trace[0]["data"], "concrete");
            let values = last_values(&trace);
            for pair in recorded.out.split_whitespace() {
                let (name, printed) = pair.split_once('=').expect("name=value");
                assert_eq!(values[name].to_string(), printed, "{name}, {flags:?}, seed {seed}");
            }
            assert_eq!(workshop.replay(&workshop.path("run"), 2, 0)["followed"], 2);
        }
    }
}

#[test]
fn a_wrong_write_is_the_last_event() {
    if !is_installed("gcc") {
        return;
    }
    let text = "#include <pthread.h>\nint *shared;\nstatic void *work(void *p) { shared = p; return 0; }\n\
                int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); *shared = 7; return 0; }\n";
    let workshop = Workshop::empty();
    std::fs::write(workshop.path("wrong.c"), text).expect("written");
    workshop.make("foretrace cc --gcc -o program wrong.c");
    assert_eq!(workshop.record("run", &[]), json!({"signal": 11}));
    let last = workshop.trace("run").pop().expect("events");
    assert_eq!((&last["op"], &last["reason"], &last["t"]), (&json!("fail"), &json!("SIGSEGV"), &json!(1)));
}

#[test]
fn transactions_are_functions_and_sections_but_not_loops() {
    if !is_installed("gcc") {
        return;
    }
    let workshop = Workshop::empty();
    std::fs::write(workshop.path("everything.c"), EVERYTHING.replace("static void *work", "void *work"))
        .expect("written");
    workshop.make("foretrace cc --gcc -o program everything.c && foretrace record -o run -- ./program");
    let sections = |trace: &[Value]| trace.iter().filter(|event| event["op"] == "begin").count();
    workshop.make("foretrace trace run --atomic sections");
    assert_eq!(sections(&workshop.trace("run")), 12);
    let none = ran(&mut workshop.shell("foretrace trace run --atomic 'functions=work'"));
    assert_eq!(none.status, Some(2), "a thread's own function is none");
    assert!(none.err.contains("found no transactions"), "{}", none.err);
    assert_eq!(sections(&workshop.trace("run")), 12, "the trace is as it was");
    let refused = ran(&mut workshop.shell("foretrace trace run --atomic loops"));
    assert_eq!(refused.status, Some(2));
    assert!(refused.err.contains("built with gcc"), "{}", refused.err);
}

#[test]
fn without_clang_gcc_is_used_and_said_so() {
    if !is_installed("gcc") {
        return;
    }
    let workshop = Workshop::empty();
    std::fs::write(workshop.path("everything.c"), EVERYTHING).expect("written");
    for tool in ["gcc", "as", "ld"] {
        let found = ran(&mut workshop.shell(&format!("command -v {tool}"))).out;
        symlink(found.trim(), workshop.path(tool)).expect("linked");
    }
    let mut command = crate::support::foretrace();
    command.current_dir(workshop.path("")).env("PATH", workshop.path("")).args(["cc", "-o", "program", "everything.c"]);
    let output = expect(0, &mut command);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("built with gcc"), "{said}");
    assert_eq!(workshop.record("run", &[]), json!({"code": 0}));
}

#[test]
fn where_both_compilers_are_used_what_gcc_code_reads_is_pinned() {
    if !is_installed("gcc") {
        return;
    }
    let workshop = Workshop::empty();
    let main = "#include <pthread.h>\nint count, seen;\nvoid *work(void *);\n\
                int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); count += 2; pthread_join(t, 0); return seen > 9; }\n";
    let work = "extern int count, seen;\nvoid *work(void *p) { if (count > 1) seen = count; count++; return p; }\n";
    std::fs::write(workshop.path("main.c"), main).expect("written");
    std::fs::write(workshop.path("work.c"), work).expect("written");
    workshop.make("foretrace cc -c main.c && foretrace cc --gcc -c work.c && foretrace cc -o program main.o work.o");
    assert_eq!(workshop.record("run", &[]), json!({"code": 0}));
    let trace = workshop.trace("run");
    assert_eq!(trace[0]["data"], "symbolic");
    let second: Vec<&Value> = trace.iter().filter(|event| event["t"] == 2).collect();
    let reads = second.windows(2).filter(|pair| pair[0]["op"] == "read");
    let pinned: Vec<bool> = reads.map(|pair| pair[1]["op"] == "assume" && pair[1]["why"] == "pin").collect();
    assert!(!pinned.is_empty() && pinned.iter().all(|pinned| *pinned), "{second:?}");
}

/// Two threads that count under a lock.
const COUNTING: &str = r#"
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long count;
static void *work(void *unused) {
    for (int i = 0; i < 3000; i++) {
        pthread_mutex_lock(&lock);
        count++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    return count != 6000;
}
"#;

#[test]
fn values_of_a_parallel_run_are_not_doubted_under_a_lock() {
    if !is_installed("gcc") {
        return;
    }
    let workshop = Workshop::empty();
    std::fs::write(workshop.path("counting.c"), COUNTING).expect("written");
    workshop.make("foretrace cc --gcc -o program counting.c");
    let told = ran(&mut workshop.shell("foretrace record -o run --parallel -- ./program")).err;
    assert!(told.contains("values only") && !told.contains("at the same time"), "{told}");
}

#[test]
fn atomic_accesses_of_16_bytes_do_what_they_do_without_us() {
    if !is_installed("gcc") {
        return;
    }
    let workshop = Workshop::empty();
    let source = source("wide-atomics.c").display().to_string();
    workshop.make(&format!("gcc -pthread -o native {source} -latomic && foretrace cc --gcc -o program {source}"));
    let native = ran(&mut workshop.shell("./native"));
    assert_eq!(native.out, ran(&mut workshop.shell("./program")).out, "not recorded");
    for mode in ["--seed 0", "--seed 1", "--parallel"] {
        let recorded = ran(&mut workshop.shell(&format!("foretrace record {mode} -o run -- ./program")));
        assert_eq!((recorded.status, &recorded.out), (Some(0), &native.out), "{mode}: {}", recorded.err);
        let values = last_values(&workshop.trace("run"));
        let half = |name: &str| values[name].as_u64().expect("a word");
        let shared = format!("shared {:x} {:x}", half("shared+8"), half("shared"));
        assert_eq!(native.out.lines().next(), Some(&*shared), "{mode}");
        assert_eq!(workshop.replay(&workshop.path("run"), 3, 0)["followed"], 3, "{mode}");
    }
}

/// The runtime of such a sanitizer takes the functions by which foretrace sees threads and memory.
#[test]
fn sanitizers_that_are_in_the_way_are_left_out_with_a_note() {
    for compiler in ["", "--gcc"] {
        if compiler == "--gcc" && !is_installed("gcc") {
            continue;
        }
        let workshop = Workshop::empty();
        let run = ran(&mut workshop.shell(&format!(
            "echo 'int main(void) {{ return 7; }}' > a.c; foretrace cc {compiler} -g -fsanitize=address,leak a.c; foretrace record -o run -- ./a.out"
        )));
        let note = "note: -fsanitize=address,leak is left out: foretrace would not see threads and memory";
        assert!(run.err.contains(note), "{}", run.err);
        assert!(run.status == Some(7) && workshop.path("run").is_dir(), "{}", run.err);
    }
}

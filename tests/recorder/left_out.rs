//! Accesses that are left out of the log: the trace says what it would say if they were there. They may stand elsewhere among
//! events of other threads that have nothing to do with them.

use crate::support::{Workshop, foretrace, ran, source};
use foretrace_walker::log::{Log, open_logs};
use serde_json::Value;
use std::collections::BTreeMap;

/// The trace of a run; with or without the accesses that may be left out of the log.
fn trace(workshop: &Workshop, name: &str, every_access: bool, options: &[&str], arguments: &[&str]) -> Vec<Value> {
    // Values and folders of one length, so that stacks start at the same place.
    let mut command = foretrace();
    command
        .env("FORETRACE_LEAVE_OUT", if every_access { "0" } else { "1" })
        .arg("record")
        .args(options)
        .arg("-o")
        .arg(workshop.path(name))
        .arg("--");
    let output = command.arg(&workshop.program).args(arguments).output().expect("starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(workshop.path(name).join("trace.jsonl.zst").exists(), "{said}");
    let logs = open_logs(&workshop.path(name)).expect("logs");
    assert_eq!(logs.iter().any(Log::leaves_out), !every_access);
    workshop.trace(name)
}

/// What is said of each thread, of each variable, and of synchronisation, in order.
fn orders(trace: &[Value]) -> BTreeMap<String, Vec<&Value>> {
    let mut orders: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for event in trace.iter().filter(|event| event["op"].is_string()) {
        orders.entry(format!("thread {}", event["t"])).or_default().push(event);
        match &event["var"] {
            Value::Null if event["op"] == "assume" => {}
            var => orders.entry(format!("variable {var}")).or_default().push(event),
        }
    }
    orders
}

fn is_external(event: &Value) -> bool {
    event["external"] == true
}

#[test]
fn a_serial_trace_is_the_same_with_every_access_in_the_log() {
    for (program, flags, arguments) in [
        ("posix.c", &[][..], &[][..]),
        ("threads.cpp", &[], &[]),
        ("own.c", &[], &["repair"]),
        ("own.c", &[], &["fork"]),
        ("own.c", &[], &["read"]),
        ("own.c", &[], &["protect"]),
        ("own.c", &[], &["kill"]),
        ("handover.c", &["-DROUNDS=20"], &[]),
    ] {
        let workshop = Workshop::build(&source(program), flags);
        for seed in ["1", "2"] {
            let options = ["--serial", "--seed", seed];
            // On a busy machine the watchdog of serial runs may take a turn away, which is another run: a difference that is
            // ours comes each time.
            let agree = (0..3).any(|_| {
                let without = trace(&workshop, "without", false, &options, arguments);
                let with = trace(&workshop, "withall", true, &options, arguments);
                with.len() >= 2 && orders(&without) == orders(&with)
            });
            assert!(agree, "{program} {arguments:?} {seed}");
        }
    }
}

#[test]
fn memory_that_changes_hands_is_read_as_it_was_written() {
    let workshop = Workshop::build(&source("handover.c"), &["-DROUNDS=100"]);
    for run in 0..3 {
        let events = trace(&workshop, "run", false, &["--parallel"], &[]);
        assert!(events.len() > 1000, "{run}");
        // A read that finds anything but the last write in the trace's order makes the walker believe that somebody else wrote.
        assert_eq!(events.iter().filter(|event| is_external(event)).count(), 0, "{run}");
    }
}

/// Threads one after the other, each of which takes the variable from the one before; the last has it for long.
const ONE_AT_A_TIME: &str = "#include <pthread.h>
static long count;
static void *add(void *times) { for (long i = 0; i < (long)times; i++) count++; return 0; }
int main(void) {
    for (long i = 0; i < 6; i++) {
        pthread_t thread;
        pthread_create(&thread, 0, add, (void *)(i < 5 ? 2L : 20000L));
        pthread_join(thread, 0);
    }
    return 0;
}
";

#[test]
fn shared_memory_is_left_out_while_one_thread_has_it_for_long() {
    let workshop = Workshop::build_text(ONE_AT_A_TIME, "one.c");
    let events = trace(&workshop, "run", false, &["--parallel"], &[]);
    let writes: Vec<&Value> = events.iter().filter(|event| event["op"] == "write").collect();
    assert_eq!((writes.len(), writes.last().map(|event| &event["value"])), (20010, Some(&Value::from(20010))));
    let logs = open_logs(&workshop.path("run")).expect("logs");
    let records = logs.iter().map(|log| log.records().count()).sum::<usize>();
    assert!((300..2000).contains(&records), "{records} records of 40,020 accesses");
}

/// A thread that waits in a loop of loads for half a second.
const WAITING: &str = "#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int ready, closed;
static void *set(void *arg) { usleep(500000); ready = 1; return arg; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, set, 0);
    while (!ready && !closed) ;
    return pthread_join(thread, 0);
}
";

#[test]
fn a_thread_that_spins_beside_others_lets_them_go_first() {
    let workshop = Workshop::build_text(WAITING, "waiting.c");
    let events = trace(&workshop, "run", false, &["--parallel"], &[]);
    assert!((10_000..200_000).contains(&events.len()), "{} events", events.len());
}

/// A thread that counts for long what nobody else touches meanwhile.
const SPINNING: &str = "#include <pthread.h>
static long count;
static void *spin(void *unused) { while (count < 200000) count++; return unused; }
int main(void) {
    pthread_t thread;
    count = 1;
    pthread_create(&thread, 0, spin, 0);
    pthread_join(thread, 0);
    return count != 200000;
}
";

#[test]
fn what_was_left_out_is_bounded_as_logs_are() {
    let workshop = Workshop::build_text(SPINNING, "spin.c");
    let record = "foretrace record -o run --parallel --max-size 1M -- ./program";
    let said = ran(&mut workshop.shell(record));
    let told = said.err.lines().last().unwrap_or_default();
    assert!(said.status == Some(0) && told.contains("not to the end of what was recorded"), "{}", said.err);
    let (events, values) = accesses(&workshop.trace("run"));
    let most = (1 << 20) / 32; // records of accesses in so many bytes
    assert!((most - 10..most + 10).contains(&events), "{events} events");
    workshop.make("sed -i '/max_bytes/d' run/recording.json && foretrace trace run");
    let (all, whole) = accesses(&workshop.trace("run"));
    assert!(all > 600_000 && whole.last() == Some(&Value::from(200_000)), "{all} events");
    assert_eq!(values, whole[..values.len()], "a prefix of what was recorded");
}

/// How many events a trace has, ends of blocks apart, and the values of its accesses in order.
fn accesses(trace: &[Value]) -> (usize, Vec<Value>) {
    let is_event = |event: &&Value| event["op"].is_string() && event["op"] != "begin" && event["op"] != "end";
    let events = trace.iter().filter(is_event);
    let values = events.clone().filter(|event| !event["var"].is_null()).map(|event| event["value"].clone());
    (events.count(), values.collect())
}

#[test]
fn signals_in_the_middle_of_accesses_are_handled() {
    let workshop = Workshop::build(&source("own.c"), &[]);
    for mode in ["--parallel", "--serial"] {
        let events = trace(&workshop, "run", false, &[mode], &["signals"]);
        assert!(events.iter().any(|event| event["op"] == "fork"), "{mode}");
    }
}

#[test]
fn the_end_of_a_process_is_where_its_own_accesses_end() {
    let workshop = Workshop::build(&source("own.c"), &[]);
    for (how, reason) in [("protect", "SIGSEGV"), ("kill", "killed by SIGKILL")] {
        for mode in ["--parallel", "--serial"] {
            let events = trace(&workshop, "run", false, &[mode], &[how]);
            assert_eq!(events.last().map(|event| &event["reason"]), Some(&Value::from(reason)), "{how} {mode}");
        }
    }
}

#[test]
fn witnesses_name_the_places_of_accesses_that_were_left_out() {
    let workshop = Workshop::build(&source("handover.c"), &["-DROUNDS=5"]);
    workshop.record("run", &["--parallel"]);
    assert!(workshop.path("run/unlogged.zst").is_file(), "nothing was left out");
    let options = "--candidates all --atomic threads --witness-dir run/witnesses";
    ran(&mut workshop.shell(&format!("foretrace predict run {options} >report")));
    let mut triples = 0;
    for entry in std::fs::read_dir(workshop.path("run/witnesses")).expect("witnesses") {
        let path = entry.expect("listed").path();
        let witness: Value = serde_json::from_slice(&std::fs::read(&path).expect("read")).expect("JSON");
        if witness["kind"] != "block" {
            triples += 1;
            assert!(witness["places"].is_object(), "{}", path.display());
        }
    }
    assert!(triples > 100, "{triples}");
}

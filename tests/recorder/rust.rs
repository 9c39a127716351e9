//! Rust programs: what cargo does with them it does through `foretrace cargo`, and all of the standard library that threads meet in.

use crate::support::{Ran, Workshop, expect, foretrace, ran, source};
use foretrace_trace::OF_LIBRARY;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// `foretrace cargo` on the workspace among the programs, with a target folder that the tests share.
fn cargo(words: &str) -> Ran {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust-workspace");
    let mut command = foretrace();
    command.arg("cargo").args(words.split(' ')).current_dir(source("rust-workspace")).env("CARGO_TARGET_DIR", target);
    ran(&mut command)
}

#[test]
fn a_program_runs_with_its_features_and_arguments() {
    let run = cargo("run --quiet --features loud --package app -- one --target");
    assert_eq!(
        (run.status, run.out.as_str()),
        (Some(7), "built 42 2 !\ndebug [\"one\", \"--target\"]\n"),
        "{}",
        run.err
    );
    let run = cargo("run --quiet --release --package app");
    assert_eq!((run.status, run.out.as_str()), (Some(7), "built 42 2 \nrelease []\n"), "{}", run.err);
}

#[test]
fn tests_and_examples_in_documentation_run() {
    let run = cargo("test --package counter");
    assert_eq!(run.status, Some(0), "{}{}", run.out, run.err);
    assert_eq!(run.out.matches("test result: ok. 1 passed").count(), 2, "{}", run.out);
    let failing = cargo("test --quiet --package counter -- --include-ignored");
    assert_eq!(failing.status, Some(101), "{}{}", failing.out, failing.err);
}

#[test]
fn a_test_is_recorded() {
    let built = cargo("test --package counter --lib --no-run --message-format json");
    let messages = built.out.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let program = messages.filter_map(|message| message["executable"].as_str().map(String::from)).next();
    let program = program.unwrap_or_else(|| panic!("a test program: {}", built.err));
    let workshop = Workshop::empty();
    let script = format!(
        "foretrace record -o run -- {program} counts_in_threads && foretrace replay run -- {program} counts_in_threads"
    );
    let run = expect(0, &mut workshop.shell(&script));
    assert!(String::from_utf8_lossy(&run.stdout).contains("followed the schedule"));
    let header = workshop.trace("run").swap_remove(0);
    assert_eq!(header["sync"]["counter::COUNT"]["kind"], "mutex");
    assert!(header["vars"].as_object().expect("a table").contains_key("counter::COUNT"));
}

/// What foreign programs load has no runtime.
#[test]
fn a_shared_library_is_left_alone() {
    let run = cargo("build --package plugin");
    assert_eq!(run.status, Some(0), "{}", run.err);
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust-workspace/foretrace");
    let library = target.join("x86_64-unknown-linux-gnu/debug/libplugin.so");
    let bytes = std::fs::read(library).expect("read");
    assert!(!bytes.windows(12).any(|part| part == b"__foretrace_"));
}

#[test]
fn mistakes_are_told_in_one_line() {
    for (words, said) in [
        ("check", "foretrace cargo builds programs: expected build, test, run or bench"),
        ("build --target wasm32-unknown-unknown", "--target wasm32-unknown-unknown: only programs for"),
    ] {
        let run = cargo(words);
        assert_eq!(run.status, Some(2), "{}", run.err);
        assert!(run.err.contains(said) && run.err.lines().count() == 1, "{}", run.err);
    }
}

/// Parts of `std-sync`, each about one thing that threads meet in.
const PARTS: usize = 11;

/// Each part hands a variable over and back. With an order between threads that goes unseen another thread's use of it could be
/// interrupted.
#[test]
fn what_the_standard_library_orders_is_ordered() {
    let workshop = Workshop::of_crate("std-sync");
    let mut sync = Vec::new();
    for part in 0..PARTS {
        for mode in ["--seed 0", "--seed 1", "--seed 2", "--parallel"] {
            let script = format!("foretrace record -o run {mode} -- ./program {part}");
            let recorded = ran(&mut workshop.shell(&script));
            assert_eq!((recorded.status, recorded.out.as_str()), (Some(0), "done\n"), "{script}: {}", recorded.err);
            let script = "foretrace predict --atomic threads --format json run";
            let report = ran(&mut workshop.shell(script));
            if part == 0 && report.err.contains("found no transactions") {
                continue; // one thread
            }
            let report: Value = serde_json::from_str(&report.out).unwrap_or_else(|_| panic!("{}", report.err));
            for found in
                report["candidates"].as_array().expect("a list").iter().filter(|one| one["verdict"] != "infeasible")
            {
                assert_eq!(found["verdict"], "feasible", "part {part}, {mode}: {found}");
                let (name, pattern) =
                    (found["var"].as_str().expect("a name"), found["pattern"].as_str().expect("a pattern"));
                assert!(
                    !(name.contains("::BY_") && pattern.starts_with('R')),
                    "part {part}, {mode}: {pattern} of {name}"
                );
            }
        }
        let header = workshop.trace("run").swap_remove(0);
        let named = header["sync"].as_object().expect("a table").iter();
        sync.extend(named.map(|(name, what)| (name.clone(), what["kind"].clone())));
    }
    for (name, kind) in [("MUTEX", "mutex"), ("RWLOCK", "rwlock"), ("CHANGED", "condvar")] {
        let expected = (format!("std_sync::{name}"), json!(kind));
        assert!(sync.contains(&expected), "{expected:?} in {sync:?}");
    }
}

/// What can happen to the variable of `std-twins`, by the trace of a run; something could, without an order.
fn twins(workshop: &Workshop, options: &str) -> Vec<String> {
    let of_data = candidates(workshop, options).into_iter().filter(|[var, ..]| var.starts_with("std_twins::DATA"));
    let (feasible, rest): (Vec<_>, Vec<_>) = of_data.partition(|[.., verdict]| verdict != "infeasible");
    assert!(!feasible.is_empty() || !rest.is_empty(), "no candidate");
    feasible.into_iter().map(|[_, pattern, _]| pattern).collect()
}

/// Every way in which the standard library keeps threads apart, used rightly.
#[test]
fn what_the_standard_library_keeps_apart_does_not_happen() {
    let workshop = Workshop::of_crate("std-twins");
    for part in ran(&mut workshop.shell("./program")).out.lines() {
        for mode in ["--seed 1", "--parallel"] {
            workshop.make(&format!("foretrace record -o run {mode} -- ./program {part}"));
            // Those that say that something cannot happen because of the values that are read.
            for model in ["ctp", "mcm", "avp"] {
                let found = twins(&workshop, &format!("--atomic threads --model {model}"));
                assert_eq!(found, Vec::<String>::new(), "{part}, {mode}, {model}");
            }
        }
    }
}

/// The same used wrongly: what happens then is found, and the program does it.
#[test]
fn what_the_standard_library_does_not_keep_apart_is_found() {
    let workshop = Workshop::of_crate("std-twins");
    let parts = ran(&mut workshop.shell("./program")).out;
    assert_eq!(parts.lines().count(), 23);
    for part in parts.lines() {
        // In some runs the other thread's branch hides it: then it is off their path.
        let found = (0..4).any(|seed| {
            workshop.make("rm -rf witnesses");
            workshop.make(&format!("foretrace record -o run --seed {seed} -- ./program {part} wrong"));
            let found = twins(&workshop, "--atomic threads --witness-dir witnesses");
            found.iter().any(|pattern| pattern.starts_with("R-W"))
        });
        assert!(found, "{part}");
        let own = "grep -l std_twins::DATA witnesses/witness-*.json";
        let replays = format!("for one in $({own}); do foretrace replay $one -- ./program");
        workshop.make(&format!("{replays} {part} wrong && exit 0; done; exit 1"));
    }
}

/// A pipe that is read and written by an instruction of the program's own orders threads as one does for which it calls the library.
#[test]
fn system_calls_by_an_instruction_are_those_of_the_library() {
    let workshop = Workshop::of_crate("own-system-calls");
    assert_eq!(workshop.record("run", &["--seed", "0"]), json!({"code": 0}));
    let trace = workshop.trace("run");
    let of_channel: Vec<&Value> =
        trace.iter().filter(|event| event["sem"] == "channel 1").map(|it| &it["op"]).collect();
    assert_eq!(of_channel, ["post", "down"], "{trace:#?}");
    assert!(!trace.iter().any(|event| event["op"] == "unseen"), "{trace:#?}");
    let report = workshop.replay(&workshop.path("run"), 3, 0);
    assert_eq!(report["endings"], json!([{"code": 0, "times": 3}]));
}

/// How often a lock or a futex is waited for does not matter to a schedule.
#[test]
fn runs_of_the_standard_library_are_replayed() {
    let workshop = Workshop::of_crate("std-sync");
    for seed in 0..3 {
        assert_eq!(workshop.record("run", &["--seed", &seed.to_string()]), json!({"code": 0}));
        let report = workshop.replay(&workshop.path("run"), 3, 0);
        assert_eq!(report["endings"], json!([{"code": 0, "times": 3}]));
    }
}

/// What `own-counters` says of its counters: their names, the program's and that of the library for the same memory.
fn counters() -> [String; 2] {
    ["Counter.count".to_string(), format!("{OF_LIBRARY}ArcInner<Counter>.strong")]
}

/// All candidates of a recording: variable, pattern, verdict.
fn candidates(workshop: &Workshop, options: &str) -> Vec<[String; 3]> {
    let report = ran(&mut workshop.shell(&format!("foretrace predict --candidates all --format json {options} run")));
    let report: Value = serde_json::from_str(&report.out).unwrap_or_else(|_| panic!("{}", report.err));
    let trace = workshop.trace("run");
    let text = |value: &Value| value.as_str().expect("text").to_string();
    let described = |one: &Value| {
        let first = one["first"].as_u64().expect("an index") as usize;
        [text(&trace[1 + first]["var"]), text(&one["pattern"]), text(&one["verdict"])]
    };
    report["candidates"].as_array().expect("a list").iter().map(described).collect()
}

/// They order the rest, so they are in the trace; a lost update of theirs would be the library's business.
#[test]
fn what_the_library_keeps_for_itself_is_no_candidate() {
    let workshop = Workshop::of_crate("own-counters");
    let [own, references] = counters();
    for seed in ["0", "1", "2"] {
        workshop.record("run", &["--seed", seed]);
        let trace = workshop.trace("run");
        let is_update =
            |event: &Value, thread: u64| event["op"] == "rmw" && event["var"] == *references && event["t"] == thread;
        let updates = |thread| trace.iter().filter(|event| is_update(event, thread)).count();
        assert!(updates(2) > 1 && updates(3) > 1, "seed {seed}");
        let found = candidates(&workshop, "--atomic threads");
        assert!(found.contains(&[own.clone(), "R-W-W".into(), "feasible".into()]), "seed {seed}: {found:?}");
        let vars: BTreeSet<&str> = found.iter().map(|[var, ..]| var.as_str()).collect();
        assert_eq!(vars, BTreeSet::from([own.as_str(), "own_counters::UPDATED"]), "seed {seed}");
    }
}

/// A function whose only accesses are the library's own does not stand in for the one around it.
#[test]
fn inner_functions_are_those_that_access_something_of_the_program() {
    let workshop = Workshop::of_crate("own-counters");
    let [own, _] = counters();
    workshop.record("run", &["--atomic", "inner-functions"]);
    let labels = workshop.trace("run").into_iter().filter(|event| event["op"] == "begin");
    let labels: Vec<Value> = labels.map(|mut event| event["label"].take()).collect();
    assert_eq!(labels, ["own_counters::count", "own_counters::count"]);
    assert!(candidates(&workshop, "").contains(&[own, "R-W-W".into(), "feasible".into()]));
}

#[test]
fn names_are_paths() {
    let workshop = Workshop::of_crate("own-counters");
    workshop.record("run", &[]);
    let header = workshop.trace("run").swap_remove(0);
    let threads = header["threads"].as_object().expect("a table").values();
    let mut names: Vec<&str> = threads.map(|thread| thread["name"].as_str().expect("a name")).collect();
    assert_eq!(names.split_off(1), ["own_counters::main::{{closure}}::{{closure}}"; 2]);
    let vars = header["vars"].as_object().expect("a table").keys();
    let mangled: Vec<&String> = vars.filter(|name| name.contains("_R") || name.contains("_ZN")).collect();
    assert_eq!(mangled, Vec::<&String>::new());
}

/// The library's growing vectors are not instrumented: what they write shows at the next read, which alone is in the log.
#[test]
fn writes_that_nobody_recorded_have_no_position() {
    let workshop = Workshop::of_crate("std-sync");
    workshop.record("run", &["--seed", "1"]);
    let trace = workshop.trace("run");
    let external: Vec<&Value> = trace.iter().filter(|event| event["external"] == true).collect();
    assert!(!external.is_empty());
    assert!(external.iter().all(|event| event.get("at").is_none()), "{external:?}");
}

//! What large programs do beside taking locks: programs that do it behave as ever while they are recorded, and repeat it.

use crate::support::{Workshop, expect, foretrace, is_installed, ran, source};
use serde_json::{Value, json};
use std::process::Command;

/// Records a program in each mode, which must print this, and replays a recording's own schedule.
fn prints(name: &str, flags: &[&str], wanted: &str) {
    let workshop = Workshop::build(&source(name), flags);
    let modes: [&[&str]; 3] = [&["--seed", "1"], &["--seed", "2"], &["--parallel"]];
    for (number, mode) in modes.iter().enumerate() {
        let folder = workshop.path(&format!("run-{number}"));
        let run = ran(foretrace().arg("record").args(*mode).arg("-o").arg(&folder).arg("--").arg(&workshop.program));
        assert_eq!((run.status, run.out.as_str()), (Some(0), wanted), "{name} {mode:?}: {}", run.err);
        assert!(folder.join("trace.jsonl.zst").is_file(), "{name} {mode:?}: {}", run.err);
    }
    let again = workshop.replay(&workshop.path("run-0"), 3, 0);
    assert_eq!((&again["followed"], &again["endings"]), (&json!(3), &json!([{"code": 0, "times": 3}])), "{name}");
}

#[test]
fn signals_are_handled_and_waited_for() {
    prints("signals.c", &[], "3 3 1\n");
}

/// A lock of such assembly is not seen: what it forbids rests on that. Without the lock the same can happen.
#[test]
fn assembly_that_is_more_than_one_operation_is_unseen() {
    for (locked, rests_on) in [("-DLOCKED=1", json!("unseen")), ("-DLOCKED=0", Value::Null)] {
        let workshop = Workshop::build(&source("assembly-lock.c"), &[locked]);
        assert_eq!(workshop.record("run", &["--seed", "1"]), json!({"code": 0}));
        let run = ran(&mut workshop.shell("foretrace predict run --format json"));
        let report: Value = serde_json::from_str(&run.out).expect("JSON");
        let candidates = report["candidates"].as_array().expect("a list").iter();
        let feasible: Vec<&Value> = candidates.filter(|one| one["verdict"] == "feasible").collect();
        assert!(!feasible.is_empty(), "{locked}: {report:#}");
        assert!(feasible.iter().all(|one| one["rests_on"] == rests_on), "{locked}: {report:#}");
    }
}

/// Read the other way round, these would be no operations, or others.
#[test]
fn assembly_in_the_syntax_of_intel_is_recorded() {
    let workshop = Workshop::build(&source("intel-assembly.c"), &["-masm=intel"]);
    let run = ran(&mut workshop.shell("foretrace record -o run -- ./program"));
    assert_eq!((run.status, run.out.as_str()), (Some(0), "3 7\n"), "{}", run.err);
    let trace = workshop.trace("run");
    let of = |op: &str| trace.iter().filter(|event| event["op"] == op).count();
    assert_eq!(of("unseen"), 0, "{trace:#?}");
    let on_counter = trace.iter().filter(|event| event["op"] == "rmw" && event["var"] == "counter");
    assert_eq!(on_counter.count(), 3, "{trace:#?}");
}

#[test]
fn a_jump_out_of_a_wait_leaves_nothing_behind() {
    prints("jump.c", &[], "1 0\n");
}

#[test]
fn threads_sleep_in_the_kernel() {
    prints("blocking.c", &[], "15 hello\n");
}

#[test]
fn threads_end_in_all_ways() {
    prints("endings.c", &[], "1 3 1 2 1\n");
}

#[test]
fn threads_end_by_the_system_call_alone() {
    prints("left-alone.c", &[], "2\n");
}

#[test]
fn futures_and_data_of_threads() {
    prints("futures.cpp", &["-std=c++17"], "26 1 3 no 3 1\n");
}

#[test]
fn functions_of_the_c_library_do_what_they_always_did() {
    if !is_installed("cc") {
        return;
    }
    let workshop = Workshop::build(&source("library.c"), &["-w", "-lm"]);
    let plain = workshop.path("plain");
    expect(0, Command::new("cc").arg("-w").arg("-o").arg(&plain).arg(source("library.c")).arg("-lm"));
    let wanted = ran(&mut Command::new(plain)).out;
    assert_eq!(ran(&mut Command::new(&workshop.program)).out, wanted);
    let folder = workshop.path("run");
    let run = ran(foretrace().arg("record").arg("-o").arg(&folder).arg("--").arg(&workshop.program));
    assert_eq!((run.status, run.out), (Some(0), wanted), "{}", run.err);
    assert!(folder.join("trace.jsonl.zst").is_file(), "{}", run.err);
}

/// Events of the line of a program that has this mark.
fn events_of<'a>(trace: &'a [Value], code: &str, mark: &str) -> Vec<&'a Value> {
    let line = code.lines().position(|line| line.ends_with(mark)).expect("marked") + 1;
    let of_line =
        |event: &&Value| event["loc"].as_str().is_some_and(|loc| loc.split(':').nth(1) == Some(&line.to_string()));
    trace.iter().filter(of_line).collect()
}

/// The expression that such a line writes to a variable.
fn written<'a>(events: &[&'a Value], variable: &str) -> &'a str {
    let write = events.iter().find(|event| event["op"] == "write" && event["var"] == variable);
    write.and_then(|event| event["expr"].as_str()).unwrap_or_else(|| panic!("no write of {variable}: {events:?}"))
}

/// What such a line assumes.
fn assumed(events: &[&Value]) -> Vec<(String, bool)> {
    let assumes = events.iter().filter(|event| event["op"] == "assume");
    let said = |event: &&Value| (event["expr"].as_str().unwrap_or("").to_string(), event["why"] == "pin");
    assumes.map(said).collect()
}

/// The name of what such a line reads first.
fn read<'a>(events: &[&'a Value]) -> &'a str {
    events.iter().find(|event| event["op"] == "read").and_then(|event| event["dst"].as_str()).expect("a read")
}

#[test]
fn functions_of_the_c_library_keep_what_they_depended_on() {
    let workshop = Workshop::build(&source("keeps.c"), &["-w"]);
    assert_eq!(workshop.record("run", &[]), json!({"code": 0}));
    let trace = workshop.trace("run");
    let code = std::fs::read_to_string(source("keeps.c")).expect("read");
    let of = |mark| events_of(&trace, &code, mark);

    let copy = of("@copy");
    assert_eq!(written(&copy, "copied[0]"), read(&copy));
    assert_eq!(assumed(&copy), [(format!("(distinct {} (_ bv0 8))", read(&copy)), false)]);

    let length = of("@length");
    assert_eq!(written(&length, "length"), "(_ bv2 32)");
    assert_eq!(assumed(&length), [(format!("(distinct {} (_ bv0 8))", read(&length)), false)]);

    let number = of("@number");
    assert_eq!(written(&number, "number"), "(_ bv12 32)");
    assert_eq!(assumed(&number), [(format!("(= {} (_ bv49 8))", read(&number)), true)]);

    let order = of("@order");
    assert_eq!(written(&order, "order"), format!("(bvsub ((_ zero_extend 24) {}) (_ bv50 32))", read(&order)));
    assert_eq!(assumed(&order), [(format!("(distinct {} (_ bv50 8))", read(&order)), false)]);

    let found = of("@found");
    let (is_other, is_no_end) =
        (format!("(distinct {} (_ bv50 8))", read(&found)), format!("(distinct {} (_ bv0 8))", read(&found)));
    assert_eq!(assumed(&found), [(is_other, false), (is_no_end, false)]);

    // The second element comes first: each keeps what was read of the other.
    let sort = of("@sort");
    let reads: Vec<&str> =
        sort.iter().filter(|event| event["op"] == "read").filter_map(|event| event["dst"].as_str()).collect();
    assert_eq!(written(&sort, "numbers[0]"), reads[0]);
    assert_eq!(written(&sort, "numbers[1]"), reads[1]);
    assert!(assumed(&sort).iter().all(|(_, is_pin)| !is_pin));
}

#[test]
fn a_library_that_is_loaded_later_is_recorded() {
    let workshop = Workshop::build(&source("loads.c"), &[]);
    let library = workshop.path("plugin.so");
    expect(0, foretrace().args(["cc", "-shared", "-fPIC", "-o"]).arg(&library).arg(source("plugin.c")));
    let recording = workshop.path("run");
    let with_library = |command: &mut Command| {
        command.arg("--").arg(&workshop.program).arg(&library).output().map(|output| output.status.code())
    };
    let mut record = foretrace();
    let status = with_library(record.args(["record", "--atomic", "functions=bump", "-o"]).arg(&recording));
    assert!(matches!(status, Ok(Some(0 | 1))));
    let lost = workshop.predict("run").into_iter().find(|found| found.var == "counter").expect("an update is lost");
    assert_eq!(with_library(foretrace().arg("replay").arg(&lost.witness)).expect("starts"), Some(0));
}

#[test]
fn variable_arguments_keep_what_was_read() {
    let workshop = Workshop::build(&source("variadic.c"), &[]);
    assert_eq!(workshop.record("run", &[]), json!({"code": 0}));
    let trace = workshop.trace("run");
    let code = std::fs::read_to_string(source("variadic.c")).expect("read");
    let of = |mark| events_of(&trace, &code, mark);

    let first = of("@first");
    let sum = format!("((_ extract 31 0) (bvadd ((_ sign_extend 32) {}) (_ bv1 64)))", read(&first));
    assert_eq!((written(&first, "first"), assumed(&first)), (sum.as_str(), vec![]));
    let second = of("@second");
    assert_eq!((written(&second, "second"), assumed(&second)), (read(&second), vec![]));
    let third = of("@third");
    assert_eq!((written(&third, "third"), assumed(&third)), (read(&third), vec![]));
    // No register is left for the last one.
    let memory = of("@memory");
    assert_eq!(written(&memory, "in_memory"), "(_ bv3 32)");
    assert_eq!(assumed(&memory), [(format!("(= {} (_ bv3 32))", read(&memory)), true)]);
}

#[test]
fn what_is_read_from_a_pipe_was_written_before() {
    let workshop = Workshop::build(&source("channels.c"), &[]);
    assert_eq!(workshop.record("run", &[]), json!({"code": 0}));
    let trace = workshop.trace("run");
    let count = |op: &str, channel: &str| trace.iter().filter(|e| e["op"] == op && e["sem"] == channel).count();
    assert_eq!((count("post", "channel 1"), count("down", "channel 1")), (1, 0));
    assert_eq!((count("post", "channel 2"), count("down", "channel 2")), (2, 2));
    assert_eq!((count("post", "channel 3"), count("down", "channel 3")), (1, 1));
    // Each update comes wholly before a write or wholly after the read of what was written: none gets into another.
    let mut predict = foretrace();
    let report = predict.arg("predict").arg(workshop.path("run")).args(["--atomic", "threads", "--format", "json"]);
    let report: Value = serde_json::from_slice(&expect(1, report).stdout).expect("JSON");
    let candidates = report["candidates"].as_array().expect("a list");
    let updates: Vec<&Value> = candidates.iter().filter(|one| one["pattern"] == "R-W-W").collect();
    assert!(updates.len() >= 4 && updates.iter().all(|one| one["verdict"] == "infeasible"), "{updates:?}");
}

#[test]
fn what_another_program_sends_may_be_an_answer() {
    let workshop = Workshop::build(&source("answers.c"), &[]);
    for (name, arguments, expected) in [("waits", &[][..], "infeasible"), ("does not", &["at once"], "feasible")] {
        let mut record = foretrace();
        expect(
            0,
            record.arg("record").arg("-o").arg(workshop.path(name)).arg("--").arg(&workshop.program).args(arguments),
        );
        let trace = workshop.trace(name);
        let count = |op: &str| trace.iter().filter(|e| e["op"] == op && e["barrier"] == "other programs").count();
        assert_eq!((count("arrive"), count("depart")), (1, usize::from(expected == "infeasible")), "{name}");
        let mut predict = foretrace();
        let predict = predict.arg("predict").arg(workshop.path(name)).args(["--atomic", "threads", "--format", "json"]);
        let report: Value = serde_json::from_slice(&predict.output().expect("a report").stdout).expect("JSON");
        let candidates = report["candidates"].as_array().expect("a list");
        let updates: Vec<&Value> = candidates.iter().filter(|one| one["pattern"] == "R-W-W").collect();
        assert!(!updates.is_empty() && updates.iter().all(|one| one["verdict"] == expected), "{name}: {updates:?}");
    }
}

#[test]
fn a_program_may_have_functions_of_its_own_under_names_that_are_interposed() {
    let workshop = Workshop::build(&source("own-names.c"), &[]);
    assert_eq!(workshop.record("run", &[]), json!({"code": 6}));
}

#[test]
fn addresses_of_arguments_make_no_difference() {
    let workshop = Workshop::build(&source("arguments.c"), &[]);
    let recording = workshop.path("run");
    let run = |command: &mut Command| expect(0, command.arg("--").arg(&workshop.program).arg("abcdefghijk"));
    run(foretrace().arg("record").arg("-o").arg(&recording));
    for length in 1..=8 {
        run(foretrace().env("PADDING", "x".repeat(length)).arg("replay").arg(&recording));
    }
}

/// What a function of the C library writes into memory of the program is a write of the trace: another thread may read between two of them.
#[test]
fn what_functions_of_the_c_library_write_is_in_the_trace() {
    let code = std::fs::read_to_string(source("writes.c")).expect("read");
    let declared = code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| word.ends_with("_wrote"));
    let declared: std::collections::BTreeSet<&str> = declared.collect();
    assert_eq!(declared.len(), 27);
    for locked in [false, true] {
        let workshop = Workshop::build(&source("writes.c"), if locked { &["-w", "-DLOCKED"] } else { &["-w"] });
        assert_eq!(workshop.record("run", &["--atomic", "functions=reads"]), json!({"code": 0}));
        let trace = workshop.trace("run");
        let written = |name: &&&str| {
            let is_it = |var: &str| var.strip_prefix(**name).is_some_and(|rest| !rest.starts_with('_'));
            trace.iter().any(|event| {
                event["op"] == "write" && event["external"].is_null() && event["var"].as_str().is_some_and(is_it)
            })
        };
        let missing: Vec<&&str> = declared.iter().filter(|name| !written(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        let found = workshop.predict("run").into_iter().any(|found| found.var.starts_with("swprintf_wrote"));
        assert_eq!(found, !locked);
    }
}

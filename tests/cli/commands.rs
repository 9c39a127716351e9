//! The other commands: what they print, what they write, and how they exit.

use crate::support::{Folder, LOST_UPDATE, UNMARKED, foretrace_in, repository};

#[test]
fn check_accepts_a_valid_trace() {
    let run = Folder::with("counter.jsonl", LOST_UPDATE).foretrace("check counter.jsonl");
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "counter.jsonl: valid; 8 events of 2 threads\n"));
}

#[test]
fn check_names_the_first_event_that_fails() {
    let broken = LOST_UPDATE.replace(r#""dst": "b", "value": 1"#, r#""dst": "b", "value": 5"#);
    let run = Folder::with("counter.jsonl", &broken).foretrace("check counter.jsonl");
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("counter.jsonl:7: event 5: found"), "{}", run.stderr);
}

#[test]
fn check_runs_a_schedule_and_shows_what_reads_return() {
    let folder = Folder::with("counter.jsonl", LOST_UPDATE);
    folder.add("schedule.json", "[0, 1, 4, 5, 6, 2]");
    let run = folder.foretrace("check counter.jsonl schedule.json");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("read n = 0") && run.stdout.contains("write n = 1"), "{}", run.stdout);
    assert!(run.stdout.ends_with("schedule.json: feasible prefix in model ctp\n"), "{}", run.stdout);
}

#[test]
fn check_says_where_a_schedule_fails() {
    let folder = Folder::with("counter.jsonl", LOST_UPDATE);
    let cases = [
        ("[0, 2]", "", "step 1, event 2"),
        ("[0, 1, 99]", "", "step 2, event 99"),
        // Thread 2 reads 0 where 1 was recorded, and goes on.
        ("[4, 5, 6]", "--model mcm", "model mcm, step 2, event 6"),
        ("[0, 1]", "--feasibility complete", "all 8 events, found 2"),
    ];
    for (schedule, options, message) in cases {
        folder.add("schedule.json", schedule);
        let run = folder.foretrace(&format!("check counter.jsonl schedule.json {options}"));
        assert_eq!(run.code, Some(1), "{schedule} {options}: {}", run.stderr);
        assert!(run.stdout.contains(message), "{schedule} {options}: {}", run.stdout);
    }
}

#[test]
fn check_refuses_what_is_no_schedule() {
    let folder = Folder::with("counter.jsonl", LOST_UPDATE);
    for content in ["", "[0, -1]", "{\"foretrace\": 1}", "[0, 1", "\"x\""] {
        folder.add("schedule.json", content);
        let run = folder.foretrace("check counter.jsonl schedule.json");
        assert_eq!(run.code, Some(2), "{content}: {}", run.stdout);
        assert!(run.stderr.contains("schedule.json"), "{content}: {}", run.stderr);
    }
}

/// What is written ends where the reader stops; no verdict has been heard then.
#[test]
#[cfg(unix)]
fn nobody_listens() {
    let folder = Folder::with("a.jsonl", LOST_UPDATE);
    folder.add("schedule.json", "[0, 1]");
    let cases = [
        ("predict a.jsonl", 1),
        ("predict a.jsonl --format json", 3), // its head goes out first
        ("check a.jsonl schedule.json", 3),
        ("info a.jsonl", 0),
        ("info a.jsonl --format json", 0),
        ("convert a.jsonl -", 0),
    ];
    for (arguments, code) in cases {
        let closed = folder.foretrace_without_reader(arguments);
        assert_eq!((closed.code, closed.stderr.as_str()), (Some(code), ""), "{arguments}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn full_disks() {
    let folder = Folder::with("a.jsonl", LOST_UPDATE);
    folder.add("bad.jsonl", "{");
    for arguments in
        ["predict a.jsonl", "predict a.jsonl --format json", "info a.jsonl", "check a.jsonl", "convert a.jsonl -"]
    {
        let run = folder.foretrace_onto_full_disk(arguments, true, false);
        assert_eq!(run.code, Some(2), "{arguments}");
        assert!(run.stderr.contains("No space left"), "{arguments}: {}", run.stderr);
    }
    for (arguments, code) in [("predict a.jsonl", 1), ("convert a.jsonl a.std", 0), ("check bad.jsonl", 2), ("no", 2)] {
        assert_eq!(folder.foretrace_onto_full_disk(arguments, false, true).code, Some(code), "{arguments}");
    }
}

#[test]
fn folders_that_cannot_be_made_are_named() {
    let folder = Folder::with("a.jsonl", LOST_UPDATE);
    for option in ["--witness-dir", "--dump-smt2"] {
        let run = folder.foretrace(&format!("predict a.jsonl {option} a.jsonl/inside"));
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{option}");
        assert!(run.stderr.contains("a.jsonl/inside: "), "{option}: {}", run.stderr);
    }
}

#[test]
fn info_counts() {
    let run = Folder::with("counter.jsonl", LOST_UPDATE).foretrace("info counter.jsonl --format json");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let summary: serde_json::Value = serde_json::from_str(&run.stdout).expect("info is JSON");
    assert_eq!(summary["threads"], 2);
    assert_eq!(summary["events"], 8);
    assert_eq!(summary["events_by_kind"]["read"], 2);
    assert_eq!(summary["reads"], 2);
    assert_eq!(summary["reads_that_feed_guards"], 0);
    // Per increment: its read, the other's write, its write.
    let marked = &summary["transactions"][0];
    assert_eq!((&marked["count"], &marked["candidates_all"]), (&2.into(), &2.into()));
}

#[test]
fn info_counts_reads_that_reach_guards_and_pins() {
    let trace = r#"{"foretrace": 1, "data": "symbolic", "vars": {"x": {"sort": "Int", "init": 3}}}
{"t": 1, "op": "read", "var": "x", "dst": "a", "value": 3}
{"t": 1, "op": "let", "dst": "b", "expr": "(+ a 1)"}
{"t": 1, "op": "assume", "expr": "(> b 0)"}
{"t": 1, "op": "read", "var": "x", "dst": "c", "value": 3}
{"t": 1, "op": "assume", "expr": "(= c 3)", "why": "pin"}
{"t": 1, "op": "read", "var": "x", "dst": "d", "value": 3}
{"t": 1, "op": "write", "var": "x", "expr": "d", "value": 3}
"#;
    let run = Folder::with("guards.jsonl", trace).foretrace("info guards.jsonl");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("reads that feed guards  2 of 3 (66.7 %)"), "{}", run.stdout);
    assert!(run.stdout.contains("assumes                 1 branches, 1 pins"), "{}", run.stdout);
}

#[test]
fn convert_goes_there_and_back() {
    let folder = Folder::with("a.jsonl", LOST_UPDATE);
    for (from, to) in [("a.jsonl", "b.ftb"), ("b.ftb", "c.jsonl.zst"), ("c.jsonl.zst", "d.jsonl")] {
        let run = folder.foretrace(&format!("convert {from} {to}"));
        assert_eq!(run.code, Some(0), "{from} to {to}: {}", run.stderr);
    }
    let direct = folder.foretrace("convert a.jsonl -");
    let around = std::fs::read_to_string(folder.path("d.jsonl")).expect("written");
    assert_eq!(direct.stdout, around);
}

#[test]
fn convert_leaves_data_out() {
    let folder = Folder::with("a.jsonl", LOST_UPDATE);
    for (data, model) in [("concrete", "mcm"), ("none", "avp")] {
        assert_eq!(folder.foretrace(&format!("convert a.jsonl {data}.ftb --data {data}")).code, Some(0));
        let report = folder.foretrace(&format!("predict {data}.ftb --format json")).stdout;
        assert!(report.contains(&format!("\"data\":\"{data}\"")), "{report}");
        assert!(report.contains(&format!("\"model\":\"{model}\"")), "{report}");
    }
    let more = folder.foretrace("convert none.ftb b.jsonl --data symbolic");
    assert_eq!(more.code, Some(2));
    assert!(more.stderr.contains("none.ftb: found a trace with `data` none, expected"), "{}", more.stderr);
    assert!(!folder.path("b.jsonl").exists());
}

#[test]
fn convert_writes_nothing_for_bad_input() {
    let folder = Folder::with("a.jsonl", "{\"foretrace\": 2}\n");
    folder.add("b.jsonl", "what was there before");
    let run = folder.foretrace("convert a.jsonl b.jsonl");
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("a.jsonl:1"), "{}", run.stderr);
    assert_eq!(std::fs::read_to_string(folder.path("b.jsonl")).ok().as_deref(), Some("what was there before"));
}

#[test]
fn a_missing_file_is_named_once() {
    let run = Folder::with("a.jsonl", UNMARKED).foretrace("info b.jsonl");
    assert_eq!(run.code, Some(2));
    assert_eq!(run.stderr, "error: b.jsonl: No such file or directory (os error 2)\n");
}

#[test]
fn run_writes_a_trace_that_check_accepts() {
    let folder = Folder::with("p.lit", "shared x: int = 0;\nthread A { x = 1; }\nthread B { let a = x; }\n");
    let run = folder.foretrace("run p.lit --seed 3 -o t.jsonl");
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{}", run.stderr);
    assert_eq!(folder.foretrace("check t.jsonl").code, Some(0));
    let again = folder.foretrace("run p.lit --seed 3");
    assert_eq!(std::fs::read_to_string(folder.path("t.jsonl")).ok(), Some(again.stdout));
}

#[test]
fn run_tells_how_a_run_ended() {
    let cases = [
        ("thread A { assert(false); }", "", 1, "failed"),
        ("mutex m; thread A { lock(m); lock(m); }", "", 1, "deadlock"),
        ("shared x: int = 0; thread A { while (true) { x = 1; } }", "--max-steps 50", 3, "step limit"),
    ];
    for (program, options, code, message) in cases {
        let run = Folder::with("p.lit", program).foretrace(&format!("run p.lit {options} -o t.jsonl"));
        assert_eq!(run.code, Some(code), "{program}: {}", run.stderr);
        assert!(run.stderr.contains(message), "{program}: {}", run.stderr);
    }
}

#[test]
fn run_points_at_a_mistake() {
    let folder = Folder::with("p.lit", "shared x: int = 0;\nthread A { y = 1; }\n");
    let run = folder.foretrace("run p.lit -o t.jsonl");
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("p.lit:2:12"), "{}", run.stderr);
    assert!(!folder.path("t.jsonl").exists());
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let run = foretrace_in(repository(), &format!("completions {shell}"));
        assert_eq!(run.code, Some(0));
        assert!(run.stdout.contains("predict") && run.stdout.contains("witness-dir"), "{shell}");
    }
}

#[test]
fn wrong_usage_exits_with_2() {
    for arguments in ["", "predict", "predict a b", "nonsense", "info --format yaml x"] {
        assert_eq!(foretrace_in(repository(), arguments).code, Some(2), "{arguments}");
    }
}

#[test]
fn every_example_trace_is_valid() {
    let mut traces = 0;
    for entry in std::fs::read_dir(repository().join("examples/traces")).expect("examples are shipped") {
        let path = entry.expect("a file").path();
        let run = foretrace_in(repository(), &format!("check {}", path.display()));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        traces += 1;
    }
    assert!(traces > 0);
}

/// A name could clear the screen, or rename the terminal's window.
#[test]
fn control_characters_of_a_trace_reach_no_terminal() {
    let hostile = LOST_UPDATE
        .replace("increment", r"inc\u001b[2J\u009b31m")
        .replace("counter.c", r"count\u001b]0;title\u0007.c")
        .replace("\"n\"", r#""n\u202e\u001b[1m""#);
    let folder = Folder::with("hostile.jsonl", &hostile);
    for arguments in [
        "predict hostile.jsonl",
        "explain hostile.jsonl 1 6 2",
        "compare hostile.jsonl",
        "info hostile.jsonl",
        "check hostile.jsonl",
        "predict hostile.jsonl --focus \u{1b}[2J",
    ] {
        let run = folder.foretrace(arguments);
        for text in [&run.stdout, &run.stderr] {
            let commands = |c: &char| c.is_control() && *c != '\n' || *c == '\u{202e}';
            assert_eq!(text.chars().find(commands), None, "{arguments}: {text:?}");
        }
    }
    let run = folder.foretrace("predict hostile.jsonl");
    assert!(run.stdout.contains("n\u{fffd}?[1m"), "{}", run.stdout);
}

/// Ours comes first: what the other tool understands, it says itself.
#[test]
fn help_of_commands_that_stand_in_for_other_tools() {
    let folder = Folder::with("a.jsonl", LOST_UPDATE);
    for (arguments, said) in [
        ("cc --help", "--as-shipped"),
        ("c++ --help", "Usage: foretrace c++ [ARGUMENT]..."),
        ("cargo --help", "Usage: foretrace cargo [ARGUMENT]..."),
        ("cargo", "Usage: foretrace cargo [ARGUMENT]..."),
    ] {
        let run = folder.foretrace(arguments);
        assert_eq!(run.code, Some(0), "{arguments}: {}", run.stderr);
        assert!(run.stdout.contains(said) && run.stdout.contains("foretrace record"), "{arguments}: {}", run.stdout);
    }
}

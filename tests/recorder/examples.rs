//! The programs of `examples/programs`: from a run that passed to the failure that it hides, and none in the fixed twins.

use crate::support::{Found, Workshop, example, ran};
use serde_json::{Value, json};
use std::path::PathBuf;

/// What `expected.json` says of a program, and its lines.
struct Expected {
    source: PathBuf,
    variable: String,
    pattern: String,
    lines: [Vec<u64>; 3],
    failure: Value,
    /// The package of a Rust program.
    package: Option<String>,
}

impl Expected {
    fn of_example(name: &str) -> Expected {
        let all: Value = serde_json::from_slice(&std::fs::read(example("expected.json")).expect("read")).expect("JSON");
        let one = all.as_array().expect("a list").iter().find(|one| one["name"] == name).expect("described");
        let text = |value: &Value| value.as_str().expect("text").to_string();
        let source = example(&text(&one["source"]));
        let code = std::fs::read_to_string(&source).expect("read");
        let lines = ["@first", "@remote", "@second"].map(|mark| {
            let marked = code.lines().zip(1..).filter(|(line, _)| line.contains(mark)).map(|(_, number)| number);
            marked.collect::<Vec<u64>>()
        });
        Expected {
            source,
            variable: text(&one["violation"]["variable"]),
            pattern: text(&one["violation"]["pattern"]),
            lines,
            failure: one["failure"].clone(),
            package: (one["language"] == "rust").then(|| name.to_string()),
        }
    }

    fn build(&self, is_fixed: bool, flags: &[&str]) -> Workshop {
        match &self.package {
            Some(package) => Workshop::build_crate(package, if is_fixed { &["fixed"] } else { &[] }),
            None => Workshop::build(&self.source, &[flags, if is_fixed { &["-DFIXED"] } else { &[] }].concat()),
        }
    }

    /// How so many failing replays end.
    fn endings(&self, times: u32) -> Value {
        let mut failure = self.failure.clone();
        failure["times"] = json!(times);
        json!([failure])
    }

    fn is(&self, found: &Found) -> bool {
        let lines = self.lines.iter().zip(&found.lines).all(|(marked, line)| marked.contains(line));
        found.var == self.variable && found.pattern == self.pattern && lines
    }
}

/// Seeds that are tried for a passing run that holds the violation.
const SEEDS: std::ops::Range<u32> = 0..40;

/// Finds the violation in a passing run and makes the program fail by it so many times.
pub fn shows(name: &str, times: u32, flags: &[&str]) {
    let expected = Expected::of_example(name);
    let workshop = expected.build(false, flags);
    let (recording, witness) = failing_witness_of_passing_run(&expected, &workshop);
    let again = workshop.replay(&workshop.path(&recording), 20, 0);
    assert_eq!((&again["followed"], &again["endings"]), (&json!(20), &json!([{"code": 0, "times": 20}])));
    let report = workshop.replay(&witness, times, 0);
    assert_eq!((&report["followed"], &report["endings"]), (&json!(times), &expected.endings(times)));
}

/// A passing run and a witness of the violation in it. Of the witnesses in its locations most, not all, make the program
/// fail: a violation may be harmless where what it broke is made good again.
fn failing_witness_of_passing_run(expected: &Expected, workshop: &Workshop) -> (String, PathBuf) {
    for seed in SEEDS {
        let name = format!("run-{seed}");
        if workshop.record(&name, &["--seed", &seed.to_string()]) != json!({"code": 0}) {
            continue;
        }
        for found in workshop.predict(&name).into_iter().filter(|found| expected.is(found)) {
            let report = workshop.replay(&found.witness, 1, 0);
            if report["endings"] == expected.endings(1) {
                return (name, found.witness);
            }
        }
    }
    panic!("no passing run of {SEEDS:?} holds the violation");
}

/// Nothing can happen in the transactions of the repaired program.
pub fn is_repaired(name: &str, flags: &[&str]) {
    let workshop = Expected::of_example(name).build(true, flags);
    for seed in 0..5_u32 {
        let run = format!("run-{seed}");
        assert_eq!(workshop.record(&run, &["--seed", &seed.to_string()]), json!({"code": 0}));
        let found = workshop.predict(&run);
        assert!(found.is_empty(), "seed {seed}: {} at {:?}", found[0].var, found[0].lines);
    }
    // Some have something off the path of the run, or a block that is violated, by which no run fails.
    let repair = "foretrace predict run-0 --repair --repair-runs 3 --format json -- ./program";
    let run = ran(&mut workshop.shell(repair));
    let report: Value = serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.err));
    assert_eq!(report["repairs"], json!([]), "{report:#}");
    assert_eq!(report.get("block_repairs"), None, "{report:#}");
}

macro_rules! programs {
    ($($name:ident: $folder:literal, $times:literal;)*) => { $(
        mod $name {
            #[test]
            fn fails_when_told_to() {
                super::shows($folder, $times, &[]);
            }

            #[test]
            fn is_repaired() {
                super::is_repaired($folder, &[]);
            }
        }
    )* };
}

programs! {
    bank: "bank", 100;
    bank_cpp: "bank-cpp", 100;
    apache_log_buffer: "apache-log-buffer", 20;
    apache_refcount: "apache-refcount", 20;
    mozilla_script_pointer: "mozilla-script-pointer", 20;
    mysql_binlog_rotation: "mysql-binlog-rotation", 20;
    string_buffer: "string-buffer", 20;
    work_queue: "work-queue", 20;
    double_checked_init: "double-checked-init", 20;
    bounded_buffer: "bounded-buffer", 20;
    bank_rust: "bank-rust", 100;
    sharded_map_rust: "sharded-map-rust", 20;
    lock_free_stack_rust: "lock-free-stack-rust", 20;
    reference_count_rust: "reference-count-rust", 20;
    work_queue_rust: "work-queue-rust", 20;
}

/// Its update can be lost in any run, and is in one of thousands.
#[test]
fn the_bank_loses_next_to_nothing_in_a_thousand_native_runs() {
    let workshop = Workshop::build(&Expected::of_example("bank").source, &[]);
    let run = |_| std::process::Command::new(&workshop.program).output().expect("starts").status;
    let failed = (0..1000).map(run).filter(|status| !status.success()).count();
    assert!(failed <= 5, "{failed} of 1000 runs failed");
}

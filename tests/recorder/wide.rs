//! Atomic accesses of 16 bytes: what they order is ordered, and what they compute is known.

use crate::gcc::last_values;
use crate::support::{Workshop, expect, foretrace, ran, source};
use serde_json::Value;

/// What a part of the program does, by its argument.
const WAYS: [&str; 6] = ["s", "x", "a", "o", "c", "f"];
/// Those that say that something cannot happen because of the values that are read.
const MODELS: [&str; 3] = ["ctp", "mcm", "avp"];

fn built(name: &str, flags: &str) -> Workshop {
    let workshop = Workshop::empty();
    let source = source(name).display().to_string();
    workshop.make(&format!("foretrace cc -w {flags} -o program {source} -latomic"));
    workshop
}

/// Patterns of what can happen, by the trace of a recording.
fn feasible(workshop: &Workshop, recording: &str, model: &str) -> Vec<String> {
    let script = format!("foretrace predict --model {model} --candidates all --format json {recording}");
    let report = ran(&mut workshop.shell(&script));
    let report: Value = serde_json::from_str(&report.out).unwrap_or_else(|_| panic!("{}", report.err));
    let candidates = report["candidates"].as_array().expect("a list");
    assert!(!candidates.is_empty(), "{recording}");
    let feasible = candidates.iter().filter(|one| one["verdict"] != "infeasible");
    feasible.map(|one| one["pattern"].as_str().expect("a pattern").to_string()).collect()
}

#[test]
fn what_they_hand_over_is_ordered() {
    let (right, wrong) = (built("wide-handover.c", "-mcx16"), built("wide-handover.c", "-mcx16 -DBROKEN"));
    for way in WAYS {
        for workshop in [&right, &wrong] {
            workshop.make(&format!("foretrace record -o {way} -- ./program {way} || test $? = 1"));
        }
        for model in MODELS {
            assert_eq!(feasible(&right, way, model), Vec::<String>::new(), "{way}, {model}");
        }
        assert_eq!(feasible(&wrong, way, "ctp"), ["R-W-R"], "{way}");
        wrong.make(&format!(
            "rm -rf found; foretrace predict --witness-dir found {way}; foretrace replay found/*.json -- ./program {way}"
        ));
    }
}

#[test]
fn they_do_what_they_do_without_us() {
    for flags in ["-mcx16", "", "-mcx16 -O2 --as-shipped"] {
        let workshop = built("wide-atomics.c", flags);
        let native = ran(&mut workshop.shell("./program"));
        for mode in ["--seed 0", "--seed 1", "--parallel"] {
            let recorded = ran(&mut workshop.shell(&format!("foretrace record {mode} -o run -- ./program")));
            assert_eq!((recorded.status, &recorded.out), (Some(0), &native.out), "{mode}: {}", recorded.err);
            assert!(recorded.err.contains("no value pinned") || flags.contains("shipped"), "{flags}: {}", recorded.err);
            let values = last_values(&workshop.trace("run"));
            let half = |name: &str| values[name].as_u64().expect("a word");
            let shared = format!("shared {:x} {:x}", half("shared+8"), half("shared"));
            assert_eq!(native.out.lines().next(), Some(&*shared), "{flags} {mode}");
            assert_eq!(workshop.replay(&workshop.path("run"), 3, 0)["followed"], 3, "{flags} {mode}");
        }
    }
}

/// The tag alone tells that the pointer was replaced: nothing is lost.
#[test]
fn a_compare_and_swap_needs_both_halves() {
    let workshop = built("tagged.c", "-mcx16");
    for seed in ["0", "1", "2"] {
        assert_eq!(workshop.record("run", &["--seed", seed])["code"], 0);
        let patterns = feasible(&workshop, "run", "ctp");
        assert!(patterns.iter().all(|pattern| pattern == "R-W-R"), "seed {seed}: {patterns:?}");
        for found in workshop.predict("run") {
            assert_eq!(workshop.replay(&found.witness, 1, 0)["followed"], 1, "seed {seed}: {}", found.pattern);
        }
    }
    // In a window the first that is known of the memory may be the access itself.
    workshop.record("window", &["--window", "4"]);
    expect(0, foretrace().arg("check").arg(workshop.path("window").join("trace.jsonl.zst")));
}

/// A compare-and-swap that failed and would succeed elsewhere is no read there; one that fails everywhere is. Of an `int`, of 16 bytes,
/// and of 8 bytes of which another thread writes half.
#[test]
fn a_swap_that_failed_would_have_written() {
    for size in ["", "-DWIDE -mcx16", "-DSPLIT"] {
        for (expected, can_happen) in [(0, false), (3, true)] {
            let workshop = built("refused-swap.c", &format!("-g {size} -DEXPECTED={expected}"));
            workshop
                .make("foretrace record -o run -- ./program; foretrace predict --witness-dir found run || test $? = 1");
            for model in MODELS {
                // With the values of the run a read that must find 5 again cannot come where it finds 0.
                let wanted = can_happen && model == "ctp";
                let patterns = feasible(&workshop, "run", model);
                assert_eq!(!patterns.is_empty(), wanted, "{size} {expected} {model}: {patterns:?}");
            }
            let witnesses = std::fs::read_dir(workshop.path("found")).expect("a folder");
            for witness in witnesses {
                let witness = witness.expect("a file").path();
                let name = witness.display().to_string();
                assert_eq!(name.contains("off-path"), !can_happen, "{name}");
                assert_eq!(workshop.replay(&witness, 1, 0)["followed"], 1, "{size} {expected} {name}");
            }
        }
    }
}

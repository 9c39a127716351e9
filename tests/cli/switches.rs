//! `--context-switches` of every command that takes it.

use crate::serializability::must_fit;
use crate::support::{Folder, LOST_UPDATE};

/// A lost update that takes three context switches: the second thread lets the third one write, and the first lets the second one.
const THREE: &str = r#"{"foretrace": 1, "data": "symbolic", "vars": {"x": {"sort": "Int", "init": 0}},
 "sync": {"a": {"kind": "semaphore", "init": 0}, "b": {"kind": "semaphore", "init": 0}}}
{"t": 1, "op": "begin", "label": "add", "loc": "three.c:1"}
{"t": 1, "op": "read", "var": "x", "dst": "r", "loc": "three.c:2"}
{"t": 1, "op": "post", "sem": "a"}
{"t": 1, "op": "write", "var": "x", "expr": "(+ r 1)", "loc": "three.c:4"}
{"t": 1, "op": "end"}
{"t": 2, "op": "down", "sem": "a"}
{"t": 2, "op": "post", "sem": "b"}
{"t": 3, "op": "down", "sem": "b"}
{"t": 3, "op": "write", "var": "x", "expr": "9", "loc": "three.c:9"}
"#;

fn folder() -> Folder {
    Folder::with("three.jsonl", &THREE.replace("}},\n \"sync\"", "}}, \"sync\""))
}

#[test]
fn triples_beyond_the_bound_are_undecided_and_not_impossible() {
    let folder = folder();
    let two = folder.foretrace("predict three.jsonl --property triples --context-switches 2");
    assert_eq!(two.code, Some(3), "{}{}", two.stdout, two.stderr);
    for part in ["at most 2 context switches", "1 candidate: not within 2"] {
        assert!(two.stdout.contains(part), "`{part}` is missing in\n{}", two.stdout);
    }
    let json = folder.foretrace("predict three.jsonl --context-switches 2 --format json");
    let report = must_fit("report.schema.json", &json.stdout);
    assert_eq!(report["context_switches"], 2);
    assert_eq!(report["candidates"][0]["verdict"], "unknown");
    assert_eq!(report["candidates"][0]["reason"], "not within 2 context switches");
    for order in ["auto", "idl", "order", "sat"] {
        let three =
            folder.foretrace(&format!("predict three.jsonl --context-switches 3 --order {order} --format json"));
        assert_eq!(three.code, Some(1), "{order}: {}", three.stderr);
        let report = must_fit("report.schema.json", &three.stdout);
        assert_eq!(report["candidates"][0]["schedule"], serde_json::json!([0, 1, 2, 5, 6, 7, 8, 3]), "{order}");
        let two = folder.foretrace(&format!("predict three.jsonl --context-switches 2 --order {order}"));
        assert_eq!(two.code, Some(3), "{order}: {}", two.stderr);
    }
    let paper = folder.foretrace("predict three.jsonl --context-switches 2 --strategy paper");
    assert_eq!(paper.code, Some(2));
    assert!(paper.stderr.contains("found --strategy paper, whose formula has no such bound"), "{}", paper.stderr);
}

#[test]
fn explain_says_how_many_switches_it_takes() {
    let folder = folder();
    let run = folder.foretrace("explain three.jsonl 1 8 3 --context-switches 2");
    assert_eq!(run.code, Some(3), "{}{}", run.stdout, run.stderr);
    for part in [
        "(1, 8, 3) cannot happen with so few context switches",
        "No schedule shows it with at most 2 context switches between 1 and 3.",
        "It can happen with 3, and not with fewer.",
    ] {
        assert!(run.stdout.contains(part), "`{part}` is missing in\n{}", run.stdout);
    }
    let json = folder.foretrace("explain three.jsonl 1 8 3 --context-switches 1 --format json");
    let report = must_fit("explanation.schema.json", &json.stdout);
    assert_eq!((&report["context_switches"], &report["fewest_switches"]), (&1.into(), &3.into()));
    assert_eq!(folder.foretrace("explain three.jsonl 1 8 3 --context-switches 3").code, Some(1));
}

#[test]
fn blocks_and_models_keep_the_bound() {
    let folder = folder();
    for decide in ["both", "solve", "explore"] {
        let verdict = |bound: u32| {
            let asked =
                format!("serializability three.jsonl --context-switches {bound} --decide {decide} --format json");
            let run = folder.foretrace(&asked);
            let report = must_fit("serializability.schema.json", &run.stdout);
            (run.code, report["blocks"][0]["verdict"].clone())
        };
        assert_eq!(verdict(2), (Some(3), "not-within".into()), "{decide}");
        assert_eq!(verdict(3), (Some(1), "violated".into()), "{decide}");
    }
    let text = folder.foretrace("serializability three.jsonl --context-switches 2").stdout;
    let told = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["model ctp; at most 2 context switches", "1 not violated within so few context switches"] {
        assert!(told.contains(part), "`{part}` is missing in\n{text}");
    }
    let compared =
        folder.foretrace("compare three.jsonl --property serializability --context-switches 2 --format json");
    assert_eq!(compared.code, Some(3));
    let report = must_fit("block-comparison.schema.json", &compared.stdout);
    assert_eq!(
        report["blocks"][0]["verdicts"],
        serde_json::json!(["not-within", "not-within", "not-within", "not-within"])
    );
    let compared = folder.foretrace("compare three.jsonl --context-switches 3 --format json");
    assert_eq!(compared.code, Some(0), "{}", compared.stderr);
    assert_eq!(must_fit("comparison.schema.json", &compared.stdout)["total"]["models"]["ctp"]["feasible"], 1);
    assert_eq!(folder.foretrace("compare three.jsonl --context-switches 2").code, Some(3));
    // What can be shown with two stays so.
    let lost = Folder::with("lost.jsonl", LOST_UPDATE);
    assert_eq!(lost.foretrace("predict lost.jsonl --context-switches 2").code, Some(1));
    assert_eq!(lost.foretrace("predict lost.jsonl --context-switches 1").code, Some(3));
}

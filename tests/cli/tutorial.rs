//! `docs/tutorial.md`: each of its programs with each verdict of its table. The verdicts are those of the paper
//! (sections 1 and 5), and for the other models what the definitions in `docs/trace-format.md` say.

use crate::support::{Folder, repository};

const FEASIBLE: &str = "feasible";
const INFEASIBLE: &str = "infeasible";
const MODELS: [&str; 4] = ["cam", "ctp", "mcm", "avp"];

/// Runs a program, and asks of its one candidate in each model; `None` where the question cannot be asked.
fn check(program: &str, run: &str, options: &str, expected: [Option<&str>; 4]) {
    let source = std::fs::read_to_string(repository().join("examples/litmus").join(program));
    let folder = Folder::with("program.lit", &source.expect("the program is shipped"));
    let recorded = folder.foretrace(&format!("run program.lit {run} -o trace.jsonl"));
    assert_eq!(recorded.code, Some(0), "{program}: {}", recorded.stderr);
    for (model, expected) in MODELS.into_iter().zip(expected) {
        let answer = folder.foretrace(&format!("predict trace.jsonl --format json --model {model} {options}"));
        let Some(expected) = expected else {
            assert_eq!(answer.code, Some(2), "{program} {model} {options}");
            continue;
        };
        let report: serde_json::Value = serde_json::from_str(&answer.stdout).expect("the report is JSON");
        let candidates = report["candidates"].as_array().expect("candidates are listed");
        let verdicts: Vec<&str> = candidates.iter().filter_map(|candidate| candidate["verdict"].as_str()).collect();
        assert_eq!(verdicts, [expected], "{program} {model} {options}");
        assert_eq!(answer.code, Some(i32::from(expected == FEASIBLE)), "{program} {model} {options}");
    }
}

#[test]
fn figure_1_a() {
    let verdicts = [FEASIBLE, INFEASIBLE, INFEASIBLE, INFEASIBLE].map(Some);
    check("fig1a.lit", "--schedule serial", "", verdicts);
    check("fig1a.lit", "--schedule serial", "--feasibility complete", verdicts);
}

#[test]
fn figure_1_a_modified() {
    let verdicts = [FEASIBLE, FEASIBLE, INFEASIBLE, INFEASIBLE].map(Some);
    check("fig1a-modified.lit", "--schedule serial", "", verdicts);
    check("fig1a-modified.lit", "--schedule serial", "--feasibility complete", verdicts);
}

#[test]
fn figure_1_b() {
    check("fig1b.lit", "--seed 1", "", [Some(INFEASIBLE); 4]);
    check("fig1b.lit", "--seed 1", "--feasibility complete", [Some(INFEASIBLE); 4]);
}

#[test]
fn figure_1_b_modified_and_figure_2() {
    check("fig1b-modified.lit", "--schedule serial", "", [Some(FEASIBLE); 4]);
    let complete = [FEASIBLE, FEASIBLE, INFEASIBLE, INFEASIBLE].map(Some);
    check("fig1b-modified.lit", "--schedule serial", "--feasibility complete", complete);
}

#[test]
fn figure_6() {
    check("fig6.lit", "--schedule serial", "", [Some(FEASIBLE); 4]);
    let complete = [FEASIBLE, INFEASIBLE, INFEASIBLE, INFEASIBLE].map(Some);
    check("fig6.lit", "--schedule serial", "--feasibility complete", complete);
}

#[test]
fn guarded_independence() {
    let conflict = [FEASIBLE, FEASIBLE, INFEASIBLE, INFEASIBLE].map(Some);
    check("guarded.lit", "--schedule serial", "", conflict);
    let guarded = [None, Some(INFEASIBLE), Some(INFEASIBLE), None];
    check("guarded.lit", "--schedule serial", "--independence guarded", guarded);
}

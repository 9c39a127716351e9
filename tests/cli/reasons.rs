//! `foretrace explain` and `foretrace compare` as people and programs see them. After a wanted change:
//! `INSTA_UPDATE=always cargo test --test cli`.

use crate::support::{Folder, LOCKED, LOST_UPDATE, Run, UNMARKED, foretrace_in, repository};
use serde_json::Value;

const BANK: &str = "examples/traces/bank-seed1.thread.jsonl";

fn of_bank(arguments: &str) -> Run {
    foretrace_in(repository(), arguments)
}

/// The trace of a litmus example in a folder.
fn litmus(name: &str) -> Folder {
    let run = foretrace_in(repository(), &format!("run examples/litmus/{name}.lit --seed 1"));
    Folder::with("trace.jsonl", &run.stdout)
}

fn must_fit(schema: &str, text: &str) -> Value {
    let value: Value = serde_json::from_str(text).expect("the report is JSON");
    let schema = std::fs::read_to_string(repository().join("schemas").join(schema)).expect("the schema is shipped");
    let validator = jsonschema::draft202012::new(&serde_json::from_str(&schema).expect("JSON")).expect("a schema");
    let errors: Vec<String> = validator.iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    value
}

#[test]
fn a_lock_rules_out_an_update() {
    let run = of_bank(&format!("explain {BANK} 15 40 16"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    insta::assert_snapshot!(run.stdout);
}

#[test]
fn what_can_happen_is_shown() {
    let run = of_bank(&format!("explain {BANK} 10 38 14"));
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    insta::assert_snapshot!(run.stdout);
}

#[test]
fn a_spinlock_rules_out_an_update_by_its_values() {
    insta::assert_snapshot!(litmus("spinlock").foretrace("explain trace.jsonl 2 11 5").stdout);
}

#[test]
fn forks_signals_and_counts_are_named() {
    let fork = of_bank(&format!("explain {BANK} 7 0 27")).in_one_line();
    assert!(fork.contains("a thread starts after its fork"), "{fork}");
    let barrier = litmus("barrier").foretrace("explain trace.jsonl 20 6 22").in_one_line();
    assert!(barrier.contains("no thread leaves a barrier before all have come"), "{barrier}");
    let signal = litmus("fig1b").foretrace("explain trace.jsonl 3 9 4").in_one_line();
    assert!(signal.contains("needs a signal between 1"), "{signal}");
    let count = litmus("semaphore").foretrace("explain trace.jsonl 3 17 4").in_one_line();
    assert!(count.contains("needs a count above zero"), "{count}");
}

/// Thread 2 read p before thread 1 changed it; that it read 4 is only pinned.
#[test]
fn a_pin_is_named_as_one() {
    let trace = r#"{"foretrace": 1, "data": "symbolic", "vars": {"p": {"sort": "Int", "init": 4}, "x": {"sort": "Int", "init": 0}}, "sync": {"m": {"kind": "mutex"}}}
{"t": 2, "op": "acquire", "lock": "m"}
{"t": 2, "op": "read", "var": "p", "dst": "a"}
{"t": 2, "op": "assume", "expr": "(= a 4)", "why": "pin", "loc": "pin.c:7"}
{"t": 2, "op": "write", "var": "x", "expr": "1"}
{"t": 2, "op": "release", "lock": "m"}
{"t": 1, "op": "acquire", "lock": "m"}
{"t": 1, "op": "write", "var": "p", "expr": "5"}
{"t": 1, "op": "release", "lock": "m"}
{"t": 1, "op": "begin"}
{"t": 1, "op": "read", "var": "x", "dst": "b"}
{"t": 1, "op": "write", "var": "x", "expr": "(+ b 1)"}
{"t": 1, "op": "end"}
"#;
    let folder = Folder::with("pin.jsonl", trace);
    let run = folder.foretrace("explain pin.jsonl 9 3 10");
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("Pin 2 (assume, pin.c:7) of thread 2"), "{}", run.stdout);
    assert!(run.stdout.contains("It rests on a pin"), "{}", run.stdout);
    let report = folder.foretrace("explain pin.jsonl 9 3 10 --format json");
    let report = must_fit("explanation.schema.json", &report.stdout);
    assert_eq!(report["arguments"][0]["rests_on_pin"], true);
    assert_eq!(report["rests_on"], "pin");
    let branch = Folder::with("pin.jsonl", &trace.replace("\"pin\"", "\"branch\""));
    let run = branch.foretrace("explain pin.jsonl 9 3 10");
    assert!(run.stdout.contains("Branch 2 (assume, pin.c:7)") && !run.stdout.contains("rests on"), "{}", run.stdout);
}

#[test]
fn bad_triples_say_why() {
    let folder = Folder::with("locked.jsonl", LOCKED);
    folder.add("unmarked.jsonl", UNMARKED);
    for (arguments, why) in [
        ("locked.jsonl 2 9 99", "the trace has no event 99"),
        ("locked.jsonl 3 9 2", "first and second are not two events of one transaction, in this order"),
        ("locked.jsonl 2 3 3", "the remote access is of the same thread"),
        ("locked.jsonl 1 9 3", "not all three access the same variable"),
        ("locked.jsonl 2 8 3", "the accesses fit no pattern"),
        ("unmarked.jsonl 0 2 1 --atomic marked", "(--atomic marked)"),
        ("unmarked.jsonl 0 2 1 --model ctp", "--model ctp needs a trace with expressions"),
        ("locked.jsonl 2 x 3", "invalid value 'x' for '[REMOTE]'"),
        ("locked.jsonl 2 9 3 --model cam --independence guarded", "--independence guarded asks for values"),
    ] {
        let run = folder.foretrace(&format!("explain {arguments}"));
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{arguments}");
        assert!(run.stderr.contains(why), "{arguments}: {}", run.stderr);
    }
}

#[test]
fn explanations_fit_their_schema() {
    let folder = Folder::with("locked.jsonl", LOCKED);
    folder.add("counter.jsonl", LOST_UPDATE);
    let refuted =
        must_fit("explanation.schema.json", &folder.foretrace("explain locked.jsonl 2 9 3 --format json").stdout);
    assert_eq!(refuted["verdict"], "infeasible");
    assert_eq!(refuted["arguments"][0]["minimal"], true);
    let rules: Vec<&str> = refuted["arguments"][0]["reasons"]
        .as_array()
        .expect("reasons")
        .iter()
        .filter_map(|reason| reason["rule"].as_str())
        .collect();
    assert_eq!(rules, ["program-order", "program-order", "lock"]);
    let possible =
        must_fit("explanation.schema.json", &folder.foretrace("explain counter.jsonl 1 6 2 --format json").stdout);
    assert_eq!(possible["verdict"], "feasible");
    assert_eq!(possible["witness"]["dependences"].as_array().map(Vec::len), Some(2));
}

#[test]
fn the_models_of_the_bank() {
    let run = of_bank(&format!("compare {BANK} --jobs 2"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(run.stdout, of_bank(&format!("compare {BANK} --jobs 1")).stdout);
    insta::assert_snapshot!(run.stdout);
}

#[test]
fn comparisons_fit_their_schema() {
    let folder = litmus("spinlock");
    let run = folder.foretrace("compare trace.jsonl --format json --times");
    let report = must_fit("comparison.schema.json", &run.stdout);
    assert_eq!(report["total"]["models"]["cam"]["feasible"], 2);
    assert_eq!(report["total"]["models"]["ctp"]["feasible"], 0);
    assert!(report["disagreements"][0]["reason"].as_str().is_some_and(|reason| reason.contains("value of locked")));
    let none = folder.foretrace("compare trace.jsonl --format json --reasons 0");
    let none = must_fit("comparison.schema.json", &none.stdout);
    assert!(none["disagreements"][0].get("reason").is_none() && none.get("seconds").is_none());
    let cut = folder.foretrace("compare trace.jsonl --budget 0.000000001");
    assert_eq!(cut.code, Some(3), "{}", cut.stdout);
    let few =
        Folder::with("unmarked.jsonl", UNMARKED).foretrace("compare unmarked.jsonl --atomic threads --format json");
    let few = must_fit("comparison.schema.json", &few.stdout);
    assert_eq!(few["reference"], "mcm", "the trace has no expressions");
}

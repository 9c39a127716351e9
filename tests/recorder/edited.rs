//! A witness tried on the next build: its places are found in the edited source, or named where they are not.

use crate::support::{Workshop, example, ran};
use serde_json::{Value, json};
use std::path::Path;

/// The bank, built from a copy of its source and recorded in `run`, with the witness of its lost update as `witness.json`.
fn bank() -> Workshop {
    let workshop = Workshop::empty();
    std::fs::copy(example("bank/bank.c"), workshop.path("bank.c")).expect("copied");
    workshop.make("foretrace cc -o program bank.c");
    let passing = (0..20).find(|seed| workshop.record("run", &["--seed", &seed.to_string()]) == json!({"code": 0}));
    passing.expect("a passing run");
    let found = workshop.predict("run").into_iter().find(|found| found.pattern == "R-W-W").expect("a lost update");
    std::fs::copy(found.witness, workshop.path("witness.json")).expect("copied");
    workshop
}

/// Changes the source by a script, builds it again, and replays the witness on that.
fn after(workshop: &Workshop, change: &str, flags: &str) -> Value {
    std::fs::copy(example("bank/bank.c"), workshop.path("bank.c")).expect("copied");
    workshop.make(&format!("{change}\nforetrace cc {flags} -o program bank.c"));
    let run = ran(&mut workshop.shell("foretrace replay witness.json --edited --times 3 --format json -- ./program"));
    let mut report: Value = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{change}: {}", run.err));
    is_report(&report);
    report["status"] = run.status.into();
    report
}

/// The lines of the source that hold a text, as the reports have them.
fn loc_of(workshop: &Workshop, text: &str) -> String {
    let source = std::fs::read_to_string(workshop.path("bank.c")).expect("read");
    let line = source.lines().position(|line| line.contains(text)).expect("there") + 1;
    format!("bank.c:{line}:")
}

#[test]
fn lines_that_were_inserted_and_removed_do_no_harm() {
    let workshop = bank();
    let places = serde_json::from_slice::<Value>(&std::fs::read(workshop.path("witness.json")).expect("read"));
    let places = places.expect("JSON")["places"].clone();
    assert_eq!(
        (&places["first"]["function"], &places["remote"]["function"]),
        (&json!("get_balance"), &json!("set_balance"))
    );
    assert!(places["first"]["text"].as_str().is_some_and(|text| text.starts_with("long balance = account.balance;")));
    for change in [
        "true",
        "sed -i '1i // a comment\\nstatic int more;' bank.c",
        "sed -i 's/^static void set_balance/static int between(void) { return 0; }\\n\\n&/; /^$/d' bank.c",
        "sed -i 's/^    long balance = account/        long balance = account/' bank.c",
    ] {
        let report = after(&workshop, change, "");
        assert_eq!((&report["another_way"], &report["status"]), (&json!(3), &json!(0)), "{change}: {report}");
        assert_eq!(report["endings"], json!([{"code": 1, "times": 3}]), "{change}");
        let loc = report["triple"][0]["loc"].as_str().expect("a place");
        assert!(loc.starts_with(&loc_of(&workshop, "@first")), "{change}: {loc}");
    }
}

#[test]
fn a_function_with_another_name_is_told() {
    let workshop = bank();
    let report = after(&workshop, "sed -i 's/get_balance/read_balance/g' bank.c", "");
    assert_eq!((&report["another_way"], &report["status"]), (&json!(3), &json!(0)), "{report}");
    let moved = report["moved"][0].as_str().expect("a note");
    assert!(moved.starts_with("first was at bank.c:") && moved.ends_with(" in `read_balance`"), "{moved}");
    assert!(moved.contains(" in `get_balance`, is at "), "{moved}");
}

#[test]
fn a_program_that_does_not_go_there_is_told_apart_from_one_without_the_place() {
    let workshop = bank();
    let report = after(&workshop, "true", "-DFIXED");
    assert_eq!((&report["not_reached"], &report["status"]), (&json!(3), &json!(1)), "{report}");
    assert_eq!(report["endings"], json!([{"code": 0, "times": 3}]));
    assert_eq!(report["reason"], "thread 2 (customer) never came to the place of first");
    let changes = [
        ("sed -i '/@first/s/.*/    long balance = 100;/' bank.c", "first, bank.c:"),
        ("sed -i '/@remote/d' bank.c", "remote, bank.c:"),
    ];
    for (change, told) in changes {
        let report = after(&workshop, change, "");
        assert_eq!((&report["times"], &report["status"]), (&json!(0), &json!(1)), "{change}: {report}");
        let reason = report["reason"].as_str().expect("a reason");
        assert!(reason.starts_with(told) && reason.contains("has no match"), "{change}: {reason}");
    }
    let text = ran(&mut workshop.shell("foretrace replay witness.json --edited -- ./program"));
    assert!(text.out.starts_with("did not reach the triple: remote, bank.c:"), "{}", text.out);
    assert!(!text.out.contains("fixed"), "{}", text.out);
}

#[test]
fn without_the_recording_the_function_and_the_column_say_where() {
    let workshop = bank();
    workshop.make("mv run elsewhere");
    let report = after(&workshop, "sed -i '1i // a comment' bank.c", "");
    assert_eq!((&report["another_way"], &report["status"]), (&json!(3), &json!(0)), "{report}");
}

#[test]
fn what_cannot_be_tried_on_another_build_is_refused() {
    let workshop = bank();
    let mut old: Value =
        serde_json::from_slice(&std::fs::read(workshop.path("witness.json")).expect("read")).expect("JSON");
    old.as_object_mut().expect("an object").remove("places");
    std::fs::write(workshop.path("old.json"), old.to_string()).expect("written");
    for (arguments, told) in [
        ("old.json --edited", "does not name the places"),
        ("run --edited", "--edited needs a witness"),
        ("witness.json --edited --exactly", "cannot be used with"),
    ] {
        let run = ran(&mut workshop.shell(&format!("foretrace replay {arguments} -- ./program")));
        assert_eq!(run.status, Some(2), "{arguments}: {}", run.out);
        assert!(run.err.contains(told), "{arguments}: {}", run.err);
    }
}

/// Reports of replays are as their schema says.
pub fn is_report(report: &Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/replay.schema.json");
    let schema: Value = serde_json::from_slice(&std::fs::read(path).expect("read")).expect("JSON");
    let mut report = report.clone();
    report.as_object_mut().expect("an object").remove("status"); // the tests' own
    let errors: Vec<String> = jsonschema::validator_for(&schema)
        .expect("a schema")
        .iter_errors(&report)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}\n{report}");
}

//! `foretrace test --cargo`: each test of a project by itself, and the rest of it by another command.

use super::support::{Ran, Workshop, foretrace, ran};
use serde_json::Value;
use std::path::Path;

/// One test of two that pass in most runs is wrong: two threads take the count in one hold of the lock and set it in another.
const PROJECT: &str = r#"
use std::sync::Mutex;

static COUNT: Mutex<u32> = Mutex::new(0);

#[cfg(test)]
fn count_by(add: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        scope.spawn(&add);
        scope.spawn(&add);
    });
    assert_eq!(*COUNT.lock().unwrap(), 2);
}

#[test]
fn careful() {
    count_by(|| *COUNT.lock().unwrap() += 1);
}

#[test]
fn hasty() {
    count_by(|| {
        let had = *COUNT.lock().unwrap();
        *COUNT.lock().unwrap() = had + 1;
    });
}
"#;

fn test(folder: &Path, options: &str) -> Ran {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("foretrace-rust");
    let mut command = foretrace();
    command.current_dir(folder).env("CARGO_TARGET_DIR", target);
    ran(command.args(["test", "--cargo", "--format", "json", "--replays", "2"]).args(options.split_whitespace()))
}

fn find<'r>(report: &'r Value, name: &str) -> &'r Value {
    let tests = report["tests"].as_array().expect("tests");
    tests.iter().find(|test| test["name"].as_str().is_some_and(|known| known.ends_with(name))).expect("it is tested")
}

#[test]
fn the_tests_of_a_project_are_tested_and_go_on() {
    let workshop = Workshop::empty();
    let source = workshop.path("src/lib.rs");
    let folder = source.parent().and_then(Path::parent).expect("in a folder");
    std::fs::create_dir_all(folder.join("src")).expect("made");
    std::fs::write(&source, PROJECT).expect("written");
    let manifest = "[package]\nname = \"hasty-counter\"\nversion = \"0.0.0\"\nedition = \"2021\"\n";
    std::fs::write(folder.join("Cargo.toml"), manifest).expect("written");
    let report = |run: &Ran| -> Value { serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}", run.err)) };
    let run = test(folder, "--stop-after 1");
    let first = report(&run);
    assert_eq!(run.status, Some(1), "{first:#}");
    assert!(find(&first, "careful")["finds"].as_array().is_some_and(Vec::is_empty), "{first:#}");
    let failed = |report: &Value| find(report, "hasty")["finds"][0]["failure"].as_str().map(str::to_string);
    assert!(failed(&first).is_some_and(|failure| failure.contains("assertion")), "{first:#}");
    let run = test(folder, "--resume");
    let rest = report(&run);
    assert_eq!((run.status, failed(&rest)), (Some(1), failed(&first)), "{rest:#}");
    let runs = |report: &Value, name: &str| find(report, name)["runs"]["passed"].as_u64();
    assert_eq!(runs(&rest, "careful"), runs(&first, "careful"), "it was finished: {rest:#}");
    assert!(runs(&rest, "hasty") > runs(&first, "hasty"), "it goes on: {first:#}{rest:#}");
}

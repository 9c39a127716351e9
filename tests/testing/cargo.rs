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
    let run = test(folder, "--runs 60 --stop-after 1");
    let first = report(&run);
    assert_eq!(run.status, Some(1), "{first:#}");
    assert!(find(&first, "careful")["finds"].as_array().is_some_and(Vec::is_empty), "{first:#}");
    let failed = |report: &Value| find(report, "hasty")["finds"][0]["failure"].as_str().map(str::to_string);
    assert!(failed(&first).is_some_and(|failure| failure.contains("assertion")), "{first:#}");
    let run = test(folder, "--runs 60 --resume");
    let rest = report(&run);
    assert_eq!((run.status, failed(&rest)), (Some(1), failed(&first)), "{rest:#}");
    let runs = |report: &Value, name: &str| find(report, name)["runs"]["passed"].as_u64();
    assert_eq!(runs(&rest, "careful"), runs(&first, "careful"), "it was finished: {rest:#}");
    assert!(runs(&rest, "hasty") > runs(&first, "hasty"), "it goes on: {first:#}{rest:#}");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("foretrace-rust");
    let mut command = foretrace();
    command.current_dir(folder).env("CARGO_TARGET_DIR", target);
    let text = ran(command.args(["test", "--cargo", "--runs", "60", "--resume"]));
    let sum = "\n2 tests: 1 fails; 1 without a failure\n  hasty_counter::hasty fails\n";
    assert!(text.out.ends_with(sum), "{}{}", text.out, text.err);
}

/// A member of a workspace: its tests read a file of its folder, and what cargo tells of the package; one is ignored.
const MEMBER: &str = r#"
#[test]
fn is_where_cargo_runs_it() {
    assert_eq!(std::fs::read_to_string("data.txt").unwrap(), "seven");
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    assert_eq!(std::env::current_dir().unwrap(), std::path::Path::new(&folder));
    assert_eq!(std::env::var("CARGO_PKG_NAME").unwrap(), "member");
    assert_eq!(std::env::var("BUILT").unwrap(), std::env::var("OUT_DIR").unwrap());
}

#[test]
#[ignore]
fn fails() {
    panic!("{}", macros::seven!());
}
"#;
const BUILD_SCRIPT: &str = r#"
fn main() {
    println!("cargo:rustc-env=BUILT={}", std::env::var("OUT_DIR").unwrap());
}
"#;
const MACROS: &str = r#"
#[proc_macro]
pub fn seven(_: proc_macro::TokenStream) -> proc_macro::TokenStream {
    "7".parse().unwrap()
}

#[test]
fn runs_in_the_compiler() {}
"#;
/// A harness of its own, which knows no options.
const OWN: &str = r#"
fn main() {
    assert_eq!(std::env::args().count(), 1);
}
"#;

#[test]
fn tests_run_as_cargo_runs_them() {
    let workshop = Workshop::empty();
    let folder = workshop.path("");
    let write = |file: &str, text: &str| {
        let file = folder.join(file);
        std::fs::create_dir_all(file.parent().expect("in a folder")).expect("made");
        std::fs::write(file, text).expect("written");
    };
    let package = |name: &str, more: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.2\"\nedition = \"2021\"\n{more}")
    };
    write("Cargo.toml", "[workspace]\nmembers = [\"member\", \"macros\"]\nresolver = \"2\"\n");
    let own = "[dependencies]\nmacros = { path = \"../macros\" }\n[[test]]\nname = \"own\"\nharness = false\n";
    write("member/Cargo.toml", &package("member", own));
    write("member/src/lib.rs", MEMBER);
    write("member/build.rs", BUILD_SCRIPT);
    write("member/data.txt", "seven");
    write("member/tests/own.rs", OWN);
    write("macros/Cargo.toml", &package("macros", "[lib]\nproc-macro = true\n"));
    write("macros/src/lib.rs", MACROS);
    let run = test(&folder, "--time 60 -- --workspace");
    let report: Value = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}", run.err));
    let mut names: Vec<&str> =
        report["tests"].as_array().into_iter().flatten().filter_map(|test| test["name"].as_str()).collect();
    names.sort();
    assert_eq!(names, ["member::is_where_cargo_runs_it", "own"], "{report:#}");
    for name in names {
        let test = find(&report, name);
        assert_eq!((&test["runs"]["failed"], &test["finds"]), (&0.into(), &Value::Array(Vec::new())), "{report:#}");
    }
    assert_eq!(run.status, Some(0), "all was tried, what the harness of Rust does included: {report:#}");
    assert!(run.err.contains("macros: left out: ") && run.err.contains("since they are ignored: fails"), "{}", run.err);
}

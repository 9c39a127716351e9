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

/// The C part of a project: `raise_to` looks at the highest value without the lock.
const NATIVE: &str = r#"
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int highest;
void raise_to(int value)
{
    if (value > highest) {
        pthread_mutex_lock(&lock);
        highest = value;
        pthread_mutex_unlock(&lock);
    }
}
int highest_so_far(void)
{
    pthread_mutex_lock(&lock);
    int value = highest;
    pthread_mutex_unlock(&lock);
    return value;
}
"#;

/// Finds its compiler as the crate `cc` does.
const BUILD: &str = r#"
use std::process::Command;

fn main() {
    let compiler = std::env::var("CC_x86_64_unknown_linux_gnu").unwrap_or("cc".into());
    let folder = std::env::var("OUT_DIR").unwrap();
    let object = format!("{folder}/native.o");
    let archive = format!("{folder}/libnative.a");
    assert!(Command::new(compiler).args(["-g", "-fPIC", "-c", "native.c", "-o", &object]).status().unwrap().success());
    assert!(Command::new("ar").args(["crs", &archive, &object]).status().unwrap().success());
    println!("cargo:rustc-link-search=native={folder}");
    println!("cargo:rustc-link-lib=static=native");
}
"#;

const AROUND_NATIVE: &str = r#"
unsafe extern "C" {
    fn raise_to(value: i32);
    fn highest_so_far() -> i32;
}

#[test]
fn highest() {
    std::thread::scope(|scope| {
        scope.spawn(|| unsafe { raise_to(3) });
        scope.spawn(|| unsafe { raise_to(5) });
    });
    assert_eq!(unsafe { highest_so_far() }, 5);
}
"#;

#[test]
fn what_a_build_script_compiles_is_recorded() {
    let workshop = Workshop::empty();
    let source = workshop.path("src/lib.rs");
    let folder = source.parent().and_then(Path::parent).expect("in a folder");
    std::fs::create_dir_all(folder.join("src")).expect("made");
    let manifest = "[package]\nname = \"native-part\"\nversion = \"0.0.0\"\nedition = \"2024\"\n";
    let files = [("src/lib.rs", AROUND_NATIVE), ("build.rs", BUILD), ("native.c", NATIVE), ("Cargo.toml", manifest)];
    for (name, text) in files {
        std::fs::write(folder.join(name), text).expect("written");
    }
    let run = test(folder, "--stop-after 1");
    let report: Value = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}", run.err));
    assert!(find(&report, "highest")["finds"][0].to_string().contains("native.c:7"), "{report:#}{}", run.err);
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

/// Many orders in the first of three tests, and one in the others.
const UNEVEN: &str = r#"
#[test]
fn long() {
    let numbers = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for number in 0..4 {
            let numbers = &numbers;
            scope.spawn(move || (0..4).for_each(|_| numbers.lock().unwrap().push(number)));
        }
    });
    assert_eq!(numbers.into_inner().unwrap().len(), 16);
}

#[test]
fn short() {}

#[test]
fn small() {}
"#;

/// Of a test of which two seconds are not enough.
const SLOW: &str = "std::thread::sleep(std::time::Duration::from_millis(500))";

/// A package of one file.
fn project(name: &str, text: &str) -> Workshop {
    let workshop = Workshop::empty();
    std::fs::create_dir_all(workshop.path("src")).expect("made");
    std::fs::write(workshop.path("src/lib.rs"), text).expect("written");
    let manifest = format!("[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2021\"\n");
    std::fs::write(workshop.path("Cargo.toml"), manifest).expect("written");
    workshop
}

#[test]
fn many_tests_take_no_longer_than_they_may() {
    let tests = |count| (0..count).map(|nth| format!("#[test] fn slow_{nth}() {{ {SLOW} }}\n")).collect::<String>();
    let workshop = project("many", &tests(20));
    let run = test(&workshop.path(""), "--time 4");
    let report: Value = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}", run.err));
    let begun = report["tests"].as_array().expect("tests").len();
    assert!((1..10).contains(&begun), "{begun} of 20 in 4 seconds");
    assert!(run.err.contains(&format!("time is over, {} tests not begun", 20 - begun)), "{}", run.err);
    assert_eq!(run.status, Some(3), "{report:#}");
}

#[test]
fn a_test_that_its_share_has_stopped_gets_what_others_leave() {
    let workshop = project("uneven", UNEVEN);
    let run = test(&workshop.path(""), "--time 15");
    let report: Value = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}", run.err));
    let took = find(&report, "long")["seconds"]["all"].as_f64();
    assert!(took.is_some_and(|seconds| seconds > 6.0), "its share is 5 seconds: {report:#}");
    assert_eq!(run.status, Some(3), "{report:#}");
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

/// Locks that calls of libraries take, and a comparison that is derived.
const BY_CALLS: &str = r#"
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, mpsc};

#[derive(PartialEq)]
enum Status {
    Ready,
    Started,
}

#[test]
fn starts_once() {
    static STATUS: Mutex<Status> = Mutex::new(Status::Ready);
    static STARTS: AtomicU32 = AtomicU32::new(0);
    let start = || {
        if *STATUS.lock().unwrap() == Status::Ready {
            *STATUS.lock().unwrap() = Status::Started;
            STARTS.fetch_add(1, Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| [0, 1].map(|_| scope.spawn(start)).map(|thread| thread.join().unwrap()));
    assert_eq!(STARTS.load(Ordering::Relaxed), 1);
}

#[test]
fn hears_nothing() {
    static HEARD: Mutex<u32> = Mutex::new(0);
    let (sender, receiver) = mpsc::channel::<u32>();
    let receiver = Mutex::new(receiver);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                *HEARD.lock().unwrap() += 1;
                receiver.lock().unwrap().recv().unwrap();
            });
        }
    });
    drop(sender);
}
"#;

#[test]
fn stories_have_the_lines_of_calls() {
    let workshop = project("by-calls", BY_CALLS);
    let run = test(&workshop.path(""), "--stop-after 1 --run-limit 2");
    let report: Value = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}", run.err));
    let told = |name: &str| find(&report, name)["finds"][0].to_string();
    let (compared, deadlock) = (told("starts_once"), told("hears_nothing"));
    assert!(compared.contains("src/lib.rs:16") && !compared.contains("src/lib.rs:5"), "{compared}");
    assert!(deadlock.contains("holds the lock it took at src/lib.rs:34"), "{deadlock}");
}

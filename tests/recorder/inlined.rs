//! Repairs name the function whose lines a programmer would edit, and these lines, whether or not the compiler has inlined what that
//! function calls.

use crate::support::{Workshop, is_installed, ran, source};
use serde_json::{Value, json};

/// Ways to build a C or C++ program: without optimisation, instrumented before it, and after it.
const FLAGS: [&str; 3] = ["-O0", "-O2", "-O2 --as-shipped"];

fn built(name: &str, flags: &str) -> Workshop {
    let workshop = Workshop::of_project("inlined");
    let driver = if name.ends_with(".cpp") { "c++ -std=c++17" } else { "cc" };
    workshop.make(&format!("foretrace {driver} -g -pthread {flags} {name} -o program"));
    workshop
}

/// The section of a function, as comments in the source mark its lines.
fn marked(file: &str, shown: &str, function: &str) -> Value {
    let text = std::fs::read_to_string(source(file)).expect("the source is there");
    let line = |end: &str| {
        let mark = format!("{end} of {}", function.strip_prefix("inlined_rust::Account::").unwrap_or(function));
        text.lines().position(|line| line.trim_end_matches(" */").ends_with(&mark)).expect("marked") + 1
    };
    let lines = json!([{ "file": shown, "first": line("first"), "last": line("last") }]);
    json!({ "function": function, "lines": lines, "turns": false })
}

/// Records a run that passes, and predicts.
fn repairs(workshop: &Workshop) -> Vec<Value> {
    let passes = |seed: u32| workshop.record("run", &["--seed", &seed.to_string()]) == json!({ "code": 0 });
    assert!((1..20).any(passes), "no run passes");
    let run = ran(&mut workshop.shell("foretrace predict run --repair --format json"));
    let report: Value = serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.err));
    report["repairs"].as_array().expect("a list").clone()
}

/// The repairs have one section each: these, in some order.
fn are_of(workshop: &Workshop, expected: &[Value]) {
    let mut found: Vec<Value> = repairs(workshop).into_iter().map(|repair| repair["sections"].clone()).collect();
    let mut expected: Vec<Value> = expected.iter().map(|section| json!([section])).collect();
    found.sort_by_key(Value::to_string);
    expected.sort_by_key(Value::to_string);
    assert_eq!(found, expected);
}

fn names(program: &str, functions: &[&str]) {
    let expected: Vec<Value> =
        functions.iter().map(|function| marked(&format!("inlined/{program}"), program, function)).collect();
    for flags in FLAGS {
        are_of(&built(program, flags), &expected);
        assert_eq!(repairs(&built(program, &format!("{flags} -DFIXED"))), [] as [Value; 0], "{program} {flags}");
    }
}

#[test]
fn two_levels_of_calls_in_two_callers_count_as_lines_of_the_callers() {
    names("levels.c", &["buy", "sell"]);
}

#[test]
fn two_calls_of_one_function_count_as_lines_of_their_caller() {
    names("twice.c", &["reserve"]);
}

#[test]
fn what_lies_within_one_call_stays_there() {
    names("turns.c", &["add"]);
}

#[test]
fn member_functions_of_a_header_count_as_the_lines_that_call_them() {
    names("account.cpp", &["Teller::deposit"]);
}

#[test]
fn functions_and_closures_of_rust_count_as_the_lines_that_call_them() {
    let expected = marked("inlined-rust/src/main.rs", "src/main.rs", "inlined_rust::Account::deposit");
    for profile in [Profile::Debug, Profile::Release, Profile::ReleaseAsShipped] {
        are_of(&built_in_rust(profile, ""), std::slice::from_ref(&expected));
        assert_eq!(repairs(&built_in_rust(profile, "fixed")), [] as [Value; 0]);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Profile {
    Debug,
    Release,
    ReleaseAsShipped,
}

fn built_in_rust(profile: Profile, features: &str) -> Workshop {
    let workshop = Workshop::empty();
    let manifest = source("inlined-rust/Cargo.toml");
    let (option, folder) = match profile {
        Profile::Debug => ("", "debug"),
        _ => ("--release --config profile.release.debug=true", "release"),
    };
    let as_shipped = if profile == Profile::ReleaseAsShipped { "FORETRACE_AS_SHIPPED=1 " } else { "" };
    workshop.make(&format!(
        "{as_shipped}foretrace cargo build --quiet --offline {option} --features '{features}' --target-dir target \
        --manifest-path '{}' && cp target/x86_64-unknown-linux-gnu/{folder}/inlined-rust program",
        manifest.display()
    ));
    workshop
}

/// The small functions hold the lock themselves: their lines cannot go, since others call them as well.
#[test]
fn no_lock_is_widened_that_called_functions_take() {
    for flags in FLAGS {
        let workshop = built("levels.c", flags);
        assert!(!repairs(&workshop).is_empty());
        let run = ran(&mut workshop.shell("foretrace predict run --repair --patch change.patch"));
        assert!(run.err.contains("the code calls what takes lock itself"), "{flags}: {}{}", run.out, run.err);
        assert!(!workshop.path("change.patch").exists(), "{flags}");
    }
}

/// A new lock goes around the lines that call the small functions; no interleaving fails then.
#[test]
fn a_new_lock_goes_around_the_calls() {
    for flags in FLAGS {
        let workshop = built("bare.c", flags);
        assert!(!repairs(&workshop).is_empty());
        let run = ran(&mut workshop.shell("foretrace predict run --repair --patch change.patch"));
        assert_eq!(run.status, Some(1), "{}{}", run.out, run.err);
        let patch = std::fs::read_to_string(workshop.path("change.patch")).unwrap_or_else(|_| panic!("{}", run.err));
        let around = "+    pthread_mutex_lock(&stock_lock);\n     long now = get();\n     put(now + 1);\n+    pthread_mutex_unlock(&stock_lock);";
        assert!(patch.contains(around), "{flags}: {patch}");
        if is_installed("patch") {
            let build = format!("foretrace cc -g -pthread {flags} bare.c -o program");
            assert_eq!(ran(&mut workshop.shell("foretrace explore -- ./program")).status, Some(1));
            workshop.make(&format!("patch -p1 < change.patch && {build}"));
            assert_eq!(ran(&mut workshop.shell("foretrace explore -- ./program")).status, Some(0));
        }
    }
}

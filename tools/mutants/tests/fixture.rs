//! A small crate whose tests notice some changes and not others.

use foretrace_mutants::area::{Area, Target};
use foretrace_mutants::outcome::{Outcome, Summary};
use foretrace_mutants::{Options, run};
use std::collections::BTreeMap;
use std::path::Path;

const MANIFEST: &str = "[package]\nname = \"fixture\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n";

const SOURCE: &str = r#"//! A crate.

pub fn is_below(a: u32, b: u32) -> bool {
    a < b
}

pub fn count(to: u32) -> u32 {
    let mut n = 0;
    while n < to {
        n += 1;
    }
    n
}

pub fn never_called(list: &mut Vec<u32>) {
    list.push(1);
}

pub fn above_one(numbers: &[u32]) -> String {
    let above = numbers.iter().filter(|number| **number > 1);
    match above.count() {
        0 => String::from("none"),
        _ => String::from("some"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn one_is_below_two() {
        assert!(super::is_below(1, 2) && !super::is_below(2, 1));
    }

    #[test]
    fn counts() {
        assert_eq!(super::count(3), 3);
    }

    #[test]
    fn asks() {
        assert_eq!([super::above_one(&[1]), super::above_one(&[2])], ["none", "some"]);
    }
}
"#;

fn repository(folder: &Path, source: &str) {
    std::fs::create_dir_all(folder.join("src")).expect("a folder");
    std::fs::write(folder.join("Cargo.toml"), MANIFEST).expect("written");
    std::fs::write(folder.join(".gitignore"), "/target\n").expect("written");
    std::fs::write(folder.join("src/lib.rs"), source).expect("written");
    let git =
        std::process::Command::new("git").args(["init", "--quiet"]).current_dir(folder).status().expect("git starts");
    assert!(git.success());
}

fn outcomes(folder: &Path, equivalents: &BTreeMap<String, String>, options: &Options) -> Summary {
    let area = Area {
        name: "all".into(),
        files: vec!["src/".into()],
        but: Vec::new(),
        tests: vec![Target { package: "fixture".into(), name: "lib".into(), seeds: None }],
        skipped: Vec::new(),
        memory: 1000,
    };
    run(folder, &folder.join("target/mutants"), &area, equivalents, options).expect("it runs")
}

fn names(summary: &Summary, outcome: Outcome) -> Vec<&str> {
    summary.unnoticed.iter().filter(|(of, _)| *of == outcome).map(|(_, name)| name.as_str()).collect()
}

#[test]
fn what_the_tests_notice_is_killed_and_the_rest_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    repository(folder, SOURCE);
    let options = Options { jobs: 2, ..Options::default() };
    let first = outcomes(folder, &BTreeMap::new(), &options);
    // The boundary has no test, and no test calls one function.
    let boundary = "src/lib.rs: is_below: `a < b` → `a <= b`";
    let filtered = "src/lib.rs: above_one: `**number > 1` → `**number >= 1`";
    assert_eq!(names(&first, Outcome::Survived), [boundary]);
    let never_called =
        ["body → `()`", "without `list.push(1);`"].map(|change| format!("src/lib.rs: never_called: {change}"));
    assert_eq!(names(&first, Outcome::NotReached), never_called);
    // A loop without its step never ends. A value that is left out does not compile.
    assert!(first.timed_out >= 1, "{first:?}");
    assert_eq!(first.changes, first.killed + first.timed_out + 3, "{first:?}");
    let text = std::fs::read_to_string(folder.join("target/mutants/all/outcomes.jsonl")).expect("outcomes");
    let line =
        |change: &str| text.lines().find(|line| line.contains(change)).unwrap_or_else(|| panic!("no {change}: {text}"));
    assert!(line(r#"without `String::from(\"none\")`"#).contains("does_not_compile"));
    assert!(line("without `n += 1;`").contains("timed_out"));
    assert!(line(filtered).contains("fixture/lib tests::asks"));

    // What makes no difference is listed. What is listed wrongly is said.
    let listed = [boundary, filtered].map(|change| (change.to_owned(), "why".to_owned()));
    let listed = outcomes(folder, &BTreeMap::from(listed), &options);
    assert_eq!((listed.listed, &listed.wrongly_listed[..]), (1, &[filtered.to_owned()][..]));
    assert_eq!(names(&listed, Outcome::Survived), [""; 0]);

    // A new test notices.
    repository(folder, &SOURCE.replace("!super::is_below(2, 1)", "!super::is_below(2, 2)"));
    let again = outcomes(folder, &BTreeMap::new(), &Options { again: true, ..options });
    assert_eq!(names(&again, Outcome::Survived), [""; 0]);
    assert_eq!(again.killed, first.killed + 1);
}

/// What a run with some of the tests did not notice is no news for a run with all. A share of the changes is the same one each time.
#[test]
fn a_run_with_fewer_tests_or_changes_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    repository(folder, SOURCE);
    let all = Options { jobs: 2, only: Some(String::from("is_below")), ..Options::default() };
    // Every test takes longer than no time.
    let none = outcomes(folder, &BTreeMap::new(), &Options { longest: Some(0), ..all.clone() });
    let tests = ["asks", "counts", "one_is_below_two"].map(|test| format!("fixture/lib tests::{test}"));
    assert_eq!((none.reached, none.killed, &none.too_long[..]), (0, 0, &tests[..]));
    let whole = outcomes(folder, &BTreeMap::new(), &all);
    assert_eq!(whole.reached, whole.changes, "{whole:?}");
    assert!(whole.killed > 1 && whole.too_long.is_empty(), "{whole:?}");

    let share = |share| Options { share: Some(share), only: None, ..all.clone() };
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"].map(|name| format!("src/lib.rs: {name}: body"));
    let taken = |share: &Options| names.iter().filter(|name| share.asks(name)).count();
    assert_eq!([0, 100].map(|percent| taken(&share(percent))), [0, 10]);
    assert!((1..10).contains(&taken(&share(50))), "{}", taken(&share(50)));
    assert!(names.iter().all(|name| !share(30).asks(name) || share(60).asks(name)));
}

#[test]
fn a_missing_area_is_one_line() {
    for arguments in [&[][..], &["nowhere"]] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_foretrace-mutants"));
        let output = command.args(arguments).env("RUST_BACKTRACE", "1").output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.starts_with("mutants: expected an area: trace,") && said.lines().count() == 1, "{said}");
        assert_eq!(output.status.code(), Some(2));
    }
}

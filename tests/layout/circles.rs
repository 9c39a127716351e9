//! Files of a crate that import each other in a circle: those of today are listed, and there may be no others.

use crate::imports::Files;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

const LIST: &str = "tests/layout/circles.txt";

const HEADER: &str = "\
# Circles of imports between files of one crate: each file reaches each other one. The list may only shrink.
# After a change that makes it shrink: UPDATE_CIRCLES=1 cargo test --test layout circles
";

/// The circles of every crate.
fn found() -> BTreeMap<String, BTreeSet<BTreeSet<String>>> {
    let crates = crate::crates();
    crates.iter().map(|(name, folder)| (name.clone(), Files::read(&folder.join("src")).circles())).collect()
}

fn listed(text: &str) -> BTreeMap<String, BTreeSet<BTreeSet<String>>> {
    let mut listed: BTreeMap<String, BTreeSet<BTreeSet<String>>> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let (name, files) = line.split_once(": ").expect("a crate, a colon, and files");
        listed.entry(name.to_owned()).or_default().insert(files.split(' ').map(str::to_owned).collect());
    }
    listed
}

#[test]
fn there_are_no_circles_of_imports_but_those_that_are_listed() {
    let found = found();
    let file = crate::root().join(LIST);
    if std::env::var_os("UPDATE_CIRCLES").is_some() {
        let mut text = HEADER.to_owned();
        for (name, circles) in &found {
            for circle in circles {
                let files: Vec<&str> = circle.iter().map(String::as_str).collect();
                writeln!(text, "{name}: {}", files.join(" ")).expect("a string");
            }
        }
        std::fs::write(&file, text).expect("the list is ours");
    }
    let listed = listed(&std::fs::read_to_string(&file).expect("the list"));
    for (name, circles) in &found {
        for circle in circles {
            let is_known = listed.get(name).is_some_and(|known| known.iter().any(|known| circle.is_subset(known)));
            assert!(is_known, "{name}: a new circle of imports: {circle:?}; see {LIST}");
        }
    }
    for (name, circles) in &listed {
        for circle in circles {
            let is_there = found.get(name).is_some_and(|found| found.contains(circle));
            assert!(is_there, "{name}: {circle:?} is smaller now: update {LIST} as it says itself");
        }
    }
}

#[test]
fn a_circle_is_found_through_paths_of_modules_that_have_no_use_of_their_items() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    std::fs::create_dir(folder.path().join("a")).expect("a folder");
    write("lib.rs", "mod a;\nmod b;\nmod c;\n");
    write("a.rs", "mod below;\nuse crate::b;\npub const TWO: u8 = b::ONE + below::NONE;\n");
    write("a/below.rs", "pub const NONE: u8 = 0;\nfn f() -> u8 { super::TWO }\n");
    write("b.rs", "use crate::c;\npub const ONE: u8 = 1;\nfn g() -> u8 { c::h() }\n");
    write("c.rs", "pub fn h() -> u8 { x.b::<u8>(), other::a::TWO }\n");
    let circles = Files::read(folder.path()).circles();
    let expected: BTreeSet<String> = ["a.rs", "a/below.rs"].map(str::to_owned).into();
    assert_eq!(circles, BTreeSet::from([expected]));
}

#[test]
fn a_circle_is_found_through_reexports() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("lib.rs", "mod a;\nmod b;\nmod c;\npub use a::{A, Other as Alias};\n");
    write("a.rs", "use crate::b::{self, B};\npub struct A(B);\n");
    write("b.rs", "use crate::{c::C, Alias};\npub struct B;\n");
    write("c.rs", "pub struct C; // use crate::a::A\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n");
    let circles = Files::read(folder.path()).circles();
    let expected: BTreeSet<String> = ["a.rs", "b.rs"].map(str::to_owned).into();
    assert_eq!(circles, BTreeSet::from([expected]));
}

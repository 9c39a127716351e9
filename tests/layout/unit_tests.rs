//! Where unit tests are. A library without any says `test = false`, so that it is not compiled a second time to run nothing; a test that is put
//! into such a library would not run.

use std::path::Path;

/// The files below a folder that hold unit tests.
fn with_tests(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            with_tests(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).expect("text");
            if ["#[test]", "cfg(test)", "proptest!"].iter().any(|mark| text.contains(mark)) {
                found.push(path.display().to_string());
            }
        }
    }
}

#[test]
fn libraries_say_whether_they_have_unit_tests() {
    let mut without = 0;
    for (name, folder) in crate::crates() {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        let are_left_out = manifest.lines().any(|line| line.trim() == "test = false");
        let mut found = Vec::new();
        with_tests(&folder.join("src"), &mut found);
        match are_left_out {
            true => assert_eq!(
                found,
                Vec::<String>::new(),
                "{name}: `test = false` in Cargo.toml, so these tests do not run"
            ),
            false => assert!(!found.is_empty(), "{name} has no unit tests: `test = false` below [lib] in Cargo.toml"),
        }
        without += usize::from(are_left_out);
    }
    assert!(without > 0, "no crate is without");
}

//! `scripts/install`: what it leaves runs by itself, wherever it is moved.

use std::path::Path;
use std::process::{Command, Output};

/// Runs an installed program that knows nothing of this clone.
fn run(program: &Path, arguments: &[&str], home: &Path) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", home).current_dir(home);
    command.output().expect("the installed program starts")
}

#[test]
fn what_is_installed_runs_without_the_clone() {
    let home = tempfile::tempdir().expect("a folder");
    let prefix = home.path().join("first");
    let script = crate::root().join("scripts/install");
    let installed = Command::new(script)
        .args(["--binary", env!("CARGO_BIN_EXE_foretrace"), "--prefix"])
        .arg(&prefix)
        .output()
        .expect("the script starts");
    assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));

    // Found relative to the binary, it may be moved.
    let moved = home.path().join("moved");
    std::fs::rename(&prefix, &moved).expect("renamed");
    let binary = moved.join("bin/foretrace");
    let trace = crate::root().join("examples/traces/bank-seed1.thread.jsonl");
    let found = run(&binary, &["predict", trace.to_str().expect("a name")], home.path());
    assert_eq!(found.status.code(), Some(1), "{}", String::from_utf8_lossy(&found.stderr));

    let loaded = Command::new(&binary).env_clear().env("LD_TRACE_LOADED_OBJECTS", "1").output().expect("the loader");
    let loaded = String::from_utf8_lossy(&loaded.stdout).into_owned();
    let libz3 = loaded.lines().find(|line| line.contains("libz3")).expect("libz3 is loaded");
    if crate::root().join("third_party/z3").exists() {
        assert!(libz3.contains(&*moved.join("bin/../lib/foretrace").to_string_lossy()), "{libz3}");
    }

    let include = run(&moved.join("bin/foretrace-cc"), &["--print-include"], home.path());
    let folder = String::from_utf8(include.stdout).expect("a path");
    assert!(Path::new(folder.trim()).join("foretrace.h").exists(), "{folder}");
    for file in [
        "include/foretrace.h",
        "share/man/man1/foretrace.1",
        "share/man/man1/foretrace-predict.1",
        "share/bash-completion/completions/foretrace",
        "share/zsh/site-functions/_foretrace",
        "share/fish/vendor_completions.d/foretrace.fish",
        "share/doc/foretrace/LICENSE-MIT",
    ] {
        assert!(std::fs::metadata(moved.join(file)).is_ok_and(|file| file.len() > 0), "{file}");
    }
}

#[test]
fn wrong_usage_is_one_message() {
    let output = Command::new(crate::root().join("scripts/install")).arg("--place=/x").output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("unknown argument --place=/x"));
}

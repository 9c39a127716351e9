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
fn the_installed_program_builds_records_and_replays_c() {
    let home = tempfile::tempdir().expect("a folder");
    let prefix = home.path().join("prefix");
    let mut install = Command::new(crate::root().join("scripts/install"));
    install.args(["--binary", env!("CARGO_BIN_EXE_foretrace"), "--prefix"]).arg(&prefix);
    assert!(install.output().expect("the script starts").status.success());
    std::fs::copy(crate::root().join("examples/programs/bank/bank.c"), home.path().join("bank.c")).expect("copied");

    // The compiler and libLLVM are those of the machine; nothing else of the environment says where this clone is.
    let run = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(prefix.join("bin").join(program));
        let tools = ["PATH", "RUSTUP_HOME", "CARGO_HOME", "FORETRACE_CLANG", "FORETRACE_LLVM"];
        let kept = tools.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)));
        command.args(arguments).env_clear().envs(kept).env("HOME", std::env::var_os("HOME").unwrap_or_default());
        let output = command.current_dir(home.path()).output().expect("the installed program starts");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (built, said) = run("foretrace-cc", &["-o", "bank", "bank.c"]);
    assert_eq!((built, &*said), (Some(0), ""));
    let (recorded, said) = run("foretrace", &["record", "-o", "bank.foretrace", "--", "./bank"]);
    assert_eq!(recorded, Some(0), "{said}");
    let (predicted, said) = run("foretrace", &["predict", "bank.foretrace", "--witness-dir", "witnesses"]);
    assert_eq!(predicted, Some(1), "{said}");
    let witnesses = std::fs::read_dir(home.path().join("witnesses")).expect("witnesses");
    let witness = witnesses.map(|file| file.expect("a file").path()).next().expect("a witness");
    let (replayed, said) = run("foretrace", &["replay", witness.to_str().expect("a name"), "--", "./bank"]);
    assert_eq!(replayed, Some(0), "{said}");
}

#[test]
fn wrong_usage_is_one_message() {
    let output = Command::new(crate::root().join("scripts/install")).arg("--place=/x").output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("unknown argument --place=/x"));
}

//! Scripts, recipes and the workflow: the shell can read them, and what they call is there.

use std::process::Command;

/// The commands of the justfile, with the recipe that each belongs to.
fn recipes() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(crate::root().join("justfile")).expect("a justfile");
    let mut name = String::new();
    let mut recipes = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        match line.strip_prefix("    ") {
            Some(command) => recipes.push((name.clone(), command.trim_start_matches('@').to_owned())),
            None => name = line.split([':', ' ']).next().expect("a name").to_owned(),
        }
    }
    recipes
}

fn is_read_by_the_shell(arguments: &[&str]) -> bool {
    Command::new("sh").arg("-n").args(arguments).current_dir(crate::root()).status().expect("a shell").success()
}

#[test]
fn the_shell_can_read_each_recipe() {
    let recipes = recipes();
    assert!(recipes.len() >= 4, "{recipes:?}");
    for (name, command) in recipes {
        assert!(is_read_by_the_shell(&["-c", &command]), "{name}: {command}");
        let called = command.split(' ').next().expect("a word");
        if called.contains('/') {
            assert!(crate::root().join(called).exists(), "{name}: there is no {called}");
        }
        for test in command.split("--test ").skip(1).filter_map(|rest| rest.split(' ').next()) {
            let tests = crate::root().join("tests");
            let is_there = tests.join(test).join("main.rs").exists() || tests.join(format!("{test}.rs")).exists();
            assert!(is_there, "{name}: there is no test {test}");
        }
    }
}

/// A cargo that runs the foretrace of this build for `cargo run`, and compiles tests without running them: they run by themselves.
const CARGO: &str = r#"#!/bin/sh
echo "$*" >>"$ASKED"
case "$1" in
    run) while [ "$1" != -- ]; do shift; done; shift; exec "$FORETRACE" "$@" ;;
    test) exec "$REAL_CARGO" "$@" --offline --no-run ;;
    *) exec "$REAL_CARGO" "$@" --offline ;;
esac
"#;

/// Each recipe runs: with a foretrace that is built already, and in a folder of its own where it installs something.
#[test]
fn each_recipe_runs() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let cargo = folder.path().join("cargo");
    std::fs::write(&cargo, CARGO).expect("written");
    std::fs::set_permissions(&cargo, PermissionsExt::from_mode(0o755)).expect("made a program");
    let asked = folder.path().join("asked");
    let path = std::env::var("PATH").expect("a path");
    let binary = env!("CARGO_BIN_EXE_foretrace");
    let mut ran = Vec::new();
    for (name, command) in recipes() {
        let command = match &*name {
            // It runs this test; that it is there and the shell can read it is seen above.
            "ci" => continue,
            // The book has a step of its own in scripts/test; here no tool is compiled for it.
            "book" if !has_mdbook() => continue,
            "release" if !is_here("dpkg-deb") => continue,
            "install" => {
                command.replace("{{WHERE}}", &format!("--binary {binary} --prefix {}", folder.path().display()))
            }
            "release" => format!("{command} --fast --binary {binary} --out {}", folder.path().join("files").display()),
            _ => command,
        };
        let output = Command::new("sh")
            .args(["-euc", &command])
            .env("PATH", format!("{}:{path}", folder.path().display()))
            .env("REAL_CARGO", std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .env("FORETRACE", binary)
            .env("ASKED", &asked)
            .current_dir(crate::root())
            .output()
            .expect("a shell");
        assert!(output.status.success(), "{name}: {command}\n{}", String::from_utf8_lossy(&output.stderr));
        ran.push(name);
    }
    for name in ["setup", "example", "snapshots", "install"] {
        assert!(ran.iter().any(|ran| ran == name), "{name} did not run: {ran:?}");
    }
    assert!(folder.path().join("bin/foretrace").exists());
    let files = std::fs::read_dir(folder.path().join("files")).map_or(0, |files| files.count());
    assert_eq!(files, if is_here("dpkg-deb") { 2 } else { 0 }, "an archive and a package");
    let asked = std::fs::read_to_string(asked).expect("cargo was called");
    assert!(asked.contains("run --release -- predict") && asked.contains("test --locked --workspace"), "{asked}");
}

fn is_here(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success())
}

fn has_mdbook() -> bool {
    let installed = crate::root().join("third_party/tools/bin/mdbook").exists();
    installed || is_here("mdbook")
}

#[test]
fn the_shell_can_read_each_script() {
    let mut shell_scripts = 0;
    for entry in std::fs::read_dir(crate::root().join("scripts")).expect("scripts/") {
        let path = entry.expect("an entry").path();
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        if text.starts_with("#!/bin/sh") {
            shell_scripts += 1;
            assert!(is_read_by_the_shell(&[path.to_str().expect("a name")]), "{}", path.display());
        }
    }
    assert!(shell_scripts >= 5, "{shell_scripts}");
}

#[test]
fn the_workflow_runs_what_continuous_integration_runs() {
    let workflow = std::fs::read_to_string(crate::root().join(".github/workflows/ci.yml")).expect("a workflow");
    assert!(workflow.contains("run: .ci/run"), "{workflow}");
    assert!(crate::root().join(".ci/run").exists());
}

#[test]
fn each_package_holds_what_its_build_needs() {
    let listed = |package: &str| -> Vec<String> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .args(["package", "--list", "--allow-dirty", "--offline", "--package", package])
            .current_dir(crate::root())
            .output()
            .expect("cargo starts");
        assert!(output.status.success(), "{package}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
    };
    let holds = |package: &str, files: &[&str]| {
        let listed = listed(package);
        for file in files {
            assert!(listed.iter().any(|listed| listed == file), "{package} lacks {file}: {listed:?}");
        }
    };
    holds("foretrace", &["src/lib.rs", "src/main.rs", "build.rs", "README.md"]);
    holds("foretrace-instrument", &["build.rs", "include/foretrace.h"]);
    holds("foretrace-runtime", &["build.rs", "src/lib.rs", "src/hooks/mod.rs"]);
    holds("foretrace-solve", &["build.rs", "src/lib.rs"]);
}

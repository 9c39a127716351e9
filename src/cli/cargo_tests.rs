//! The tests of a Rust project, built for recording: each by itself.

use anyhow::{Context, bail};
use foretrace::recorder::Program;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A test of a project.
pub struct CargoTest {
    /// Its name, with that of its crate.
    pub name: String,
    /// The program that runs it alone.
    pub program: Program,
    /// The folder that cargo would run it in.
    pub directory: PathBuf,
}

/// Builds the tests with `foretrace cargo test` and these words, and lists those whose names contain one of `wanted`; all if that is
/// empty.
pub fn build(words: &[OsString], wanted: &[String]) -> anyhow::Result<Vec<CargoTest>> {
    let own = std::env::current_exe().context("where foretrace is")?;
    let mut command = Command::new(own);
    command.args(["cargo", "test", "--no-run", "--message-format", "json-render-diagnostics"]).args(words);
    let built = command.stderr(Stdio::inherit()).output().context("cannot run `foretrace cargo`")?;
    if !built.status.success() {
        bail!("the tests cannot be built");
    }
    let mut tests = Vec::new();
    for line in String::from_utf8_lossy(&built.stdout).lines() {
        let Ok(message) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        let is_test = message["profile"]["test"].as_bool() == Some(true);
        let (Some(file), true) = (message["executable"].as_str(), is_test) else { continue };
        let target = message["target"]["name"].as_str().unwrap_or_default();
        let manifest = message["manifest_path"].as_str().map(Path::new).and_then(Path::parent);
        let directory = manifest.map_or_else(|| PathBuf::from("."), Path::to_path_buf);
        tests.extend(list(Path::new(file), target, &directory, wanted)?);
    }
    Ok(tests)
}

fn list(file: &Path, target: &str, directory: &Path, wanted: &[String]) -> anyhow::Result<Vec<CargoTest>> {
    let listed = Command::new(file)
        .args(["--list", "--format", "terse"])
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .with_context(|| file.display().to_string())?;
    if !listed.status.success() {
        bail!("{}: does not list its tests as those of libtest do", file.display());
    }
    let text = String::from_utf8_lossy(&listed.stdout);
    let names = text.lines().filter_map(|line| line.strip_suffix(": test"));
    let is_wanted = |name: &&str| wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str()));
    let test = |name: &str| CargoTest {
        name: format!("{target}::{name}"),
        program: Program {
            path: file.to_path_buf(),
            arguments: [name, "--exact", "--test-threads=1"].map(OsString::from).to_vec(),
        },
        directory: directory.to_path_buf(),
    };
    Ok(names.filter(is_wanted).map(test).collect())
}

//! Compiles the changed repository. What does not compile is left out, until the rest does.

use crate::area::Area;
use crate::tree::{self, Tree};
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A test binary.
#[derive(Clone, Debug)]
pub struct Binary {
    /// `PACKAGE/TARGET`.
    pub name: String,
    /// The file to start.
    pub file: PathBuf,
    /// The folder of its package.
    pub package: PathBuf,
    /// Where cargo lets a test find libraries.
    pub libraries: String,
    /// The number of random traces for oracle tests.
    pub seeds: Option<u32>,
}

/// What was compiled.
pub struct Compiled {
    /// The changed repository.
    pub tree: Tree,
    /// The numbers of changes that do not compile.
    pub left_out: BTreeSet<u32>,
    /// The test binaries.
    pub binaries: Vec<Binary>,
}

/// Writes and compiles until it works. What did not compile is kept in a file, for the next run with the same texts.
pub fn compile(root: &Path, place: &Path, area: &Area) -> Result<Compiled> {
    let source = place.join("source");
    let kept = place.join(&area.name).join("left-out");
    let texts = tree::texts(root, area)?;
    let mut left_out = known(&kept, texts);
    loop {
        let tree = tree::write(root, &source, area, &left_out)?;
        eprintln!("{}: {} changes, {} do not compile", area.name, tree.changes.len(), left_out.len());
        match build(&tree, place, area)? {
            Ok(binaries) => return Ok(Compiled { tree, left_out, binaries }),
            Err(errors) => {
                let more: BTreeSet<u32> = errors.iter().flat_map(|error| blamed(&tree, error)).collect();
                let before = left_out.len();
                left_out.extend(more);
                if left_out.len() == before {
                    let rendered: Vec<&str> = errors.iter().filter_map(|error| error["rendered"].as_str()).collect();
                    bail!("no change is to blame for these errors:\n{}", rendered.join("\n"));
                }
                let numbers: Vec<String> = left_out.iter().map(u32::to_string).collect();
                std::fs::write(&kept, format!("{texts}\n{}\n", numbers.join("\n")))?;
            }
        }
    }
}

/// Calls cargo: the test binaries, or the compiler's errors.
fn build(tree: &Tree, place: &Path, area: &Area) -> Result<std::result::Result<Vec<Binary>, Vec<Value>>> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args(["test", "--no-run", "--message-format=json", "--quiet"])
        .current_dir(&tree.folder)
        .stderr(Stdio::inherit());
    cargo
        .env("CARGO_TARGET_DIR", place.join("build"))
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_INCREMENTAL", "0");
    if tree.folder.join("Cargo.lock").exists() {
        cargo.arg("--locked");
    }
    let packages: BTreeSet<&str> = area.tests.iter().map(|target| target.package.as_str()).collect();
    for package in packages {
        cargo.args(["--package", package]);
    }
    let targets: BTreeSet<&str> = area.tests.iter().map(|target| target.name.as_str()).collect();
    for target in targets {
        if target == "lib" {
            cargo.arg("--lib")
        } else {
            cargo.args(["--test", target])
        };
    }
    let output = cargo.output().context("cargo does not start")?;
    let messages = String::from_utf8_lossy(&output.stdout);
    let messages: Vec<Value> = messages.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    if !output.status.success() {
        let errors = messages.iter().map(|message| &message["message"]).filter(|message| message["level"] == "error");
        let errors: Vec<Value> = errors.cloned().collect();
        ensure!(!errors.is_empty(), "cargo failed without an error of the compiler");
        return Ok(Err(errors));
    }
    let linked =
        messages.iter().filter_map(|message| message["linked_paths"].as_array()).flatten().filter_map(Value::as_str);
    let linked: Vec<&str> = linked.map(|path| path.strip_prefix("native=").unwrap_or(path)).collect();
    let libraries = linked.join(":");
    let mut binaries = BTreeMap::new();
    for message in messages.iter().filter(|message| message["reason"] == "compiler-artifact") {
        let (Some(file), Some(manifest)) = (message["executable"].as_str(), message["manifest_path"].as_str()) else {
            continue;
        };
        let package = Path::new(manifest).parent().expect("a manifest is in a folder").to_owned();
        let is_lib = message["target"]["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "lib"));
        let target = if is_lib { "lib" } else { message["target"]["name"].as_str().unwrap_or_default() };
        for wanted in &area.tests {
            if wanted.name == target && is_package(&package, &wanted.package)? {
                let name = format!("{}/{target}", wanted.package);
                let (package, libraries, seeds) = (package.clone(), libraries.clone(), wanted.seeds);
                binaries.insert(name.clone(), Binary { name, file: file.into(), package, libraries, seeds });
            }
        }
    }
    ensure!(binaries.len() == area.tests.len(), "of the tests {:?} cargo made {:?}", area.tests, binaries.keys());
    Ok(Ok(binaries.into_values().collect()))
}

fn is_package(folder: &Path, name: &str) -> Result<bool> {
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml"))?;
    let own = manifest.split("[package]").nth(1).unwrap_or_default();
    Ok(own.lines().take_while(|line| !line.starts_with('[')).any(|line| line == format!("name = \"{name}\"")))
}

/// The changes that an error is due to: those of the smallest region around one of its places, main places first.
fn blamed(tree: &Tree, error: &Value) -> Vec<u32> {
    let mut spans: Vec<&Value> = error["spans"].as_array().into_iter().flatten().collect();
    spans.extend(
        error["children"]
            .as_array()
            .into_iter()
            .flatten()
            .flat_map(|child| child["spans"].as_array().into_iter().flatten()),
    );
    spans.sort_by_key(|span| span["is_primary"] != true);
    for span in spans {
        let Some(regions) = span["file_name"].as_str().and_then(|file| tree.regions.get(file)) else { continue };
        let (Some(start), Some(end)) = (span["byte_start"].as_u64(), span["byte_end"].as_u64()) else { continue };
        let around =
            regions.iter().filter(|region| region.bytes.start as u64 <= start && end <= region.bytes.end as u64);
        if let Some(smallest) = around.min_by_key(|region| region.bytes.len()) {
            return smallest.changes.clone();
        }
    }
    Vec::new()
}

/// The numbers of changes that did not compile in an earlier run, if that was of the same texts.
fn known(kept: &Path, texts: u64) -> BTreeSet<u32> {
    let text = std::fs::read_to_string(kept).unwrap_or_default();
    let mut lines = text.lines();
    match lines.next() == Some(&texts.to_string()) {
        true => lines.filter_map(|line| line.parse().ok()).collect(),
        false => BTreeSet::new(),
    }
}

//! The copy of the repository in which files are changed. What stays the same is not written again, so cargo does not compile it again.

use crate::area::Area;
use crate::changes::{Change, changes_of};
use crate::rewrite::{Region, rewrite};
use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A changed repository.
pub struct Tree {
    /// The folder of the copy.
    pub folder: PathBuf,
    /// All changes, by number.
    pub changes: Vec<Change>,
    /// Where they are in the changed files.
    pub regions: BTreeMap<String, Vec<Region>>,
    /// A number for all that a test could depend on.
    pub fingerprint: u64,
}

/// What git knows of the files at `root`, and those that it does not know yet and does not ignore.
fn files(root: &Path) -> Result<Vec<String>> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .context("git does not start")?;
    ensure!(listed.status.success(), "git ls-files: {}", String::from_utf8_lossy(&listed.stderr));
    let text = String::from_utf8(listed.stdout)?;
    let names: BTreeSet<&str> = text.split('\0').filter(|name| !name.is_empty()).collect();
    Ok(names.into_iter().filter(|name| root.join(name).symlink_metadata().is_ok()).map(str::to_owned).collect())
}

/// Whether no test depends on a file.
fn is_of_no_concern(file: &str) -> bool {
    file.starts_with("scripts/") || file.starts_with("docs/") || file.starts_with("tools/") || file.ends_with(".md")
}

/// A number for the texts of the area's files.
pub fn texts(root: &Path, area: &Area) -> Result<u64> {
    let mut hasher = DefaultHasher::new();
    include_str!("changes.rs").hash(&mut hasher);
    for file in files(root)?.iter().filter(|file| area.has(file)) {
        (file, std::fs::read(root.join(file))?).hash(&mut hasher);
    }
    Ok(hasher.finish())
}

/// The names of the area's changes.
pub fn names(root: &Path, area: &Area) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for file in files(root)?.iter().filter(|file| area.has(file)) {
        let text = std::fs::read_to_string(root.join(file))?;
        let found = changes_of(file, &text, 0, &|_| false).with_context(|| format!("{file} is not Rust"))?;
        names.extend(found.all.into_iter().map(|change| change.name));
    }
    Ok(names)
}

/// Copies the repository at `root` to `folder` with all changes of the area but those left out.
pub fn write(root: &Path, folder: &Path, area: &Area, left_out: &BTreeSet<u32>) -> Result<Tree> {
    let mut tree = Tree { folder: folder.to_owned(), changes: Vec::new(), regions: BTreeMap::new(), fingerprint: 0 };
    let mut hasher = DefaultHasher::new();
    area.hash(&mut hasher);
    let files = files(root)?;
    let crates: BTreeSet<String> =
        files.iter().filter(|file| area.has(file)).filter_map(|file| crate_of(file)).collect();
    ensure!(!crates.is_empty(), "no file of the area {} is in {}", area.name, root.display());
    for file in &files {
        let (from, to) = (root.join(file), folder.join(file));
        std::fs::create_dir_all(to.parent().expect("a file is in a folder"))?;
        if from.symlink_metadata()?.is_symlink() {
            let target = std::fs::read_link(&from)?;
            if std::fs::read_link(&to).ok().as_ref() != Some(&target) {
                let _ = std::fs::remove_file(&to);
                std::os::unix::fs::symlink(target, &to)?;
            }
            continue;
        }
        let mut content = std::fs::read(&from).with_context(|| from.display().to_string())?;
        if !is_of_no_concern(file) {
            (file, &content).hash(&mut hasher);
        }
        if area.has(file) {
            let text = String::from_utf8(content)?;
            let first = tree.changes.len() as u32;
            let found = changes_of(file, &text, first, &|number| left_out.contains(&number))
                .with_context(|| format!("{file} is not Rust"))?;
            let (new, regions) = rewrite(&text, &found.wraps);
            tree.changes.extend(found.all);
            tree.regions.insert(file.clone(), regions);
            content = new.into_bytes();
        }
        if file.strip_suffix("src/lib.rs").is_some_and(|of| crates.contains(of)) {
            content.extend(b"\n#[allow(missing_docs)]\npub mod mutant_switch;\n");
            write_if_new(&to.with_file_name("mutant_switch.rs"), include_bytes!("switch.rs"))?;
        }
        if write_if_new(&to, &content)? {
            std::fs::set_permissions(&to, from.metadata()?.permissions())?;
        }
    }
    remove_others(folder, folder, &files)?;
    let third_party = root.join("third_party");
    if third_party.exists() && !folder.join("third_party").exists() {
        std::os::unix::fs::symlink(third_party, folder.join("third_party"))?;
    }
    tree.fingerprint = hasher.finish();
    Ok(tree)
}

/// The folder of the crate that a file is of, with its slash.
fn crate_of(file: &str) -> Option<String> {
    let end = if file.starts_with("src/") { 0 } else { file.find("/src/")? + 1 };
    Some(file[..end].to_owned())
}

fn write_if_new(to: &Path, content: &[u8]) -> Result<bool> {
    if std::fs::read(to).is_ok_and(|old| old == content) {
        return Ok(false);
    }
    std::fs::write(to, content).with_context(|| to.display().to_string())?;
    Ok(true)
}

/// Removes Rust files of earlier runs, which cargo would take for tests.
fn remove_others(top: &Path, folder: &Path, files: &[String]) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target") {
                remove_others(top, &path, files)?;
            }
            continue;
        }
        let name = path.strip_prefix(top).expect("it is below").to_string_lossy().into_owned();
        let is_other =
            name.ends_with(".rs") && !name.ends_with("/src/mutant_switch.rs") && name != "src/mutant_switch.rs";
        if is_other && files.binary_search(&name).is_err() {
            std::fs::remove_file(&path)?;
        }
    }
    Ok(())
}

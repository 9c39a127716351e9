//! What holds of the repository itself: its borders, its pages, its recipes, its packages.

mod circles;
mod documents;
mod imports;
mod installed;
mod recipes;
mod unit_tests;

use std::path::{Path, PathBuf};

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Each crate of the workspace with its folder, by name.
fn crates() -> Vec<(String, PathBuf)> {
    let below = std::fs::read_dir(root().join("crates")).expect("crates/").map(|entry| entry.expect("an entry").path());
    let mut folders: Vec<PathBuf> = below.filter(|folder| folder.join("Cargo.toml").exists()).collect();
    folders.extend([root().join("encodings"), root().to_owned()]);
    let name = |folder: &Path| match folder == root() {
        true => "foretrace".to_owned(),
        false => folder.file_name().expect("a name").to_string_lossy().into_owned(),
    };
    let mut crates: Vec<(String, PathBuf)> = folders.into_iter().map(|folder| (name(&folder), folder)).collect();
    crates.sort();
    assert!(crates.len() > 12, "{crates:?}");
    crates
}

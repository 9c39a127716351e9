//! Lets tests and examples of all crates find the libz3 that `scripts/setup` unpacked. Cargo runs them with the directories below `target/`
//! that build scripts name for linking, so libz3 gets a link in one of those.

use std::path::{Path, PathBuf};

fn main() {
    println!("cargo:rerun-if-env-changed=Z3_LIBRARY_PATH_OVERRIDE");
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_FEATURE_VENDORED").is_some() {
        return;
    }
    let Some(directory) = std::env::var_os("Z3_LIBRARY_PATH_OVERRIDE") else {
        return; // the user's own Z3, found by the linker
    };
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where build scripts write"));
    for name in ["libz3.so", "libz3.so.5.3"] {
        println!("cargo:rerun-if-changed={}", Path::new(&directory).join(name).display()); // also when it comes later
        link(&Path::new(&directory).join(name), &out.join(name));
    }
    println!("cargo:rustc-link-search=native={}", out.display());
}

/// Makes `link` lead to `file`, where that exists.
fn link(file: &Path, link: &Path) {
    if file.exists() && !link.exists() {
        std::os::unix::fs::symlink(file, link).expect("a link in the build's own directory");
    }
}

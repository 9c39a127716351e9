//! Runs while the program is built, and must not be recorded.

fn main() {
    println!("cargo::rustc-env=FROM_BUILD=built");
    println!("cargo::rerun-if-changed=build.rs");
}

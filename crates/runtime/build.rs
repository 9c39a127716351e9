//! Says to the build of `foretrace-instrument`, which compiles the runtime by itself, where its sources are.

fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    println!("cargo::metadata=source={folder}/src");
    println!("cargo::rerun-if-changed=build.rs");
}

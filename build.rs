//! Makes the built binary find the libz3 that `scripts/setup` unpacked.

fn main() {
    println!("cargo:rerun-if-env-changed=Z3_LIBRARY_PATH_OVERRIDE");
    if std::env::var_os("CARGO_FEATURE_VENDORED").is_some() {
        return;
    }
    let Ok(dir) = std::env::var("Z3_LIBRARY_PATH_OVERRIDE") else {
        return; // the user's own Z3, found by the linker
    };
    assert!(
        std::path::Path::new(&dir).join("libz3.so").exists(),
        "libz3.so is missing in {dir}: run scripts/setup first"
    );
    println!("cargo:rustc-link-arg=-Wl,-rpath,$ORIGIN/../../third_party/z3:{dir}");
}

//! Makes the built binary find libz3: where `scripts/install` puts it, beside the binary, else where `scripts/setup` unpacked it.
//! With `FORETRACE_RUN_PATH` set, there alone.

fn main() {
    println!("cargo:rerun-if-env-changed=Z3_LIBRARY_PATH_OVERRIDE");
    println!("cargo:rerun-if-env-changed=FORETRACE_RUN_PATH");
    if std::env::var_os("CARGO_FEATURE_VENDORED").is_some() {
        return;
    }
    if let Ok(path) = std::env::var("FORETRACE_RUN_PATH") {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{path}");
        return;
    }
    let Ok(dir) = std::env::var("Z3_LIBRARY_PATH_OVERRIDE") else {
        return; // the user's own Z3, found by the linker
    };
    assert!(
        std::path::Path::new(&dir).join("libz3.so").exists(),
        "libz3.so is missing in {dir}: run scripts/setup first"
    );
    println!("cargo:rustc-link-arg=-Wl,-rpath,$ORIGIN/../lib/foretrace:$ORIGIN/../../third_party/z3:{dir}");
}

//! Compiles the runtime of recorded programs, by itself, to an archive that this crate embeds.
//!
//! It is no dependency in Cargo's sense. It must be free of `std`, abort on panics, and be one object that exports only hooks and
//! interposed functions. Link-time optimisation with the core library makes that object. The other members of the archive that rustc writes
//! are not needed, and would clash with those of Rust programs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const NAME: &str = "foretrace_runtime";

fn main() {
    let source =
        env::var_os("DEP_FORETRACE_RUNTIME_SOURCE_SOURCE").expect("foretrace-runtime says where its sources are");
    let source = Path::new(&source);
    println!("cargo::rerun-if-changed={}", source.display());
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let archive = out.join(format!("lib{NAME}.a"));
    compile(&source.join("lib.rs"), &archive);
    let bytes = fs::read(&archive).expect("rustc wrote it");
    let object = members(&bytes).find(|(name, _)| name.contains(NAME)).expect("an object of the runtime").1;
    fs::write(&archive, alone(object)).expect("a writable folder");
}

fn compile(root: &Path, archive: &Path) {
    let rustc = env::var_os("RUSTC").expect("cargo sets it");
    let status = Command::new(rustc)
        .args(["--crate-type", "staticlib", "--edition", "2024", "--crate-name", NAME])
        .args(["--cfg", "feature=\"hooks\"", "--cap-lints", "warn"])
        .args(["-C", "panic=abort", "-C", "opt-level=3", "-C", "lto=fat", "-C", "codegen-units=1"])
        .args(["-C", "relocation-model=pic", "-C", "force-unwind-tables=yes", "-C", "debuginfo=0"])
        .args(["--target", "x86_64-unknown-linux-gnu"])
        .arg("-o")
        .arg(archive)
        .arg(root)
        .status()
        .expect("rustc starts");
    assert!(status.success(), "the runtime does not compile");
}

const MAGIC: &[u8] = b"!<arch>\n";
const HEADER: usize = 60;

/// Names and contents of an archive's members, in the layout of System V.
fn members(archive: &[u8]) -> impl Iterator<Item = (String, &[u8])> {
    let field = |header: &[u8], from: usize, to: usize| String::from_utf8_lossy(&header[from..to]).trim().to_owned();
    let mut rest = archive.strip_prefix(MAGIC).expect("an archive");
    let mut long_names: &[u8] = &[];
    std::iter::from_fn(move || {
        let header = rest.get(..HEADER)?;
        let length = field(header, 48, 58).parse::<usize>().expect("a length");
        let content = &rest[HEADER..HEADER + length];
        rest = rest.get(HEADER + length.next_multiple_of(2)..).unwrap_or_default();
        let mut name = field(header, 0, 16);
        if name == "//" {
            long_names = content;
        } else if let Some(at) = name.strip_prefix('/').and_then(|at| at.parse::<usize>().ok()) {
            let end = long_names[at..].iter().position(|&byte| byte == b'/').expect("an end");
            name = String::from_utf8_lossy(&long_names[at..at + end]).into_owned();
        }
        Some((name, content))
    })
}

/// An archive with this one member and no index: it is linked as a whole.
fn alone(object: &[u8]) -> Vec<u8> {
    let name = "runtime.o/";
    let header = format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 100_644, object.len());
    assert_eq!(header.len(), HEADER);
    let mut archive = [MAGIC, header.as_bytes(), object].concat();
    if object.len() % 2 == 1 {
        archive.push(b'\n');
    }
    archive
}

//! Rust programs with the locks of crates: a workspace of its own, whose crates cargo fetches.

use super::support::{Workshop, expect, foretrace};
use super::{Usual, judge_built};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A test for each program of the workspace.
macro_rules! cases {
    ($($name:ident;)*) => {
        $(#[test]
        fn $name() {
            judge(stringify!($name));
        })*
    };
}

cases! {
    broken;
    dashmap;
    guards;
    handles;
    locals;
    own;
    parking;
    parking_lot;
    poison;
    prints;
    spin;
}

/// The folder of the programs, built once for recording. With recording off they do what native ones do.
fn built() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/rust/Cargo.toml");
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust-cases");
        let mut command = foretrace();
        command.args(["cargo", "build", "--locked", "--manifest-path"]).arg(manifest).arg("--target-dir").arg(&target);
        expect(0, &mut command);
        target.join("x86_64-unknown-linux-gnu/debug")
    })
}

fn judge(name: &str) {
    let workshop = Workshop::empty();
    // By another process: a file that this one writes to is busy for programs that other tests start meanwhile.
    expect(0, Command::new("cp").arg(built().join(name)).arg(&workshop.program));
    let usual = Usual::of_program(&workshop.program, Vec::new());
    judge_built(&workshop, name, "--candidates all", &usual, &BTreeSet::new());
}

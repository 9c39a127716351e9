//! Building, recording, predicting and replaying programs in a folder of their own.

use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder with a program that `foretrace cc` built.
pub struct Workshop {
    folder: tempfile::TempDir,
    pub program: PathBuf,
}

/// A candidate that can happen, as the report tells of it.
pub struct Found {
    pub var: String,
    pub pattern: String,
    /// Lines of the three accesses.
    pub lines: [u64; 3],
    /// Its witness.
    pub witness: PathBuf,
}

/// `foretrace`, to be given its arguments.
pub fn foretrace() -> Command {
    Command::new(env!("CARGO_BIN_EXE_foretrace"))
}

/// Runs a command that must end with this status.
pub fn expect(status: i32, command: &mut Command) -> Output {
    let output = command.output().expect("starts");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(status), "{command:?}\n{out}\n{err}");
    output
}

/// A file below `examples/programs`.
pub fn example(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/programs").join(path)
}

impl Workshop {
    /// Builds a program from one source file.
    pub fn build(source: &Path, flags: &[&str]) -> Workshop {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("program");
        let compiler = if source.extension() == Some(OsStr::new("c")) { "cc" } else { "c++" };
        expect(0, foretrace().arg(compiler).args(flags).arg("-o").arg(&program).arg(source));
        Workshop { folder, program }
    }

    /// The same from text.
    pub fn build_text(text: &str, name: &str) -> Workshop {
        let folder = tempfile::tempdir().expect("a folder");
        let source = folder.path().join(name);
        std::fs::write(&source, text).expect("written");
        Workshop::build(&source, &[])
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Records a run into the folder of this name; the result is how the program ended, as `recording.json` has it.
    pub fn record(&self, name: &str, options: &[&str]) -> Value {
        let folder = self.path(name);
        let mut command = foretrace();
        let output = command.arg("record").args(options).arg("-o").arg(&folder).arg("--").arg(&self.program).output();
        let output = output.expect("starts");
        let recording = std::fs::read(folder.join("recording.json"));
        let recording = recording.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        assert!(folder.join("trace.jsonl.zst").is_file(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&recording).expect("JSON")["exit"].clone()
    }

    /// What can happen, by the trace in the folder of this name.
    pub fn predict(&self, name: &str) -> Vec<Found> {
        let witnesses = self.path(name).join("witnesses");
        let mut command = foretrace();
        command.arg("predict").arg(self.path(name)).args(["--format", "json", "--witness-dir"]);
        let output = command.arg(&witnesses).output().expect("starts");
        let status = output.status.code();
        assert!(matches!(status, Some(0 | 1)), "{status:?} {}", String::from_utf8_lossy(&output.stderr));
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let candidates = report["candidates"].as_array().expect("a list").iter();
        let feasible: Vec<Found> =
            candidates.filter(|one| one["verdict"] == "feasible").map(|one| found(one, &witnesses)).collect();
        assert_eq!(!feasible.is_empty(), status == Some(1));
        feasible
    }

    /// Replays, so many times; the report.
    pub fn replay(&self, what: &Path, times: u32, status: i32) -> Value {
        let mut command = foretrace();
        command.arg("replay").arg(what).args(["--format", "json", "--times", &times.to_string(), "--"]);
        let output = expect(status, command.arg(&self.program));
        serde_json::from_slice(&output.stdout).expect("JSON")
    }
}

fn found(candidate: &Value, witnesses: &Path) -> Found {
    let text = |field: &str| candidate[field].as_str().expect("a name").to_string();
    let index = |field: &str| candidate[field].as_u64().expect("an index");
    let line = |which: usize| {
        let loc = candidate["locs"][which].as_str().expect("a place");
        loc.rsplit(':')
            .nth(1)
            .and_then(|line| line.parse().ok())
            .unwrap_or_else(|| panic!("file:line:column, not {loc}"))
    };
    let name = format!("witness-{}-{}-{}.json", index("first"), index("remote"), index("second"));
    Found {
        var: text("var"),
        pattern: text("pattern"),
        lines: [line(0), line(1), line(2)],
        witness: witnesses.join(name),
    }
}

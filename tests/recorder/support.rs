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

/// What a command did.
pub struct Ran {
    pub status: Option<i32>,
    pub out: String,
    pub err: String,
}

/// Runs a command, however it ends.
pub fn ran(command: &mut Command) -> Ran {
    let output = command.output().expect("starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Ran { status: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// Whether a tool is there; says so if not.
pub fn is_installed(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok();
    if !found {
        left_out(&format!("{tool} is not installed"));
    }
    found
}

/// A test cannot check this here. In continuous integration that is a failure: `scripts/setup --tests` installs what is needed.
pub fn left_out(why: &str) {
    assert!(std::env::var_os("CI").is_none(), "{why}");
    eprintln!("skipped: {why}");
}

/// A file below `tests/recorder/programs`.
pub fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorder/programs").join(name)
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

    /// Builds one of the Rust examples by `foretrace cargo`.
    pub fn build_crate(package: &str, features: &[&str]) -> Workshop {
        Workshop::cargo_build(&example("Cargo.toml"), package, features)
    }

    /// The same of a package below `tests/recorder/programs`.
    pub fn of_crate(package: &str) -> Workshop {
        Workshop::of_crate_with(package, &[])
    }

    /// The same with features.
    pub fn of_crate_with(package: &str, features: &[&str]) -> Workshop {
        Workshop::cargo_build(&source(package).join("Cargo.toml"), package, features)
    }

    /// In a folder that all such builds share; the program is copied from there.
    fn cargo_build(manifest: &Path, package: &str, features: &[&str]) -> Workshop {
        let workshop = Workshop::empty();
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(["rust", &features.concat()].join("-"));
        let mut command = foretrace();
        command.args(["cargo", "build", "--offline", "--package", package, "--manifest-path"]).arg(manifest);
        command.arg("--target-dir").arg(&target).arg("--features").arg(features.join(","));
        expect(0, &mut command);
        let built = target.join("x86_64-unknown-linux-gnu/debug").join(package);
        std::fs::copy(built, &workshop.program).expect("copied");
        workshop
    }

    /// The same from text.
    pub fn build_text(text: &str, name: &str) -> Workshop {
        let folder = tempfile::tempdir().expect("a folder");
        let source = folder.path().join(name);
        std::fs::write(&source, text).expect("written");
        Workshop::build(&source, &[])
    }

    /// Without a program so far.
    pub fn empty() -> Workshop {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("program");
        Workshop { folder, program }
    }

    /// With copies of the files of a folder below `tests/recorder/programs`.
    pub fn of_project(name: &str) -> Workshop {
        let workshop = Workshop::empty();
        for file in std::fs::read_dir(source(name)).expect("there") {
            let file = file.expect("listed");
            std::fs::copy(file.path(), workshop.path(&file.file_name().to_string_lossy())).expect("copied");
        }
        workshop
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A shell in this folder, where `foretrace` is the command under test.
    pub fn shell(&self, script: &str) -> Command {
        let foretrace = Path::new(env!("CARGO_BIN_EXE_foretrace"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(foretrace.parent().expect("in a folder").to_path_buf());
        let path = std::env::join_paths(folders.chain(std::env::split_paths(&path))).expect("a PATH");
        let mut command = Command::new("sh");
        command.current_dir(self.folder.path()).env("PATH", path).env_remove("FORETRACE_LOG").args(["-c", script]);
        command
    }

    /// Runs a script that must succeed.
    pub fn make(&self, script: &str) {
        expect(0, &mut self.shell(script));
    }

    /// What a recording's trace says, line by line; the trace is valid.
    pub fn trace(&self, recording: &str) -> Vec<Value> {
        let text = self.path("trace.jsonl"); // a recording's own disk may be full
        expect(0, foretrace().arg("convert").arg(self.path(recording).join("trace.jsonl.zst")).arg(&text));
        let text = std::fs::read_to_string(text).expect("read");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// Records a run into the folder of this name; the result is how the program ended, as `recording.json` has it.
    pub fn record(&self, name: &str, options: &[&str]) -> Value {
        let folder = self.path(name);
        let mut command = foretrace();
        let output = command.arg("record").args(options).arg("-o").arg(&folder).arg("--").arg(&self.program).output();
        let output = output.expect("starts");
        let recording = std::fs::read(folder.join("recording.json"));
        let recording = recording.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(folder.join("trace.jsonl.zst").is_file() && !err.contains("does not explain the program"), "{err}");
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
        let feasible: Vec<&Value> = candidates.filter(|one| one["verdict"] == "feasible").collect();
        let violations = report["blocks"]["violations"].as_array();
        let blocks = violations.is_some_and(|all| all.iter().any(|one| one["violation"]["not_counted"].is_null()));
        let counts = blocks || feasible.iter().any(|one| one["not_counted"] != true);
        assert_eq!(counts, status == Some(1), "{report:#}");
        feasible.into_iter().map(|one| found(one, &witnesses)).collect()
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

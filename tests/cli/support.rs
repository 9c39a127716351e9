//! Small traces with verdicts that a reader can see, and ways to run the command on them.

use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Two threads count up without a lock: 1 reads, 2 reads and writes, 1 writes.
pub const LOST_UPDATE: &str = r#"{"foretrace": 1, "data": "symbolic", "program": "counter", "vars": {"n": {"sort": "Int", "init": 0}}}
{"t": 1, "op": "begin", "label": "increment"}
{"t": 1, "op": "read", "var": "n", "dst": "a", "value": 0, "loc": "counter.c:3"}
{"t": 1, "op": "write", "var": "n", "expr": "(+ a 1)", "value": 1, "loc": "counter.c:4"}
{"t": 1, "op": "end"}
{"t": 2, "op": "begin", "label": "increment"}
{"t": 2, "op": "read", "var": "n", "dst": "b", "value": 1, "loc": "counter.c:3"}
{"t": 2, "op": "write", "var": "n", "expr": "(+ b 1)", "value": 2, "loc": "counter.c:4"}
{"t": 2, "op": "end"}
"#;

/// The same with a lock around each increment: neither can come between the other's two accesses.
pub const LOCKED: &str = r#"{"foretrace": 1, "data": "symbolic", "vars": {"n": {"sort": "Int", "init": 0}}, "sync": {"m": {"kind": "mutex"}}}
{"t": 1, "op": "begin"}
{"t": 1, "op": "acquire", "lock": "m"}
{"t": 1, "op": "read", "var": "n", "dst": "a", "value": 0}
{"t": 1, "op": "write", "var": "n", "expr": "(+ a 1)", "value": 1}
{"t": 1, "op": "release", "lock": "m"}
{"t": 1, "op": "end"}
{"t": 2, "op": "begin"}
{"t": 2, "op": "acquire", "lock": "m"}
{"t": 2, "op": "read", "var": "n", "dst": "b", "value": 1}
{"t": 2, "op": "write", "var": "n", "expr": "(+ b 1)", "value": 2}
{"t": 2, "op": "release", "lock": "m"}
{"t": 2, "op": "end"}
"#;

/// A lost update without begin and end, and with values only.
pub const UNMARKED: &str = r#"{"foretrace": 1, "data": "concrete", "vars": {"n": {"sort": "Int", "init": 0}}}
{"t": 1, "op": "read", "var": "n", "value": 0}
{"t": 1, "op": "write", "var": "n", "value": 1}
{"t": 2, "op": "write", "var": "n", "value": 5}
"#;

/// A folder with these files.
pub struct Folder(TempDir);

impl Folder {
    /// A folder with one file.
    pub fn with(name: &str, content: &str) -> Folder {
        let folder = Folder(TempDir::new().expect("a temporary folder"));
        folder.add(name, content);
        folder
    }

    /// One more file.
    pub fn add(&self, name: &str, content: &str) -> &Folder {
        std::fs::write(self.path(name), content).expect("the folder takes files");
        self
    }

    /// The path of a file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The command, in this folder; arguments are separated by spaces.
    pub fn foretrace(&self, arguments: &str) -> Run {
        foretrace_in(self.0.path(), arguments)
    }

    /// The command with this on stdin.
    pub fn foretrace_reading(&self, arguments: &str, input: &str) -> Run {
        let (reader, mut writer) = std::io::pipe().expect("the system has pipes");
        let input = input.to_string();
        let writing = std::thread::spawn(move || std::io::Write::write_all(&mut writer, input.as_bytes()));
        let run = ran(command(self.0.path(), arguments).stdin(reader));
        let _ = writing.join(); // it fails where the command has ended before
        run
    }

    /// The command, not begun yet.
    pub fn command(&self, arguments: &str) -> Command {
        command(self.0.path(), arguments)
    }

    /// The command with a stdout that nobody reads.
    pub fn foretrace_without_reader(&self, arguments: &str) -> Run {
        let (reader, writer) = std::io::pipe().expect("the system has pipes");
        drop(reader);
        ran(command(self.0.path(), arguments).stdout(writer))
    }

    /// The command with a full disk as stdout, as stderr, or as both.
    pub fn foretrace_onto_full_disk(&self, arguments: &str, stdout: bool, stderr: bool) -> Run {
        let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let mut command = command(self.0.path(), arguments);
        if stdout {
            command.stdout(full());
        }
        if stderr {
            command.stderr(full());
        }
        ran(&mut command)
    }
}

/// What a run of the command did.
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    /// What it wrote, however its lines are broken.
    #[allow(dead_code)] // not all that use this file need it
    pub fn in_one_line(&self) -> String {
        self.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// Runs the command in a folder.
pub fn foretrace_in(folder: &Path, arguments: &str) -> Run {
    ran(&mut command(folder, arguments))
}

fn ran(command: &mut Command) -> Run {
    let output = command.output().expect("the command can be run");
    Run {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("output is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("messages are UTF-8"),
    }
}

fn command(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_foretrace"));
    command.current_dir(folder).args(arguments.split_whitespace()).env_remove("FORETRACE_LOG").env("COLUMNS", "100");
    command
}

/// The folder of this repository.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

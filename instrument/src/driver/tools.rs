//! Finding clang, and running it.

use super::DriverError;
use super::response;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};

/// Whose place the driver takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// `foretrace cc`.
    C,
    /// `foretrace c++`.
    Cxx,
}

impl Language {
    /// Names the compiler to use.
    fn variable(self) -> &'static str {
        match self {
            Language::C => "FORETRACE_CLANG",
            Language::Cxx => "FORETRACE_CLANGXX",
        }
    }

    /// The compiler's name without a version.
    fn program(self) -> &'static str {
        match self {
            Language::C => "clang",
            Language::Cxx => "clang++",
        }
    }
}

/// Versions of clang that are looked for by name, newest first.
const VERSIONS: std::ops::RangeInclusive<u32> = 14..=22;
/// Command lines longer than this go through a response file.
const LONGEST: usize = 96 * 1024;

/// A clang.
pub struct Clang {
    path: PathBuf,
    scratch: PathBuf,
}

impl Clang {
    /// The one that the user names, else the first on the path. `scratch` is a folder for its response files.
    pub fn find(language: Language, scratch: &Path) -> Result<Clang, DriverError> {
        let named = std::env::var_os(language.variable()).filter(|value| !value.is_empty());
        let path = match named {
            Some(named) => on_path(&named).ok_or(DriverError::NoSuchClang { named, variable: language.variable() })?,
            None => {
                let versions = VERSIONS.rev().map(|version| format!("{}-{version}", language.program()));
                let names = [language.program().to_owned()].into_iter().chain(versions);
                names
                    .into_iter()
                    .find_map(|name| on_path(name.as_ref()))
                    .ok_or(DriverError::NoClang { program: language.program(), variable: language.variable() })?
            }
        };
        Ok(Clang { path, scratch: scratch.to_owned() })
    }

    /// Runs it with the input and output of this process.
    pub fn run(&self, words: &[OsString]) -> Result<ExitStatus, DriverError> {
        self.command(words)?.status().map_err(|error| self.failed(error))
    }

    /// Runs it, taking what it writes to its standard output.
    pub fn capture(&self, words: &[OsString]) -> Result<Output, DriverError> {
        let mut command = self.command(words)?;
        command.stdin(Stdio::inherit()).stderr(Stdio::inherit());
        command.output().map_err(|error| self.failed(error))
    }

    fn command(&self, words: &[OsString]) -> Result<Command, DriverError> {
        let mut command = Command::new(&self.path);
        if words.iter().map(|word| word.len() + 1).sum::<usize>() < LONGEST {
            command.args(words);
        } else {
            let file = self.scratch.join("arguments");
            std::fs::write(&file, response::join(words)).map_err(|error| DriverError::Write(file.clone(), error))?;
            let mut word = OsString::from("@");
            word.push(file);
            command.arg(word);
        }
        Ok(command)
    }

    fn failed(&self, error: std::io::Error) -> DriverError {
        DriverError::Run(self.path.clone(), error)
    }
}

/// The exit code that stands for how a process ended, as shells have it.
pub fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// Where a program lies: itself if it has a slash, else in a folder of the path.
fn on_path(program: &OsStr) -> Option<PathBuf> {
    if Path::new(program).components().count() > 1 {
        return is_executable(Path::new(program)).then(|| program.into());
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

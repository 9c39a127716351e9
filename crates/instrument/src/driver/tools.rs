//! Finding the compiler, and running it.

use super::error::DriverError;
use super::response;
use crate::llvm::{self, LlvmError};
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

/// Which compiler it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Make {
    /// clang: its bitcode is instrumented.
    Clang,
    /// gcc, with hooks of its own.
    Gcc,
}

impl Make {
    /// Which versions do.
    fn wanted(self) -> &'static str {
        match self {
            Make::Clang => "clang 14 or newer",
            Make::Gcc => "gcc",
        }
    }
}

impl Language {
    /// Names the compiler to use.
    fn variable(self, make: Make) -> &'static str {
        match (make, self) {
            (Make::Clang, Language::C) => "FORETRACE_CLANG",
            (Make::Clang, Language::Cxx) => "FORETRACE_CLANGXX",
            (Make::Gcc, Language::C) => "FORETRACE_GCC",
            (Make::Gcc, Language::Cxx) => "FORETRACE_GXX",
        }
    }

    /// The compiler's name without a version.
    fn program(self, make: Make) -> &'static str {
        match (make, self) {
            (Make::Clang, Language::C) => "clang",
            (Make::Clang, Language::Cxx) => "clang++",
            (Make::Gcc, Language::C) => "gcc",
            (Make::Gcc, Language::Cxx) => "g++",
        }
    }
}

/// Versions of clang that are looked for by name, newest first.
const VERSIONS: std::ops::RangeInclusive<u32> = 14..=22;
/// Command lines longer than this go through a response file.
const LONGEST: usize = 96 * 1024;

/// A compiler.
pub struct Compiler {
    /// Which it is.
    pub make: Make,
    path: PathBuf,
    scratch: PathBuf,
}

impl Compiler {
    /// The program.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The one that the user names, else the first on the path. `scratch` is a folder for its response files.
    pub fn find(make: Make, language: Language, scratch: &Path) -> Result<Compiler, DriverError> {
        let (program, variable) = (language.program(make), language.variable(make));
        let path = match named(variable) {
            Some(named) => on_path(&named).ok_or(DriverError::NoSuchCompiler { named, variable })?,
            None => {
                let versions = VERSIONS.rev().filter(|_| make == Make::Clang);
                let names = versions.map(|version| format!("{program}-{version}"));
                let mut names = [program.to_owned()].into_iter().chain(names);
                names.find_map(|name| on_path(name.as_ref())).ok_or(DriverError::NoCompiler {
                    wanted: make.wanted(),
                    program,
                    variable,
                })?
            }
        };
        Ok(Compiler { make, path, scratch: scratch.to_owned() })
    }

    /// clang and a libLLVM; where the user has named neither and one of them is missing, gcc, and then why.
    pub fn find_any(language: Language, scratch: &Path) -> Result<(Compiler, Option<String>), DriverError> {
        let clang = Compiler::find(Make::Clang, language, scratch);
        let is_named = named(language.variable(Make::Clang)).is_some();
        let missing = match (&clang, llvm::load()) {
            (Err(error @ DriverError::NoCompiler { .. }), _) => error.to_string(),
            (Ok(_), Err(error @ LlvmError::Missing)) if !is_named => error.to_string(),
            _ => return Ok((clang?, None)),
        };
        match Compiler::find(Make::Gcc, language, scratch) {
            Ok(gcc) => Ok((gcc, Some(missing))),
            Err(_) => Ok((clang?, None)),
        }
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

/// What a variable says, if anything.
fn named(variable: &str) -> Option<OsString> {
    std::env::var_os(variable).filter(|value| !value.is_empty())
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

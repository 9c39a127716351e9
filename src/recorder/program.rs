//! The program to run: found as a shell would find it, and made by `foretrace cc`.

use object::{Object, ObjectSection};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// A program with its arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// Its file, an absolute path.
    pub path: PathBuf,
    /// What it is called with, its name not included.
    pub arguments: Vec<OsString>,
}

/// Why a program cannot be recorded.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// There is no such file.
    #[error("{0}: not found, neither as a path nor in PATH")]
    Missing(PathBuf),
    /// It cannot be read.
    #[error("{path}", path = .0.display())]
    Io(PathBuf, #[source] io::Error),
    /// It is no binary of this machine.
    #[error("{0}: expected an x86-64 ELF program, found {1}")]
    Foreign(PathBuf, String),
    /// It was made by another compiler.
    #[error(
        "{0}: not built by foretrace, so nothing of it can be recorded; compile and link it with `foretrace cc` or \
         `foretrace c++` in place of the compiler"
    )]
    Plain(PathBuf),
}

impl Program {
    /// Finds the program of a command line.
    pub fn find(command: &[OsString]) -> Result<Program, ProgramError> {
        let (name, arguments) = command.split_first().expect("clap asks for one at least");
        let found = which(Path::new(name)).ok_or_else(|| ProgramError::Missing(PathBuf::from(name)))?;
        let path = found.canonicalize().map_err(|error| ProgramError::Io(found, error))?;
        Ok(Program { path, arguments: arguments.to_vec() })
    }

    /// Checks that it was built by `foretrace cc`.
    pub fn check(&self) -> Result<(), ProgramError> {
        let path = || self.path.clone();
        let bytes = std::fs::read(&self.path).map_err(|error| ProgramError::Io(path(), error))?;
        if bytes.starts_with(b"#!") {
            return Err(ProgramError::Foreign(path(), "a script".to_string()));
        }
        let file = object::File::parse(&*bytes).map_err(|error| ProgramError::Foreign(path(), error.to_string()))?;
        if file.architecture() != object::Architecture::X86_64 {
            return Err(ProgramError::Foreign(path(), format!("{:?}", file.architecture())));
        }
        let section = file.section_by_name(foretrace_instrument::sidecar::SECTION);
        match section.is_some_and(|section| section.size() > 0) {
            true => Ok(()),
            false => Err(ProgramError::Plain(path())),
        }
    }
}

/// The file that a shell would run.
fn which(name: &Path) -> Option<PathBuf> {
    if name.components().count() > 1 {
        return name.is_file().then(|| name.to_path_buf());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

//! The program to run: found as a shell would find it, and made by `foretrace cc`.

use object::{Object, ObjectSection, ObjectSymbol};
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
    /// It may not be executed.
    #[error("{0}: not executable; expected a program that `foretrace cc` or `foretrace c++` linked")]
    NotExecutable(PathBuf),
    /// What loads it is not there.
    #[error("{0}: expected its loader at {1}, found nothing there")]
    NoLoader(PathBuf, PathBuf),
    /// It is no file.
    #[error("{0}: a folder; expected a program that `foretrace cc` or `foretrace c++` linked")]
    Folder(PathBuf),
    /// It is not what was recorded.
    #[error(
        "{path}: has build id {found}, but the recording is of a program with {expected}: it is another one, or was \
         changed since; record it",
        path = path.display()
    )]
    Other {
        /// The program that was named.
        path: PathBuf,
        /// Its build id.
        found: String,
        /// That of the recorded program.
        expected: String,
    },
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
        let missing = || match Path::new(name).is_dir() {
            true => ProgramError::Folder(PathBuf::from(name)),
            false => ProgramError::Missing(PathBuf::from(name)),
        };
        let found = which(Path::new(name)).ok_or_else(missing)?;
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
        let file = object::File::parse(&*bytes)
            .map_err(|_| ProgramError::Foreign(path(), "a file of another kind".to_string()))?;
        if file.architecture() != object::Architecture::X86_64 {
            return Err(ProgramError::Foreign(path(), format!("{:?}", file.architecture())));
        }
        let section = file.section_by_name(foretrace_instrument::sidecar::SECTION);
        let is_concrete = || file.dynamic_symbols().any(|symbol| symbol.name() == Ok(foretrace_instrument::CONCRETE));
        if section.is_none_or(|section| section.size() == 0) && !is_concrete() {
            return Err(ProgramError::Plain(path()));
        }
        if let Some(loader) = loader(&file).filter(|loader| !loader.exists()) {
            return Err(ProgramError::NoLoader(path(), loader));
        }
        nix::unistd::access(&self.path, nix::unistd::AccessFlags::X_OK).map_err(|_| ProgramError::NotExecutable(path()))
    }

    /// Checks that it is the one of a recording.
    pub fn check_recorded_as(&self, recording: &Path) -> Result<(), ProgramError> {
        let read = |path: PathBuf| std::fs::read(&path).map_err(|error| ProgramError::Io(path, error));
        let modules = read(recording.join("modules"))?;
        let bytes = read(self.path.clone())?;
        // The program itself comes first.
        let expected = String::from_utf8_lossy(&modules).split(' ').nth(2).unwrap_or("-").to_string();
        let found = object::File::parse(&*bytes).ok().and_then(|file| file.build_id().ok().flatten().map(hex));
        let found = found.unwrap_or_else(|| "-".to_string());
        match found == expected {
            true => Ok(()),
            false => Err(ProgramError::Other { path: self.path.clone(), found, expected }),
        }
    }
}

/// What the kernel starts to load a program.
fn loader(file: &object::File<'_>) -> Option<PathBuf> {
    let name = file.section_by_name(".interp")?.data().ok()?;
    let text = std::str::from_utf8(name.split(|byte| *byte == 0).next()?).ok()?;
    Some(PathBuf::from(text))
}

/// The file that a shell would run.
fn which(name: &Path) -> Option<PathBuf> {
    if name.components().count() > 1 {
        return name.is_file().then(|| name.to_path_buf());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

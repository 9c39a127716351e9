//! Why a program cannot be started, recorded or replayed.

use super::ending::{Cut, Ending};
use super::folder::FolderError;
use foretrace_trace::ReadError;
use foretrace_walker::WalkError;
use std::io;
use std::path::PathBuf;

/// A program could not be started.
#[derive(Debug, thiserror::Error)]
#[error("cannot start {path}", path = path.display())]
pub struct LaunchError {
    pub(super) path: PathBuf,
    pub(super) source: io::Error,
}

/// Why a program could not be recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The folder fails.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The program does not start.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// It ended before the runtime in it had begun.
    #[error(
        "{path}: {ending} before its recording began; expected a program that starts: `ldd {path}` says whether a shared \
         library is missing{}", after(.wrote), path = .path.display()
    )]
    NotBegun {
        /// The program.
        path: PathBuf,
        /// How it ended.
        ending: Ending,
        /// What it wrote first to its standard error, if that was kept.
        wrote: String,
    },
    /// Its logs cannot be completed.
    #[error(transparent)]
    Logs(#[from] WalkError),
    /// It was cut off.
    #[error("the program {0}")]
    Cut(Cut),
}

fn after(line: &str) -> String {
    if line.is_empty() { String::new() } else { format!("; it wrote: {line}") }
}

/// Why something cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// It was not recorded.
    #[error(
        "the witness has no positions in a program's log: its trace was not recorded from a real program, or \
         begins later than the run"
    )]
    NoPositions,
    /// Its recording keeps no source.
    #[error(
        "the witness does not name the places of its accesses; --edited needs one that `predict --witness-dir` made of a \
         recording of this version"
    )]
    NoPlaces,
    /// gcc compiled it.
    #[error(
        "--edited needs a program that clang or rustc compiled: found one that gcc compiled, whose places have no names"
    )]
    NoSideCar,
    /// Its shared libraries cannot be listed.
    #[error("{program}: cannot list its shared libraries: it {ending}", program = .0.display(), ending = .1)]
    NoModules(PathBuf, Ending),
    /// Its start is not there.
    #[error(
        "the recording begins later than the run (--window, or recording was switched on): in which order its threads came \
         there is not known, so it cannot be replayed; record the whole run"
    )]
    BeginsLater,
    /// A file fails.
    #[error("{path}", path = .0.display())]
    Io(PathBuf, #[source] std::io::Error),
    /// The program does not start, or its folder fails.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Logs cannot be read.
    #[error(transparent)]
    Logs(#[from] WalkError),
    /// The recording's trace cannot be read.
    #[error(transparent)]
    Trace(#[from] ReadError),
}

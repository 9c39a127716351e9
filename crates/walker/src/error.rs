//! Why a recording gives no trace.

use foretrace_instrument::sidecar::SidecarError;
use foretrace_trace::{Invalid, Problem};
use std::io;
use std::path::{Path, PathBuf};

/// Why a recording gives no trace.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "fields are what the messages show")]
pub enum WalkError {
    /// A file could not be read or written.
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    /// A folder of something else.
    #[error("{}: found no recording.json, expected the folder that `foretrace record` made", path.display())]
    NotARecording { path: PathBuf },
    /// There is nothing to read.
    #[error("{}: found no logs (thread-<number>.log), expected those of a recorded run", path.display())]
    NoLogs { path: PathBuf },
    /// Not one of our files.
    #[error("{}: not a log of a recorded thread", path.display())]
    NotALog { path: PathBuf },
    /// Written by another version.
    #[error("{}: a log of version {found}, expected {expected}", path.display())]
    LogVersion { path: PathBuf, found: u8, expected: u8 },
    /// A log without its end.
    #[error("{}: cut off at byte {byte}, expected a stop record there", path.display())]
    CutOff { path: PathBuf, byte: u64 },
    /// A thread that others know of, without a log.
    #[error("{}: found no such log, expected that of thread {thread}, which {by}", path.display())]
    MissingLog { path: PathBuf, thread: u64, by: String },
    /// Two logs of one thread.
    #[error("{} and {} are logs of the same thread", first.display(), second.display())]
    SameThread { first: PathBuf, second: PathBuf },
    /// Order numbers of a thread that do not grow.
    #[error("{}: order {found} at byte {byte}, expected more than {before}", path.display())]
    Order { path: PathBuf, byte: u64, found: u64, before: u64 },
    /// More locks, waits and transactions than a log can say at its start.
    #[error("{}: the thread had too many locks and transactions open where its log begins: record the whole run", path.display())]
    ManyOpen { path: PathBuf },
    /// Of a variable of one byte every value was read, and which it had first is not known.
    #[error("nothing is known of what a variable holds where the trace begins: record the whole run, or another part")]
    NoInitial,
    /// A description that is none.
    #[error("{}: {what}", path.display())]
    Description { path: PathBuf, what: String },
    /// A program or library that was rebuilt.
    #[error(
        "{}: found build id {found}, but the recorded program had {expected}: it was changed since; record again",
        path.display()
    )]
    Changed { path: PathBuf, found: String, expected: String },
    /// A file that is no object file.
    #[error("{}: {error}", path.display())]
    Object { path: PathBuf, error: object::Error },
    /// A program that was not built for recording.
    #[error(
        "{}: found no side-car, expected a program built for recording (for example with CC=\"foretrace cc\" CXX=\"foretrace c++\")",
        path.display()
    )]
    NoSidecar { path: PathBuf },
    /// Loops are not known where gcc compiled.
    #[error(
        "the program was built with gcc, which does not tell where loops are: choose other transactions, or build it with clang"
    )]
    NoLoops,
    /// Functions of such programs are recorded without the values of their parameters.
    #[error(
        "the program was built with gcc, which does not tell values of parameters: mark operations, or build it with clang"
    )]
    NoOperations,
    /// A damaged side-car.
    #[error("{}: {error}", path.display())]
    Sidecar { path: PathBuf, error: SidecarError },
    /// Two units that cannot be told apart.
    #[error("{first} and {second} have the same id {id:08x}: change one of them (a comment will do) and build again")]
    SameUnit { id: u32, first: String, second: String },
    /// A trace that breaks the rules of its format: a defect of ours.
    #[error("internal error: the trace is not valid: {0}; please report it")]
    Invalid(#[from] Invalid),
    /// An event or object that the format does not have: a defect of ours.
    #[error("internal error: {0}; please report it")]
    Problem(#[from] Problem),
}

impl WalkError {
    pub(crate) fn io(path: &Path, error: io::Error) -> WalkError {
        WalkError::Io { path: path.to_path_buf(), error }
    }
}

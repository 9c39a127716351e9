//! The folder of a recording: what ran, how it ended, its logs, its trace.

use super::ending::Ending;
use foretrace_report::write_whole;
use serde::{Deserialize, Serialize};
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// The file that says what was recorded.
const MANIFEST: &str = "recording.json";
/// The trace.
const TRACE: &str = "trace.jsonl.zst";
/// What the runtime says of a schedule.
const REPLAY: &str = "replay";
/// What it says of the triple.
const TRIPLE: &str = "triple";

/// The folder of a recording.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// Locked as long as something is recorded into it.
    _lock: File,
}

/// What was recorded: `recording.json`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Recording {
    pub(super) foretrace: u32,
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
    pub(super) directory: PathBuf,
    pub(super) mode: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seed: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scheduler: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) depth: Option<u64>,
    /// Records of each thread that the scheduler was told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) steps: Vec<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_bytes: Option<u64>,
    /// How it ended; not there while it runs, or where foretrace was killed itself.
    pub exit: Option<Ending>,
}

/// Why a folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It has something else in it.
    #[error("{0}: the folder holds something other than a recording; name another one, or one that does not exist")]
    Foreign(PathBuf),
    /// Something is being recorded into it.
    #[error("{0}: another foretrace records into this folder; name another one, or wait until that is done")]
    Busy(PathBuf),
    /// A file of it cannot be read or written.
    #[error("{path}", path = .0.display())]
    Io(PathBuf, #[source] io::Error),
}

impl Folder {
    /// An empty folder for a new recording; one that was there before is replaced.
    pub fn create(path: &Path) -> Result<Folder, FolderError> {
        let failed = |error| FolderError::Io(path.to_path_buf(), error);
        if path.is_file() {
            return Err(failed(nix::errno::Errno::ENOTDIR.into()));
        }
        std::fs::create_dir_all(path).map_err(failed)?;
        let lock = Folder::lock(path)?;
        let is_empty = std::fs::read_dir(path).map_err(failed)?.next().is_none();
        if !is_empty && !path.join(MANIFEST).is_file() {
            return Err(FolderError::Foreign(path.to_path_buf()));
        }
        for entry in std::fs::read_dir(path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let is_folder = entry.file_type().map_err(failed)?.is_dir();
            let path = entry.path();
            if is_folder { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }.map_err(failed)?;
        }
        Ok(Folder { path: path.canonicalize().map_err(failed)?, _lock: lock })
    }

    /// Makes sure that nothing else is recorded into a folder as long as the result lives.
    pub fn lock(path: &Path) -> Result<File, FolderError> {
        let failed = |error| FolderError::Io(path.to_path_buf(), error);
        let folder = File::open(path).map_err(failed)?;
        match folder.try_lock() {
            Ok(()) => Ok(folder),
            Err(TryLockError::WouldBlock) => Err(FolderError::Busy(path.to_path_buf())),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    /// Whether foretrace itself was killed while it recorded into this folder: its logs have no end yet.
    pub fn is_unfinished(path: &Path) -> bool {
        let recording = std::fs::read(path.join(MANIFEST)).ok();
        let recording = recording.and_then(|text| serde_json::from_slice::<Recording>(&text).ok());
        recording.is_some_and(|recording| recording.exit.is_none())
    }

    /// Nothing was recorded: it goes.
    pub fn discard(&self) {
        let _ = std::fs::remove_dir_all(&self.path); // that nothing could be recorded is said anyway
    }

    /// Whether the runtime in a program has begun to record into it.
    pub fn has_begun(&self) -> bool {
        self.path.join("modules").is_file()
    }

    /// Its path, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where its trace is.
    pub fn trace(&self) -> PathBuf {
        self.path.join(TRACE)
    }

    /// The trace of the recording that `path` is the folder of, or `path` itself.
    pub fn trace_of(path: &Path) -> PathBuf {
        match path.join(MANIFEST).is_file() {
            true => path.join(TRACE),
            false => path.to_path_buf(),
        }
    }

    /// The folder of the recording that a path is, or is the trace of.
    pub fn around(path: &Path) -> Option<PathBuf> {
        let folders = [Some(path), path.parent()];
        folders.into_iter().flatten().find(|folder| folder.join(MANIFEST).is_file()).map(Path::to_path_buf)
    }

    /// Whether the run that a folder has the recording of is known to have failed.
    pub fn failed(folder: &Path) -> bool {
        let text = std::fs::read_to_string(folder.join(MANIFEST)).unwrap_or_default();
        let recording: Option<Recording> = serde_json::from_str(&text).ok();
        recording.and_then(|recording| recording.exit).is_some_and(|exit| exit != Ending::Code(0))
    }

    /// Says what is recorded here.
    pub fn describe(&self, recording: &Recording) -> Result<(), FolderError> {
        let path = self.path.join(MANIFEST);
        let write = |out: &mut dyn io::Write| {
            serde_json::to_writer_pretty(&mut *out, recording)?;
            out.write_all(b"\n")
        };
        write_whole(&path, write).map_err(|error| FolderError::Io(path, error))
    }

    /// The arguments of a recorded program, where its description can be read.
    pub fn arguments_of(recording: &Path) -> Option<Vec<String>> {
        let text = std::fs::read(recording.join(MANIFEST)).ok()?;
        Some(serde_json::from_slice::<Recording>(&text).ok()?.arguments)
    }

    /// What the runtime said of the schedule: nothing where it did not come to its end.
    pub fn replay_verdict(&self) -> Option<String> {
        std::fs::read_to_string(self.path.join(REPLAY)).ok()
    }

    /// What the runtime said of the triple, likewise.
    pub fn triple_verdict(&self) -> Option<String> {
        std::fs::read_to_string(self.path.join(TRIPLE)).ok()
    }

    /// How the recorded program ended, if that is known.
    pub fn recorded_ending(path: &Path) -> Option<Ending> {
        let text = std::fs::read(path.join(MANIFEST)).ok()?;
        serde_json::from_slice::<Recording>(&text).ok()?.exit
    }
}

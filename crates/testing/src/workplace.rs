//! The folders for a test's runs. Small runs lie in memory where there is room: a disk takes longer for their files than the runs take.

use super::runner::MOST_LOGS;
use super::settings::{Settings, TestError};
use nix::sys::statfs::{TMPFS_MAGIC, statfs};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::{Builder, TempDir};

/// Where Linux has a file system in memory.
const MEMORY: &str = "/dev/shm";
/// How the folders are called.
const PREFIX: &str = "foretrace-test-";
/// The file in a folder in memory that is locked while the folder is used.
const LOCK: &str = "lock";
/// So much must be free beside what the runs under way may write.
const SPARE_BYTES: u64 = 1 << 30;
/// Runs whose recordings have more bytes are on the disk: a test keeps hundreds of recordings.
const MOST_BYTES: u64 = 1 << 20;

/// Folders that go when the test ends.
pub struct Workplace {
    on_disk: TempDir,
    in_memory: Option<(TempDir, File)>,
    /// Whether a recording had more bytes than may be in memory.
    is_large: AtomicBool,
}

impl Workplace {
    /// All is on the disk if the user has named a folder by `TMPDIR`, the program's own files would be in it, or memory is short.
    ///
    /// # Errors
    /// No folder can be made.
    pub fn new(settings: &Settings) -> Result<Workplace, TestError> {
        let around = std::env::temp_dir();
        let on_disk = Builder::new().prefix(PREFIX).tempdir_in(&around);
        let on_disk = on_disk.map_err(|error| TestError::Io(around, error))?;
        let is_chosen = std::env::var_os("TMPDIR").is_some_and(|folder| !folder.is_empty());
        let bytes = MOST_LOGS.saturating_mul(settings.jobs as u64).saturating_add(SPARE_BYTES);
        let is_wanted = !is_chosen && !settings.sandbox;
        let in_memory = is_wanted.then(|| folder_in(Path::new(MEMORY), bytes)).flatten();
        Ok(Workplace { on_disk, in_memory, is_large: AtomicBool::default() })
    }

    /// The path of a run or file with this name. No two have the same name, but for those that are made after each other.
    pub fn place(&self, name: impl AsRef<Path>) -> PathBuf {
        let in_memory = self.in_memory.as_ref().filter(|_| !self.is_large.load(Ordering::Relaxed));
        in_memory.map_or(self.on_disk.path(), |(folder, _)| folder.path()).join(name)
    }

    /// The folder on the disk.
    pub fn on_disk(&self) -> &Path {
        self.on_disk.path()
    }

    /// Learns how large recordings are.
    pub fn learn(&self, recording: &Path) {
        if self.in_memory.is_some() && bytes_of(recording).is_ok_and(|bytes| bytes > MOST_BYTES) {
            self.is_large.store(true, Ordering::Relaxed);
        }
    }

    /// The path below one of the folders.
    pub fn below<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let in_memory = self.in_memory.as_ref().and_then(|(folder, _)| path.strip_prefix(folder.path()).ok());
        in_memory.or_else(|| path.strip_prefix(self.on_disk.path()).ok())
    }
}

/// A folder in memory, if so many bytes are free there. Those of tests that were killed go.
fn folder_in(memory: &Path, bytes: u64) -> Option<(TempDir, File)> {
    let system = statfs(memory).ok().filter(|system| system.filesystem_type() == TMPFS_MAGIC)?;
    let free = system.blocks_available().saturating_mul(u64::try_from(system.block_size()).ok()?);
    if free < bytes || free_memory()? < bytes {
        return None;
    }
    remove_left_behind(memory);
    let folder = Builder::new().prefix(PREFIX).tempdir_in(memory).ok()?;
    let lock = File::create(folder.path().join(LOCK)).ok()?;
    lock.lock().ok()?;
    Some((folder, lock))
}

/// Removes folders whose tests do not run any more.
fn remove_left_behind(memory: &Path) {
    let is_ours = |name: &OsStr| name.to_str().is_some_and(|name| name.starts_with(PREFIX));
    for entry in std::fs::read_dir(memory).into_iter().flatten().flatten() {
        let lock = entry.path().join(LOCK);
        let is_unused = || File::open(lock).is_ok_and(|lock| lock.try_lock().is_ok());
        if is_ours(&entry.file_name()) && is_unused() {
            let _ = std::fs::remove_dir_all(entry.path()); // another test may be removing it
        }
    }
}

/// Bytes of memory that are free.
pub fn free_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Bytes of the files in a folder.
pub fn bytes_of(folder: &Path) -> io::Result<u64> {
    std::fs::read_dir(folder)?.map(|entry| Ok(entry?.metadata()?.len())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_both() -> Workplace {
        let folder = || tempfile::tempdir().unwrap();
        let memory = folder();
        let lock = File::create(memory.path().join(LOCK)).unwrap();
        Workplace { on_disk: folder(), in_memory: Some((memory, lock)), is_large: AtomicBool::default() }
    }

    #[test]
    fn runs_are_on_the_disk_once_a_recording_was_large() {
        let work = of_both();
        let recording = work.place("seed-0");
        std::fs::create_dir(&recording).unwrap();
        let log = File::create(recording.join("thread-1.log")).unwrap();
        log.set_len(MOST_BYTES).unwrap();
        work.learn(&recording);
        assert!(!work.place("seed-1").starts_with(work.on_disk()));
        log.set_len(MOST_BYTES + 1).unwrap();
        work.learn(&recording);
        assert!(work.place("seed-1").starts_with(work.on_disk()));
        assert_eq!(work.below(&recording), Some(Path::new("seed-0")));
        assert_eq!(work.below(&work.place("seed-1")), Some(Path::new("seed-1")));
        assert_eq!(work.below(Path::new("/seed-1")), None);
    }

    #[test]
    fn only_folders_of_tests_that_were_killed_go() {
        let around = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let folder = around.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            (File::create(folder.join(LOCK)).unwrap(), folder)
        };
        let (used, killed, other) = (folder("foretrace-test-a"), folder("foretrace-test-b"), folder("another-c"));
        let just_made = around.path().join("foretrace-test-d");
        std::fs::create_dir(&just_made).unwrap();
        used.0.lock().unwrap();
        remove_left_behind(around.path());
        let are_there = [&used.1, &killed.1, &other.1, &just_made].map(|folder| folder.is_dir());
        assert_eq!(are_there, [true, false, true, true]);
    }

    #[test]
    fn what_has_no_room_in_memory_is_on_the_disk() {
        assert!(folder_in(Path::new(MEMORY), u64::MAX).is_none());
        assert!(folder_in(Path::new("/proc"), 0).is_none(), "that is no file system for files");
    }
}

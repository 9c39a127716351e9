//! Copies of the logs of a program that still runs: what happened up to some moment, as a recording that can be walked.
//!
//! Threads write their logs as they go, each by itself, so that one may be ahead of another. Order numbers are given without gaps. All
//! records up to the first number that no log has are the run up to a moment. Later records are left for the next copy.

use super::finish::stopped;
use super::{COUNT_WORD, HEADER_WORDS, Record, Records, WORD, contents, log_files};
use crate::error::WalkError;
use foretrace_runtime::record::{Kind, stop};
use rustc_hash::FxHashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Of the numbers that are missing before one that is there, so many are looked at: threads draw them one at a time.
const MOST_MISSING: usize = 1 << 16;

/// The copies of a recording.
#[derive(Debug)]
pub struct Snapshots {
    recording: PathBuf,
    /// Numbers that were missing at the last copy. Those that still are will never come: their threads are gone.
    missing: FxHashSet<u64>,
    never: FxHashSet<u64>,
}

impl Snapshots {
    /// Of the recording in this folder, whose program runs.
    pub fn of_recording(recording: &Path) -> Snapshots {
        let (missing, never) = Default::default();
        Snapshots { recording: recording.to_path_buf(), missing, never }
    }

    /// Copies what happened so far into a folder that is there and empty; how many ordered records that is. Besides the logs the folder
    /// gets links to the recording's files.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn take(&mut self, to: &Path) -> Result<u64, WalkError> {
        let logs = log_files(&self.recording)?;
        let logs = logs.into_iter().map(|path| Ok((contents(&path)?, path)));
        let logs: Vec<(Vec<u8>, PathBuf)> = logs.collect::<Result<_, WalkError>>()?;
        let end = self.first_missing(logs.iter().map(|(bytes, _)| bytes.as_slice()));
        for (bytes, path) in &logs {
            let Some(cut) = cut(bytes, end) else { continue };
            let name = path.file_name().unwrap_or_default();
            fs::write(to.join(name), cut).map_err(|error| WalkError::io(&to.join(name), error))?;
        }
        self.link_others(to)?;
        Ok(end - 1)
    }

    /// The first order number that no log has yet.
    fn first_missing<'b>(&mut self, logs: impl Iterator<Item = &'b [u8]>) -> u64 {
        let mut seen: Vec<u64> = logs.flat_map(orders).collect();
        seen.sort_unstable();
        let mut missing = FxHashSet::default();
        let (mut first, mut next) = (None, 1);
        for order in seen {
            for gap in (next..order).take(MOST_MISSING) {
                if self.never.contains(&gap) {
                    continue;
                }
                if self.missing.contains(&gap) {
                    self.never.insert(gap);
                } else {
                    missing.insert(gap);
                    first.get_or_insert(gap);
                }
            }
            next = order + 1;
        }
        self.missing = missing;
        first.unwrap_or(next)
    }

    fn link_others(&self, to: &Path) -> Result<(), WalkError> {
        let failed = |error| WalkError::io(&self.recording, error);
        for entry in fs::read_dir(&self.recording).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let is_file = entry.file_type().map_err(failed)?.is_file();
            if is_file && !entry.file_name().to_string_lossy().starts_with("thread-") {
                std::os::unix::fs::symlink(entry.path(), to.join(entry.file_name())).map_err(failed)?;
            }
        }
        Ok(())
    }
}

/// Whether a record is whole: the order is what a thread writes last.
fn is_whole(record: &Record) -> bool {
    !record.kind.ordered() || record.words[record.kind.words() - 2] != 0
}

/// The order numbers of a log.
fn orders(bytes: &[u8]) -> impl Iterator<Item = u64> {
    Records::new(bytes).take_while(is_whole).filter_map(|record| record.order()).filter(|order| *order != 0)
}

/// The log up to this order number, ended; nothing where the thread has not begun.
fn cut(bytes: &[u8], end: u64) -> Option<Vec<u8>> {
    let begun = bytes.get(..WORD).is_some_and(|magic| magic != [0; WORD]);
    if !begun || bytes.len() < HEADER_WORDS * WORD {
        return None;
    }
    let mut records = Records::new(bytes);
    let is_before = |record: &Record| is_whole(record) && record.order().is_none_or(|order| order < end);
    while let Some(record) = records.peek().filter(|record| record.kind != Kind::Stop && is_before(record)) {
        records.pass(record.kind);
    }
    let (position, count) = records.position();
    let mut log = bytes[..position].to_vec();
    log[COUNT_WORD * WORD..(COUNT_WORD + 1) * WORD].copy_from_slice(&count.to_le_bytes());
    log.extend(stopped(stop::LIMIT));
    Some(log)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::open_logs;
    use foretrace_runtime::record::{MAGIC, header, stamp};

    fn load(order: u64, count: u64) -> [u64; 4] {
        [header(Kind::Load4, 7), 0x1000, order, stamp(order, count)]
    }

    fn write(folder: &Path, thread: u64, records: &[[u64; 4]], rest: &[u64]) {
        let head = [MAGIC, thread, 0, thread - 1, 0, 99, 0, 0];
        let words = head.iter().chain(records.as_flattened()).chain(rest);
        let bytes: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
        fs::write(folder.join(format!("thread-{thread}.log")), bytes).unwrap();
    }

    /// The order numbers of each thread in the next copy.
    fn taken(snapshots: &mut Snapshots) -> (u64, Vec<Vec<u64>>) {
        let to = tempfile::tempdir().unwrap();
        let records = snapshots.take(to.path()).unwrap();
        let logs = open_logs(to.path()).unwrap();
        (records, logs.iter().map(|log| log.records().filter_map(|record| record.order()).collect()).collect())
    }

    #[test]
    fn a_copy_ends_before_the_first_number_that_no_log_has() {
        let folder = tempfile::tempdir().unwrap();
        let mut snapshots = Snapshots::of_recording(folder.path());
        let unfinished = [header(Kind::Load4, 7), 0x1000, 0, 0];
        write(folder.path(), 1, &[load(1, 0), load(3, 1), load(6, 2)], &unfinished);
        write(folder.path(), 2, &[load(2, 0), load(5, 1)], &[]);
        fs::write(folder.path().join("thread-3.log"), [0; 128]).unwrap(); // not begun
        assert_eq!(taken(&mut snapshots), (3, vec![vec![1, 3], vec![2]]));
        write(folder.path(), 2, &[load(2, 0), load(4, 1), load(5, 2)], &[]);
        assert_eq!(taken(&mut snapshots), (6, vec![vec![1, 3, 6], vec![2, 4, 5]]));
    }

    #[test]
    fn a_number_that_never_comes_holds_up_one_copy_alone() {
        let folder = tempfile::tempdir().unwrap();
        let mut snapshots = Snapshots::of_recording(folder.path());
        write(folder.path(), 1, &[load(1, 0), load(3, 1)], &[]);
        assert_eq!(taken(&mut snapshots), (1, vec![vec![1]]));
        assert_eq!(taken(&mut snapshots), (3, vec![vec![1, 3]]));
    }

    #[test]
    fn what_a_thread_did_is_counted_up_to_the_end_of_the_copy() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), 1, &[load(1, 0), load(2, 4), load(4, 9)], &[header(Kind::BranchTrue, 8)]);
        let to = tempfile::tempdir().unwrap();
        Snapshots::of_recording(folder.path()).take(to.path()).unwrap();
        let logs = open_logs(to.path()).unwrap();
        assert_eq!((logs[0].counted(), logs[0].len()), (5, 3), "two reads and the end");
    }
}

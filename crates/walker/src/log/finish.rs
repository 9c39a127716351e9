//! Logs are finished after the run: cut after their last whole record, and the files of a thread joined.

use super::{Records, WORD, contents, files, log_files, read_header, scan, word};
use crate::error::WalkError;
use foretrace_runtime::record::{Kind, header, stop};
use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

/// After the run: cuts every log of the folder after its last whole record, and ends it with a `Stop` record if it has none.
/// Logs that were not even begun go.
///
/// From then on a log that ends otherwise was cut off, and is refused.
pub fn finish_logs(recording: &Path) -> Result<(), WalkError> {
    for older in files(recording, ".old")? {
        join(&older, &older.with_extension("log"))?;
    }
    log_files(recording)?.iter().try_for_each(|path| finish(path))
}

/// The record that ends a log, for this reason.
pub(super) fn stopped(why: u64) -> Vec<u8> {
    [header(Kind::Stop, 0).to_le_bytes(), why.to_le_bytes()].concat()
}

/// Puts the two files of a thread of which only the last events are kept together, in place of the newer.
fn join(older: &Path, newer: &Path) -> Result<(), WalkError> {
    let failed = |error| WalkError::io(newer, error);
    let rest = fs::read(newer).unwrap_or_default();
    if word(&rest, 0).unwrap_or(0) == 0 {
        return fs::rename(older, newer).map_err(failed); // the newer was not even begun
    }
    let mut bytes = fs::read(older).map_err(|error| WalkError::io(older, error))?;
    read_header(older, &bytes)?;
    bytes.truncate(scan(&bytes).end);
    let mut records = Records::new(&rest);
    while let Some(record) = records.peek().filter(|record| matches!(record.kind, Kind::Cut | Kind::Open)) {
        records.pass(record.kind);
    }
    bytes.extend_from_slice(&rest[records.position..]);
    let joined = newer.with_extension("joined");
    fs::write(&joined, bytes).and_then(|()| fs::rename(&joined, newer)).map_err(failed)?;
    fs::remove_file(older).map_err(|error| WalkError::io(older, error))
}

fn finish(path: &Path) -> Result<(), WalkError> {
    let failed = |error| WalkError::io(path, error);
    let mut file = OpenOptions::new().read(true).write(true).open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.len() < WORD as u64 {
        return fs::remove_file(path).map_err(failed);
    }
    let scan = {
        let bytes = contents(path)?;
        if word(&bytes, 0) == Some(0) {
            return fs::remove_file(path).map_err(failed); // the process ended before the thread began
        }
        read_header(path, &bytes)?;
        scan(&bytes)
    };
    file.set_len(scan.end as u64).map_err(failed)?;
    if scan.stop.is_none() {
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        file.write_all(&stopped(stop::END)).map_err(failed)?;
    }
    Ok(())
}

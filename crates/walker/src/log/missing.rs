//! Missing logs. A thread that did nothing before the process ended has no log. If another thread's log shows that the thread did
//! something, a missing log is an error: the trace would be of another run.

use super::Log;
use crate::error::WalkError;
use foretrace_runtime::record::Kind;
use rustc_hash::FxHashSet;
use std::path::Path;

/// Checks that each thread has a log that was joined, that woke another one, or that created one with a log.
pub(crate) fn check(recording: &Path, logs: &[Log]) -> Result<(), WalkError> {
    if logs.iter().any(|log| log.cut().is_some()) {
        return Ok(()); // logs of what came before are gone on purpose
    }
    let known: FxHashSet<u64> = logs.iter().map(|log| log.header().thread).collect();
    let missing = |thread: u64, by: String| {
        let path = recording.join(format!("thread-{thread}.log"));
        Err(WalkError::MissingLog { path, thread, by })
    };
    for log in logs {
        let (number, parent) = (log.header().thread, log.header().parent);
        if parent != 0 && !known.contains(&parent) {
            return missing(parent, format!("created thread {number}"));
        }
        let joined = |record: &super::Record| record.kind == Kind::Join && !known.contains(&record.words[0]);
        if let Some(record) = log.records().find(joined) {
            return missing(record.words[0], format!("thread {number} joined"));
        }
    }
    Ok(())
}

//! `comers`: who waits for a lock where a recorded run ends in a deadlock, so that others wait. No record says so.

use std::path::Path;

/// The threads that waited for a lock at the end of a run, and for which others waited that came later, by their paths.
pub fn comers(recording: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(recording.join("comers")).unwrap_or_default();
    text.lines().map(str::to_string).collect()
}

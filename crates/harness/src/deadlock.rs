//! Which thread waits for which in a run that ended in a deadlock: the runtime's report, with the locks that the logs show.

use super::apart::STDERR;
use super::positions::Positions;
use foretrace_runtime::record::Kind;
use foretrace_walker::WalkError;
use foretrace_walker::log::{Record, open_logs, thread_paths};
use std::path::Path;

/// A thread that waits in a deadlock.
struct Waiting {
    path: String,
    /// The address of what it waits for.
    object: u64,
}

/// A lock that a thread holds.
struct Held {
    path: String,
    object: u64,
    /// Where the thread took it.
    place: Option<String>,
}

/// Says who waits for whom, a line each; nothing where the run did not end so.
///
/// # Errors
/// The logs cannot be read.
pub fn deadlock_in_words(
    output: &Path,
    recording: &Path,
    positions: &Positions,
    name: impl Fn(&str) -> String,
) -> Result<Vec<String>, WalkError> {
    let text = std::fs::read_to_string(output.join(STDERR)).unwrap_or_default();
    let waiting: Vec<Waiting> = text.lines().filter_map(waiting).collect();
    if waiting.is_empty() {
        return Ok(Vec::new());
    }
    let held = held(recording, positions)?;
    let place = |held: &Held| held.place.as_ref().map(|place| format!(" at {place}")).unwrap_or_default();
    let line = |waiting: &Waiting| {
        let own =
            held.iter().filter(|held| held.path == waiting.path).map(|held| format!("the lock it took{}", place(held)));
        let own: Vec<String> = own.collect();
        let holds = if own.is_empty() { String::new() } else { format!("holds {} and ", own.join(" and ")) };
        let owner = held.iter().find(|held| held.object == waiting.object);
        let awaited = match owner {
            Some(owner) if owner.path == waiting.path => "a lock that it holds itself".to_string(),
            Some(owner) => format!("the lock that {} took{}", name(&owner.path), place(owner)),
            None => "a signal, a barrier or the end of a thread".to_string(),
        };
        format!("{} {holds}waits for {awaited}", name(&waiting.path))
    };
    Ok(waiting.iter().map(line).collect())
}

/// A line of the runtime: `  thread 0.1 (number 2) waits for 0x5555`.
fn waiting(line: &str) -> Option<Waiting> {
    let line = line.strip_prefix("foretrace:").unwrap_or(line).trim_start();
    let (path, rest) = line.strip_prefix("thread ")?.split_once(' ')?;
    let (_, object) = rest.split_once(" waits for 0x")?;
    Some(Waiting { path: path.to_string(), object: u64::from_str_radix(object.trim(), 16).ok()? })
}

/// The locks that are held at the end of a run.
fn held(recording: &Path, positions: &Positions) -> Result<Vec<Held>, WalkError> {
    let logs = open_logs(recording)?;
    let mut all = Vec::new();
    for (path, log) in thread_paths(&logs).into_iter().zip(&logs) {
        let mut own: Vec<Record> = Vec::new();
        for record in log.records().filter(|record| record.order() != Some(0)) {
            match record.kind {
                Kind::Acquire | Kind::WriteLock => own.push(record),
                Kind::Release | Kind::WriteUnlock => {
                    if let Some(at) = own.iter().rposition(|taken| taken.words[0] == record.words[0]) {
                        own.remove(at);
                    }
                }
                _ => {}
            }
        }
        let held =
            |record: Record| Held { path: path.clone(), object: record.words[0], place: positions.line_of(&record) };
        all.extend(own.into_iter().map(held));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_runtime_are_read() {
        let found = waiting("foretrace:   thread 0.1 (number 2) waits for 0x5555deadbeef").expect("one of its lines");
        assert_eq!((&*found.path, found.object), ("0.1", 0x5555_dead_beef));
        assert!(waiting("thread 0.1 says hello").is_none());
    }
}

//! The turns of a run in words: which thread went on from which line to which.

use super::positions::Positions;
use super::schedule::Turn;
use foretrace_walker::WalkError;
use foretrace_walker::log::{Log, open_logs, thread_paths};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::path::Path;

/// The last turns that touch memory, at most so many, as `thread 0.1 goes on from a.c:3 to a.c:9`.
///
/// # Errors
/// The logs of the recording cannot be read.
pub fn turns_in_words(
    recording: &Path,
    positions: &Positions,
    turns: &[Turn],
    most: usize,
) -> Result<Vec<String>, WalkError> {
    let logs = open_logs(recording)?;
    let paths = thread_paths(&logs);
    let logs: FxHashMap<&str, &Log> = paths.iter().map(String::as_str).zip(&logs).collect();
    let mut lines = Vec::new();
    for (turn, counts) in turns.iter().zip(counts(turns)).rev() {
        let Some(log) = logs.get(&*turn.path) else { continue };
        if let Some([from, to]) = ends(log, positions, &counts) {
            let way = if from == to { format!("at {from}") } else { format!("from {from} to {to}") };
            lines.push(format!("thread {} goes on {way}", turn.path));
        }
        if lines.len() == most {
            break;
        }
    }
    lines.reverse();
    Ok(lines)
}

/// The positions in its thread's log that belong to each turn: those after the thread's turn before.
fn counts(turns: &[Turn]) -> Vec<Range<u64>> {
    let mut next: FxHashMap<&str, u64> = FxHashMap::default();
    let range = |turn: &Turn, from: u64| from..turn.end.until.saturating_add(1).max(from);
    let mut counts = Vec::new();
    for turn in turns {
        let from = next.entry(&turn.path).or_default();
        let own = range(turn, *from);
        *from = own.end;
        counts.push(own);
    }
    counts
}

/// The lines of the first and the last access of these.
fn ends(log: &Log, positions: &Positions, counts: &Range<u64>) -> Option<[String; 2]> {
    let accesses = log.records().filter(|record| record.kind.size() > 0 && counts.contains(&record.at));
    let mut lines = accesses.filter_map(|record| positions.line_of(&record));
    let first = lines.next()?;
    let last = lines.last().unwrap_or_else(|| first.clone());
    Some([first, last])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::End;

    #[test]
    fn a_turn_begins_where_the_threads_turn_before_ended() {
        let turn = |path: &str, until| Turn { path: path.to_string(), first: 0, end: End::at(until) };
        let all = [turn("0", 4), turn("0.1", 2), turn("0", 9), turn("0.1", 2)];
        assert_eq!(counts(&all), [0..5, 0..3, 5..10, 3..3]);
    }
}

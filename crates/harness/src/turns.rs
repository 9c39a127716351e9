//! What the turns of a run did: which thread went on from which line to which.

use super::positions::Positions;
use super::schedule::Turn;
use super::thread_names::ThreadNames;
use foretrace_walker::WalkError;
use foretrace_walker::log::{Log, Record, open_logs, thread_paths};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::path::Path;

/// What a turn did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// The name of its thread: `thread 2 (worker)`.
    pub thread: String,
    /// The lines of its first and its last access, as `file:line`.
    pub ends: [String; 2],
}

/// The last turns that touch memory, at most so many.
///
/// # Errors
/// The logs of the recording cannot be read.
pub fn last_stretches(
    recording: &Path,
    positions: &Positions,
    turns: &[Turn],
    most: usize,
) -> Result<Vec<Stretch>, WalkError> {
    let logs = open_logs(recording)?;
    let names = ThreadNames::of_recording(recording)?;
    let counts = counts(turns);
    let mut accesses = vec![None; turns.len()];
    for (path, log) in thread_paths(&logs).iter().zip(&logs) {
        let own = turns.iter().zip(&counts).enumerate().filter(|(_, (turn, _))| turn.path == *path);
        let is_own = |record: &Record| positions.is_own(record);
        ends(log, own.map(|(at, (_, counts))| (at, counts.clone())), is_own, &mut accesses);
    }
    let told = turns.iter().zip(accesses).rev().filter_map(|(turn, accesses)| {
        let [from, to] = accesses?.ends.map(|record| positions.line_of(&record));
        Some(Stretch { thread: names.full(&turn.path), ends: [from?, to?] })
    });
    let mut stretches: Vec<Stretch> = told.take(most).collect();
    stretches.reverse();
    Ok(stretches)
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

/// The first and the last access of a turn.
#[derive(Clone, Copy)]
struct Ends {
    ends: [Record; 2],
    /// Whether they are of the program's own code.
    own: bool,
}

/// Notes the first and the last access of each turn of a thread, in one pass over its log: those of the program's own code, where the turn
/// has any, since people do not know the lines of libraries.
fn ends(
    log: &Log,
    turns: impl Iterator<Item = (usize, Range<u64>)>,
    is_own: impl Fn(&Record) -> bool,
    accesses: &mut [Option<Ends>],
) {
    let mut turns = turns.peekable();
    for record in log.records().filter(|record| record.kind.size() > 0) {
        while turns.next_if(|(_, counts)| counts.end <= record.at).is_some() {}
        let Some((at, _)) = turns.peek() else { return };
        let own = is_own(&record);
        accesses[*at] = match accesses[*at] {
            Some(known) if known.own && !own => Some(known),
            Some(Ends { ends: [first, _], own: known }) if known == own => Some(Ends { ends: [first, record], own }),
            _ => Some(Ends { ends: [record; 2], own }),
        };
    }
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

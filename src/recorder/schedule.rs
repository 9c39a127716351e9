//! From a witness to the turns that threads take on the real program.

use crate::report::SavedStep;
use std::fmt::Write;

/// A thread runs until one of its records took effect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Turn {
    /// The thread, by its place in the tree of threads.
    pub path: String,
    /// The last record of the turn, by its position in the log of the thread.
    pub until: u64,
}

/// The turns of a schedule. Events without a position in a log, such as branches, happen on the way to those
/// that have one. Nothing where no event has one: the trace is not of a real program.
pub fn turns(steps: &[SavedStep]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for step in steps {
        let (Some(path), Some(at)) = (&step.path, step.at) else { continue };
        match turns.last_mut().filter(|turn| turn.path == *path) {
            Some(turn) => turn.until = turn.until.max(at),
            None => turns.push(Turn { path: path.clone(), until: at }),
        }
    }
    turns
}

/// The schedule as the runtime reads it.
pub fn as_file(turns: &[Turn]) -> String {
    let mut text = String::new();
    for turn in turns {
        writeln!(text, "{} {}", turn.path, turn.until).expect("into a string");
    }
    text
}

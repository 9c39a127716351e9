//! The schedule of a replay as the runtime reads it.

use std::fmt::Write;

/// A thread runs until one of its records took effect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Turn {
    /// The thread, by its place in the tree of threads.
    pub path: String,
    /// The last record of the turn, by its position in the log of the thread.
    pub until: u64,
    /// The first record of the turn that is a step of the schedule.
    pub first: u64,
}

/// A signal handler that ran while the program was recorded: the thread, and the position of the record that it starts with.
pub type Handler = (String, u64);

/// The schedule as the runtime reads it.
pub fn as_file(turns: &[Turn], handlers: &[Handler]) -> String {
    let mut text = String::new();
    for (path, at) in handlers {
        writeln!(text, "handler {path} {at}").expect("into a string");
    }
    for turn in turns {
        writeln!(text, "{} {} {}", turn.path, turn.until, turn.first).expect("into a string");
    }
    text
}

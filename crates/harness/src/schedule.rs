//! The schedule of a replay as the runtime reads it.

use std::fmt::Write;

/// A thread runs until one of its records took effect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Turn {
    /// The thread, by its place in the tree of threads.
    pub path: String,
    /// The first record of the turn that is a step of the schedule.
    pub first: u64,
    /// Where the turn ends.
    pub end: End,
}

/// A signal handler that ran while the program was recorded: the thread, the position of the handler's first record, and the signal. The
/// signal is 0 if it did not come from outside of the program. Also where a thread began to unwind, with
/// [`foretrace_runtime::record::BY_CANCELLATION`].
pub type Handler = (String, u64, u64);

/// Up to where a thread runs: the later, the greater.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct End {
    /// The last counted record, by its position in the log of the thread.
    pub until: u64,
    /// So many records of the allocator after it.
    pub beyond: u64,
}

impl End {
    /// Right after a counted record.
    pub fn at(until: u64) -> End {
        End { until, beyond: 0 }
    }
}

/// The turns that come of steps, each of a thread, from a position in its log up to some end.
pub fn turns<'a>(steps: impl Iterator<Item = (&'a str, u64, End)>) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for (path, first, end) in steps {
        match turns.last_mut().filter(|turn| turn.path == path) {
            Some(turn) => turn.end = turn.end.max(end),
            None => turns.push(Turn { path: path.to_string(), first, end }),
        }
    }
    turns
}

/// The schedule as the runtime reads it, with the joins, by thread and position, and the handlers.
pub fn as_file<'a>(turns: &[Turn], joins: impl Iterator<Item = (&'a str, u64)>, handlers: &[Handler]) -> String {
    let mut text = String::new();
    for Turn { path, first, end } in turns {
        writeln!(text, "{path} {} {first} {}", end.until, end.beyond).expect("into a string");
    }
    for (path, at) in joins {
        writeln!(text, "join {path} {at}").expect("into a string");
    }
    for (path, at, signal) in handlers {
        writeln!(text, "handler {path} {at} {signal}").expect("into a string");
    }
    text
}

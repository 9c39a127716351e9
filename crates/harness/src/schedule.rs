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

/// A signal handler that ran while the program was recorded: the thread, the position of the handler's first record, and the signal:
/// with [`foretrace_runtime::record::SENT`] if the program sent it, 0 for a fault of the thread. Also where a thread began to unwind, with
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

/// What the recording says of a run beside its steps.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Beside {
    /// Where handlers of signals ran: signals that arrive earlier wait until there.
    pub handlers: Vec<Handler>,
    /// Where waits for conditions ended by their limits, by thread and position, in order: no signal ends them before.
    pub late: Vec<(String, u64)>,
    /// When clocks say exactly what they said.
    pub clocks: Clocks,
}

/// When clocks say exactly what they said in the recording. Else they do not go back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Clocks {
    /// Never.
    #[default]
    Later,
    /// While the program follows the schedule.
    AsRecordedOnSchedule,
    /// Until the program leaves the schedule, and also after its end: it is the order of the recording.
    AsRecorded,
}

impl Clocks {
    fn line(self) -> &'static str {
        match self {
            Clocks::Later => "",
            Clocks::AsRecordedOnSchedule => "clocks\n",
            Clocks::AsRecorded => "recorded\n",
        }
    }
}

/// The schedule as the runtime reads it, with the joins, by thread and position, and what is known beside the steps.
pub fn as_file<'a>(turns: &[Turn], joins: impl Iterator<Item = (&'a str, u64)>, beside: &Beside) -> String {
    let mut text = String::new();
    for Turn { path, first, end } in turns {
        writeln!(text, "{path} {} {first} {}", end.until, end.beyond).expect("into a string");
    }
    for (path, at) in joins {
        writeln!(text, "join {path} {at}").expect("into a string");
    }
    for (path, at, signal) in &beside.handlers {
        writeln!(text, "handler {path} {at} {signal}").expect("into a string");
    }
    for (path, at) in &beside.late {
        writeln!(text, "late {path} {at}").expect("into a string");
    }
    text + beside.clocks.line()
}

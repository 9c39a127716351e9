//! What a replay steers towards where the program leaves the schedule: the accesses of a triple, by thread and place in the code.

use super::verify::is_other_half;
use crate::report::SavedStep;
use foretrace_runtime::record::Kind;
use foretrace_walker::WalkError;
use foretrace_walker::log::{Log, Record, open_logs, thread_paths};
use std::fmt::{self, Write};
use std::path::Path;

/// An access of a triple.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// The thread, by its place in the tree of threads.
    pub path: String,
    /// The position of the access in the log of the thread; nothing where the program is another build.
    pub at: Option<u64>,
    /// How often the thread was at the place before.
    pub times: Times,
    /// `read`, `write` or `rmw`.
    pub op: String,
    /// Where it is in the code, as the places of records; none where that is not known.
    pub places: Vec<u64>,
}

/// A count of what logs show.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Times {
    /// So many at least.
    pub least: u64,
    /// And no more.
    pub exact: bool,
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.least, if self.exact { "" } else { "+" })
    }
}

/// The lines of the schedule that name a triple.
pub fn as_lines(triple: &[Target; 3]) -> String {
    let mut text = String::new();
    for (role, target) in ["first", "remote", "second"].iter().zip(triple) {
        let at = target.at.map_or_else(|| "-".to_string(), |at| at.to_string());
        write!(text, "{role} {} {at} {} {}", target.path, target.times, target.op).expect("into a string");
        target.places.iter().for_each(|place| write!(text, " {place:x}").expect("into a string"));
        text.push('\n');
    }
    text
}

/// The logs of a recording, asked for the places of its accesses.
pub struct Places {
    threads: Vec<(String, Log)>,
}

impl Places {
    /// Opens the logs of a recording's folder.
    pub fn open(recording: &Path) -> Result<Places, WalkError> {
        let logs = open_logs(recording)?;
        Ok(Places { threads: thread_paths(&logs).into_iter().zip(logs).collect() })
    }

    /// The place of a thread's record at a position, and how often the thread was there before.
    pub fn of_record(&self, path: &str, at: u64, op: &str) -> Option<(u64, Times)> {
        let (_, log) = self.threads.iter().find(|(thread, _)| thread == path)?;
        let place = log.records().find(|record| record.kind.ordered() && record.at == at)?.place;
        let records = log.records().take_while(|record| !record.kind.ordered() || record.at < at);
        let there = records.filter(|record| record.place == place && does(record.kind, op));
        let (mut least, mut split) = (0, false);
        let mut last: Option<Record> = None;
        for record in there {
            let joined = last.is_some_and(|last| is_other_half(&last, &record) || continues(&last, &record));
            split |= joined;
            least += u64::from(!joined);
            last = Some(record);
        }
        Some((place, Times { least, exact: !log.leaves_out() && !split }))
    }
}

/// Whether a record is one more piece of an access that one hook recorded in several.
fn continues(last: &Record, next: &Record) -> bool {
    let orders = [last, next].map(|record| record.order().unwrap_or(0));
    last.kind == next.kind && orders[1] == orders[0] + 1 && next.words[0] == last.words[0] + last.kind.size() as u64
}

/// Whether a record is an access that may be of this kind, as the runtime sees it before it is made.
fn does(kind: Kind, op: &str) -> bool {
    match kind {
        kind if kind.size() == 0 => false,
        kind if kind.is_load() => op == "read",
        kind if kind.is_store() => op == "write",
        _ => true,
    }
}

/// The target of a step of a witness: its place by the recording's logs, where they are there.
pub fn of_step(step: &SavedStep, places: Option<&Places>) -> Option<Target> {
    let (path, at) = (step.path.clone()?, step.at?);
    let (places, times) = match places.and_then(|places| places.of_record(&path, at, &step.op)) {
        Some((place, times)) => (vec![place], times),
        None => (Vec::new(), Times::default()),
    };
    Some(Target { path, at: Some(at), times, op: step.op.clone(), places })
}

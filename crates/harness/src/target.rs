//! What a replay steers towards where the program leaves the schedule: the accesses of a triple, by thread and place in the code.

use super::sources::{SourcePlace, Sources};
use super::unlogged_places::UnloggedPlaces;
use super::verify::is_other_half;
use foretrace_report::{NamesPlaces, SavedPlace, SavedStep};
use foretrace_runtime::record::Kind;
use foretrace_trace::{EventId, Trace};
use foretrace_walker::WalkError;
use foretrace_walker::log::{Log, Record, open_logs, thread_paths};
use rustc_hash::FxHashMap;
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
    logs: Vec<(String, Log)>,
    unlogged: UnloggedPlaces,
    /// Per thread that was asked for.
    known: FxHashMap<String, Known>,
}

/// The accesses of a thread, in order.
struct Known {
    accesses: Vec<Access>,
    exact: bool,
}

struct Access {
    at: u64,
    place: u64,
    /// How often the thread was there before.
    times: u64,
}

impl Places {
    /// Opens the logs of a recording's folder.
    pub fn open(recording: &Path) -> Result<Places, WalkError> {
        let logs = open_logs(recording)?;
        let unlogged =
            UnloggedPlaces::read(recording).map_err(|error| WalkError::Io { path: recording.to_path_buf(), error })?;
        Ok(Places { logs: thread_paths(&logs).into_iter().zip(logs).collect(), unlogged, known: FxHashMap::default() })
    }

    /// The place of the access at a position of a thread's log, and how often the thread was there before.
    pub fn of_access(&mut self, path: &str, at: u64) -> Option<(u64, Times)> {
        if !self.known.contains_key(path) {
            let (_, log) = self.logs.iter().find(|(thread, _)| thread == path)?;
            self.known.insert(path.to_string(), Known::of_log(log));
        }
        let known = &self.known[path];
        let Ok(number) = known.accesses.binary_search_by_key(&at, |access| access.at) else {
            let (place, least) = self.unlogged.of_access(path, at)?;
            return Some((place, Times { least, exact: false }));
        };
        let access = &known.accesses[number];
        Some((access.place, Times { least: access.times, exact: known.exact }))
    }
}

impl Known {
    fn of_log(log: &Log) -> Known {
        let mut times: FxHashMap<(u64, u8), u64> = FxHashMap::default();
        let (mut accesses, mut split) = (Vec::new(), false);
        let mut last: Option<Record> = None;
        for record in log.records().filter(|record| record.kind.size() > 0) {
            let before = last.replace(record).filter(|last| last.place == record.place);
            let joined = before.is_some_and(|last| is_other_half(&last, &record) || continues(&last, &record));
            split |= joined;
            let there = times.entry((record.place, class(record.kind))).or_default();
            accesses.push(Access {
                at: record.at,
                place: record.place,
                times: *there - u64::from(joined && *there > 0),
            });
            *there += u64::from(!joined);
        }
        Known { accesses, exact: !log.leaves_out() && !split }
    }
}

/// What the runtime can tell of an access before it is made.
fn class(kind: Kind) -> u8 {
    match kind {
        kind if kind.is_load() => 0,
        kind if kind.is_store() => 1,
        _ => 2,
    }
}

/// Whether a record is one more piece of an access that one hook recorded in several.
fn continues(last: &Record, next: &Record) -> bool {
    let orders = [last, next].map(|record| record.order().unwrap_or(0));
    last.kind == next.kind && orders[1] == orders[0] + 1 && next.words[0] == last.words[0] + last.kind.size() as u64
}

/// The target of a step of a witness: its place by the recording's logs, where they are there.
pub fn of_step(step: &SavedStep, places: Option<&mut Places>) -> Option<Target> {
    let (path, at) = (step.path.clone()?, step.at?);
    let (places, times) = match places.and_then(|places| places.of_access(&path, at)) {
        Some((place, times)) => (vec![place], times),
        None => (Vec::new(), Times::default()),
    };
    Some(Target { path, at: Some(at), times, op: step.op.clone(), places })
}

/// Names places of a recording for its witnesses.
pub struct SourcePlaces {
    places: Places,
    sources: Sources,
}

impl SourcePlaces {
    /// Of the recording that a trace lies in; nothing where it keeps no source.
    pub fn of_trace(trace: &Path) -> Option<SourcePlaces> {
        let folder = trace.parent()?;
        let sources = Sources::read(folder).ok()??;
        Some(SourcePlaces { places: Places::open(folder).ok()?, sources })
    }
}

impl NamesPlaces for SourcePlaces {
    fn place(&mut self, trace: &Trace, event: EventId) -> Option<SavedPlace> {
        let event = trace.event(event);
        let path = trace.threads[event.thread.index()].path.as_deref()?;
        let (place, times) = self.places.of_access(path, event.at?)?;
        let SourcePlace { function, loc } = self.sources.place(place)?.clone();
        let mut place = SavedPlace { function, loc, text: None, times: times.least };
        place.text = place.parts().and_then(|(file, line, _)| {
            let line = self.sources.text(file)?.lines().nth((line as usize).checked_sub(1)?)?;
            Some(line.trim().to_string())
        });
        Some(place)
    }
}

//! Schedules as files: a JSON array of event indices, or what `--witness-dir` made; whatever else they hold is passed over.

use super::json::VERSION;
use foretrace_trace::{Atomic, EventId, Feasibility, Independence, Model, Question, Triple};
use serde::{Deserialize, Serialize};
use std::io::{self, Read};

/// A schedule as people write one, or a whole witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SavedSchedule {
    /// A JSON array of event indices.
    Plain(Vec<EventId>),
    /// A file that `--witness-dir` made.
    Witness(SavedWitness),
}

/// What `foretrace check` takes from a witness file; all else in it is found again by running the schedule.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct SavedWitness {
    foretrace: u32,
    /// What it shows.
    #[serde(default)]
    pub kind: SavedKind,
    first: EventId,
    remote: EventId,
    second: EventId,
    model: Model,
    feasibility: Feasibility,
    independence: Independence,
    /// What counted as a transaction.
    pub atomic: Atomic,
    /// The trace's file, as it was named.
    #[serde(default)]
    pub trace: String,
    /// The places of the triple in the source, where the recording keeps it.
    #[serde(default)]
    pub places: Option<Box<SavedPlaces>>,
    /// The events in order.
    pub schedule: Vec<SavedStep>,
    /// What it shows of a candidate that is infeasible on the recorded path; nothing where it shows the candidate.
    pub off_path: Option<SavedOffPath>,
    /// Whether it is a schedule that nothing proves and that ends with the remote access.
    #[serde(default)]
    pub ends_at_remote: bool,
    /// The three accesses, whether the schedule holds them or not. Older witnesses do not say.
    pub accesses: Option<Box<SavedAccesses>>,
    /// The block, where what is shown is a violation of one.
    #[serde(default)]
    pub block: SavedBlock,
    /// The violation path of a block, where that is what is shown.
    #[serde(default)]
    pub path: Vec<SavedStep>,
    /// The branch that goes another way, where that is what is shown.
    pub branch: Option<EventId>,
    /// The calls and returns of a history, where that is what is shown.
    #[serde(default)]
    pub performed: Vec<SavedPerformed>,
    /// The specification that the history does not fit.
    pub spec: Option<String>,
    /// What its operations mean to the specification.
    #[serde(default)]
    pub meaning: Box<SavedMeaning>,
}

/// What a witness shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SavedKind {
    /// Three accesses in their order.
    #[default]
    Triple,
    /// A violation path of a block; `first` and `second` are its ends, `remote` is the first access of another thread.
    Block,
    /// Memory that is used after it was freed: `remote` frees it, `second` is the use, and `first` is the last access of the using thread
    /// before `remote`. Where there is none, `first` is `remote`.
    UseAfterFree,
    /// A branch that goes another way than in the recorded run, right after the schedule: `second` is a read that decides it, and `remote` the
    /// write of another thread that it reads from. Where there is none, `remote` is `second`.
    OtherWay,
    /// A history that is not linearizable; `first` and `remote` are calls of two threads, `second` is the last return.
    History,
}

/// A call or return of a history.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct SavedPerformed {
    /// The event.
    pub event: EventId,
    /// What the operation gives, as JSON.
    pub result: Option<String>,
    /// The definition whose value that is.
    pub given_by: Option<EventId>,
}

/// What the operations of a history mean to a specification.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SavedMeaning {
    /// Other names for operations, each with the method.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operation_names: Vec<(String, String)>,
    /// The result by which an operation says that it found nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty: Option<String>,
    /// The first value of a register.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial: Option<String>,
    /// The histories of sequential runs that serve as the specification, where it has no name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spec_from: Vec<String>,
}

impl SavedMeaning {
    /// Whether operations are named as the specification names them, and nothing else is said.
    pub fn is_plain(&self) -> bool {
        *self == SavedMeaning::default()
    }
}

/// Where a block begins and ends; witnesses of triples do not say.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
pub struct SavedBlock {
    /// Its first event.
    pub first: Option<EventId>,
    /// Its last event.
    pub last: Option<EventId>,
}

/// How far the schedule of a candidate that is off the path goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SavedOffPath {
    /// Up to remote, as the program must go; second is still to come.
    AfterRemote,
    /// Through all three, values and branches left out of account.
    BeforeRemote,
    /// The same where it was not asked whether the program gets to remote.
    Unasked,
    /// Of a history: after its end a thread goes on elsewhere than in the recorded run.
    AfterEnd,
}

/// The three accesses of a candidate.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct SavedAccesses {
    /// The transaction's earlier access.
    pub first: SavedStep,
    /// The other thread's access.
    pub remote: SavedStep,
    /// The transaction's later access.
    pub second: SavedStep,
}

/// The places of a triple in the source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SavedPlaces {
    /// Of first.
    pub first: SavedPlace,
    /// Of remote.
    pub remote: SavedPlace,
    /// Of second.
    pub second: SavedPlace,
}

/// The place of an access, by which it can be found in another build.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SavedPlace {
    /// The function.
    pub function: String,
    /// `file:line:column`: of code of a library that the program has compiled the library's own.
    pub loc: String,
    /// The line, without the space around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// How often the thread was there before, at least.
    pub times: u64,
}

impl SavedPlace {
    /// File, line and column.
    pub fn parts(&self) -> Option<(&str, u32, u32)> {
        let (rest, column) = self.loc.rsplit_once(':')?;
        let (file, line) = rest.rsplit_once(':')?;
        Some((file, line.parse().ok()?, column.parse().ok()?))
    }
}

/// An event of a witness file: what `foretrace replay` has to know of it.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct SavedStep {
    /// Its index.
    pub event: EventId,
    /// The thread's place in the tree of threads.
    pub path: Option<String>,
    /// Its position in the recorder's log of the thread.
    pub at: Option<u64>,
    /// What it does.
    #[serde(default)]
    pub op: String,
    /// The variable that it accesses.
    pub var: Option<String>,
    /// Where in the source.
    pub loc: Option<String>,
}

/// Why a file is no schedule.
#[derive(Debug, thiserror::Error)]
pub enum ScheduleError {
    /// The bytes could not be had.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// They are something else.
    #[error("found {0}, expected a JSON array of event indices or a witness of foretrace")]
    Other(serde_json::Error),
    /// A witness of another version.
    #[error("found a witness of version {0}, expected version {VERSION}")]
    Version(u32),
    /// So long a file cannot be a schedule of a trace that foretrace can hold.
    #[error("found more than {LONGEST} bytes, expected a schedule")]
    TooLong,
}

/// Longest file that is read, in bytes.
const LONGEST: u64 = 1 << 28;

impl SavedSchedule {
    /// Reads a schedule.
    pub fn read(input: impl Read) -> Result<SavedSchedule, ScheduleError> {
        let mut text = Vec::new();
        input.take(LONGEST + 1).read_to_end(&mut text)?;
        if text.len() as u64 > LONGEST {
            return Err(ScheduleError::TooLong);
        }
        // From memory: byte by byte from a file takes several times as long.
        let saved = match text.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(b'[') => serde_json::from_slice(&text).map(SavedSchedule::Plain),
            _ => serde_json::from_slice(&text).map(SavedSchedule::Witness),
        };
        let saved = saved.map_err(ScheduleError::Other)?;
        match &saved {
            SavedSchedule::Witness(witness) if witness.foretrace != VERSION => {
                Err(ScheduleError::Version(witness.foretrace))
            }
            _ => Ok(saved),
        }
    }

    /// The events in order.
    pub fn events(&self) -> Vec<EventId> {
        match self {
            SavedSchedule::Plain(events) => events.clone(),
            SavedSchedule::Witness(witness) => witness.schedule.iter().map(|step| step.event).collect(),
        }
    }
}

impl SavedWitness {
    /// The question that it answers.
    pub fn question(&self) -> Question {
        Question { model: self.model, feasibility: self.feasibility, independence: self.independence }
    }

    /// What is known of an event: a step of the schedule, or an access that the schedule does not get to.
    pub fn step(&self, event: EventId) -> Option<&SavedStep> {
        let accesses = self.accesses.iter().flat_map(|three| [&three.first, &three.remote, &three.second]);
        self.schedule.iter().chain(accesses).find(|step| step.event == event)
    }

    /// The triple that it shows.
    pub fn triple(&self) -> Triple {
        Triple { first: self.first, remote: self.remote, second: self.second }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(input: impl Read) -> String {
        SavedSchedule::read(input).expect_err("no schedule").to_string()
    }

    #[test]
    fn an_array_of_events() {
        let saved = SavedSchedule::read(" [3, 0,\n 4294967294]".as_bytes()).expect("a schedule");
        assert_eq!(saved.events(), [3, 0, 4_294_967_294].map(EventId));
    }

    #[test]
    fn a_witness_with_fields_of_its_own() {
        let text = r#"{"foretrace": 1, "note": [{}], "first": 1, "remote": 4, "second": 2, "model": "ctp",
            "feasibility": "prefix", "independence": "conflict", "atomic": "marked",
            "schedule": [{"event": 1, "op": "read"}, {"event": 4}, {"event": 2}]}"#;
        let saved = SavedSchedule::read(text.as_bytes()).expect("a witness");
        assert_eq!(saved.events(), [1, 4, 2].map(EventId));
        let newer = text.replace("\"foretrace\": 1", "\"foretrace\": 2");
        assert_eq!(refused(newer.as_bytes()), "found a witness of version 2, expected version 1");
        let twice = text.replace("\"first\": 1", "\"first\": 1, \"first\": 2");
        assert!(refused(twice.as_bytes()).contains("duplicate field `first`"));
        let missing = text.replace("\"remote\": 4,", "");
        assert!(refused(missing.as_bytes()).contains("missing field `remote`"));
    }

    #[test]
    fn what_is_no_schedule() {
        for text in ["", " ", "[0, 1", "[-1]", "[4294967296]", "[1.5]", "[1e3]", "[\"1\"]", "[0] [1]", "\"x\"", "null"]
        {
            assert!(refused(text.as_bytes()).starts_with("found "), "{text}");
        }
        let deep = "[".repeat(100_000);
        assert!(refused(deep.as_bytes()).starts_with("found "));
        let deep = format!("{{\"note\": {}", "[".repeat(100_000));
        assert!(refused(deep.as_bytes()).starts_with("found EOF"));
    }

    #[test]
    fn gigabytes_are_not_read() {
        let endless = "{\"note\": \"".as_bytes().chain(io::repeat(b'x'));
        assert_eq!(refused(endless), "found more than 268435456 bytes, expected a schedule");
    }
}

//! Replay: the program runs along a schedule; then its logs say whether it did, and what the triple's accesses saw.

use super::folder::Folder;
use super::launch::{Ending, Mode, Part, RecordError, Run};
use super::program::Program;
use super::schedule::{Turn, as_file};
use super::unlogged::Traced;
use super::verify::{Difference, Event, Events, Expected, expected_of, triple_happened};
use crate::report::{SavedWitness, write_whole};
use foretrace_trace::{EventId, ReadError};
use foretrace_walker::WalkError;
use foretrace_walker::log::{Log, Record, open_logs};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a program is asked to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The turns that its threads take.
    pub turns: Vec<Turn>,
    /// The events that must come of it, in order.
    pub expected: Vec<Expected>,
    /// First, remote and second, where a triple is asked for: thread and position in its log.
    pub triple: Option<[(String, u64); 3]>,
}

/// What became of a replay.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replayed {
    /// The first event that is not as planned.
    pub difference: Option<Difference>,
    /// What the runtime said when the program left the schedule.
    pub left: Option<String>,
    /// What stands in the logs where the triple should be.
    pub triple: Option<[Option<Event>; 3]>,
    /// How it ended.
    pub ending: Ending,
}

/// Why something cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// It was not recorded.
    #[error(
        "the witness has no positions in a program's log: its trace was not recorded from a real program, or \
         begins later than the run"
    )]
    NoPositions,
    /// Its start is not there.
    #[error(
        "the recording begins later than the run (--window, or recording was switched on): in which order its threads came \
         there is not known, so it cannot be replayed; record the whole run"
    )]
    BeginsLater,
    /// A file fails.
    #[error("{path}", path = .0.display())]
    Io(PathBuf, #[source] std::io::Error),
    /// The program does not start, or its folder fails.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Logs cannot be read.
    #[error(transparent)]
    Logs(#[from] WalkError),
    /// The recording's trace cannot be read.
    #[error(transparent)]
    Trace(#[from] ReadError),
}

impl Plan {
    /// The plan of a witness.
    pub fn of_witness(witness: &SavedWitness) -> Result<Plan, ReplayError> {
        let expected = expected_of(&witness.schedule);
        let place = |event: EventId| {
            let step = witness.schedule.iter().find(|step| step.event == event)?;
            Some((step.path.clone()?, step.at?))
        };
        let triple = witness.triple();
        let places = [place(triple.first), place(triple.remote), place(triple.second)];
        let [Some(first), Some(remote), Some(second)] = places else { return Err(ReplayError::NoPositions) };
        let turns = turns(expected.iter().map(|step| (step, step.at)));
        Ok(Plan { turns, expected, triple: Some([first, remote, second]) })
    }

    /// The plan to do again what a recording shows.
    pub fn of_recording(folder: &Path) -> Result<Plan, ReplayError> {
        let logs = open_logs(folder)?;
        if logs.iter().any(|log| log.cut().is_some()) {
            return Err(ReplayError::BeginsLater);
        }
        let traced = match logs.iter().any(Log::leaves_out) {
            true => Traced::read(&Folder::trace_of(folder))?,
            false => Traced::default(),
        };
        let events = Events::read(folder)?;
        let expected = events.as_expected();
        let ends = traced.ends(&expected);
        // That all threads wait is recorded last, and is no step that one of them takes.
        let steps = expected.len() - usize::from(events.deadlocked());
        let turns = turns(expected.iter().zip(ends).take(steps));
        Ok(Plan { turns, expected, triple: None })
    }

    /// Writes the schedule for the runtime.
    pub fn write_schedule(&self, folder: &Folder) -> Result<PathBuf, ReplayError> {
        let path = folder.path().join("schedule");
        let text = as_file(&self.turns);
        write_whole(&path, |out| out.write_all(text.as_bytes()))
            .map_err(|error| ReplayError::Io(path.clone(), error))?;
        Ok(path)
    }
}

/// The turns in which threads take these steps, each up to a position in the thread's log.
fn turns<'a>(steps: impl Iterator<Item = (&'a Expected, u64)>) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for (step, end) in steps {
        match turns.last_mut().filter(|turn| turn.path == step.path) {
            Some(turn) => turn.until = turn.until.max(end),
            None => turns.push(Turn { path: step.path.clone(), until: end, first: step.at }),
        }
    }
    turns
}

/// Runs the program along the plan, in a folder that takes its logs.
pub fn run_plan(
    plan: &Plan,
    program: &Program,
    folder: &Folder,
    time_limit: Duration,
    quiet: bool,
) -> Result<Ending, ReplayError> {
    let mode = Mode::Replay(plan.write_schedule(folder)?);
    Ok(Run { program, mode, folder, max_bytes: None, part: Part::default(), time_limit: Some(time_limit), quiet }
        .record()?)
}

/// Holds the logs of a replay against its plan. `location` says where in the source a record is.
pub fn judge(
    plan: &Plan,
    folder: &Folder,
    ending: Ending,
    location: impl Fn(&Record) -> Option<String>,
) -> Result<Replayed, ReplayError> {
    let events = Events::read(folder.path())?;
    let triple = plan.triple.as_ref().map(|places| places.each_ref().map(|(path, at)| events.at(path, *at)));
    let verdict = folder.replay_verdict();
    Ok(Replayed {
        difference: events.first_difference(&plan.expected, location),
        left: verdict.and_then(|line| left(&line)),
        triple,
        ending: if events.deadlocked() { Ending::Deadlock } else { ending },
    })
}

/// Why the program left the schedule, of `left <line of the schedule> <why>`.
fn left(verdict: &str) -> Option<String> {
    let (line, why) = verdict.trim().strip_prefix("left ")?.split_once(' ')?;
    Some(format!("{why} (turn {line})"))
}

impl Replayed {
    /// Whether the program did all that was planned, as the runtime let it, and the triple, if one was, happened.
    pub fn followed(&self) -> bool {
        self.left.is_none() && self.difference.is_none() && self.triple.as_ref().is_none_or(triple_happened)
    }
}

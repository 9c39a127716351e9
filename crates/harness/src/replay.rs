//! Replay: the program runs along a schedule; then its logs say whether it did, and what the triple's accesses saw.

use super::calls;
use super::comers::comers;
use super::ending::Ending;
use super::error::ReplayError;
use super::folder::Folder;
use super::launch::{Ended, Mode, RecordingScope, Run};
use super::looks;
use super::program::Program;
use super::schedule::{Beside, Clocks, End, Turn, as_file, turns};
use super::target::{self, Places, Target};
use super::unlogged::Traced;
use super::verify::{
    Between, Difference, Event, Events, Expected, UseOfFreed, expected_of, has_record, steps_of, triple_happened,
};
use foretrace_report::{SavedKind, SavedStep, SavedWitness, write_whole};
use foretrace_trace::{EventId, Trace};
use foretrace_walker::log::{Log, Record, open_logs};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a program is asked to do.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The turns that its threads take.
    pub turns: Vec<Turn>,
    /// What the recording says beside the steps, if that is known.
    pub beside: Beside,
    /// The events that must come of it, in order.
    pub expected: Vec<Expected>,
    /// The recording that it comes from, where that is known and still there.
    pub recording: Option<PathBuf>,
    /// First, remote and second, where a triple is asked for.
    pub triple: Option<[Target; 3]>,
    /// What the run is watched for, without being steered there.
    pub watched: Option<Between>,
    /// The use after free that the plan is about.
    pub after_free: Option<UseOfFreed>,
    /// Whether memory that is freed is given to nobody again, so that who uses it is seen to use what was freed.
    pub keeps_freed: bool,
}

/// What the runtime says of the end of a run that explores, in the folder of its recording.
pub const WAITS: &str = "waits";

/// What became of a replay.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replayed {
    /// The first event that is not as planned.
    pub difference: Option<Difference>,
    /// What the runtime said when the program left the schedule.
    pub left: Option<String>,
    /// What stands in the logs where the triple should be, or where it happened instead.
    pub triple: Option<[Option<Event>; 3]>,
    /// How many records took effect after the triple; 0 where it did not happen.
    pub after: usize,
    /// What came of what was planned.
    pub outcome: Outcome,
    /// Whether what it was watched for happened.
    pub came_between: bool,
    /// How it ended.
    pub ending: Ending,
}

/// What came of a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Every event came as planned; the triple, if one is asked for, among them.
    ToTheLetter,
    /// The program left the schedule, but first, remote and second happened: the same places of the code, the same memory, in order.
    AnotherWay,
    /// They did not, for this reason.
    NotReached(String),
}

impl Plan {
    /// The plan of a witness; with the folder of its recording the program can be steered where it leaves the schedule.
    pub fn of_witness(witness: &SavedWitness, recording: Option<&Path>) -> Result<Plan, ReplayError> {
        let schedule = calls::whole(&witness.schedule);
        let expected = expected_of(&schedule);
        let mut places = recording.map(Places::open).transpose()?;
        let mut target = |event: EventId| {
            let step = witness.step(event)?;
            target::of_step(step, places.as_mut())
        };
        let triple = witness.triple();
        let places = [target(triple.first), target(triple.remote), target(triple.second)];
        let steps = steps_of(&schedule);
        let asked = match (witness.kind, places) {
            (SavedKind::Triple, [Some(first), Some(remote), Some(second)]) => Some([first, remote, second]),
            // All others are shown by the whole schedule: following it to the end is what is asked for.
            (SavedKind::Block | SavedKind::History | SavedKind::UseAfterFree | SavedKind::OtherWay, _)
                if !steps.is_empty() =>
            {
                None
            }
            _ => return Err(ReplayError::NoPositions),
        };
        let turns = turns(steps.iter().map(|step| (&*step.path, step.at, step.end())));
        let beside =
            recording.map_or(Ok(Beside::default()), |folder| Events::read(folder).map(|events| events.beside()))?;
        let beside = Beside { clocks: clocks_of(&schedule), ..beside };
        let recording = recording.and_then(|folder| folder.canonicalize().ok());
        Ok(Plan {
            turns,
            beside,
            expected,
            recording,
            triple: asked,
            after_free: UseOfFreed::of_witness(witness),
            ..Plan::default()
        })
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
        let mut steps = events.steps();
        // That all threads wait is recorded last, and is no step that one of them takes.
        steps.truncate(steps.len() - events.of_deadlock());
        let last = traced.ends(&steps);
        let ends = steps.iter().zip(last).map(|(step, last)| step.end().max(End::at(last)));
        let turns = turns(steps.iter().zip(ends).map(|(step, end)| (&*step.path, step.at, end)));
        let recording = folder.canonicalize().ok();
        let beside = Beside { clocks: Clocks::AsRecorded, ..events.beside() };
        Ok(Plan { turns, beside, expected, recording, ..Plan::default() })
    }

    /// The plan to run another order of a recording's events, as far as the program goes along.
    pub fn of_order(trace: &Trace, order: &[EventId], recording: &Path) -> Result<Plan, ReplayError> {
        let step = |id: &EventId| {
            let event = trace.event(*id);
            let path = trace.threads[event.thread.index()].path.as_deref().map(str::to_string);
            SavedStep { event: *id, path, at: event.at, op: event.op.kind().to_string(), var: None, loc: None }
        };
        let saved = calls::whole(&order.iter().map(step).collect::<Vec<SavedStep>>());
        let steps = steps_of(&saved);
        if steps.is_empty() && saved.iter().any(|step| has_record(&step.op)) {
            return Err(ReplayError::NoPositions);
        }
        let turns = turns(steps.iter().map(|step| (&*step.path, step.at, step.end())));
        let beside = Beside { clocks: clocks_of(&saved), ..Events::read(recording)?.beside() };
        let recording = recording.canonicalize().ok();
        Ok(Plan { turns, beside, expected: expected_of(&saved), recording, ..Plan::default() })
    }

    /// How many counted records its threads write by the end of the schedule: the logs of a recording may have left most of them out.
    fn records(&self) -> u64 {
        let mut last: FxHashMap<&str, u64> = FxHashMap::default();
        for turn in self.turns.iter().filter(|turn| turn.end.until != u64::MAX) {
            let until = last.entry(&turn.path).or_default();
            *until = (*until).max(turn.end.until.saturating_add(1));
        }
        last.into_values().fold(0, u64::saturating_add)
    }

    /// Writes the schedule for the runtime.
    pub fn write_schedule(&self, folder: &Folder) -> Result<PathBuf, ReplayError> {
        let path = folder.path().join("schedule");
        let triple = self.triple.as_ref().map(target::as_lines).unwrap_or_default();
        let joins = self.expected.iter().filter(|step| step.what.is_join());
        let limit = format!("limit {}\n", most_logs(self.recording.as_deref(), self.records()));
        // There waits ended by their limits before their time.
        let is_explored = self.recording.as_ref().is_some_and(|recording| recording.join(WAITS).is_file());
        let explored = if is_explored { "explored\n" } else { "" };
        let comers = self.recording.as_deref().map(comers).unwrap_or_default();
        let comers: String = comers.iter().map(|path| format!("comes {path}\n")).collect();
        let keeps = if self.keeps_freed { "keep\n" } else { "" };
        let text = limit
            + explored
            + keeps
            + &comers
            + &triple
            + &as_file(&self.turns, joins.map(|step| (&*step.path, step.at)), &self.beside);
        write_whole(&path, |out| out.write_all(text.as_bytes()))
            .map_err(|error| ReplayError::Io(path.clone(), error))?;
        Ok(path)
    }
}

fn clocks_of(schedule: &[SavedStep]) -> Clocks {
    if looks::give_the_same(schedule) { Clocks::AsRecordedOnSchedule } else { Clocks::Later }
}

/// Runs the program along the plan, in a folder that takes its logs.
pub fn run_plan(
    plan: &Plan,
    program: &Program,
    folder: &Folder,
    time_limit: Duration,
    quiet: bool,
) -> Result<Ended, ReplayError> {
    let mode = Mode::Replay(plan.write_schedule(folder)?);
    let (part, recording) = (RecordingScope::default(), plan.recording.as_deref());
    Ok(Run {
        program,
        mode,
        folder,
        max_bytes: None,
        part,
        time_limit: Some(time_limit),
        quiet,
        recording,
        apart: None,
    }
    .record_among_others()?)
}

/// Most bytes of the logs of a replay: more than any part of the recording that it goes along, and not all that a program writes that runs in
/// circles afterwards.
fn most_logs(recording: Option<&Path>, records: u64) -> u64 {
    const LEAST: u64 = 64 << 20;
    const TIMES: u64 = 4;
    const RECORD: u64 = 40; // of an update
    let files = recording.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let logs = files.filter(|file| file.path().extension().is_some_and(|end| end == "log"));
    let bytes: u64 = logs.filter_map(|log| log.metadata().ok()).map(|log| log.len()).sum();
    (LEAST + TIMES * bytes).saturating_add(records.saturating_mul(RECORD))
}

/// What threads did at positions in their logs, as far as that took effect.
///
/// # Errors
/// The folder has no logs, or they are damaged.
pub fn accesses<const N: usize>(
    folder: &Path,
    places: &[Option<(String, u64)>; N],
) -> Result<[Option<Event>; N], ReplayError> {
    let events = Events::read(folder)?;
    Ok(places.each_ref().map(|place| place.as_ref().and_then(|(path, at)| events.at(path, *at))))
}

/// Holds the logs of a replay against its plan. `location` says where in the source a record is.
pub fn judge(
    plan: &Plan,
    folder: &Folder,
    ending: Ending,
    location: impl Fn(&Record) -> Option<String>,
) -> Result<Replayed, ReplayError> {
    let events = Events::read(folder.path())?;
    let planned = plan.triple.as_ref().map(|triple| triple.each_ref().map(|one| events.at(&one.path, one.at?)));
    let difference = events.first_difference(&plan.expected, plan.after_free.as_ref(), location);
    let left = folder.replay_verdict().and_then(|line| left(&line));
    let ending = if events.deadlocked() { Ending::Deadlock } else { ending };
    let to_the_letter = difference.is_none() && left.is_none();
    let is_freed_late = plan.after_free.as_ref().is_some_and(|use_| events.is_freed_late(use_));
    let (outcome, triple) = match (&plan.triple, planned) {
        (None, _) | (_, None) if to_the_letter && is_freed_late => {
            (Outcome::NotReached("the memory was freed after the access".to_string()), None)
        }
        (None, _) | (_, None) if to_the_letter => (Outcome::ToTheLetter, None),
        (None, _) | (_, None) => (Outcome::NotReached("the program left the schedule".to_string()), None),
        (_, Some(planned)) if to_the_letter && triple_happened(&planned) => (Outcome::ToTheLetter, Some(planned)),
        (Some(targets), Some(planned)) => match steered(targets, &events, folder.triple_verdict().as_deref(), ending) {
            Ok(reached) => (Outcome::AnotherWay, Some(reached)),
            Err(why) => (Outcome::NotReached(why), Some(planned)),
        },
    };
    let came_between = plan.watched.as_ref().is_some_and(|between| events.came_between(between));
    let after = triple.as_ref().map_or(0, |triple| events.after(triple));
    Ok(Replayed { difference, left, triple, after, outcome, came_between, ending })
}

/// The triple where the runtime says that it happened, of `reached <path> <at> <path> <at> <path> <at>`, else why it did not, of
/// `missed <why>`. What the runtime says counts where the logs agree.
fn steered(
    targets: &[Target; 3],
    events: &Events,
    verdict: Option<&str>,
    ending: Ending,
) -> Result<[Option<Event>; 3], String> {
    if targets.iter().any(|target| target.places.is_empty()) {
        return Err("where in the code its accesses are is not known: the witness's recording is not there".to_string());
    }
    let Some(verdict) = verdict else { return Err(format!("the program {ending} before it had happened")) };
    if let Some(why) = verdict.trim().strip_prefix("missed ") {
        return Err(why.to_string());
    }
    let words: Vec<&str> = verdict.split_whitespace().skip(1).collect();
    let places: Vec<(String, u64)> =
        words.chunks_exact(2).filter_map(|pair| Some((pair[0].to_string(), pair[1].parse().ok()?))).collect();
    let ops = targets.each_ref().map(|target| target.op.as_str());
    let reached = <[(String, u64); 3]>::try_from(places).ok().and_then(|places| events.reached(&places, ops));
    reached.ok_or_else(|| "the accesses that came of it are not what the triple asks for".to_string())
}

/// Why the program left the schedule, of `left <line of the schedule> <why>`.
fn left(verdict: &str) -> Option<String> {
    let (line, why) = verdict.trim().strip_prefix("left ")?.split_once(' ')?;
    Some(format!("{why} (turn {line})"))
}

impl Replayed {
    /// Whether what was planned came of it, if only another way.
    pub fn reached(&self) -> bool {
        !matches!(self.outcome, Outcome::NotReached(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::End;

    /// A recording may have left out of its logs what a thread did while it spun; the replay's logs have all of it.
    #[test]
    fn logs_of_a_replay_have_room_for_what_the_recording_left_out() {
        let turn = |path: &str, until| Turn { path: path.to_string(), first: 0, end: End::at(until) };
        let plan = Plan {
            turns: vec![turn("0", 9), turn("0.1", 5_000_000), turn("0", 99), turn("0.1", u64::MAX)],
            ..Plan::default()
        };
        assert_eq!(plan.records(), 5_000_101);
        assert!(most_logs(None, plan.records()) > (64 << 20) + 32 * 5_000_101);
    }
}

//! Keeps failures: a folder with a witness for each failure and the recordings that they come from, for `replay`. Runs such a folder again
//! on a new build, by places in the source.

use super::baseline::Baseline;
use super::judge::{Effect, judge};
use super::minimise::Shortened;
use super::overtime::while_not;
use super::predicting::read_witness;
use super::report::Report;
use super::runner::{Runner, is_stopped};
use super::settings::{Settings, TestError};
use super::workplace::Workplace;
use foretrace_harness::{self as recorder, Matched, Outcome, Plan, Positions, ThreadNames, plan_of_edited};
use foretrace_report::write_whole;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The file that lists what is kept.
const INDEX: &str = "finds.json";
/// The folder for recordings.
const RECORDINGS: &str = "recordings";
/// Runs that show what passing runs of a new build look like.
const RUNS: u64 = 5;
/// Why a schedule was not run to its end.
const LATE: &str = "a limit was reached";
/// Runs along each schedule that is kept.
const TIMES: u32 = 5;

/// The list of what is kept.
#[derive(Serialize, Deserialize)]
struct Index {
    foretrace: u32,
    finds: Vec<Entry>,
}

/// A failure that is kept.
#[derive(Serialize, Deserialize)]
struct Entry {
    /// The witness, or the folder of a recording, below this folder.
    schedule: String,
    /// How the program failed.
    failure: String,
    /// The variable and the functions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
}

impl Report {
    /// Keeps all finds in a folder, and names their schedules by where they are then.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn keep(&mut self, folder: &Path) -> Result<(), TestError> {
        let io = |path: &Path| {
            let path = path.to_path_buf();
            move |error| TestError::Io(path, error)
        };
        let recordings = folder.join(RECORDINGS);
        std::fs::create_dir_all(&recordings).map_err(io(&recordings))?;
        let mut index = Index { foretrace: 1, finds: Vec::new() };
        for (number, find) in self.finds.iter_mut().enumerate() {
            let (failure, title) = (find.failure.to_string(), find.title.clone());
            let schedule = if find.schedule.is_dir() {
                let name = name_of(&find.schedule);
                copy(&find.schedule, &recordings.join(&name))?;
                format!("{RECORDINGS}/{name}")
            } else {
                let mut witness = Shortened::read(&find.schedule)?;
                let json = |error: serde_json::Error| TestError::Io(find.schedule.clone(), error.into());
                let trace = witness.trace().map_err(json)?;
                let recording = Path::new(&trace).parent().unwrap_or(Path::new(""));
                let name = name_of(recording);
                if recording.is_dir() {
                    copy(recording, &recordings.join(&name))?;
                }
                witness.set_trace(&format!("{RECORDINGS}/{name}/trace.jsonl.zst")).map_err(json)?;
                let schedule = format!("find-{}.json", number + 1);
                witness.write(&folder.join(&schedule))?;
                schedule
            };
            find.schedule = folder.join(&schedule);
            index.finds.push(Entry { schedule, failure, title });
        }
        let path = folder.join(INDEX);
        let write = |out: &mut dyn std::io::Write| {
            serde_json::to_writer_pretty(&mut *out, &index)?;
            out.write_all(b"\n")
        };
        write_whole(&path, write).map_err(io(&path))
    }
}

/// The name of a recording's folder among those that are kept: that of the folder around it, which says how the run was made.
fn name_of(recording: &Path) -> String {
    let around = recording.parent().and_then(Path::file_name).unwrap_or_default();
    around.to_string_lossy().into_owned()
}

/// Copies the files of a recording, but not those in its folders. Nobody changes these files, so a second name will do, where both folders
/// are on one file system: logs have hundreds of megabytes.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), TestError> {
    let failed = |error| TestError::Io(to.to_path_buf(), error);
    if to.is_dir() {
        std::fs::remove_dir_all(to).map_err(failed)?; // of an earlier test
    }
    std::fs::create_dir_all(to).map_err(failed)?;
    for entry in std::fs::read_dir(from).map_err(|error| TestError::Io(from.to_path_buf(), error))? {
        let entry = entry.map_err(failed)?;
        if entry.file_type().map_err(failed)?.is_file() {
            let (from, to) = (entry.path(), to.join(entry.file_name()));
            std::fs::hard_link(&from, &to).or_else(|_| std::fs::copy(&from, &to).map(drop)).map_err(failed)?;
        }
    }
    Ok(())
}

/// What came of a kept failure on a new build.
#[derive(Clone, Debug)]
pub struct Again {
    /// Its file or folder.
    pub schedule: PathBuf,
    /// How it failed.
    pub failure: String,
    /// The variable and the functions.
    pub title: Option<String>,
    /// What came of it.
    pub outcome: AgainOutcome,
}

/// What came of a kept failure on a new build.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AgainOutcome {
    /// The program still fails, if perhaps in another way: how, and in how many of how many runs.
    Fails(String, u32, u32),
    /// The three accesses happened in so many of so many runs, and nothing failed.
    Reached(u32, u32),
    /// They did not: why. That is no proof that the program is right.
    NotReached(String),
}

/// Runs what a folder keeps on a program, which may be a new build.
///
/// # Errors
/// The folder keeps nothing, or the program cannot be run.
pub fn run_again(
    folder: &Path,
    settings: &Settings,
    work: &Workplace,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<Again>, TestError> {
    let (start, stop) = (Instant::now(), Arc::new(AtomicBool::new(false)));
    let is_late = || settings.time.is_some_and(|time| start.elapsed() >= time);
    let own = Settings { stop: stop.clone(), ..settings.clone() };
    while_not(&|| settings.stop.load(Ordering::Relaxed) || is_late(), &stop, || run_all(folder, &own, work, progress))
}

/// Runs what a folder keeps, up to where the settings say stop.
fn run_all(
    folder: &Path,
    settings: &Settings,
    work: &Workplace,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<Again>, TestError> {
    let path = folder.join(INDEX);
    let failed = |error| TestError::Io(path.clone(), error);
    let text = std::fs::read(&path).map_err(failed)?;
    let index: Index = serde_json::from_slice(&text).map_err(|error| failed(error.into()))?;
    let runner = Runner::new(settings);
    let mut baseline = Baseline::default();
    for seed in 0..RUNS {
        let ran = match runner.record(seed, &work.place(format!("seed-{seed}"))) {
            Err(error) if is_stopped(&error) => break,
            ran => ran?,
        };
        if judge(&ran.seen, &Baseline::default(), settings) == Effect::Same {
            runner.learn(ran.took);
            baseline.add(&ran.seen);
        }
    }
    let all = index.finds.len();
    let mut results = Vec::new();
    for (number, Entry { schedule, failure, title }) in index.finds.into_iter().enumerate() {
        progress(number, all);
        let schedule = folder.join(schedule);
        let outcome = match plan(&schedule, settings)? {
            Ok(plan) => match run_kept(&plan, &runner, &baseline, settings, work) {
                Err(error) if is_stopped(&error) => AgainOutcome::NotReached(LATE.to_string()),
                outcome => outcome?,
            },
            Err(why) => AgainOutcome::NotReached(why),
        };
        results.push(Again { schedule, failure, title, outcome });
    }
    Ok(results)
}

/// The plan of what is kept, for this program; or which place it does not have.
fn plan(schedule: &Path, settings: &Settings) -> Result<Result<Plan, String>, TestError> {
    let is_same = |recording: &Path| settings.program.check_recorded_as(recording).is_ok();
    if schedule.is_dir() {
        return match is_same(schedule) {
            true => Ok(Ok(Plan::of_recording(schedule)?)),
            false => {
                Ok(Err("the program was built again, and this recorded run has no places to look for".to_string()))
            }
        };
    }
    let witness = read_witness(schedule)?;
    let recording = schedule.parent().map(|folder| folder.join(&witness.trace));
    let recording = recording.as_deref().and_then(Path::parent).filter(|folder| folder.is_dir());
    if let Some(recording) = recording.filter(|recording| is_same(recording)) {
        return Ok(Ok(Plan::of_witness(&witness, Some(recording))?));
    }
    Ok(match plan_of_edited(&witness, &settings.program, recording)? {
        Matched::All(plan, _) => Ok(*plan),
        Matched::Missing(which) => Err(which),
    })
}

fn run_kept(
    plan: &Plan,
    runner: &Runner<'_>,
    baseline: &Baseline,
    settings: &Settings,
    work: &Workplace,
) -> Result<AgainOutcome, TestError> {
    let (mut made, mut reached, mut failed, mut how, mut why) = (0, 0, 0, None, None);
    let mut positions = Positions::default();
    for number in 0..TIMES {
        let ran = match runner.replay(plan, &work.place(format!("kept-{number}"))) {
            Err(error) if made > 0 && is_stopped(&error) => break,
            ran => ran?,
        };
        made += 1;
        positions.learn(ran.folder.path())?;
        let replayed = recorder::judge(plan, &ran.folder, ran.seen.ending, |record| positions.of_event(record))?;
        match replayed.outcome {
            Outcome::NotReached(reason) if why.is_none() => {
                why = Some(ThreadNames::of_replay(plan, ran.folder.path()).in_line(&reason));
            }
            Outcome::NotReached(_) => (),
            _ => reached += 1,
        }
        if let Effect::Failed(failure) = judge(&ran.seen, baseline, settings) {
            failed += 1;
            how.get_or_insert(failure);
        }
    }
    Ok(match (how, why) {
        (Some(how), _) => AgainOutcome::Fails(how.to_string(), failed, made),
        (None, Some(why)) if reached == 0 => AgainOutcome::NotReached(why),
        _ => AgainOutcome::Reached(reached, made),
    })
}

//! The loop: rounds of recorded runs, each with one of them analysed and the schedules that come of it tried, until nothing new comes up;
//! then all schedules that are left; then each failure is confirmed, shortened and counted.

mod finishing;
mod recording;
mod trying;

use super::attempt::Attempt;
use super::baseline::Baseline;
use super::judge::Failure;
use super::observation::Observation;
use super::plan::Plan;
use super::predicting::{Branches, read_witness};
use super::report::Report;
use super::runner::Runner;
use super::settings::{Settings, TestError};
use foretrace_harness::{self as recorder, Event, Positions};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How far a test is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Runs that were recorded.
    pub recorded: u64,
    /// Schedules that were tried.
    pub tried: u64,
    /// Schedules that wait.
    pub waiting: usize,
    /// Different failures.
    pub finds: usize,
}

/// A test at work.
pub struct Campaign<'s> {
    settings: &'s Settings,
    runner: Runner<'s>,
    /// The folder for all runs.
    work: &'s Path,
    progress: &'s mut dyn FnMut(Progress),
    start: Instant,
    baseline: Baseline,
    /// Whether runs were made to see what varies by itself.
    is_baseline_wide: bool,
    plan: Plan,
    branches: Branches,
    positions: Positions,
    found: Vec<Found>,
    report: Report,
    next_seed: u64,
    runs: u64,
    /// How long runs took that are not predicted from.
    searching: Duration,
    slowest: Duration,
    switches: (u64, u64),
}

/// A failure, and all that leads to it.
struct Found {
    failure: Failure,
    shown: Vec<Shown>,
    /// Recorded runs that failed so by themselves, by seed.
    recordings: Vec<(u64, PathBuf)>,
    /// Who waits for whom, if that is how it failed.
    deadlock: Vec<String>,
    after_runs: u64,
    after: Duration,
}

/// A schedule that leads to a failure.
struct Shown {
    attempt: Attempt,
    reached: bool,
    triple: Option<[Option<Event>; 3]>,
    seen: Observation,
}

/// Runs that are recorded in a round.
const SEEDS: u64 = 5;
/// Rounds without a new class after which no more is recorded.
const QUIET: u32 = 2;
/// Runs that are recorded in any case: some failures need no schedule but chance.
const LEAST_RUNS: u64 = 25;
/// Recorded runs that are predicted from at most.
const MOST_PREDICTED: u64 = 50;
/// Schedules that are tried in a round.
const TRIED_IN_ROUND: usize = 48;
/// Runs that are not recorded and show what passing runs write, and after how long no more are made.
const NATIVE: u64 = 8;
const SHORT_NATIVE: Duration = Duration::from_secs(3);
/// A schedule counts as one that fails where this many runs in a row do.
const CERTAIN: usize = 2;

impl<'s> Campaign<'s> {
    /// Tests the program, with all runs in the folder `work`.
    ///
    /// # Errors
    /// The program does not end, cannot be recorded, or a file fails.
    pub fn run(
        settings: &'s Settings,
        work: &'s Path,
        progress: &'s mut dyn FnMut(Progress),
    ) -> Result<Report, TestError> {
        let mut campaign = Campaign {
            settings,
            runner: Runner::new(settings),
            work,
            progress,
            start: Instant::now(),
            baseline: Baseline::default(),
            is_baseline_wide: false,
            plan: Plan::default(),
            branches: Branches::default(),
            positions: Positions::default(),
            found: Vec::new(),
            report: Report::default(),
            next_seed: settings.seed,
            runs: 0,
            searching: Duration::ZERO,
            slowest: Duration::ZERO,
            switches: (0, 0),
        };
        campaign.unrecorded(NATIVE, SHORT_NATIVE)?;
        campaign.rounds()?;
        while !campaign.is_over() && campaign.attempts(TRIED_IN_ROUND)? > 0 {}
        campaign.search()?;
        campaign.report.left = campaign.plan.waiting();
        campaign.finish()
    }

    /// Whether a limit is reached.
    fn is_over(&self) -> bool {
        let is_late = self.settings.time.is_some_and(|time| self.start.elapsed() >= time);
        let is_enough = self.settings.stop_after.is_some_and(|enough| self.found.len() >= enough);
        self.is_stopped() || is_late || is_enough
    }

    fn is_stopped(&self) -> bool {
        self.settings.stop.load(Ordering::Relaxed)
    }

    fn tell(&mut self) {
        let progress = Progress {
            recorded: self.report.recorded.passed + self.report.recorded.failed,
            tried: self.report.all_tried(),
            waiting: self.plan.waiting(),
            finds: self.found.len(),
        };
        (self.progress)(progress);
    }

    fn rounds(&mut self) -> Result<(), TestError> {
        let (mut quiet, mut recorded) = (0, 0);
        loop {
            if quiet >= QUIET && recorded >= LEAST_RUNS {
                return Ok(());
            }
            let left = MOST_PREDICTED.saturating_sub(recorded).min(self.runs_left()).min(SEEDS);
            if self.is_over() || left == 0 {
                self.report.ended_early |= self.is_over();
                return Ok(());
            }
            let passing = self.record(left)?;
            recorded += left;
            let new = self.predict_all(passing)?;
            quiet = if new > 0 { 0 } else { quiet + 1 };
            self.attempts(TRIED_IN_ROUND)?;
        }
    }

    fn note(&mut self, note: String) {
        if !self.report.notes.contains(&note) {
            self.report.notes.push(note);
        }
    }

    /// The find of a failure, and whether it is new.
    fn found_at(&mut self, failure: Failure) -> (usize, bool) {
        let signature = failure.signature();
        if let Some(at) = self.found.iter().position(|found| found.failure.signature() == signature) {
            return (at, false);
        }
        self.found.push(Found {
            failure,
            shown: Vec::new(),
            recordings: Vec::new(),
            deadlock: Vec::new(),
            after_runs: self.runs,
            after: self.start.elapsed(),
        });
        (self.found.len() - 1, true)
    }
}

/// The plan of a witness file.
fn plan_of(witness: &Path, recording: &Path) -> Result<recorder::Plan, TestError> {
    let witness = read_witness(witness)?;
    Ok(recorder::Plan::of_witness(&witness, Some(recording))?)
}

/// Does something with each, all at the same time.
fn parallel<I: Sync, T: Send>(items: &[I], act: impl Fn(&I) -> T + Sync) -> Vec<T> {
    if let [only] = items {
        return vec![act(only)];
    }
    std::thread::scope(|scope| {
        let act = &act;
        let threads: Vec<_> = items.iter().map(|item| scope.spawn(move || act(item))).collect();
        let joined = threads.into_iter().map(|thread| match thread.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.collect()
    })
}

//! The loop. Each round records runs, analyses passing ones, and tries schedules; rounds go on until nothing new is found. Then the
//! remaining schedules are tried. Last, each failure is confirmed, shortened and counted.

mod asking;
mod exploring;
mod finishing;
mod in_vain;
mod needed;
mod recording;
mod retold;
mod trying;

use super::judge::Failure;
use super::overtime::while_not;
use super::predicting::{Deferred, UnderWay, read_witness};
use super::report::Report;
use super::runner::Runner;
use super::settings::{Settings, TestError};
use super::state::{Found, Rounds, Shown, State};
use super::workplace::Workplace;
use foretrace_harness::{self as recorder, Positions};
use foretrace_walker::Programs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How far a test is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Runs that were recorded.
    pub recorded: u64,
    /// Schedules that were tried.
    pub tried: u64,
    /// Classes of interleavings that were explored.
    pub explored: u64,
    /// Schedules that wait.
    pub waiting: usize,
    /// Different failures.
    pub finds: usize,
}

impl Progress {
    fn of_state(state: &State) -> Progress {
        let report = &state.report;
        Progress {
            recorded: report.recorded.passed + report.recorded.failed,
            tried: report.all_tried(),
            explored: report.explored.as_ref().map_or(0, |explored| explored.classes),
            waiting: state.plan.left(),
            finds: state.found.len(),
        }
    }
}

/// A test at work.
pub struct Campaign<'s> {
    /// Their `stop` also ends the run under way when all time is over.
    settings: &'s Settings,
    /// Set when the user wants no more.
    user_stop: &'s AtomicBool,
    runner: Runner<'s>,
    /// The folders for all runs.
    work: &'s Workplace,
    progress: &'s mut dyn FnMut(Progress),
    start: Instant,
    positions: Positions,
    /// The schedules that are made when their turn comes.
    deferred: Deferred,
    state: State,
    /// Until when the failure at hand is made shorter and replayed, in the end.
    find_until: Option<Instant>,
    /// Recorded runs that did not end under the controller, and did without it.
    let_go: u32,
    /// Runs that were made to see what failures need: each has a folder of its own.
    needed_runs: u32,
    /// Whether interleavings were explored, for as long as there was time; what an earlier part of the test did does not count.
    has_explored: bool,
    /// The same with few runs, after the first round.
    has_explored_a_little: bool,
    /// A few recorded runs that passed and have a trace, to compare failing ones with.
    passing: Vec<PathBuf>,
    /// The analysis of a recorded run that goes on meanwhile.
    under_way: Option<UnderWay>,
}

/// Runs that are recorded in a round.
const SEEDS: u64 = 5;
/// Rounds without a new class after which no more is recorded.
const QUIET: u32 = 2;
/// Runs that are recorded in any case: some failures need no schedule but chance.
const LEAST_RUNS: u64 = 25;
/// A program whose runs have at most so many events may have hardly more than one order.
const FEW_EVENTS: usize = 100;
/// Recorded runs that are predicted from at most.
const MOST_PREDICTED: u64 = 50;
/// Schedules that are tried in a round.
const TRIED_IN_ROUND: usize = 48;
/// Runs that are not recorded and show what passing runs write, and after how long no more are made.
const NATIVE: u64 = 8;
const SHORT_NATIVE: Duration = Duration::from_secs(3);
/// A schedule counts as one that fails where this many runs in a row do.
const CERTAIN: usize = 2;
/// The test records no more runs if this many did not end under the controller, and no run did.
const MOST_LET_GO: u32 = 10;
/// The test keeps this much time for each failure, to shorten its schedule and to replay it, but at most one part in four of the whole time,
/// and up to half of it where one replay of a hang takes longer.
const CONFIRMING: Duration = Duration::from_secs(6);
const PART_TO_CONFIRM: u32 = 4;
/// How long a schedule's file takes to copy, and at most which part of the whole time all of them take.
const FILE: Duration = Duration::from_millis(1);
const PART_TO_KEEP: u32 = 6;

impl<'s> Campaign<'s> {
    /// Tests the program, with all runs in the folders of `work`, from the state of a test that was stopped or from a new one. Gives the report,
    /// and the state to go on from where a limit was reached.
    ///
    /// # Errors
    /// The program does not end, cannot be recorded, or a file fails.
    pub fn run(
        settings: &'s Settings,
        work: &'s Workplace,
        state: State,
        progress: &'s mut dyn FnMut(Progress),
    ) -> Result<(Report, State), TestError> {
        let (start, stop) = (Instant::now(), Arc::new(AtomicBool::new(false)));
        let is_late = || settings.time.is_some_and(|time| start.elapsed() >= time);
        let is_over = || settings.stop.load(Ordering::Relaxed) || is_late();
        let own = Settings { stop: stop.clone(), ..settings.clone() };
        while_not(&is_over, &stop, || {
            let mut campaign = Campaign {
                settings: &own,
                user_stop: &settings.stop,
                runner: Runner::new(&own),
                work,
                progress,
                start,
                positions: Positions::default(),
                deferred: Deferred::default(),
                state,
                find_until: None,
                let_go: 0,
                needed_runs: 0,
                has_explored: false,
                has_explored_a_little: false,
                passing: Vec::new(),
                under_way: None,
            };
            if !campaign.state.is_done {
                campaign.go_on()?;
            }
            campaign.finish()
        })
    }

    /// Does all that is still to be done.
    fn go_on(&mut self) -> Result<(), TestError> {
        if self.state.next_seed == self.settings.seed {
            self.unrecorded(NATIVE, SHORT_NATIVE)?;
        } else {
            self.take_up()?;
        }
        self.rounds()?;
        while self.under_way.is_some() {
            self.explore()?;
            self.finish_analysis()?;
            self.attempts(TRIED_IN_ROUND)?;
            self.rounds()?;
        }
        while !self.is_over() && self.attempts(TRIED_IN_ROUND)? > 0 {}
        self.explore()?;
        self.search()?;
        self.state.plan.take_later(None);
        while !self.is_over() && self.attempts(TRIED_IN_ROUND)? > 0 {}
        let is_stopped = self.is_stopped();
        self.ask_again()?;
        self.explain_the_rest()?;
        let report = &mut self.state.report;
        report.left = self.state.plan.left();
        report.open_checks = match self.state.found.is_empty() {
            true => self.state.open_checks.keys().cloned().collect(),
            false => Vec::new(),
        };
        report.ended_early |= is_stopped || !self.state.unpredicted.is_empty();
        Ok(())
    }

    /// Takes up what a test that was stopped has left.
    fn take_up(&mut self) -> Result<(), TestError> {
        self.runner.take_up(self.state.slowest_unrecorded, self.state.slowest, &self.state.steps);
        for recording in self.state.recordings() {
            self.positions.learn(&recording)?;
        }
        for (seed, recording) in std::mem::take(&mut self.state.unpredicted) {
            self.predict(seed, &recording)?;
        }
        for at in 0..self.state.found.len() {
            self.explain(at)?;
        }
        Ok(())
    }

    /// How long the test has run, also before it was stopped.
    fn elapsed(&self) -> Duration {
        self.state.earlier + self.start.elapsed()
    }

    /// Whether a limit is reached, so that nothing more is sought.
    fn is_over(&self) -> bool {
        let is_enough = self.settings.stop_after.is_some_and(|enough| self.state.found.len() >= enough);
        let is_hopeless = self.let_go >= MOST_LET_GO && self.state.report.recorded.passed == 0;
        self.is_late() || is_enough || is_hopeless
    }

    /// Whether all time is over but that which is kept to confirm what was found.
    fn is_late(&self) -> bool {
        self.is_stopped() || self.time_to_search().is_zero()
    }

    /// How much of the time is kept for making schedules shorter and for replays.
    fn to_confirm(&self, time: Duration) -> Duration {
        let is_hang = |found: &Found| found.failure.is_hang();
        let of = |found: &Found| if is_hang(found) { self.runner.longest() * 2 } else { CONFIRMING };
        let wanted = self.state.found.iter().map(of).sum::<Duration>();
        // A hang counts only if another run shows it, too.
        let one = if self.state.found.iter().any(is_hang) { self.runner.longest() } else { Duration::ZERO };
        wanted.min((time / PART_TO_CONFIRM).max(one.min(time / 2)))
    }

    /// Whether the program may not be run any more: all time is over, or the user wants no more.
    fn is_stopped(&self) -> bool {
        self.settings.stop.load(Ordering::Relaxed)
    }

    fn user_wants_no_more(&self) -> bool {
        self.user_stop.load(Ordering::Relaxed)
    }

    /// How long the test may still run.
    fn time_left(&self) -> Duration {
        self.settings.time.map_or(Duration::MAX, |time| time.saturating_sub(self.start.elapsed()))
    }

    /// How long failures may still be sought.
    fn time_to_search(&self) -> Duration {
        let rest = |time| self.to_confirm(time) + self.to_keep(time);
        self.time_left().saturating_sub(self.settings.time.map_or(Duration::ZERO, rest))
    }

    /// How much of the time is for the schedules that wait: their files are copied in the end, for another test to go on with.
    fn to_keep(&self, time: Duration) -> Duration {
        let files = u32::try_from(self.state.plan.files()).unwrap_or(u32::MAX);
        FILE.saturating_mul(files).min(time / PART_TO_KEEP)
    }

    fn tell(&mut self) {
        (self.progress)(Progress::of_state(&self.state));
    }

    fn rounds(&mut self) -> Result<(), TestError> {
        loop {
            let Rounds { recorded, quiet } = self.state.rounds;
            // Where there is hardly more than one order, no more runs are needed to know that.
            if self.has_one_thread() {
                self.explore()?;
            } else if quiet > 0 && self.is_small() {
                self.explore_a_little()?;
            }
            let is_enough = quiet >= QUIET && recorded >= LEAST_RUNS;
            if is_enough || self.state.report.has_all_interleavings() {
                return Ok(());
            }
            let left = MOST_PREDICTED.saturating_sub(recorded).min(self.runs_left()).min(SEEDS);
            if self.is_over() || left == 0 {
                self.state.report.ended_early |= self.is_over();
                return Ok(());
            }
            let before = self.runs_left();
            let passing = self.record(left)?;
            let new = self.predict_all(passing)?;
            let quiet = if new > 0 || self.under_way.is_some() { 0 } else { quiet + 1 };
            self.state.rounds = Rounds { recorded: recorded + before - self.runs_left(), quiet };
            if self.under_way.is_some() {
                return Ok(());
            }
            self.attempts(TRIED_IN_ROUND)?;
        }
    }

    /// Whether the runs so far passed, and had no second thread.
    fn has_one_thread(&self) -> bool {
        self.state.report.size.threads == 1 && self.all_pass()
    }

    /// Whether the runs so far passed with few events, as those of a test without threads, which a test framework starts in a thread.
    fn is_small(&self) -> bool {
        self.state.report.size.events <= FEW_EVENTS && self.all_pass()
    }

    /// Whether the runs so far passed, and all is known of them.
    fn all_pass(&self) -> bool {
        let report = &self.state.report;
        let is_known = self.state.unpredicted.is_empty() && self.under_way.is_none() && report.without_trace == 0;
        is_known && report.recorded.failed == 0 && report.recorded.passed > 0
    }

    fn note(&mut self, note: String) {
        if !self.state.report.notes.contains(&note) {
            self.state.report.notes.push(note);
        }
    }

    /// The find of a failure, and whether it is new.
    fn found_at(&mut self, failure: Failure) -> (usize, bool) {
        let signature = failure.signature();
        if let Some(at) = self.state.found.iter().position(|found| found.failure.signature() == signature) {
            return (at, false);
        }
        if failure.is_hang() {
            self.runner.learn_hang(self.state.slowest);
        }
        self.state.found.push(Found {
            failure,
            shown: Vec::new(),
            recordings: Vec::new(),
            seen: Vec::new(),
            deadlock: Vec::new(),
            late: Vec::new(),
            after_runs: self.state.runs,
            after: self.elapsed(),
            unexplained: None,
            is_explored: false,
            reported: None,
        });
        (self.state.found.len() - 1, true)
    }
}

/// What a find is told by.
enum Told<'a> {
    /// A schedule of accesses.
    By(&'a Shown),
    /// The turns of a recorded run that matter.
    ByTurns(&'a recorder::Plan),
}

/// The source of a recording, where it is there: without it stories show places alone.
fn sources(recording: &Path, programs: &Programs) -> Option<recorder::Sources> {
    recorder::Sources::read(recording).ok().flatten().or_else(|| recorder::Sources::keep(recording, programs).ok())
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

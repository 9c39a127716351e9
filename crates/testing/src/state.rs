//! All that a test knows: which runs were recorded, which schedules were tried with which outcome, which ones wait, and what was found. A
//! test that was stopped goes on from here.

use super::attempt::{Attempt, Kind};
use super::baseline::Baseline;
use super::judge::Failure;
use super::observation::Observation;
use super::plan::Plan;
use super::predicting::Branches;
use super::report::{Find, Report};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

/// What a test knows.
#[derive(Default, Serialize, Deserialize)]
pub struct State {
    /// What passing runs write.
    pub baseline: Baseline,
    /// Whether runs were made to see what varies by itself.
    pub is_baseline_wide: bool,
    /// The schedules that wait, and what came of others.
    pub plan: Plan,
    /// The ways that branches on shared memory went.
    pub branches: Branches,
    /// What traces of recorded runs do not show of code that ran.
    pub unseen: BTreeSet<String>,
    /// Places where threads of recorded runs gave back a lock that they did not hold.
    pub not_held: BTreeSet<String>,
    /// All failures, in the order in which they were found.
    pub found: Vec<Found>,
    /// The counts of the report; its finds are made of `found` in the end.
    pub report: Report,
    /// The seed of the next recorded run.
    pub next_seed: u64,
    /// Seeds whose recorded runs were cut off by Ctrl-C.
    pub cut_off: Vec<u64>,
    /// Runs of the program.
    pub runs: u64,
    /// Runs that were recorded in rounds, and rounds in a row that brought no new class.
    pub rounds: Rounds,
    /// How long runs took that are not predicted from.
    pub searching: Duration,
    /// How long the slowest recorded run took that passed.
    pub slowest: Duration,
    /// How long the slowest run without recording took that passed.
    #[serde(default)]
    pub slowest_unrecorded: Duration,
    /// Events of the shortest recorded run that was analysed. Others may be longer by loops that wait.
    #[serde(default)]
    pub fewest_events: Option<usize>,
    /// Context switches of the schedules that reached their accesses, and how many those were.
    pub switches: (u64, u64),
    /// Records of each thread in the first recorded run, by which some schedulers choose.
    pub steps: Vec<u64>,
    /// How long the test ran before it was stopped.
    pub earlier: Duration,
    /// Recorded runs that passed, by seed, whose analysis was cut off.
    pub unpredicted: Vec<(u64, PathBuf)>,
    /// Checks that no run has failed, and of which no analysis has decided whether another order fails them, by place.
    #[serde(default)]
    pub open_checks: BTreeMap<String, OpenCheck>,
    /// Whether everything was tried.
    pub is_done: bool,
    /// Whether runs go on one at a time, since they would meet in files or sockets.
    #[serde(default)]
    pub is_one_by_one: bool,
}

/// The shortest recorded run whose analysis did not decide a check.
#[derive(Clone, Serialize, Deserialize)]
pub struct OpenCheck {
    /// Its events.
    pub events: usize,
    /// Its seed.
    pub seed: u64,
    /// Its folder.
    pub recording: PathBuf,
}

/// How far the rounds are.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub struct Rounds {
    /// Runs that were recorded.
    pub recorded: u64,
    /// Rounds in a row that brought no new class.
    pub quiet: u32,
}

/// A failure, and all that leads to it.
#[derive(Clone, Serialize, Deserialize)]
pub struct Found {
    /// How the program failed.
    pub failure: Failure,
    /// The schedules that lead to it.
    pub shown: Vec<Shown>,
    /// Recorded runs that failed so by themselves, by seed.
    pub recordings: Vec<(u64, PathBuf)>,
    /// What was seen of each of them, where the output is what failed.
    #[serde(default)]
    pub seen: Vec<Observation>,
    /// Who waits for whom, if that is how it failed.
    pub deadlock: Vec<String>,
    /// Which waits ended by their time limits, where exploring found it.
    #[serde(default)]
    pub late: Vec<String>,
    /// After how many runs of the program it was found.
    pub after_runs: u64,
    /// After how long.
    pub after: Duration,
    /// The first run that failed so, with its seed, as long as what it shows itself is still to be tried.
    pub unexplained: Option<(u64, PathBuf)>,
    /// Whether it was found by exploring the program's interleavings.
    pub is_explored: bool,
    /// As it was reported when the test was stopped, and the number of schedules and runs that led to it then.
    pub reported: Option<(Find, usize)>,
}

/// A schedule that leads to a failure.
#[derive(Clone, Serialize, Deserialize)]
pub struct Shown {
    /// The schedule.
    pub attempt: Attempt,
    /// Whether its three accesses happened.
    pub reached: bool,
    /// How many steps of the program came after them.
    #[serde(default)]
    pub after: usize,
    /// What happened, a line each.
    pub story: Vec<String>,
    /// What was seen of the run.
    pub seen: Observation,
}

impl Shown {
    /// Whether its accesses say why the program fails. The branch that goes another way only says where that shows.
    pub fn tells_cause(&self) -> bool {
        self.reached && self.attempt.kind != Kind::OtherWay
    }
}

impl Found {
    /// How much leads to it.
    pub fn ways(&self) -> usize {
        self.shown.len() + self.recordings.len()
    }

    /// As it was reported, if nothing more leads to it since.
    pub fn known_find(&self) -> Option<Find> {
        let (find, ways) = self.reported.as_ref()?;
        Some(find.clone()).filter(|find| *ways == self.ways() && find.replays.is_some())
    }
}

impl State {
    /// Of a test that begins, with the seed of its first recorded run.
    pub fn new(seed: u64) -> State {
        State { next_seed: seed, ..State::default() }
    }

    /// The file or folder of each schedule, recording and find, which lie in the test's folder.
    pub fn paths(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        fn of_attempt(attempt: &mut Attempt) -> impl Iterator<Item = &mut PathBuf> {
            let witness = attempt.to_make.is_none().then_some(&mut attempt.witness);
            witness.into_iter().chain([&mut attempt.recording])
        }
        fn of_find(find: &mut Find) -> impl Iterator<Item = &mut PathBuf> {
            find.attempts.iter_mut().flat_map(of_attempt).chain([&mut find.schedule])
        }
        let waiting = self.plan.left_mut().flat_map(of_attempt);
        let found = self.found.iter_mut().flat_map(|found| {
            let shown = found.shown.iter_mut().flat_map(|shown| of_attempt(&mut shown.attempt));
            let recordings = found.recordings.iter_mut().chain(&mut found.unexplained).map(|(_, folder)| folder);
            shown.chain(recordings).chain(found.reported.iter_mut().flat_map(|(find, _)| of_find(find)))
        });
        let open = self.open_checks.values_mut().map(|check| &mut check.recording);
        waiting.chain(found).chain(open).chain(self.unpredicted.iter_mut().map(|(_, recording)| recording))
    }

    /// The folders of the recordings that are still needed.
    pub fn recordings(&self) -> Vec<PathBuf> {
        let waiting = self.plan.all_left().map(|attempt| &attempt.recording);
        let found = self.found.iter().flat_map(|found| {
            let shown = found.shown.iter().map(|shown| &shown.attempt.recording);
            shown.chain(found.recordings.iter().chain(&found.unexplained).map(|(_, folder)| folder))
        });
        let unpredicted = self.unpredicted.iter().map(|(_, recording)| recording);
        let open = self.open_checks.values().map(|check| &check.recording);
        let mut all: Vec<PathBuf> = waiting.chain(found).chain(unpredicted).chain(open).cloned().collect();
        all.sort();
        all.dedup();
        all
    }
}

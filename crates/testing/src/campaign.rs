//! The loop: rounds of recorded runs, each with one of them analysed and the schedules that come of it tried, until nothing new comes up;
//! then all schedules that are left; then each failure is confirmed, shortened and counted.

use super::attempt::{Attempt, Kind};
use super::baseline::Baseline;
use super::judge::{Cause, Effect, Failure, judge};
use super::minimise::{Shortened, fewest};
use super::observation::Observation;
use super::plan::{Gain, Plan};
use super::predicting::{Predicted, attempts_within, read_witness};
use super::report::{Find, Report};
use super::runner::{Ran, Runner, cut_of, is_search, is_stopped, is_usual};
use super::settings::{Predict, Settings, TestError};
use super::story;
use foretrace_harness::{self as recorder, Event, Outcome, Positions, ReplayError};
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
/// So many runs are recorded in any case: some failures need no schedule but chance.
const LEAST_RUNS: u64 = 25;
/// After so many recorded runs no more are predicted from.
const MOST_PREDICTED: u64 = 50;
/// While schedules wait and nothing has failed, such a share of the time goes to runs that search.
const SHARE_OF_SEARCH: u32 = 4;
/// More runs are recorded in the end for as long as all took before, but for so long where that was short.
const SHORTEST_SEARCH: Duration = Duration::from_secs(3);
/// Schedules that are tried in a round.
const TRIED_IN_ROUND: usize = 48;
/// Runs that are not recorded and show what passing runs write, and after how long no more are made.
const NATIVE: u64 = 8;
const SHORT_NATIVE: Duration = Duration::from_secs(3);
/// The same before the first difference counts.
const WIDE: u64 = 20;
const LONG_NATIVE: Duration = Duration::from_secs(10);
/// All analysis together takes as long as all runs do, and this;
const FREE_ANALYSIS: Duration = Duration::from_secs(1);
/// but that of one recorded run may take so long.
const SHORTEST_ANALYSIS: Duration = Duration::from_millis(300);
/// Schedules of a failure of which the one is looked for that needs no other orders but its own.
const MOST_COMPARED: usize = 6;
/// Of a recorded run that failed so many of the triples that it shows are tried.
const MOST_OBSERVED: usize = 8;
/// Failures that are shortened and replayed.
const MOST_SHORTENED: usize = 8;
/// Shorter schedules of a recorded run that are tried.
const MOST_SHORTER: usize = 60;
/// Turns of a recorded run that the story of a failure has.
const MOST_TURNS_TOLD: usize = 8;
/// Replays of a run that hangs.
const REPLAYS_OF_HANG: u32 = 3;
/// A schedule counts as one that fails where so many runs in a row do.
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
            let new = match passing {
                Some((seed, ran)) => self.predict(seed, &ran)?,
                None => 0,
            };
            quiet = if new > 0 { 0 } else { quiet + 1 };
            self.attempts(TRIED_IN_ROUND)?;
        }
    }

    /// How many more runs may be recorded.
    fn runs_left(&self) -> u64 {
        self.settings.runs.saturating_sub(self.next_seed - self.settings.seed)
    }

    /// Where nothing has failed, records more runs: some failures take several interruptions, and no schedule aims at these.
    fn search(&mut self) -> Result<(), TestError> {
        let most = self.searching + self.start.elapsed().max(SHORTEST_SEARCH);
        while self.found.is_empty() && !self.is_over() && self.searching < most && self.search_on()? {}
        Ok(())
    }

    /// Records a few runs that are not predicted from; nothing where as many were recorded as may be.
    fn search_on(&mut self) -> Result<bool, TestError> {
        let start = Instant::now();
        let left = self.runs_left().min(SEEDS);
        if left > 0
            && let Some((seed, _)) = self.record(left)?
        {
            let _ = std::fs::remove_dir_all(self.work.join(format!("seed-{seed}"))); // not needed any more
        }
        self.searching += start.elapsed();
        Ok(left > 0)
    }

    /// Records so many runs; gives the first that passed, with its seed.
    fn record(&mut self, count: u64) -> Result<Option<(u64, Ran)>, TestError> {
        let seeds: Vec<u64> = (self.next_seed..).take(count as usize).collect();
        self.next_seed += count;
        let mut passing = None;
        for batch in seeds.chunks(self.settings.jobs) {
            let (runner, work) = (&self.runner, self.work);
            let record = |seed: &u64| runner.record(*seed, &work.join(format!("seed-{seed}")));
            for (seed, ran) in batch.iter().zip(parallel(batch, record)) {
                match self.take_recorded(*seed, ran)? {
                    Some(ran) if passing.is_none() => passing = Some((*seed, ran)),
                    Some(_) => {
                        let _ = std::fs::remove_dir_all(self.work.join(format!("seed-{seed}"))); // not needed any more
                    }
                    None => {}
                }
            }
            self.tell();
            if self.is_over() {
                break;
            }
        }
        Ok(passing)
    }

    /// Takes a recorded run; gives it back where it passed.
    fn take_recorded(&mut self, seed: u64, ran: Result<Ran, TestError>) -> Result<Option<Ran>, TestError> {
        let ran = match ran {
            Ok(ran) => ran,
            Err(error) if is_stopped(&error) => return Ok(None),
            Err(error) => match cut_of(&error) {
                Some(cut) if self.report.recorded.passed > 0 => {
                    self.note(format!("a recorded run was given up: the program {cut}"));
                    return Ok(None);
                }
                Some(cut) => return Err(TestError::Cut(cut)),
                None => return Err(error),
            },
        };
        self.runs += 1;
        self.report.times.running += ran.took;
        if ran.seen.ending == recorder::Ending::Hang && self.baseline.runs() == 0 && self.found.is_empty() {
            return Err(TestError::Endless(self.runner.limit()));
        }
        // What a run with usual turns writes is usual. A run with short ones is tried as a schedule is.
        let effect = if is_usual(seed) {
            judge(&ran.seen, &Baseline::default(), self.settings)
        } else if is_search(seed) {
            judge(&ran.seen, &self.baseline, self.settings).but_for_output()
        } else {
            self.judge_widely(&ran.seen)?
        };
        match effect {
            Effect::Same => {
                self.report.recorded.passed += 1;
                self.report.times.recorded += ran.took;
                if is_usual(seed) {
                    self.baseline.add(&ran.seen);
                }
                self.slowest = self.slowest.max(ran.took);
                self.runner.learn(self.slowest);
                Ok(Some(ran))
            }
            Effect::Failed(_) => {
                self.report.recorded.failed += 1;
                self.failed_recording(seed, ran)?;
                Ok(None)
            }
        }
    }

    fn note(&mut self, note: String) {
        if !self.report.notes.contains(&note) {
            self.report.notes.push(note);
        }
    }

    /// A recorded run that failed by itself: the triples that it shows are tried, so that there is a story to tell.
    fn failed_recording(&mut self, seed: u64, ran: Ran) -> Result<(), TestError> {
        let Effect::Failed(failure) = judge(&ran.seen, &self.baseline, self.settings) else { return Ok(()) };
        let (at, is_new) = self.found_at(failure);
        let folder = ran.folder.path().to_path_buf();
        self.found[at].recordings.push((seed, folder));
        self.positions.learn(ran.folder.path())?;
        self.explain_deadlock(at, &ran)?;
        if !is_new || self.is_over() || self.found[at].failure.is_hang() {
            return Ok(());
        }
        let Ok(predicted) = self.analyse(&ran, seed, true) else { return Ok(()) }; // its own schedule tells enough
        let mut observed: Vec<Attempt> = predicted.attempts;
        observed.retain(|attempt| attempt.kind == Kind::Observed);
        observed.sort_by_key(|attempt| attempt.order);
        observed.truncate(MOST_OBSERVED);
        for batch in observed.chunks(self.settings.jobs) {
            self.try_all(batch.to_vec())?;
            if self.found[at].shown.iter().any(|shown| shown.reached) {
                break;
            }
        }
        Ok(())
    }

    /// Notes who waits for whom in a run that ended in a deadlock.
    fn explain_deadlock(&mut self, at: usize, ran: &Ran) -> Result<(), TestError> {
        if ran.seen.ending == recorder::Ending::Deadlock && self.found[at].deadlock.is_empty() {
            let name = |path: &str| format!("thread {path}");
            let lines = recorder::deadlock_in_words(&ran.output, ran.folder.path(), &self.positions, name)?;
            self.found[at].deadlock = lines;
        }
        Ok(())
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

    fn predict_limit(&self) -> Duration {
        let left = self.settings.time.map_or(Duration::MAX, |time| time.saturating_sub(self.start.elapsed()));
        let times = &self.report.times;
        let fair = (times.running + FREE_ANALYSIS).saturating_sub(times.predicting).max(SHORTEST_ANALYSIS);
        left.min(self.settings.predict_limit).min(fair)
    }

    /// Makes attempts of a recorded run.
    fn analyse(&mut self, ran: &Ran, seed: u64, failed: bool) -> Result<Predicted, TestError> {
        let start = Instant::now();
        let deadline = self.settings.time.map(|time| self.start + time);
        let path = ran.folder.path();
        let predicted = attempts_within(path, (seed, failed), self.settings, self.predict_limit(), deadline);
        self.report.times.predicting += start.elapsed();
        predicted
    }

    /// Makes a recorded run's schedules wait; says how many classes are new.
    fn predict(&mut self, seed: u64, ran: &Ran) -> Result<usize, TestError> {
        if self.settings.predict == Predict::CutPoints && self.is_over() {
            return Ok(0);
        }
        let predicted = match self.analyse(ran, seed, false) {
            Ok(predicted) => predicted,
            Err(TestError::Late) => {
                if self.report.size.events == 0 && !self.is_stopped() {
                    self.note(
                        "the recorded runs are so long that none was analysed in time (more: --time)".to_string(),
                    );
                }
                return Ok(0);
            }
            Err(TestError::Walk(error)) => {
                self.note(format!("a recorded run gives no trace: {error}"));
                return Ok(0);
            }
            Err(error) => return Err(error),
        };
        self.report.harmless.already = self.report.harmless.already.max(predicted.already);
        self.report.harmless.impossible = self.report.harmless.impossible.max(predicted.impossible);
        if predicted.size.events >= self.report.size.events {
            self.report.size = predicted.size;
        }
        self.positions.learn(ran.folder.path())?;
        Ok(self.plan.add(predicted.attempts))
    }

    /// Tries the best of the schedules that wait, at most so many; says how many.
    fn attempts(&mut self, most: usize) -> Result<usize, TestError> {
        let mut tried = 0;
        while tried < most && !self.is_over() {
            if self.found.is_empty() && self.searching < self.start.elapsed() / SHARE_OF_SEARCH {
                self.search_on()?;
            }
            let batch = self.plan.next(self.settings.jobs.min(most - tried));
            if batch.is_empty() {
                break;
            }
            tried += batch.len();
            self.try_all(batch)?;
        }
        Ok(tried)
    }

    /// Tries schedules at the same time.
    fn try_all(&mut self, batch: Vec<Attempt>) -> Result<(), TestError> {
        let (runner, first, work) = (&self.runner, self.runs, self.work);
        let numbered: Vec<(u64, &Attempt)> = (first..).zip(&batch).collect();
        let made = parallel(&numbered, |(number, attempt)| {
            let plan = plan_of(&attempt.witness, &attempt.recording)?;
            let ran = runner.replay(&plan, &work.join(format!("run-{number}")))?;
            Ok((plan, ran))
        });
        for (attempt, made) in batch.into_iter().zip(made) {
            self.runs += 1;
            self.take_tried(attempt, made)?;
        }
        for number in first..self.runs {
            let _ = std::fs::remove_dir_all(self.work.join(format!("run-{number}"))); // the folder of all runs goes in the end anyway
        }
        self.tell();
        Ok(())
    }

    fn take_tried(
        &mut self,
        attempt: Attempt,
        made: Result<(recorder::Plan, Ran), TestError>,
    ) -> Result<(), TestError> {
        let (plan, ran) = match made {
            Ok(made) => made,
            Err(error) if is_stopped(&error) => return Ok(()),
            Err(TestError::Replay(ReplayError::NoPositions)) => {
                self.report.harmless.not_reached += 1;
                *self.report.tried.entry(attempt.kind.name()).or_default() += 1;
                return Ok(());
            }
            Err(error) => match cut_of(&error) {
                Some(cut) => {
                    self.note(format!("a schedule was given up: the program {cut}"));
                    return Ok(());
                }
                None => return Err(error),
            },
        };
        *self.report.tried.entry(attempt.kind.name()).or_default() += 1;
        self.report.times.schedule += ran.took;
        self.report.times.running += ran.took;
        self.positions.learn(ran.folder.path())?;
        let positions = &self.positions;
        let replayed = recorder::judge(&plan, &ran.folder, ran.seen.ending, |record| positions.of_event(record))?;
        let reached = !matches!(replayed.outcome, Outcome::NotReached(_));
        let effect = self.judge_widely(&ran.seen)?;
        if reached {
            self.report.harmless.reached += 1;
            self.switches = (self.switches.0 + plan.turns.len() as u64, self.switches.1 + 1);
        } else {
            self.report.harmless.not_reached += 1;
        }
        let gain = match effect {
            Effect::Same => {
                self.report.harmless.same += u64::from(reached);
                if reached { Gain::Reached } else { Gain::Nothing }
            }
            Effect::Failed(failure) => {
                self.report.harmless.failed += 1;
                let (at, is_new) = self.found_at(failure);
                self.explain_deadlock(at, &ran)?;
                self.found[at].shown.push(Shown {
                    attempt: attempt.clone(),
                    reached,
                    triple: replayed.triple,
                    seen: ran.seen,
                });
                if is_new { Gain::New } else { Gain::Known }
            }
        };
        self.plan.learn(&attempt, gain);
        Ok(())
    }

    /// What came of a run; before the first difference in output counts, more is learnt of what varies by itself.
    fn judge_widely(&mut self, seen: &Observation) -> Result<Effect, TestError> {
        let effect = judge(seen, &self.baseline, self.settings);
        let differs = matches!(&effect, Effect::Failed(failure) if matches!(failure.cause, Cause::Differs(_)));
        if !differs || std::mem::replace(&mut self.is_baseline_wide, true) {
            return Ok(effect);
        }
        self.unrecorded(WIDE, LONG_NATIVE)?;
        Ok(judge(seen, &self.baseline, self.settings))
    }

    /// Runs the program so many times without recording it, to see what it writes.
    fn unrecorded(&mut self, count: u64, most: Duration) -> Result<(), TestError> {
        let start = Instant::now();
        let numbers: Vec<u64> = (0..count).collect();
        let (mut failed, mut hung) = (0_u64, 0_u32);
        for batch in numbers.chunks(self.settings.jobs) {
            if start.elapsed() > most || self.is_over() {
                break;
            }
            let (runner, work) = (&self.runner, self.work);
            for ran in parallel(batch, |number| runner.run_unrecorded(&work.join(format!("native-{number}")))) {
                let (seen, took) = match ran {
                    Ok(ran) => ran,
                    Err(error) if is_stopped(&error) => return Ok(()),
                    Err(error) => return Err(cut_of(&error).map_or(error, TestError::Cut)),
                };
                self.runs += 1;
                self.report.times.running += took;
                hung += u32::from(seen.ending == recorder::Ending::Hang);
                if hung == CERTAIN as u32 && self.baseline.runs() == 0 {
                    return Err(TestError::Endless(self.runner.limit()));
                }
                match judge(&seen, &Baseline::default(), self.settings) {
                    Effect::Same => self.baseline.add(&seen),
                    Effect::Failed(_) => failed += 1,
                }
            }
        }
        if failed > 0 {
            let runs = if failed == 1 { "1 run" } else { "several runs" };
            self.note(format!("{runs} without recording failed, too"));
        }
        Ok(())
    }

    /// Confirms, shortens and counts what was found.
    fn finish(mut self) -> Result<Report, TestError> {
        self.report.ended_early |= self.report.left > 0;
        if self.report.recorded.passed == 0 && self.report.recorded.failed > 0 {
            let failed = self.report.recorded.failed;
            self.note(format!("all {failed} recorded runs failed: no passing run was there to predict from"));
        }
        let found = std::mem::take(&mut self.found);
        for (number, found) in found.into_iter().enumerate() {
            if let Some(find) = self.find(number, found)? {
                self.report.finds.push(find);
            }
            let finds = self.report.finds.len();
            (self.progress)(Progress { finds, tried: self.report.all_tried(), ..Progress::default() });
        }
        self.average();
        self.report.times.all = self.start.elapsed();
        Ok(self.report)
    }

    fn average(&mut self) {
        let times = &mut self.report.times;
        let per = |all: Duration, count: u64| all.checked_div(u32::try_from(count).unwrap_or(u32::MAX));
        times.recorded = per(times.recorded, self.report.recorded.passed).unwrap_or_default();
        times.schedule = per(times.schedule, self.report.tried.values().sum()).unwrap_or_default();
        if self.switches.1 > 0 {
            self.report.switches = self.switches.0 as f64 / self.switches.1 as f64;
        }
    }

    /// A find as it is reported; nothing where what differed turned out to vary by itself.
    fn find(&mut self, number: usize, mut found: Found) -> Result<Option<Find>, TestError> {
        let by_itself = |shown: &Shown| shown.attempt.kind == Kind::Observed;
        found.shown.sort_by_key(|shown| (by_itself(shown), !shown.reached, shown.attempt.order, shown.attempt.kind));
        self.prefer_the_cause(number, &mut found)?;
        let Found { failure, mut shown, recordings, deadlock, after_runs, after } = found;
        let is_usual = |shown: &Shown| judge(&shown.seen, &self.baseline, self.settings) == Effect::Same;
        let all = shown.len();
        shown.retain(|shown| !is_usual(shown));
        self.report.harmless.failed -= (all - shown.len()) as u64;
        if shown.is_empty() && recordings.is_empty() {
            let line = failure.message.as_deref().unwrap_or_default();
            self.note(format!("the output varies by itself: {line}; if that is wrong, say so by --fail-when"));
            return Ok(None);
        }
        let mut find = Find::new(failure, 0, after_runs, after);
        let mut shown = shown.into_iter();
        match shown.next() {
            Some(best) => {
                find.kind = Some(best.attempt.kind);
                find.seed = best.attempt.seed;
                find.title = Some(story::title(&best.attempt));
                find.story = story::lines(&best.attempt, best.triple.as_ref());
                find.story.extend(deadlock);
                find.schedule = best.attempt.witness.clone();
                self.shorten(number, &best.attempt, &mut find)?;
            }
            None => {
                let Some((seed, folder)) = recordings.first() else { return Ok(None) };
                find.seed = *seed;
                find.schedule = folder.clone();
                find.story = deadlock;
                let plan = recorder::Plan::of_recording(folder)?;
                let mut short = plan.clone();
                if number < MOST_SHORTENED {
                    find.replays = self.count_replays(&find.failure, &plan)?;
                    short.turns = self.turns_that_matter(&plan, &find.failure)?;
                }
                find.turns = (plan.turns.len(), short.turns.len());
                if find.story.is_empty() {
                    find.story = recorder::turns_in_words(folder, &self.positions, &short.turns, MOST_TURNS_TOLD)?;
                }
            }
        }
        let mut others: Vec<String> = shown.map(|shown| other_line(&shown.attempt)).collect();
        others.sort();
        others.dedup();
        find.others = others;
        Ok(Some(find))
    }

    /// Turns of a recorded run that failed, without those that it fails without.
    fn turns_that_matter(
        &mut self,
        plan: &recorder::Plan,
        failure: &Failure,
    ) -> Result<Vec<recorder::Turn>, TestError> {
        if failure.is_hang() {
            return Ok(plan.turns.clone());
        }
        fewest(plan.turns.clone(), MOST_SHORTER, |turns| {
            let next = recorder::Plan { turns: turns.to_vec(), ..plan.clone() };
            Ok(self.replays(&next, CERTAIN as u32, failure)? as usize == CERTAIN)
        })
    }

    /// Puts first a schedule that fails by the order of its three accesses alone, where there is one: then these are the cause. Others may
    /// fail by what their schedules do besides.
    fn prefer_the_cause(&mut self, number: usize, found: &mut Found) -> Result<(), TestError> {
        if found.shown.len() < 2 || found.failure.is_hang() || number >= MOST_SHORTENED {
            return Ok(());
        }
        let file = self.work.join(format!("cause-{number}.json"));
        for at in 0..found.shown.len().min(MOST_COMPARED) {
            if self.is_stopped() {
                break;
            }
            let attempt = &found.shown[at].attempt;
            if attempt.cycle.is_some() {
                continue; // without its schedule it has no order to keep
            }
            Shortened::read(&attempt.witness)?.without_schedule().write(&file)?;
            let plan = plan_of(&file, &attempt.recording)?;
            if self.replays(&plan, CERTAIN as u32, &found.failure)? as usize == CERTAIN {
                found.shown[..=at].rotate_right(1);
                break;
            }
        }
        Ok(())
    }

    /// Makes the schedule of a find shorter, and replays it.
    fn shorten(&mut self, number: usize, attempt: &Attempt, find: &mut Find) -> Result<(), TestError> {
        let long = Shortened::read(&attempt.witness)?;
        find.turns = (long.turns(), long.turns());
        if number >= MOST_SHORTENED || self.is_stopped() {
            return Ok(());
        }
        let file = self.work.join(format!("find-{number}.json"));
        let mut short = long;
        if !find.failure.is_hang() && attempt.recording.is_dir() {
            let failure = find.failure.clone();
            short = short.minimise(|next| {
                next.write(&file)?;
                let plan = plan_of(&file, &attempt.recording)?;
                let failed = self.replays(&plan, CERTAIN as u32, &failure)?;
                Ok(failed as usize == CERTAIN)
            })?;
        }
        short.write(&file)?;
        find.turns.1 = short.turns();
        find.schedule = file.clone();
        let plan = plan_of(&file, &attempt.recording)?;
        find.replays = self.count_replays(&find.failure, &plan)?;
        Ok(())
    }

    fn count_replays(&mut self, failure: &Failure, plan: &recorder::Plan) -> Result<Option<(u32, u32)>, TestError> {
        let times = if failure.is_hang() { REPLAYS_OF_HANG.min(self.settings.replays) } else { self.settings.replays };
        if times == 0 || self.is_stopped() {
            return Ok(None);
        }
        let failed = self.replays(plan, times, failure)?;
        Ok(Some((failed, times)).filter(|_| !self.is_stopped()))
    }

    /// Of so many replays, how many fail in this way.
    fn replays(&mut self, plan: &recorder::Plan, times: u32, failure: &Failure) -> Result<u32, TestError> {
        let numbers: Vec<u32> = (0..times).collect();
        let mut failed = 0;
        for batch in numbers.chunks(self.settings.jobs) {
            let (runner, work) = (&self.runner, self.work);
            let made = parallel(batch, |number| runner.replay(plan, &work.join(format!("again-{number}"))));
            for ran in made {
                let ran = match ran {
                    Ok(ran) => ran,
                    Err(error) if is_stopped(&error) || cut_of(&error).is_some() => continue,
                    Err(error) => return Err(error),
                };
                self.report.times.running += ran.took;
                let effect = judge(&ran.seen, &self.baseline, self.settings);
                let same = |other: &Failure| other.signature() == failure.signature();
                failed += u32::from(matches!(&effect, Effect::Failed(other) if same(other)));
            }
        }
        Ok(failed)
    }
}

/// Another schedule that leads to a known failure.
fn other_line(attempt: &Attempt) -> String {
    let places = attempt.accesses.each_ref().map(|access| access.place.as_str()).join(", ");
    format!("{} ({places})", story::title(attempt))
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

//! Records runs, judges them, and learns what the program does by itself.

use super::{CERTAIN, Campaign, SEEDS, TRIED_IN_ROUND, parallel};
use crate::attempt::{Attempt, Kind};
use crate::baseline::Baseline;
use crate::judge::{Effect, judge};
use crate::observation::Observation;
use crate::predicting::{MOST_OBSERVED, own_lines};
use crate::report::{ENDLESS_UNRECORDED, FAILS_UNRECORDED};
use crate::runner::{Ran, Unrecorded, cut_of, is_search, is_stopped, is_usual, seeds_of_serial_runs};
use crate::settings::TestError;
use crate::state::Shown;
use crate::whole_turns::{ends_of_turns, goes_by_turns};
use foretrace_harness::{self as recorder, OwnLines, Scheduling};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// More runs are recorded in the end for as long as all took before, and at least for this long.
const SHORTEST_SEARCH: Duration = Duration::from_secs(3);
/// Runs without recording before the first difference in output counts, and after how long no more are made.
const WIDE: u64 = 20;
const LONG_NATIVE: Duration = Duration::from_secs(10);
/// Recorded runs of one thread after the other that are made then, at most, and as many of whole turns.
const WIDE_SERIAL: usize = 8;
/// Recording takes one part in so many of all time in a round; what is left of the round comes later.
const PART_OF_ROUND: u32 = 16;
/// What is told where that may come of the command of `--harness`.
const SAME_FILES: &str =
    "runs go on at the same time: if the harness writes files, give each run a folder (--sandbox), or take --jobs 1";
/// Threads of a run that does not end whose places are told.
const MOST_TOLD: usize = 4;

/// A longer run is not analysed for where its loops begin a turn.
const MOST_STEPS: u64 = 200_000;

/// How many records a run has.
fn steps_in_all(ran: &Ran) -> u64 {
    Scheduling::steps_of(ran.folder.path()).into_iter().sum()
}

/// The runs in the order of how many records they have, those of about as many as they were. A program may end while its threads are at work:
/// a run in which they have done little says little of them. What a thread does again and again while it waits in a loop says nothing.
fn by_records(mut runs: Vec<(u64, Ran)>) -> Vec<(u64, Ran)> {
    let records = |ran: &Ran| steps_in_all(ran).saturating_sub(Scheduling::repeated(ran.folder.path()));
    runs.sort_by_cached_key(|(_, ran)| Reverse(records(ran).checked_ilog2()));
    runs
}

impl Campaign<'_> {
    /// How many more runs may be recorded.
    pub(super) fn runs_left(&self) -> u64 {
        let begun = self.state.next_seed - self.settings.seed;
        self.settings.runs.saturating_sub(begun) + self.state.cut_off.len() as u64
    }

    /// Records more runs, for as long as all took before, if nothing has failed and not all interleavings were explored. Some failures
    /// take several interruptions, and no schedule aims at these.
    pub(super) fn search(&mut self) -> Result<(), TestError> {
        if self.state.report.explored.as_ref().is_some_and(|explored| explored.complete) {
            return Ok(());
        }
        let most = self.state.searching + self.elapsed().max(SHORTEST_SEARCH);
        while self.state.found.is_empty() && !self.is_over() && self.state.searching < most && self.search_on()? {
            while !self.is_over() && self.attempts(TRIED_IN_ROUND)? > 0 {}
        }
        Ok(())
    }

    /// Searches by a few more recorded runs. Says whether `--runs` allowed any.
    pub(super) fn search_on(&mut self) -> Result<bool, TestError> {
        let start = Instant::now();
        let left = self.runs_left().min(SEEDS);
        if left > 0 {
            let passing = self.record(left)?;
            self.predict_cheaply(by_records(passing))?;
        }
        self.state.searching += start.elapsed();
        Ok(left > 0)
    }

    /// Makes the schedules of runs that passed wait: of the one with most records, and of others for as long as the analysis of all takes less time than
    /// running the program. Says how many classes are new.
    pub(super) fn predict_all(&mut self, passing: Vec<(u64, Ran)>) -> Result<usize, TestError> {
        let mut passing = by_records(passing).into_iter();
        let new = match passing.next() {
            Some((seed, ran)) => self.predict(seed, ran.folder.path())?,
            None => 0,
        };
        Ok(new + self.predict_cheaply(passing)?)
    }

    fn predict_cheaply(&mut self, passing: impl IntoIterator<Item = (u64, Ran)>) -> Result<usize, TestError> {
        let mut new = 0;
        for (seed, ran) in passing {
            let times = &self.state.report.times;
            if times.predicting < times.running && self.under_way.is_none() && !self.is_over() {
                new += self.predict(seed, ran.folder.path())?;
                if !self.is_stopped() && !self.is_under_way(seed) {
                    self.state.unpredicted.retain(|(other, _)| *other != seed); // it was not owed
                }
            }
            if !self.is_under_way(seed) {
                self.remove_unneeded(&ran);
            }
        }
        Ok(new)
    }

    /// Removes the recording of a run that nothing needs.
    fn remove_unneeded(&self, ran: &Ran) {
        let folder = ran.folder.path();
        let is_kept = |kept: &PathBuf| kept == folder;
        if !self.passing.iter().any(is_kept) && !self.state.recordings().iter().any(is_kept) {
            let _ = std::fs::remove_dir_all(folder.parent().unwrap_or(folder));
        }
    }

    /// Records so many runs. Returns those that passed, with their seeds.
    pub(super) fn record(&mut self, count: u64) -> Result<Vec<(u64, Ran)>, TestError> {
        let most = self.state.cut_off.len().min(count as usize);
        let again: Vec<u64> = self.state.cut_off.drain(..most).collect();
        let seeds: Vec<u64> = again.into_iter().chain(self.state.next_seed..).take(count as usize).collect();
        let (mut passing, mut begun, start) = (Vec::new(), 0, Instant::now());
        for batch in seeds.chunks(self.jobs()) {
            let (runner, work) = (&self.runner, self.work);
            let record = |seed: &u64| runner.record(*seed, &work.place(format!("seed-{seed}")));
            for (seed, ran) in batch.iter().zip(parallel(batch, record)) {
                if ran.as_ref().err().is_some_and(is_stopped) {
                    self.state.cut_off.push(*seed);
                }
                passing.extend(self.take_recorded(*seed, ran)?.map(|ran| (*seed, ran)));
            }
            self.tell();
            begun += batch.len();
            self.state.next_seed = batch.iter().fold(self.state.next_seed, |next, seed| next.max(seed + 1));
            let is_long = self.settings.time.is_some_and(|time| start.elapsed() >= time / PART_OF_ROUND);
            if self.is_over() || is_long {
                break;
            }
        }
        let next = self.state.next_seed;
        self.state.cut_off.extend(seeds[begun..].iter().filter(|seed| **seed < next));
        Ok(passing)
    }

    /// Takes a recorded run; gives it back where it passed.
    pub(super) fn take_recorded(&mut self, seed: u64, ran: Result<Ran, TestError>) -> Result<Option<Ran>, TestError> {
        let ran = match ran {
            Ok(ran) => ran,
            Err(error) if is_stopped(&error) => return Ok(None),
            Err(error) => match cut_of(&error) {
                Some(cut) if self.state.report.recorded.passed > 0 => {
                    self.note(format!("a recorded run was given up: the program {cut}"));
                    return Ok(None);
                }
                Some(cut) => return Err(TestError::Cut(cut)),
                None => return Err(error),
            },
        };
        self.state.runs += 1;
        self.state.report.times.running += ran.took;
        self.work.learn(ran.folder.path());
        for said in &ran.said {
            self.note(said.clone());
        }
        if ran.seen.ending == recorder::Ending::Hang && self.state.baseline.runs() == 0 && self.state.found.is_empty() {
            return Err(self.endless(&ran));
        }
        // What a run with usual turns writes is usual. A run with short ones is tried as a schedule is.
        let effect = if is_usual(seed) {
            judge(&ran.seen, &Baseline::default(), self.settings)
        } else if is_search(seed) {
            self.judge_search(&ran.seen)?
        } else {
            self.judge_widely(&ran.seen)?
        };
        match effect {
            Effect::Same if ran.released => {
                self.let_go += 1;
                self.note_release();
                Ok(None)
            }
            Effect::Same => {
                self.state.report.recorded.passed += 1;
                self.state.report.times.recorded += ran.took;
                if is_usual(seed) {
                    self.state.baseline.add(&ran.seen);
                    self.forget_usual();
                }
                self.state.slowest = self.state.slowest.max(ran.took);
                self.runner.learn(self.state.slowest);
                Ok(Some(ran))
            }
            Effect::Failed(_) => {
                self.state.report.recorded.failed += 1;
                self.failed_recording(seed, ran)?;
                Ok(None)
            }
        }
    }

    /// Failures that are no more than output which is known as usual now are none any more: the output varies by itself.
    fn forget_usual(&mut self) {
        let is_usual = |seen: &Observation| judge(seen, &self.state.baseline, self.settings) == Effect::Same;
        let is_steady = self.state.baseline.is_steady();
        let report = &mut self.state.report;
        let mut lines = Vec::new();
        for found in &mut self.state.found {
            if !found.failure.is_output() {
                continue;
            }
            let (shown, recorded) = (found.shown.len(), found.recordings.len());
            found.shown.retain(|shown| !is_usual(&shown.seen));
            let is_explored = found.is_explored;
            let counts = |((seed, _), seen): (&(u64, PathBuf), &Observation)| {
                !is_usual(seen) && (is_steady || !is_explored && !is_search(*seed))
            };
            let unusual: Vec<bool> = found.recordings.iter().zip(&found.seen).map(counts).collect();
            let (mut recordings, mut seen) = (unusual.iter(), unusual.iter());
            found.recordings.retain(|_| recordings.next().copied().unwrap_or(true));
            found.seen.retain(|_| seen.next().copied().unwrap_or(true));
            let passed = (recorded - found.recordings.len()) as u64;
            report.harmless.failed -= (shown - found.shown.len()) as u64;
            (report.recorded.failed, report.recorded.passed) =
                (report.recorded.failed.saturating_sub(passed), report.recorded.passed + passed);
            let is_kept = |(_, folder): &(u64, PathBuf)| found.recordings.iter().any(|(_, other)| other == folder);
            found.unexplained =
                found.unexplained.take().filter(|recording| found.shown.len() == shown || is_kept(recording));
            if found.ways() == 0 {
                lines.extend(found.failure.message.clone());
            }
        }
        self.state.found.retain(|found| found.ways() > 0);
        for line in lines {
            self.note(format!("the output varies by itself: {line}; if that is wrong, say so by --fail-when"));
        }
    }

    /// That no run ends, and where threads were last in this one.
    fn endless(&mut self, ran: &Ran) -> TestError {
        let learned = self.positions.learn(ran.folder.path());
        let places =
            learned.and_then(|()| recorder::last_places(ran.folder.path(), (&self.positions, &OwnLines::default())));
        let line = |(name, place): (String, String)| format!("{name} after {place}");
        let threads = places.map(|places| places.into_iter().map(line).take(MOST_TOLD).collect()); // they are an extra
        TestError::Endless(self.runner.limit(), threads.unwrap_or_default())
    }

    /// Says that a run took too long under the controller, and ended without it: that is no hang of the program.
    pub(super) fn note_release(&mut self) {
        let limit = self.runner.limit().as_secs();
        self.note(format!(
            "a run was let go after {limit} s under control, and ended: it does not count (more: --run-limit)"
        ));
    }

    /// A recorded run that failed by itself: the triples that it shows are tried, so that there is a story to tell.
    pub(super) fn failed_recording(&mut self, seed: u64, ran: Ran) -> Result<(), TestError> {
        let Effect::Failed(failure) = judge(&ran.seen, &self.state.baseline, self.settings) else { return Ok(()) };
        let (at, is_new) = self.found_at(failure);
        let folder = ran.folder.path().to_path_buf();
        self.state.found[at].recordings.push((seed, folder));
        self.state.found[at].seen.push(ran.seen.clone());
        self.positions.learn(ran.folder.path())?;
        self.explain_deadlock(at, &ran)?;
        if is_new {
            self.state.found[at].unexplained = self.state.found[at].recordings.first().cloned();
        }
        self.explain(at)
    }

    /// Tries the triples that the first run shows that failed, so that there is a story to tell, if that was not done. A run whose analysis takes
    /// long is explained in the end.
    pub(super) fn explain(&mut self, at: usize) -> Result<(), TestError> {
        self.explain_within(at, self.first_to_explain())
    }

    /// Explains what no schedule explains whose analysis took too long before.
    pub(super) fn explain_the_rest(&mut self) -> Result<(), TestError> {
        for at in 0..self.state.found.len() {
            let has_story = self.state.found[at].shown.iter().any(Shown::tells_cause);
            if !has_story {
                self.explain_within(at, self.most_analysis())?;
            }
        }
        Ok(())
    }

    fn explain_within(&mut self, at: usize, most: Duration) -> Result<(), TestError> {
        let is_late = self.is_late(); // where the test stops after a failure, that failure is still explained
        // It may have turned out to be none meanwhile.
        let Some(found) = self.state.found.get_mut(at).filter(|found| !is_late && !found.failure.is_hang()) else {
            return Ok(());
        };
        let Some((seed, recording)) = found.unexplained.take() else { return Ok(()) };
        let predicted = match self.analyse_failed(&recording, seed, most) {
            Ok(predicted) => predicted,
            Err(TestError::Late) => {
                self.state.found[at].unexplained = Some((seed, recording));
                return Ok(());
            }
            Err(_) => return Ok(()), // its own schedule tells enough
        };
        let mut observed: Vec<Attempt> = predicted.attempts;
        observed.retain(|attempt| attempt.kind == Kind::Observed);
        observed.sort_by_key(|attempt| attempt.rank);
        observed.truncate(MOST_OBSERVED);
        for batch in observed.chunks(self.jobs()) {
            for stopped in self.try_all(batch.to_vec())? {
                self.state.plan.keep(stopped);
            }
            if self.state.found.get(at).is_some_and(|found| found.shown.iter().any(Shown::tells_cause)) {
                break;
            }
        }
        Ok(())
    }

    /// Notes who waits for whom in a run that ended in a deadlock, or hangs where every thread waits.
    pub(super) fn explain_deadlock(&mut self, at: usize, ran: &Ran) -> Result<(), TestError> {
        let may_wait = matches!(ran.seen.ending, recorder::Ending::Deadlock | recorder::Ending::Hang);
        if may_wait && self.state.found[at].deadlock.is_empty() {
            let recording = ran.folder.path();
            let lines = own_lines(recording, &self.settings.walk);
            self.state.found[at].deadlock =
                recorder::deadlock_in_words(&ran.output, recording, (&self.positions, &lines))?;
        }
        Ok(())
    }

    /// What came of a run; before the first difference in output counts, more is learnt of what varies by itself.
    pub(super) fn judge_widely(&mut self, seen: &Observation) -> Result<Effect, TestError> {
        let effect = judge(seen, &self.state.baseline, self.settings);
        let differs = matches!(&effect, Effect::Failed(failure) if failure.is_output());
        if !differs || self.state.is_baseline_wide {
            return Ok(effect);
        }
        self.widen_baseline()?;
        Ok(judge(seen, &self.state.baseline, self.settings))
    }

    /// What came of a run by a scheduler that searches: what it writes counts only where nothing varies by itself.
    fn judge_search(&mut self, seen: &Observation) -> Result<Effect, TestError> {
        if self.state.baseline.is_steady() {
            let effect = self.judge_widely(seen)?;
            if self.state.baseline.is_steady() {
                return Ok(effect);
            }
        }
        Ok(judge(seen, &self.state.baseline, self.settings).but_for_output())
    }

    /// Learns more of what varies by itself, once.
    pub(super) fn widen_baseline(&mut self) -> Result<(), TestError> {
        if !std::mem::replace(&mut self.state.is_baseline_wide, true) {
            self.unrecorded(WIDE, LONG_NATIVE)?;
            self.serial_runs()?;
            self.state.is_baseline_wide = !self.is_stopped();
        }
        Ok(())
    }

    /// Learns what the program writes where one thread runs after the other, and where whole turns of their loops do.
    fn serial_runs(&mut self) -> Result<(), TestError> {
        let until = Instant::now() + LONG_NATIVE;
        let mut seeds = seeds_of_serial_runs(self.settings.seed);
        let mut passing = self.serial_runs_of(seeds.by_ref().take(1).collect(), &[], until)?;
        let others = passing.first().map_or(0, |ran| Scheduling::steps_of(ran.folder.path()).len().saturating_sub(1));
        // Where one thread alone is not the first, there is hardly more than one order.
        let orders = others.min(WIDE_SERIAL).pow(2).min(WIDE_SERIAL);
        passing.extend(self.serial_runs_of(seeds.by_ref().take(orders).collect(), &[], until)?);
        let short = passing.iter().find(|ran| steps_in_all(ran) <= MOST_STEPS);
        let ends = short.map(|ran| ends_of_turns(ran.folder.path(), &self.settings.walk).unwrap_or_default());
        passing.iter().for_each(|ran| self.remove_unneeded(ran));
        let ends = ends.filter(|ends| others > 1 && ends.iter().any(|of_thread| !of_thread.is_empty()));
        if let Some(ends) = ends {
            for ran in self.serial_runs_of(seeds.take(WIDE_SERIAL).collect(), &ends, until)? {
                self.state.baseline.note_turns(&ran.seen);
                self.remove_unneeded(&ran);
            }
        }
        Ok(())
    }

    /// Records runs of one thread after the other, and gives those that passed and, if others may go on after some records, are of whole turns.
    fn serial_runs_of(&mut self, seeds: Vec<u64>, ends: &[Vec<u64>], until: Instant) -> Result<Vec<Ran>, TestError> {
        let mut passing = Vec::new();
        for batch in seeds.chunks(self.jobs()) {
            if self.is_over() || Instant::now() > until {
                break;
            }
            let (runner, work) = (&self.runner, self.work);
            let made = parallel(batch, |seed| runner.record_turns(*seed, ends, &work.place(format!("serial-{seed}"))));
            for (seed, ran) in batch.iter().zip(made) {
                // A run that is interrupted within a turn says nothing of usual output. If it fails, it is a find all the same.
                let says_nothing = |ran: &Ran| {
                    judge(&ran.seen, &Baseline::default(), self.settings) == Effect::Same
                        && !goes_by_turns(ran.folder.path(), &self.settings.walk, ends).unwrap_or(false)
                };
                match ran {
                    Ok(ran) if !ends.is_empty() && says_nothing(&ran) => self.remove_unneeded(&ran),
                    ran => passing.extend(self.take_recorded(*seed, ran)?),
                }
            }
        }
        Ok(passing)
    }

    /// How many runs go on at a time.
    pub(super) fn jobs(&self) -> usize {
        if self.state.is_one_by_one { 1 } else { self.settings.jobs }
    }

    /// Makes that runs go on one at a time if these, which went on at the same time, met in a file or a socket. Says whether it was so.
    fn is_one_by_one_now(&mut self, made: &[Result<Unrecorded, TestError>]) -> bool {
        let mut all = BTreeSet::new();
        let mut names = made.iter().flatten().flat_map(|ran| &ran.names);
        let Some(shared) = names.find(|name| !all.insert(*name)) else { return false };
        let (name, is_socket) = match shared.strip_prefix("socket ") {
            Some(path) => (path, true),
            None => (shared.as_str(), shared.starts_with("port ")),
        };
        let here = self.settings.directory.clone().or_else(|| std::env::current_dir().ok());
        let name = here.and_then(|here| Path::new(name).strip_prefix(here).ok()).unwrap_or(Path::new(name)).display();
        let way = if is_socket { "binds" } else { "writes" };
        let hint = if is_socket || self.settings.sandbox { "" } else { " (--sandbox gives each a folder of its own)" };
        self.note(format!("one run at a time, since each {way} {name}{hint}"));
        self.state.is_one_by_one = true;
        true
    }

    /// Runs the program so many times without recording it, to see what it writes.
    pub(super) fn unrecorded(&mut self, count: u64, most: Duration) -> Result<(), TestError> {
        let (start, limit) = (Instant::now(), self.runner.limit());
        let (mut failure, mut hung, mut slowest) = (None, 0_u32, Duration::ZERO);
        let mut next = 0;
        while next < count {
            let batch: Vec<u64> = (next..count).take(self.jobs()).collect();
            // Where these do not end, recorded runs say whether that is a deadlock.
            let is_endless = hung >= CERTAIN as u32 && self.state.baseline.runs() == 0;
            if start.elapsed() > most || self.is_over() || is_endless {
                break;
            }
            let (runner, work) = (&self.runner, self.work);
            let made = parallel(&batch, |number| runner.run_unrecorded(&work.place(format!("native-{number}"))));
            if self.is_one_by_one_now(&made) {
                continue; // they may have disturbed each other
            }
            next += batch.len() as u64;
            for ran in made {
                let Unrecorded { seen, took, .. } = match ran {
                    Ok(ran) => ran,
                    Err(error) if is_stopped(&error) => return Ok(()),
                    Err(error) => return Err(cut_of(&error).map_or(error, TestError::Cut)),
                };
                self.state.runs += 1;
                self.state.report.times.running += took;
                hung += u32::from(seen.ending == recorder::Ending::Hang);
                match judge(&seen, &Baseline::default(), self.settings) {
                    Effect::Same => {
                        slowest = slowest.max(took);
                        self.state.baseline.add_unrecorded(&seen);
                        self.forget_usual();
                    }
                    Effect::Failed(failed) if failed.is_hang() => {}
                    Effect::Failed(failed) => failure = failure.or(Some(failed)),
                }
            }
        }
        if self.state.report.recorded.passed == 0 && !slowest.is_zero() {
            self.state.slowest_unrecorded = self.state.slowest_unrecorded.max(slowest);
            self.runner.learn_unrecorded(slowest);
        }
        if hung > 0 && !self.state.report.is_endless_unrecorded() {
            self.note(format!("{ENDLESS_UNRECORDED} {:.0} s (more: --run-limit)", limit.as_secs_f64()));
        }
        if let Some(failure) = failure {
            if !self.state.report.fails_unrecorded() {
                self.note(format!("{FAILS_UNRECORDED}: {failure}"));
            }
            let settings = self.settings;
            if settings.harness.is_some() && !settings.sandbox && settings.jobs > 1 {
                self.note(SAME_FILES.to_string());
            }
        }
        Ok(())
    }
}

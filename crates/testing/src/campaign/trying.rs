//! Predicts from recorded runs and tries the schedules that come of it.

use super::{Campaign, parallel, plan_of};
use crate::attempt::Attempt;
use crate::judge::Effect;
use crate::plan::Gain;
use crate::predicting::{Analysis, Predicted, UnderWay};
use crate::runner::{Ran, cut_of, is_stopped};
use crate::settings::{Predict, TestError};
use crate::state::Shown;
use crate::story;
use foretrace_harness::{self as recorder, Outcome, ReplayError};
use std::path::Path;
use std::time::{Duration, Instant};

/// Recorded runs that passed and failing ones are compared with.
const MOST_COMPARED: usize = 3;
/// While schedules wait and nothing has failed, one part in this many of the time goes to runs that search.
const SHARE_OF_SEARCH: u32 = 4;
/// All analysis together takes as long as all runs do, and this.
const FREE_ANALYSIS: Duration = Duration::from_secs(1);
/// The analysis of one recorded run takes at most one part in so many of the time that a test has, and is waited for at most so many parts of
/// so many: without it there are still runs to explore.
const PART_TO_ANALYSE: u32 = 3;
const MOST_ANALYSIS: (u32, u32) = (3, 5);
/// The first analysis that takes so many parts of the time, and at least this long, goes on while threads are held.
const PART_TO_WAIT_FIRST: u32 = 10;
const SHORTEST_FIRST_WAIT: Duration = Duration::from_secs(1);
/// But not where a recorded run has more records: each run takes long then.
const MOST_RECORDS_MEANWHILE: u64 = 300_000;
/// But the analysis of one recorded run may take this long in any case.
const SHORTEST_ANALYSIS: Duration = Duration::from_millis(300);

/// The note where a run failed in which the controller let a time limit pass.
const LATE: &str =
    "in a run that failed a wait ended at its time limit, since foretrace held other threads back for as long";

impl Campaign<'_> {
    pub(super) fn predict_limit(&self) -> Duration {
        let times = &self.state.report.times;
        let fair = (times.running + FREE_ANALYSIS).saturating_sub(times.predicting).max(SHORTEST_ANALYSIS);
        let share = self.settings.time.map_or(Duration::MAX, |time| time / PART_TO_ANALYSE);
        self.time_to_search().min(self.settings.predict_limit).min(fair).min(share)
    }

    /// How long the analysis of a recorded run that failed is waited for, while much else is still to be done: such a run may be many times as long
    /// as those that pass.
    pub(super) fn first_to_explain(&self) -> Duration {
        let most = self.most_analysis();
        let part = |time: Duration| most.min((time / PART_TO_WAIT_FIRST).max(SHORTEST_FIRST_WAIT));
        self.settings.time.map_or(most, part)
    }

    /// Makes attempts of a recorded run that failed, and waits so long for them.
    pub(super) fn analyse_failed(
        &mut self,
        recording: &Path,
        seed: u64,
        most: Duration,
    ) -> Result<Predicted, TestError> {
        let analysis = Analysis::begin(recording, (seed, true), self.settings, (self.predict_limit(), most));
        self.wait_for(&analysis, most)
    }

    /// How long the analysis of one recorded run is waited for.
    pub(super) fn most_analysis(&self) -> Duration {
        let share = |time: Duration| self.time_to_search().min(time / MOST_ANALYSIS.1 * MOST_ANALYSIS.0);
        self.settings.time.map_or(Duration::MAX, share)
    }

    /// Waits so long for an analysis, and takes what it says of the program.
    fn wait_for(&mut self, analysis: &Analysis, most: Duration) -> Result<Predicted, TestError> {
        let start = Instant::now();
        let predicted = analysis.wait(start.checked_add(most), self.settings);
        self.state.report.times.predicting += start.elapsed();
        if let Ok(predicted) = &predicted {
            self.state.unseen.extend(predicted.unseen.iter().cloned());
            self.state.not_held.extend(predicted.not_held.iter().cloned());
            for (place, (ways, text)) in &predicted.branches {
                let (known, line) = self.state.branches.entry(place.clone()).or_default();
                *known = known.and(*ways);
                *line = line.take().or_else(|| text.clone());
            }
        }
        predicted
    }

    /// Makes a recorded run's schedules wait; says how many classes are new. An analysis that takes long goes on while threads are held, if
    /// that is still to be done.
    pub(super) fn predict(&mut self, seed: u64, recording: &Path) -> Result<usize, TestError> {
        if self.settings.predict == Predict::CutPoints && self.is_over() {
            self.state.unpredicted.push((seed, recording.to_path_buf()));
            return Ok(0);
        }
        self.finish_analysis()?;
        let most = self.most_analysis();
        let analysis = Analysis::begin(recording, (seed, false), self.settings, (self.predict_limit(), most));
        let first = match self.settings.time {
            Some(time) if self.may_explore_meanwhile() => {
                most.min((time / PART_TO_WAIT_FIRST).max(SHORTEST_FIRST_WAIT))
            }
            _ => most,
        };
        match self.wait_for(&analysis, first) {
            Err(TestError::Late) if first < most && !self.is_over() => {
                self.state.unpredicted.push((seed, recording.to_path_buf()));
                self.under_way = Some(UnderWay { seed, recording: recording.to_path_buf(), analysis });
                Ok(0)
            }
            predicted => self.take_predicted(seed, recording, predicted),
        }
    }

    /// Whether there is something else to do while a recorded run is analysed.
    fn may_explore_meanwhile(&self) -> bool {
        let report = &self.state.report;
        let is_tested = report.recorded.passed > 0 && self.state.found.is_empty();
        let records: u64 = self.runner.steps().iter().sum();
        is_tested && !self.has_explored && report.explored.is_none() && records <= MOST_RECORDS_MEANWHILE
    }

    /// Whether the analysis of the run of this seed goes on.
    pub(super) fn is_under_way(&self, seed: u64) -> bool {
        self.under_way.as_ref().is_some_and(|under_way| under_way.seed == seed)
    }

    /// Waits for the analysis that went on while something else was done.
    pub(super) fn finish_analysis(&mut self) -> Result<(), TestError> {
        if let Some(UnderWay { seed, recording, analysis }) = self.under_way.take() {
            let predicted = self.wait_for(&analysis, self.most_analysis());
            self.state.unpredicted.retain(|(other, _)| *other != seed);
            self.take_predicted(seed, &recording, predicted)?;
        }
        Ok(())
    }

    /// Makes the schedules wait that the analysis of a recorded run has given; says how many classes are new.
    fn take_predicted(
        &mut self,
        seed: u64,
        recording: &Path,
        predicted: Result<Predicted, TestError>,
    ) -> Result<usize, TestError> {
        let predicted = match predicted {
            Ok(_) if self.is_over() => {
                self.state.unpredicted.push((seed, recording.to_path_buf())); // a part alone: the limit has cut it off
                return Ok(0);
            }
            Ok(predicted) => predicted,
            Err(TestError::Late) => {
                if self.state.report.size.events == 0 && !self.user_wants_no_more() {
                    self.note(
                        "the recorded runs are so long that none was analysed in time (more: --time)".to_string(),
                    );
                }
                self.state.unpredicted.push((seed, recording.to_path_buf()));
                return Ok(0);
            }
            Err(TestError::Walk(error)) => {
                if self.state.report.without_trace == 0 {
                    self.note(format!("a recorded run gives no trace: {error}"));
                }
                self.state.report.without_trace += 1;
                return Ok(0);
            }
            Err(error) => return Err(error),
        };
        self.state.report.harmless.already = self.state.report.harmless.already.max(predicted.already);
        self.state.report.harmless.impossible = self.state.report.harmless.impossible.max(predicted.impossible);
        let events = predicted.size.events;
        self.state.fewest_events = Some(self.state.fewest_events.map_or(events, |fewest| fewest.min(events)));
        if events >= self.state.report.size.events {
            self.state.report.size = predicted.size;
        }
        self.positions.learn(recording)?;
        self.state.plan.note_shown(&predicted.shown);
        self.note_open((recording, seed), events, predicted.open_checks);
        if self.passing.len() < MOST_COMPARED {
            self.passing.push(recording.to_path_buf());
        }
        Ok(self.state.plan.add(predicted.attempts))
    }

    /// Tries the best of the schedules that wait, at most so many; says how many.
    pub(super) fn attempts(&mut self, most: usize) -> Result<usize, TestError> {
        let mut tried = 0;
        while tried < most && !self.is_over() {
            self.explore_in_time()?;
            if self.is_over() {
                break;
            }
            let is_at_work = tried > 0 || self.state.plan.waiting() == 0; // what is known comes first
            let may_show_more = !self.has_one_thread() && !self.state.report.has_all_interleavings();
            let is_due = self.state.searching < self.elapsed() / SHARE_OF_SEARCH;
            if is_at_work && may_show_more && self.state.found.is_empty() && is_due {
                self.search_on()?;
            }
            if !self.state.found.is_empty() {
                self.state.plan.drop_unlikely();
            }
            let batch = self.state.plan.next(self.jobs().min(most - tried));
            if batch.is_empty() {
                break;
            }
            tried += batch.len();
            for attempt in self.try_all(batch)? {
                self.state.plan.put_back(attempt);
            }
        }
        Ok(tried)
    }

    /// Makes the schedules of attempts that have none yet; leaves out those that have none at all.
    fn with_schedules(&mut self, batch: Vec<Attempt>) -> Result<Vec<Attempt>, TestError> {
        let start = Instant::now();
        let mut with = Vec::new();
        for mut attempt in batch {
            if self.deferred.make(&mut attempt, self.settings)? {
                with.push(attempt);
            } else {
                self.state.plan.learn(&attempt, Gain::Nothing);
            }
        }
        self.state.report.times.predicting += start.elapsed();
        Ok(with)
    }

    /// Tries schedules at the same time. Gives back those that were stopped.
    pub(super) fn try_all(&mut self, batch: Vec<Attempt>) -> Result<Vec<Attempt>, TestError> {
        let batch = self.with_schedules(batch)?;
        let (runner, first, work) = (&self.runner, self.state.runs, self.work);
        let numbered: Vec<(u64, &Attempt)> = (first..).zip(&batch).collect();
        let made = parallel(&numbered, |(number, attempt)| {
            let plan = plan_of(&attempt.witness, &attempt.recording)?;
            let ran = runner.replay(&plan, &work.place(format!("run-{number}")))?;
            Ok((plan, ran))
        });
        self.state.runs += batch.len() as u64;
        let (mut new, mut stopped) = (Vec::new(), Vec::new());
        for (attempt, made) in batch.into_iter().zip(made) {
            match made {
                Err(error) if is_stopped(&error) => stopped.push(attempt),
                made => new.extend(self.take_tried(attempt, made)?),
            }
        }
        for number in first..self.state.runs {
            let _ = std::fs::remove_dir_all(self.work.place(format!("run-{number}"))); // the folder of all runs goes in the end anyway
        }
        self.tell();
        new.into_iter().try_for_each(|found| self.explain(found))?;
        Ok(stopped)
    }

    /// What a replay says of the schedule.
    pub(super) fn replayed(&mut self, plan: &recorder::Plan, ran: &Ran) -> Result<recorder::Replayed, TestError> {
        self.positions.learn(ran.folder.path())?;
        let positions = &self.positions;
        Ok(recorder::judge(plan, &ran.folder, ran.seen.ending, |record| positions.of_event(record))?)
    }

    /// Keeps a run as one that was recorded: it failed, and what its schedule says does not tell why, so that what it shows itself is to be
    /// tried.
    fn keep_failed(&mut self, found: usize, seed: u64, folder: &Path) -> Result<(), TestError> {
        let kept = self.work.place(format!("failed-{found}")).join("recording");
        let failed = |error| TestError::Io(kept.clone(), error);
        std::fs::create_dir_all(&kept).map_err(failed)?;
        std::fs::rename(folder, &kept).map_err(failed)?;
        self.state.found[found].unexplained = Some((seed, kept));
        Ok(())
    }

    fn not_reached(&mut self, attempt: &Attempt) {
        self.state.report.harmless.not_reached += 1;
        self.state.report.harmless.proved_not_reached += u64::from(attempt.kind.is_proved());
    }

    /// Takes the run along a schedule; gives the number of a failure that is new.
    fn take_tried(
        &mut self,
        attempt: Attempt,
        made: Result<(recorder::Plan, Ran), TestError>,
    ) -> Result<Option<usize>, TestError> {
        let (plan, ran) = match made {
            Ok(made) => made,
            Err(TestError::Replay(ReplayError::NoPositions)) => {
                self.not_reached(&attempt);
                *self.state.report.tried.entry(attempt.kind.name().into()).or_default() += 1;
                return Ok(None);
            }
            Err(error) => match cut_of(&error) {
                Some(cut) => {
                    self.note(format!("a schedule was given up: the program {cut}"));
                    return Ok(None);
                }
                None => return Err(error),
            },
        };
        *self.state.report.tried.entry(attempt.kind.name().into()).or_default() += 1;
        self.state.report.times.schedule += ran.took;
        self.state.report.times.running += ran.took;
        let replayed = self.replayed(&plan, &ran)?;
        let reached = !matches!(replayed.outcome, Outcome::NotReached(_));
        let effect = self.judge_widely(&ran.seen)?;
        if ran.released && effect == Effect::Same {
            self.note_release();
        }
        if reached {
            self.state.report.harmless.reached += 1;
            self.state.switches = (self.state.switches.0 + plan.turns.len() as u64, self.state.switches.1 + 1);
        } else {
            self.not_reached(&attempt);
        }
        let mut new = None;
        let gain = match effect {
            Effect::Same => {
                self.state.report.harmless.same += u64::from(reached);
                if replayed.outcome == Outcome::ToTheLetter {
                    self.state.plan.settle(&attempt.also);
                }
                let _ = std::fs::remove_file(&attempt.witness); // it is as long as the trace; the folder of all goes in the end anyway
                if reached { Gain::Reached } else { Gain::Nothing }
            }
            Effect::Failed(failure) => {
                self.state.report.harmless.failed += 1;
                if ran.seen.is_late {
                    self.note(LATE.to_string());
                }
                let (at, is_new) = self.found_at(failure);
                self.explain_deadlock(at, &ran)?;
                let Ran { seen, folder, .. } = ran;
                let story = story::lines(&attempt, replayed.triple.as_ref());
                let shown = Shown { attempt: attempt.clone(), reached, after: replayed.after, story, seen };
                let tells_cause = shown.tells_cause();
                self.state.found[at].shown.push(shown);
                if is_new && !tells_cause {
                    self.keep_failed(at, attempt.seed, folder.path())?;
                }
                new = is_new.then_some(at);
                if is_new { Gain::New } else { Gain::Known }
            }
        };
        self.state.plan.learn(&attempt, gain);
        Ok(new)
    }
}

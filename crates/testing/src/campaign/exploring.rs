//! If nothing has failed, holds threads and reverses pairs of accesses that came in one order only, and then explores the program's
//! interleavings. A program with few interleavings is explored completely.

use super::{Campaign, Progress};
use crate::baseline::Baseline;
use crate::exploring::{Bounds, Explored, Failing, Interleaving, Kept, explore_program, reverse_program};
use crate::overtime::while_not;
use crate::report::Exploration;
use crate::settings::{Settings, TestError};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Exploring takes one part in this many of the time before it.
const PART: u32 = 2;
/// But at least one part in this many of the time that a test has: small bugs in orders of three threads take hundreds of runs.
const PART_OF_ALL: u32 = 3;
/// Where no schedule waits, it takes all time but for one part in this many, which is for runs that search.
const PART_FOR_SEARCH: u32 = 4;
/// Holds and reversals leave one part in this many of that time: to explore all of a small program takes less, and is certain.
const PART_TO_EXPLORE: u32 = 3;
/// And at least so long.
const SHORTEST: Duration = Duration::from_secs(3);
/// Programs with more events in every recorded run are not explored: an interleaving more or less says little there. There are fewer pairs.
const MOST_EVENTS: usize = 10_000;
const MOST_EVENTS_FOR_PAIRS: usize = 100_000;
/// Nor if a run has more records, events or not: to look at each takes seconds.
const MOST_RECORDS: u64 = 2_000_000;
/// Runs of a program that may have hardly more than one order.
const FEW_RUNS: u64 = 10;
/// A run is cut off after so many times as many events as a recorded run has, but not before this many: a loop that waits ends only so.
const EVENTS_TIMES: usize = 10;
const LEAST_EVENTS: u64 = 100_000;
/// Nor before so many times as many records as a recorded run has. Most of these may be of one thread's own memory, and no events.
const RECORDS_TIMES: u64 = 2;

impl Campaign<'_> {
    /// Explores before all schedules are tried where half of the time is over: a small bug is not to be missed for want of time.
    pub(super) fn explore_in_time(&mut self) -> Result<(), TestError> {
        match self.settings.time {
            Some(time) if self.start.elapsed() >= time / 2 => self.explore(),
            _ => Ok(()),
        }
    }

    /// Explores the interleavings up to the first one that fails.
    pub(super) fn explore(&mut self) -> Result<(), TestError> {
        self.explore_by(self.settings.runs, false)
    }

    /// Explores them once if that takes few runs, the reversed pairs among them. Where it takes more, nothing is known, and it begins again
    /// when its time comes.
    pub(super) fn explore_a_little(&mut self) -> Result<(), TestError> {
        if std::mem::replace(&mut self.has_explored_a_little, true) || self.has_explored {
            return Ok(());
        }
        self.explore_by(FEW_RUNS.min(self.settings.runs), true)?;
        let is_known = |explored: &Exploration| explored.complete || explored.fails;
        if !self.state.report.explored.as_ref().is_some_and(is_known) {
            self.has_explored = false;
            self.state.report.explored = None;
        }
        Ok(())
    }

    /// Makes at most so many runs to reverse pairs, and as many to explore interleavings. With `pairs_must_end`
    /// it does not explore where the pairs have taken all their runs.
    fn explore_by(&mut self, runs: u64, pairs_must_end: bool) -> Result<(), TestError> {
        let is_whole = self.state.report.explored.as_ref().is_some_and(|explored| !explored.is_cut_off);
        let is_done = self.has_explored || is_whole;
        let is_tested = self.state.report.recorded.passed > 0 && self.state.found.is_empty();
        if is_done || !is_tested || self.is_over() {
            return Ok(());
        }
        let events = self.state.report.size.events;
        let fewest = self.state.fewest_events.unwrap_or(0);
        let records = self.runner.steps().iter().sum();
        if records > MOST_RECORDS {
            self.note(format!(
                "interleavings were not explored: a run has {records} records, and the most is {MOST_RECORDS}"
            ));
            return Ok(());
        }
        if fewest > MOST_EVENTS {
            self.note(format!(
                "interleavings were not explored: a run has {fewest} events, and the most is {MOST_EVENTS}"
            ));
        }
        if fewest > MOST_EVENTS_FOR_PAIRS {
            return Ok(());
        }
        self.has_explored = true;
        if self.state.baseline.is_steady() {
            self.widen_baseline()?;
        }
        let is_all = self.state.plan.waiting() == 0 && self.under_way.is_none();
        let rest = || self.time_to_search() / PART_FOR_SEARCH * (PART_FOR_SEARCH - 1);
        let share = self
            .settings
            .time
            .map_or(SHORTEST, |time| if is_all { rest() } else { Duration::ZERO }.max(time / PART_OF_ALL));
        let longest = (self.elapsed() / PART).max(share).max(SHORTEST);
        let stop = Arc::new(AtomicBool::new(false));
        let (run_limit, released) = (Some(self.runner.limit()), Some(self.runner.released()));
        let settings = Settings { run_limit, released, jobs: 1, stop: stop.clone(), ..self.settings.clone() };
        let outer = &self.settings.stop;
        let longest = longest.min(self.time_to_search());
        let deadline = Instant::now() + longest;
        let explores = fewest <= MOST_EVENTS;
        let until = deadline - longest.saturating_sub(of_pairs(longest, explores));
        let is_late = || Instant::now() >= deadline || outer.load(Ordering::Relaxed);
        let work = self.work.place("exploring");
        let (state, progress) = (&self.state, &mut *self.progress);
        let mut show = |explored: &Explored| {
            progress(Progress { explored: explored.classes, ..Progress::of_state(state) });
        };
        let kept = self.work.place("explored").join("recording");
        let explored = while_not(&is_late, &stop, || -> Result<_, TestError> {
            let mut first =
                First { subject: (&settings, &state.baseline), work: &work, kept: &kept, events, records, until };
            let reversed = first.failing(runs, true, &mut show)?;
            let are_cut_off = Instant::now() >= until;
            let must_wait = pairs_must_end && reversed.runs >= runs;
            if !reversed.failing.is_empty() || !explores || must_wait {
                return Ok((reversed, None, are_cut_off));
            }
            first.until = deadline;
            let explored = first.failing(runs, false, &mut show)?;
            // It may have seen that its time is over before others did.
            Ok((reversed, Some(explored), are_cut_off || Instant::now() >= deadline))
        });
        let _ = std::fs::remove_dir_all(&work); // the folder of all runs goes in the end anyway
        match explored {
            Ok((reversed, explored, are_cut_off)) => {
                let is_cut_off = are_cut_off || stop.load(Ordering::Relaxed);
                self.take_explored(reversed, explored.unwrap_or_default(), is_cut_off)
            }
            Err(error) => {
                self.note(format!("exploring interleavings was given up: {error}"));
                Ok(())
            }
        }
    }

    fn take_explored(&mut self, reversed: Explored, explored: Explored, is_stopped: bool) -> Result<(), TestError> {
        let Explored { classes, runs, complete, doubts, left, .. } = explored;
        self.state.runs += runs + reversed.runs;
        self.state.report.times.running += explored.running + reversed.running;
        let failing: Vec<Failing> = reversed.failing.into_iter().chain(explored.failing).collect();
        let fails = !failing.is_empty();
        let is_cut_off = !complete && !fails && is_stopped;
        let reversed = reversed.runs;
        let mut explored = Exploration { reversed, classes, runs, complete, fails, doubts, is_cut_off };
        if left > 0 && !fails {
            explored.doubt("some runs did not follow the order that was forced");
        }
        self.state.report.explored = Some(explored);
        for failing in failing {
            let Some(recording) = failing.kept else { continue };
            self.positions.learn(&recording)?;
            let (at, _) = self.found_at(failing.failure);
            let found = &mut self.state.found[at];
            found.is_explored = true;
            found.recordings.push((self.settings.seed, recording));
            found.seen.extend(failing.seen);
            found.deadlock = failing.cycle;
            found.late = failing.late;
            found.unexplained = found.recordings.first().cloned();
            self.explain(at)?;
        }
        self.tell();
        Ok(())
    }
}

/// Runs the program up to the first interleaving that fails, which is kept in a folder.
struct First<'c> {
    subject: (&'c Settings, &'c Baseline),
    work: &'c Path,
    kept: &'c Path,
    /// Events of a recorded run, the longest.
    events: usize,
    /// What it has recorded.
    records: u64,
    /// When it ends.
    until: Instant,
}

impl First<'_> {
    /// By so many runs at most, of pairs alone or of all interleavings.
    fn failing(&self, runs: u64, pairs: bool, show: &mut dyn FnMut(&Explored)) -> Result<Explored, TestError> {
        let events = LEAST_EVENTS.max((EVENTS_TIMES * self.events) as u64).max(RECORDS_TIMES * self.records);
        let bounds = Bounds { events, runs, interruptions: None };
        let mut each = |interleaving: &Interleaving<'_>| -> Result<Kept, TestError> {
            if !interleaving.fails {
                let is_over = Instant::now() >= self.until;
                return Ok(if is_over { ControlFlow::Break(None) } else { ControlFlow::Continue(None) });
            }
            interleaving.keep(self.kept)?;
            Ok(ControlFlow::Break(Some(PathBuf::from(self.kept))))
        };
        let run = if pairs { reverse_program } else { explore_program };
        run(self.subject, bounds, self.work, &mut each, show)
    }
}

/// How much of a time is for pairs of accesses, where the interleavings are explored after them, and where not.
fn of_pairs(longest: Duration, explores: bool) -> Duration {
    if explores { longest - longest / PART_TO_EXPLORE } else { longest }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program with many places and few interleavings: its pairs took all the time, and nothing was certain.
    #[test]
    fn pairs_leave_time_to_explore() {
        let longest = Duration::from_secs(30);
        assert_eq!(of_pairs(longest, true), Duration::from_secs(20));
        assert_eq!(of_pairs(longest, false), longest);
    }
}

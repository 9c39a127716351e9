//! The results of a test as plain data, which `cli` writes as text, JSON and JUnit.

use super::attempt::{Attempt, Kind};
use super::baseline::Baseline;
use super::judge::Failure;
use super::predicting::Size;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// How a note begins that a run without recording failed; how it failed follows.
pub const FAILS_UNRECORDED: &str = "the program also failed without recording";
/// How a note begins that such a run was stopped at the limit of a run.
pub const ENDLESS_UNRECORDED: &str = "without recording, the program did not end within";

/// What came of a test.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// Each failure, with the schedule that shows it best.
    #[serde(skip)]
    pub finds: Vec<Find>,
    /// Recorded runs.
    pub recorded: Recorded,
    /// What was tried and came to nothing.
    pub harmless: Harmless,
    /// Schedules that were tried, by what was known of them.
    pub tried: BTreeMap<Cow<'static, str>, u64>,
    /// Schedules that were left when a limit was reached.
    pub left: usize,
    /// Whether more runs might have brought more: a limit was reached before.
    pub ended_early: bool,
    /// Checks that no run has failed, and of which it is not decided whether another order fails them, by place.
    #[serde(default)]
    pub open_checks: Vec<String>,
    /// Whether only the user can tell if a passing run failed: a line of its output is another one, as in hardly any run without recording.
    #[serde(default)]
    pub output_is_open: bool,
    /// Recorded runs that gave no trace, so that nothing was predicted from them.
    #[serde(default)]
    pub without_trace: u64,
    /// How long things took.
    pub times: Times,
    /// The largest trace of a recorded run.
    pub size: Size,
    /// Context switches of the schedules that reached their accesses, on average.
    pub switches: f64,
    /// What exploring the program's interleavings came to, where nothing had failed before.
    pub explored: Option<Exploration>,
    /// Branches on shared memory that went one way in every recorded run that was analysed: the place, and the text of its line.
    pub one_way: Vec<(String, Option<String>)>,
    /// What the user should know of the program.
    pub notes: Vec<String>,
    /// What passing runs look like.
    #[serde(skip)]
    pub baseline: Baseline,
}

/// Recorded runs.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Recorded {
    /// How many passed.
    pub passed: u64,
    /// How many failed.
    pub failed: u64,
}

/// What came to nothing.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Harmless {
    /// Classes that passing runs show as recorded (A of the paper's Table 1).
    pub already: usize,
    /// Classes that are impossible, so that no run was spent on them.
    pub impossible: usize,
    /// Schedules whose accesses did not come about (N).
    pub not_reached: u64,
    /// Those of them of which a checker has found that their accesses can happen.
    #[serde(default)]
    pub proved_not_reached: u64,
    /// Schedules whose accesses happened and that did the same as always.
    pub same: u64,
    /// Schedules whose accesses happened (F), failures among them.
    pub reached: u64,
    /// Schedules that failed.
    pub failed: u64,
}

/// What exploring a program's interleavings came to.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Exploration {
    /// Runs in which two places of the code came in an order that no run before had shown.
    pub reversed: u64,
    /// Classes of equivalent interleavings that were run to their ends.
    pub classes: u64,
    /// Runs of the program for these.
    pub runs: u64,
    /// Whether these are all classes that there are.
    pub complete: bool,
    /// Whether one failed: that was the last.
    pub fails: bool,
    /// Why others may be left that no number of runs would show.
    pub doubts: Vec<String>,
    /// Whether time was over or Ctrl-C has ended it, before all was explored or `--runs` was reached. A test that goes on does it again.
    pub is_cut_off: bool,
}

/// How long things took.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Times {
    /// All.
    pub all: Duration,
    /// A recorded run, on average.
    pub recorded: Duration,
    /// A schedule, on average.
    pub schedule: Duration,
    /// All analysis.
    pub predicting: Duration,
    /// All runs of the program, summed.
    pub running: Duration,
}

/// A failure, with the schedule that shows it best.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Find {
    /// How the program failed.
    pub failure: Failure,
    /// The schedules that lead to it, the best first; nothing where a recorded run failed by itself.
    pub attempts: Vec<Attempt>,
    /// The seed of the recording.
    pub seed: u64,
    /// The variable and the two functions, where a schedule is known.
    pub title: Option<String>,
    /// What happened, a line each.
    pub story: Vec<String>,
    /// What else leads to the same failure, a line each.
    pub others: Vec<String>,
    /// The schedule: a witness, or the folder of a recording.
    pub schedule: PathBuf,
    /// How many of how many replays failed in the same way.
    pub replays: Option<(u32, u32)>,
    /// Turns of the schedule as it was found, and as it was shortened.
    pub turns: (usize, usize),
    /// After how many runs of the program it was found.
    pub after_runs: u64,
    /// After how long.
    pub after: Duration,
}

impl Find {
    /// A failure of which no schedule is known yet.
    pub(crate) fn new(failure: Failure, seed: u64, after_runs: u64, after: Duration) -> Find {
        Find {
            failure,
            attempts: Vec::new(),
            seed,
            title: None,
            story: Vec::new(),
            others: Vec::new(),
            schedule: PathBuf::new(),
            replays: None,
            turns: (0, 0),
            after_runs,
            after,
        }
    }
}

impl Find {
    /// What was known of the schedule; nothing where a recorded run failed by itself.
    pub fn kind(&self) -> Option<Kind> {
        self.attempts.first().map(|attempt| attempt.kind)
    }
}

impl Exploration {
    /// Adds a reason for which others may be left.
    pub(crate) fn doubt(&mut self, why: &str) {
        self.complete = false;
        if !self.doubts.iter().any(|known| known == why) {
            self.doubts.push(why.to_string());
        }
    }
}

impl Report {
    /// Whether everything that was planned was tried and judged, and no run without recording failed in a way that nothing shows.
    pub fn is_complete(&self) -> bool {
        let is_explored = self.explored.as_ref().is_none_or(|explored| !explored.is_cut_off);
        let is_missed = self.finds.is_empty() && (self.fails_unrecorded() || self.is_endless_unrecorded());
        let is_all = self.left == 0 && self.open_checks.is_empty() && !self.ended_early && is_explored;
        (is_all || self.has_all_interleavings()) && self.without_trace == 0 && !is_missed && !self.output_is_open
    }

    /// Whether all interleavings were run, and none failed: more recorded runs and schedules would show no other.
    pub fn has_all_interleavings(&self) -> bool {
        let is_all = |explored: &Exploration| explored.complete && !explored.fails && explored.doubts.is_empty();
        self.explored.as_ref().is_some_and(is_all) && self.finds.is_empty()
    }

    /// Whether a run without recording failed.
    pub fn fails_unrecorded(&self) -> bool {
        self.notes.iter().any(|note| note.starts_with(FAILS_UNRECORDED))
    }

    /// Whether a run without recording was stopped at the limit of a run.
    pub fn is_endless_unrecorded(&self) -> bool {
        self.notes.iter().any(|note| note.starts_with(ENDLESS_UNRECORDED))
    }

    /// How many schedules were tried.
    pub fn all_tried(&self) -> u64 {
        self.tried.values().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_interleavings_are_all_that_there_is_to_try() {
        let explored = |complete, fails| Some(Exploration { complete, fails, ..Exploration::default() });
        let report = |explored| Report { ended_early: true, left: 2, explored, ..Report::default() };
        assert!(report(explored(true, false)).is_complete(), "a limit before does not matter");
        assert!(!report(explored(false, false)).is_complete());
        assert!(!report(explored(true, true)).is_complete());
        assert!(!report(None).is_complete());
        let without_trace = Report { without_trace: 1, ..report(explored(true, false)) };
        assert!(!without_trace.is_complete());
        let open = Report { output_is_open: true, ..report(explored(true, false)) };
        assert!(!open.is_complete());
    }

    #[test]
    fn a_doubt_is_told_once_and_then_not_all_is_explored() {
        let mut explored = Exploration { complete: true, ..Exploration::default() };
        explored.doubt("why");
        explored.doubt("why");
        assert_eq!((explored.complete, explored.doubts.len()), (false, 1));
    }
}

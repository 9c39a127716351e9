//! Runs of a tested program along schedules of others, judged as the test judges its own.

use super::baseline::Baseline;
use super::judge::{Effect, judge};
use super::runner::{Runner, cut_of};
use super::settings::{Settings, TestError};
use foretrace_harness::{self as recorder, Plan};
use std::path::{Path, PathBuf};

/// Runs a program that was tested.
pub struct Trials<'s> {
    runner: Runner<'s>,
    settings: &'s Settings,
    baseline: &'s Baseline,
    work: &'s Path,
}

/// A run along a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trial {
    /// Whether it did what passing runs do.
    pub passed: bool,
    /// Whether it followed the plan as far as was asked.
    pub followed: bool,
    /// Whether what the plan watches for happened.
    pub came_between: bool,
}

impl<'s> Trials<'s> {
    /// With what the test learned of passing runs; `work` is a folder for the runs.
    pub fn new(settings: &'s Settings, baseline: &'s Baseline, work: &'s Path) -> Trials<'s> {
        Trials { runner: Runner::new(settings), settings, baseline, work }
    }

    /// Runs the program along a plan.
    ///
    /// # Errors
    /// It cannot be run, or a file fails.
    pub fn run(&self, plan: &Plan) -> Result<Trial, TestError> {
        let ran = self.run_into(plan, &self.work.join("trial"))?;
        Ok(ran.map_or(Trial { passed: false, followed: false, came_between: false }, |(trial, _)| trial))
    }

    /// The same in a folder that is made for it, with the recording of the run; `None` where a limit of the test cut the run off.
    ///
    /// # Errors
    /// It cannot be run, or a file fails.
    pub fn run_into(&self, plan: &Plan, place: &Path) -> Result<Option<(Trial, PathBuf)>, TestError> {
        let ran = match self.runner.replay(plan, place) {
            Ok(ran) => ran,
            Err(error) if cut_of(&error).is_some() => return Ok(None),
            Err(error) => return Err(error),
        };
        let replayed = recorder::judge(plan, &ran.folder, ran.seen.ending, |_| None)?;
        let passed = judge(&ran.seen, self.baseline, self.settings) == Effect::Same;
        let trial = Trial { passed, followed: replayed.difference.is_none(), came_between: replayed.came_between };
        Ok(Some((trial, ran.folder.path().to_path_buf())))
    }
}

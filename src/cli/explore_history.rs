//! `explore --spec` of a real program: runs that pass may fail by the history of their operations.

use super::atomic::AtomicArgs;
use super::explore::Args;
use super::histories::{Failure, Judged, judge_history};
use super::linearizable::MeaningArgs;
use super::walk::Walking;
use anyhow::bail;
use foretrace_linearizability::{Limits, Spec, read_trace};
use foretrace_walker::walk;
use std::path::{Path, PathBuf};

/// Why it is not certain that no history fails, though each class of interleavings was explored.
pub const ONE_OF_EACH: &str = "of each class the history of one run is judged: equivalent runs may have operations that end and begin in \
                               another order";

/// Judges the histories of runs.
pub struct Histories<'a> {
    spec: Spec,
    names: &'a MeaningArgs,
    walking: Walking,
    /// Those that are not linearizable, each kind once.
    pub failing: Vec<ByHistory>,
    /// How many could not be decided.
    pub open: u64,
}

/// Runs whose operations gave the same, which is not linearizable.
pub struct ByHistory {
    /// What they gave.
    pub what: String,
    /// A small part of the first one's history that is not linearizable.
    pub picture: Option<String>,
    /// How many classes.
    pub classes: u64,
    /// Where the first one is kept.
    pub kept: Option<PathBuf>,
}

impl<'a> Histories<'a> {
    /// What `--spec` asks for, if it was given.
    pub fn new(args: &'a Args) -> anyhow::Result<Option<Histories<'a>>> {
        let Some(spec) = args.spec else { return Ok(None) };
        let walking = AtomicArgs::of_operations(&args.operations).walking(None)?;
        Ok(Some(Histories { spec, names: &args.names, walking, failing: Vec::new(), open: 0 }))
    }

    /// How the history of a recorded run fails, if it does.
    pub fn judge(&mut self, recording: &Path, limits: Limits<'_>) -> anyhow::Result<Option<Failure>> {
        let (_, history) = walk(recording, &self.walking.options, |walked| read_trace(&walked.trace))?;
        let history = self.names.apply(history);
        if history.operations.is_empty() {
            bail!("--spec is about operations, found a run without; expected marks in the program, or --operations");
        }
        match judge_history(&history, self.spec, limits)? {
            Judged::Passes => Ok(None),
            Judged::Fails(failure) => Ok(Some(failure)),
            Judged::Open => {
                self.open += 1;
                Ok(None)
            }
        }
    }

    /// Counts a failure.
    pub fn add(&mut self, failure: Failure, kept: Option<PathBuf>) {
        let Failure { what, picture, .. } = failure;
        match self.failing.iter_mut().find(|known| known.what == what) {
            Some(known) => known.classes += 1,
            None => self.failing.push(ByHistory { what, picture, classes: 1, kept }),
        }
    }

    /// How many classes fail.
    pub fn failing_classes(&self) -> u64 {
        self.failing.iter().map(|failing| failing.classes).sum()
    }
}

//! What the operations of a replayed run gave: whether its history fits the specification of the witness that it followed.

use super::atomic::{AtomicArgs, OperationArgs};
use super::linearizable::with_meaning;
use super::specification::Specification;
use super::walk::Walking;
use anyhow::bail;
use foretrace::report::{SavedMeaning, SavedWitness, as_what};
use foretrace_linearizability::{History, Limits, Verdict, picture, read_trace};
use foretrace_walker::walk;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// Judges the histories of runs.
pub struct Histories {
    specification: Specification,
    meaning: SavedMeaning,
    walking: Walking,
    /// What was judged.
    pub judged: Judged,
    /// A small part of the first history that is not linearizable.
    part: Option<History>,
}

/// How many histories are linearizable.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize)]
pub struct Judged {
    /// These are not.
    pub not_linearizable: u32,
    /// These are.
    pub linearizable: u32,
    /// These are not known: the run has no trace, or the specification does not say enough.
    pub open: u32,
}

impl Histories {
    /// For a witness of a history; the recording says which functions are operations.
    ///
    /// # Errors
    /// The witness names no known specification, or a file of its specification cannot be read.
    pub fn new(witness: &SavedWitness, recording: Option<&Path>) -> anyhow::Result<Histories> {
        let Some(specification) = Specification::of_witness(witness, &|| true)? else {
            bail!("the witness names no known specification");
        };
        let operations = recording.map(OperationArgs::walked_for).unwrap_or_default();
        let walking = AtomicArgs::of_operations(&operations).walking(None)?;
        let meaning = (*witness.meaning).clone();
        Ok(Histories { specification, meaning, walking, judged: Judged::default(), part: None })
    }

    /// Judges the history of a run.
    ///
    /// # Errors
    /// The specification has no meaning for an operation.
    pub fn add(&mut self, run: &Path) -> anyhow::Result<()> {
        let Ok((_, history)) = walk(run, &self.walking.options, |walked| read_trace(&walked.trace)) else {
            self.judged.open += 1;
            return Ok(());
        };
        let history = with_meaning(&self.meaning, history);
        let checked = self.specification.check(&history, Limits::NONE)?;
        match checked.verdict {
            Verdict::NotLinearizable => self.judged.not_linearizable += 1,
            Verdict::Linearizable => self.judged.linearizable += 1,
            Verdict::Unknown => self.judged.open += 1,
        }
        if self.part.is_none() {
            self.part = self.specification.part(&history, &checked, Limits::NONE)?;
        }
        Ok(())
    }

    /// Writes what people read.
    ///
    /// # Errors
    /// Where `out` takes no more.
    pub fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Judged { not_linearizable, linearizable, open } = self.judged;
        let all = not_linearizable + linearizable + open;
        let name = as_what(self.specification.name());
        let mut line = |count: u32, what: &str| match (count, all) {
            (0, _) => Ok(()),
            (_, 1) => writeln!(out, "the history of the run {what}"),
            _ => writeln!(out, "the history of the run {what}, {count} of {all} times"),
        };
        line(not_linearizable, &format!("is not linearizable as {name}"))?;
        line(linearizable, &format!("is linearizable as {name}"))?;
        line(open, "could not be judged")?;
        match &self.part {
            Some(part) => {
                writeln!(out, "no order of these operations gives these results:\n\n{}", picture(part).trim_end())
            }
            None => Ok(()),
        }
    }
}

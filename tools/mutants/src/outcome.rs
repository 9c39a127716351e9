//! What became of each change, kept in a file line by line, so that a run that was interrupted goes on.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// What became of a change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The compiler refuses it.
    DoesNotCompile,
    /// No test reaches it.
    NotReached,
    /// A test fails.
    Killed,
    /// A test took too long.
    TimedOut,
    /// Tests reach it, and pass.
    Survived,
}

impl Outcome {
    /// Whether no test noticed it.
    pub fn is_unnoticed(self) -> bool {
        matches!(self, Outcome::NotReached | Outcome::Survived)
    }
}

/// A line of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The change.
    pub change: String,
    /// What became of it.
    pub outcome: Outcome,
    /// The test that noticed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Tests that took longer than so many seconds were left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct Head {
    fingerprint: u64,
}

/// The records of a file, and the fingerprint of what they are of.
pub fn read(file: &Path) -> Option<(u64, Vec<Record>)> {
    let text = std::fs::read_to_string(file).ok()?;
    let mut lines = text.lines();
    let head: Head = serde_json::from_str(lines.next()?).ok()?;
    // The last line may be cut off.
    Some((head.fingerprint, lines.filter_map(|line| serde_json::from_str(line).ok()).collect()))
}

/// Makes the file anew with these records.
pub fn write(file: &Path, fingerprint: u64, records: &[Record]) -> Result<File> {
    let mut text = serde_json::to_string(&Head { fingerprint })? + "\n";
    for record in records {
        text += &(serde_json::to_string(record)? + "\n");
    }
    let other = file.with_extension("new");
    std::fs::write(&other, text)?;
    std::fs::rename(&other, file)?;
    File::options().append(true).open(file).with_context(|| file.display().to_string())
}

/// Adds a record.
pub fn add(file: &mut File, record: &Record) -> Result<()> {
    Ok(file.write_all((serde_json::to_string(record)? + "\n").as_bytes())?)
}

/// The changes that make no difference: lines `CHANGE # WHY`.
pub fn equivalents(text: &str) -> BTreeMap<String, String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.rsplit_once(" # "))
        .map(|(change, why)| (change.trim().to_owned(), why.to_owned()))
        .collect()
}

/// The numbers of a run.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// All changes that compile.
    pub changes: usize,
    /// Those that a test reaches.
    pub reached: usize,
    /// Those that make a test fail.
    pub killed: usize,
    /// Those that make a test run too long.
    pub timed_out: usize,
    /// Those that no test notices, reached or not, and that are listed.
    pub listed: usize,
    /// Those that no test notices and that are not listed.
    pub unnoticed: Vec<(Outcome, String)>,
    /// What is listed, but noticed or no change.
    pub wrongly_listed: Vec<String>,
    /// The tests that were left out for their time.
    pub too_long: Vec<String>,
}

/// Counts.
pub fn summary(
    records: &[Record],
    equivalents: &BTreeMap<String, String>,
    is_of_area: impl Fn(&str) -> bool,
) -> Summary {
    let mut summary = Summary::default();
    let mut unnoticed = BTreeSet::new();
    for record in records.iter().filter(|record| record.outcome != Outcome::DoesNotCompile) {
        summary.changes += 1;
        summary.reached += usize::from(record.outcome != Outcome::NotReached);
        summary.killed += usize::from(record.outcome == Outcome::Killed);
        summary.timed_out += usize::from(record.outcome == Outcome::TimedOut);
        if record.outcome.is_unnoticed() {
            unnoticed.insert(record.change.as_str());
            if equivalents.contains_key(&record.change) {
                summary.listed += 1;
            } else {
                summary.unnoticed.push((record.outcome, record.change.clone()));
            }
        }
    }
    let listed = equivalents.keys().filter(|change| is_of_area(change.split(": ").next().unwrap_or_default()));
    summary.wrongly_listed = listed.filter(|change| !unnoticed.contains(change.as_str())).cloned().collect();
    summary
}

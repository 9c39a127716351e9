//! The visible results of a run: how it ended, and what it wrote.

use foretrace_harness::{Ending, STDERR, STDOUT, UseAfterFreeInWords};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// What was seen of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Observation {
    /// How it ended.
    pub ending: Ending,
    /// What it wrote, by where: `output`, `error output` or the name of a file.
    pub texts: BTreeMap<String, String>,
    /// Whether a wait ended at its time limit while the controller held back threads that could have gone on.
    #[serde(default)]
    pub is_late: bool,
    /// A thread used memory after it was freed, as the logs of the run say.
    #[serde(default)]
    pub used_after_free: Option<UseAfterFreeInWords>,
}

/// The name of the standard output in messages.
pub const OUTPUT: &str = "output";
/// The name of the standard error in messages.
pub const ERRORS: &str = "error output";

/// Longest text that is looked at, in bytes.
const LONGEST: usize = 4 << 20;

impl Observation {
    /// Of a run whose output is in a folder, and which wrote these files, seen from the folder that it ran in.
    pub fn read(ending: Ending, output: &Path, directory: &Path, watched: &[std::path::PathBuf]) -> Observation {
        let mut texts = BTreeMap::new();
        texts.insert(OUTPUT.to_string(), without_slowness(&text(&output.join(STDOUT)).unwrap_or_default()));
        let errors = text(&output.join(STDERR)).unwrap_or_default();
        texts.insert(ERRORS.to_string(), without_ours(&errors));
        for file in watched {
            let found = text(&directory.join(file)).unwrap_or_else(|| "(no such file)".to_string());
            texts.insert(file.display().to_string(), found);
        }
        Observation { ending, texts, is_late: false, used_after_free: None }
    }

    /// What it wrote to its standard output.
    pub fn output(&self) -> &str {
        self.texts.get(OUTPUT).map_or("", String::as_str)
    }

    /// What it wrote to its standard error.
    pub fn errors(&self) -> &str {
        self.texts.get(ERRORS).map_or("", String::as_str)
    }
}

fn text(path: &Path) -> Option<String> {
    let mut bytes = std::fs::read(path).ok()?;
    bytes.truncate(LONGEST);
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Without the lines that the runtime writes when all threads wait.
fn without_ours(text: &str) -> String {
    let is_ours = |line: &&str| line.starts_with("foretrace:");
    text.lines().filter(|line| !is_ours(line)).map(|line| format!("{line}\n")).collect()
}

/// Without what Rust's test framework writes of tests that take long: the controller holds threads back, and time passes where they wait.
fn without_slowness(text: &str) -> String {
    text.split_inclusive('\n').map(|line| before_slowness(line).unwrap_or(line)).collect()
}

/// What stands in a line before `test NAME has been running for over 60 seconds`: with one thread, that the test has begun.
fn before_slowness(line: &str) -> Option<&str> {
    let (head, rest) = line.split_once(" has been running for over ")?;
    rest.trim_end().strip_suffix(" seconds")?.parse::<u32>().ok()?;
    head.rfind("test ").map(|at| &line[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn that_a_test_takes_long_is_no_output_of_it() {
        let slow = "test queue::pops has been running for over 60 seconds\n";
        let text = format!("\nrunning 1 test\ntest queue::pops ... {slow}ok\n");
        assert_eq!(without_slowness(&text), "\nrunning 1 test\ntest queue::pops ... ok\n");
        assert_eq!(without_slowness(&format!("one\n{slow}two\n")), "one\ntwo\n");
        let own = "job 7 has been running for over a day\n";
        assert_eq!(without_slowness(own), own);
    }
}

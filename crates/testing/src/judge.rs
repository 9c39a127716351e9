//! What happened in a run, seen from outside: it failed, differed from passing runs, or did the same as always.

use super::baseline::{Baseline, without_numbers};
use super::observation::{ERRORS, OUTPUT, Observation};
use super::settings::Settings;
use foretrace_harness::{Ending, UseAfterFreeInWords};
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::LazyLock;

/// What came of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// The same as in passing runs.
    Same,
    /// It failed.
    Failed(Failure),
}

impl Effect {
    /// Whether it failed like this.
    pub fn is_failure(&self, failure: &Failure) -> bool {
        matches!(self, Effect::Failed(other) if other.signature() == failure.signature())
    }

    /// The same, but what the program writes does not count.
    pub fn but_for_output(self) -> Effect {
        match self {
            Effect::Failed(failure) if failure.is_output() => Effect::Same,
            effect => effect,
        }
    }
}

/// How a run failed.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Cause {
    /// By how it ended.
    Ended(Ending),
    /// An assertion of a litmus program does not hold, or the program does what it must not.
    Assertion,
    /// It says so itself: a sanitizer's report.
    Sanitizer,
    /// A thread uses memory that was freed. That is an error, whatever comes of it in this run.
    UseAfterFree,
    /// Its output fits what the user calls a failure.
    Wanted,
    /// It ended well, and its output differs from that of passing runs; of which output.
    Differs(String),
}

/// A failure: how, and the line of output that tells most of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Failure {
    /// How.
    pub cause: Cause,
    /// What the program wrote of it, one line.
    pub message: Option<String>,
    /// Where in its source the program failed: the place of a panic that it tells of, or the line that uses freed memory.
    pub place: Option<String>,
}

/// As the headline of a find.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Cause::Ended(Ending::Code(code)) => write!(f, "exit status {code}")?,
            Cause::Ended(Ending::Signal(signal)) => match nix::sys::signal::Signal::try_from(*signal) {
                Ok(signal) => write!(f, "{signal}")?,
                Err(_) => write!(f, "signal {signal}")?,
            },
            Cause::Ended(Ending::Hang) => f.write_str("hangs")?,
            Cause::Ended(Ending::Deadlock) => f.write_str("deadlock")?,
            Cause::Assertion => f.write_str("fails")?,
            Cause::Sanitizer => f.write_str("a sanitizer reports an error")?,
            Cause::UseAfterFree => f.write_str("use after free")?,
            Cause::Wanted => f.write_str("the output fits --fail-when")?,
            Cause::Differs(place) => write!(f, "the {place} differs from that of passing runs")?,
        }
        match &self.message {
            Some(message) => write!(f, ": {message}"),
            None => Ok(()),
        }
    }
}

impl Failure {
    /// By which failures count as the same. What a panic says may hold values, so its place is what counts.
    pub fn signature(&self) -> (Cause, String) {
        let message = || self.message.as_deref().map(without_numbers);
        (self.cause.clone(), self.place.clone().or_else(message).unwrap_or_default())
    }

    /// One word for its kind.
    pub fn kind(&self) -> &'static str {
        match self.cause {
            Cause::Ended(Ending::Hang) => "hangs",
            Cause::Ended(Ending::Deadlock) => "deadlocks",
            Cause::Differs(_) => "differs",
            _ => "fails",
        }
    }

    /// Whether its place is that of a panic.
    pub fn is_panic(&self) -> bool {
        self.place.is_some() && self.cause != Cause::UseAfterFree
    }

    /// Whether memory was used after its `free`.
    pub fn is_use_after_free(&self) -> bool {
        self.cause == Cause::UseAfterFree
    }

    /// Whether no more than what it wrote is wrong with a run.
    pub fn is_output(&self) -> bool {
        matches!(self.cause, Cause::Differs(_))
    }

    /// Whether a signal killed a thread, and nothing the program wrote tells where, as C's `assert` and panics do.
    pub fn is_unplaced_death(&self) -> bool {
        let is_placed =
            self.place.is_some() || self.message.as_ref().is_some_and(|told| told.contains(": Assertion `"));
        matches!(self.cause, Cause::Ended(Ending::Signal(_))) && !is_placed
    }

    /// Whether a run took as long as it may.
    pub fn is_hang(&self) -> bool {
        self.cause == Cause::Ended(Ending::Hang)
    }
}

/// Reports of sanitizers.
static SANITIZER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(ERROR|WARNING): (Address|Thread|Memory|Leak|HWAddress|UndefinedBehavior)Sanitizer|runtime error: ")
        .ok()
});

/// Words that lines about failures have, those that tell most first.
static TELLING: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let words = [
        r"panicked at",
        r"^\S+:\d+: (Failure$|FAILED:|(FATAL )?ERROR: )", // of GoogleTest, Catch2, doctest
        r"(?i)assert|terminate called|double free|corrupt",
        r"(?i)\bfail|error|abort|lost|wrong|invalid|expected",
    ];
    words.into_iter().filter_map(|words| Regex::new(words).ok()).collect()
});

/// How a run failed by itself, whatever others do.
pub fn failure(run: &Observation, baseline: &Baseline, settings: &Settings) -> Option<Failure> {
    let line_of = |regex: &Regex| {
        let fits = |line: &&str| regex.is_match(line);
        run.errors().lines().chain(run.output().lines()).find(fits).map(|line| line.trim().to_string())
    };
    let used_after_free = run.used_after_free.clone().map(|UseAfterFreeInWords { text, place }| Failure {
        cause: Cause::UseAfterFree,
        message: Some(text),
        place,
    });
    // Where no thread goes on since a lock or a condition lies in freed memory, the use of that memory is the cause.
    if matches!(run.ending, Ending::Deadlock | Ending::Hang) && used_after_free.is_some() {
        return used_after_free;
    }
    if run.ending != Ending::Code(settings.pass_status) {
        let (message, place) = message(run, baseline);
        return Some(Failure { cause: Cause::Ended(run.ending), message, place });
    }
    if let Some(line) = SANITIZER.as_ref().and_then(line_of) {
        return Some(Failure { cause: Cause::Sanitizer, message: Some(line), place: None });
    }
    if used_after_free.is_some() {
        return used_after_free;
    }
    let line = settings.fail_when.as_ref().and_then(line_of)?;
    Some(Failure { cause: Cause::Wanted, message: Some(line), place: None })
}

/// What came of a run.
pub fn judge(run: &Observation, baseline: &Baseline, settings: &Settings) -> Effect {
    if let Some(failure) = failure(run, baseline, settings) {
        return Effect::Failed(failure);
    }
    // What is written after a time limit that only the controller let pass is not what runs write.
    match baseline.unusual(run).filter(|_| settings.compare_output && !run.is_late) {
        None => Effect::Same,
        Some(unusual) => {
            let message = Some(unusual.line.unwrap_or_else(|| "a line is missing".to_string()));
            Effect::Failed(Failure { cause: Cause::Differs(unusual.place), message, place: None })
        }
    }
}

/// The line that tells most of a failure: one that passing runs do not have, of the errors first. And the place of the panic that it
/// belongs to.
fn message(run: &Observation, baseline: &Baseline) -> (Option<String>, Option<String>) {
    let new_lines = |name, text| -> Vec<&str> {
        baseline.new_lines(name, text).into_iter().filter(|line| !is_head_of_difference(line)).collect()
    };
    let errors = new_lines(ERRORS, run.errors());
    let output = new_lines(OUTPUT, run.output());
    let told = TELLING.iter().find_map(|telling| {
        [&errors, &output].into_iter().find_map(|lines| {
            let first = || lines.iter().position(|line| telling.is_match(line));
            let at = assertion_of_test(lines).filter(|at| telling.is_match(lines[*at])).or_else(first)?;
            let panic = lines[at].split_once(PANICKED).map(|(_, rest)| rest.trim());
            let line = panic.and_then(|_| lines.get(at + 1)).unwrap_or(&lines[at]).trim();
            let place = panic.and_then(|rest| rest.strip_suffix(':')).map(str::to_string);
            let compared: Vec<&str> =
                lines.iter().skip(at + 1 + usize::from(panic.is_some())).take(2).map(|line| line.trim()).collect();
            Some(match compared[..] {
                [left, right] if left.starts_with("left: ") && right.starts_with("right: ") => {
                    (format!("{line}; {left}, {right}"), place)
                }
                _ => (with_what_failed(line, &compared), place),
            })
        })
    });
    match told {
        Some((line, place)) => (Some(line), place),
        None => {
            let tells = |line: &&&str| !is_progress_of_tests(line);
            let last = errors.iter().rfind(tells).or(output.iter().rfind(tells));
            (last.map(|line| line.trim().to_string()), None)
        }
    }
}

/// Whether a line of a test framework says no more than that tests have begun or passed. Rust's own cuts it off where the run ends.
fn is_progress_of_tests(line: &str) -> bool {
    let is_between = |start: &str, ends: &[&str]| {
        line.strip_prefix(start).is_some_and(|rest| ends.iter().any(|end| rest.trim_end().ends_with(end)))
    };
    let googles = ["[====", "[----", "[       OK ]", "Running main() from "];
    is_between("test ", &[" ..."])
        || is_between("running ", &[" test", " tests"])
        || googles.iter().any(|head| line.starts_with(head))
}

/// Whether a line is one with which `diff -u` begins, or a part of it: the names of the files may look like words about a failure.
fn is_head_of_difference(line: &str) -> bool {
    ["--- ", "+++ ", "@@ "].iter().any(|head| line.starts_with(head))
}

/// The panic of a failed assertion in the thread of a test of Rust's own framework. Panics of other threads may belong to the test, and are
/// not shown where it passes.
fn assertion_of_test(lines: &[&str]) -> Option<usize> {
    let name = lines.iter().find_map(|line| line.strip_prefix("---- ")?.strip_suffix(" stdout ----"))?;
    let own = format!("thread '{name}' ");
    let fails = |line: &&str| line.starts_with(&own) && line.contains(PANICKED);
    let at = lines.iter().position(fails)?;
    lines.get(at + 1).filter(|line| line.starts_with("assertion ")).map(|_| at)
}

/// The place of a check of a test framework, with the lines after it that say what was checked.
fn with_what_failed(line: &str, next: &[&str]) -> String {
    let mut told = line.to_string();
    let mut next = next.iter();
    if let (true, Some(first)) = (line.ends_with(": Failure") || line.ends_with(": FAILED:"), next.next()) {
        told = format!("{}: {first}", told.trim_end_matches(':'));
        if let Some(second) = next.next().filter(|_| first.ends_with(':')) {
            told = format!("{told} {second}");
        }
    }
    told
}

/// What stands before the place of a panic.
const PANICKED: &str = "panicked at";

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(errors: &str) -> Failure {
        let texts = [(ERRORS.to_string(), errors.to_string())];
        let texts = texts.into_iter().collect();
        let run = Observation { ending: Ending::Code(101), texts, is_late: false, used_after_free: None };
        let (message, place) = message(&run, &Baseline::default());
        Failure { cause: Cause::Ended(run.ending), message, place }
    }

    #[test]
    fn a_panic_is_known_by_its_place_and_told_by_its_message() {
        let lost = |words: &str| {
            failed(&format!("\nthread 'main' (7) panicked at src/main.rs:24:5:\nlost: {words}\nnote: x\n"))
        };
        let (one, other) = (lost("{\"a\": 1}"), lost("{\"b\": 1, \"a\": 1}"));
        assert_eq!(one.message.as_deref(), Some("lost: {\"a\": 1}"));
        assert_eq!(one.signature(), other.signature());
        let elsewhere = failed("thread 'main' panicked at src/main.rs:30:5:\nlost: {\"a\": 1}\n");
        assert_ne!(one.signature(), elsewhere.signature());
    }

    #[test]
    fn a_check_of_a_test_framework_is_told_by_its_place_and_what_it_checks() {
        let googletest = "Note: Google Test filter = Store.Fails\na/t.cc:9: Failure\nExpected equality of these values:\n  n\n    Which is: 1\n";
        let catch = "a/t.cc:9: FAILED:\n  CHECK( n == 2 )\nwith expansion:\n  1 == 2\nassertions: 2 | 1 failed\n";
        let doctest = "a/t.cc:9: ERROR: CHECK( n == 2 ) is NOT correct!\n[doctest] assertions: 2 | 1 failed |\n";
        for (output, message) in [
            (googletest, "a/t.cc:9: Failure: Expected equality of these values: n"),
            (catch, "a/t.cc:9: FAILED: CHECK( n == 2 )"),
            (doctest, "a/t.cc:9: ERROR: CHECK( n == 2 ) is NOT correct!"),
        ] {
            assert_eq!(failed(output).message.as_deref(), Some(message));
        }
    }

    #[test]
    fn a_difference_of_files_is_told_by_what_the_script_says_of_it() {
        let difference = "--- tests/expected.txt\t2026-01-01\n+++ out/result\t2026-01-02\n@@ -1 +1 @@\n-n 3\n+n 2\n";
        let failed = failed(&format!("{difference}FAIL: wrong totals\n"));
        assert_eq!(failed.message.as_deref(), Some("FAIL: wrong totals"));
    }

    #[test]
    fn an_assertion_that_compares_says_what_it_compared() {
        let failed = failed(
            "thread 'main' (7) panicked at src/main.rs:9:5:\nassertion `left == right` failed\n  left: 2\n right: 1\n",
        );
        assert_eq!(failed.message.as_deref(), Some("assertion `left == right` failed; left: 2, right: 1"));
        assert_eq!(failed.place.as_deref(), Some("src/main.rs:9:5"));
    }

    #[test]
    fn an_assertion_of_the_test_comes_before_panics_of_its_threads() {
        let worker = "thread '<unnamed>' (8) panicked at src/lib.rs:4:9:\nignore this\n";
        let text = |own: &str| {
            failed(&format!("---- t::stops stdout ----\n{worker}thread 't::stops' (7) panicked at {own}\n"))
        };
        assert_eq!(text("src/lib.rs:9:5:\nassertion failed: ready").place.as_deref(), Some("src/lib.rs:9:5"));
        let joined = text("src/lib.rs:9:5:\ncalled `Result::unwrap()` on an `Err` value: Any { .. }");
        assert_eq!(joined.place.as_deref(), Some("src/lib.rs:4:9"), "that of the thread is the cause");
    }

    #[test]
    fn that_a_test_has_begun_does_not_tell_why_it_failed() {
        assert_eq!(failed("\ntest queue::pops ... ").message, None);
        assert_eq!(failed("\nrunning 1 test\ntest queue::pops ... ").message, None, "where no run has passed");
        let googles =
            "Running main() from a.cc\n[==========] Running 1 test from 1 test suite.\n[ RUN      ] Queue.Pops\n";
        assert_eq!(failed(googles).message.as_deref(), Some("[ RUN      ] Queue.Pops"), "which test it is");
        assert_eq!(failed("\nlast words\ntest queue::pops ... ").message.as_deref(), Some("last words"));
    }

    #[test]
    fn what_is_no_panic_is_known_by_its_message_without_numbers() {
        assert_eq!(failed("error: 3 lost\n").signature(), failed("error: 4 lost\n").signature());
        assert_eq!(failed("error: 3 lost\n").signature(), failed("error: -4 lost\n").signature());
        assert_ne!(failed("error: of 2-3 lost\n").signature(), failed("error: of 2 3 lost\n").signature());
        assert_ne!(failed("error: 3 lost\n").signature(), failed("error: 3 found\n").signature());
        assert_eq!(failed("lost: [3, 4]\n").signature(), failed("lost: [5, 4, 7]\n").signature(), "lists");
        assert_eq!(failed("lost at 0x7f3a, 0x7f40\n").signature(), failed("lost at 0x11\n").signature());
        assert_ne!(failed("lost: [3, 4]\n").signature(), failed("lost: []\n").signature(), "none is another thing");
        assert_eq!(failed("sum a716a9b7 lost\n").signature(), failed("sum 38140327 lost\n").signature(), "hashes");
        assert_ne!(failed("feedface lost\n").signature(), failed("deadbeef lost\n").signature(), "words");
        assert_eq!(failed("thread 'x' panicked at 'why', a.rs:3\n").place, None, "the form of old compilers");
    }
}

//! What passing runs look like, so that a run that differs from them shows: what varies among passing runs by itself does not count.
//!
//! A text is compared as a bag of lines, since threads may write them in any order. Where lines of passing runs differ in numbers
//! only, numbers that never varied are compared. Durations, rates by time and addresses are never compared.

use super::observation::Observation;
use regex::{Captures, Regex};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// What passing runs wrote.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Baseline {
    runs: usize,
    texts: BTreeMap<String, Seen>,
    /// Of these, the runs without recording, and how many of them wrote a line, by place: lines that have their shape to themselves.
    #[serde(default)]
    unrecorded: usize,
    #[serde(default)]
    natively: BTreeMap<String, BTreeMap<String, usize>>,
    /// Of these, what runs of whole turns wrote.
    #[serde(default)]
    by_turns: BTreeMap<String, Seen>,
}

/// What passing runs wrote to one place.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "BTreeSet<Vec<String>>", into = "BTreeSet<Vec<String>>")]
struct Seen {
    /// Whole texts, with their lines in order.
    whole: FxHashSet<Vec<String>>,
    /// The shapes of lines of each text, in order.
    shapes: FxHashSet<Vec<String>>,
    /// All shapes of lines.
    known: FxHashSet<String>,
    /// Of each line, by shape and place among those of the shape: the numbers of the first run.
    numbers: BTreeMap<(String, usize), Vec<String>>,
    /// Of each shape, which of its numbers varied in any of its lines: threads that take turns change some lines more often than others.
    varies: BTreeMap<String, Vec<bool>>,
}

/// A line that many runs without recording wrote, and that another passing run did not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsteady {
    /// So many of all runs without recording wrote it.
    pub runs: (usize, usize),
    /// What they wrote.
    pub line: String,
    /// What the other run wrote in its place, if it has such a line.
    pub other: Option<String>,
    /// Whether hardly any run without recording is another one.
    pub hardly_varies: bool,
}

/// So many runs without recording, and of each so many this part at least, say that a line is the usual one.
const FEWEST_STEADY: usize = 3;
const STEADY: (usize, usize) = (4, 5);
/// Or, if there is none, one of a few.
const FREQUENT: (usize, usize) = (1, 3);
/// With fewer recorded runs, nobody knows whether the output is steady.
const FEWEST_RECORDED: usize = 2;

/// Where a run's output differs from that of passing runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unusual {
    /// Of which output.
    pub place: String,
    /// The line that no passing run has; nothing where a line is missing.
    pub line: Option<String>,
}

impl Baseline {
    /// How many runs it is made of.
    pub fn runs(&self) -> usize {
        self.runs
    }

    /// One more passing run.
    pub fn add(&mut self, run: &Observation) {
        self.runs += 1;
        for (place, text) in &run.texts {
            self.texts.entry(place.clone()).or_default().add(text);
        }
    }

    /// One more passing run, which was not recorded.
    pub fn add_unrecorded(&mut self, run: &Observation) {
        self.add(run);
        self.unrecorded += 1;
        for (place, text) in &run.texts {
            let counts = self.natively.entry(place.clone()).or_default();
            for line in single_lines(&sorted_lines(text)) {
                match counts.get_mut(line) {
                    Some(count) => *count += 1,
                    None if self.unrecorded <= FEWEST_STEADY => drop(counts.insert(line.clone(), 1)),
                    None => (),
                }
            }
        }
    }

    /// A run of whole turns, which is one of those that were added.
    pub fn note_turns(&mut self, run: &Observation) {
        for (place, text) in &run.texts {
            self.by_turns.entry(place.clone()).or_default().add(text);
        }
    }

    /// A line that hardly varies without recording, or has few forms there, and that a passing run does not have, but for what varies in
    /// runs of whole turns. It may be right, as the name of the thread that came first, or wrong, as a count that lost something: only the user
    /// can tell.
    pub fn unsteady(&self) -> Option<Unsteady> {
        self.missing_somewhere(STEADY).or_else(|| self.missing_somewhere(FREQUENT))
    }

    /// A line that this part of the runs without recording wrote, and another passing run did not.
    fn missing_somewhere(&self, part: (usize, usize)) -> Option<Unsteady> {
        let all = self.unrecorded;
        self.natively.iter().filter(|_| all >= FEWEST_STEADY).find_map(|(place, counts)| {
            let is_steady = |(_, count): &(&String, &usize)| **count * part.1 >= all * part.0;
            let steady: Vec<(&String, &usize)> = counts.iter().filter(is_steady).collect();
            let whole = self.texts.get(place)?.whole.iter();
            let by_turns = self.by_turns.get(place);
            let is_unusual = |lines: &[String]| by_turns.is_none_or(|seen| seen.unusual(lines).is_some());
            let missing = |lines: &&Vec<String>| steady.iter().any(|(line, _)| !has(lines, line)) && is_unusual(lines);
            let lines = whole.filter(missing).min()?;
            let (line, count) = steady.iter().find(|(line, _)| !has(lines, line))?;
            let single = single_lines(lines);
            let alike = single.iter().find(|other| shape(other).0 == shape(line).0);
            let other = alike.or_else(|| single.iter().find(|other| !counts.contains_key(**other)));
            let other = other.map(|other| (*other).clone());
            Some(Unsteady { runs: (**count, all), line: (*line).clone(), other, hardly_varies: part == STEADY })
        })
    }

    /// Whether all passing runs wrote the same, some of them recorded. Then a difference counts wherever it comes from; else a schedule that
    /// is far from usual ones may show a mere order that none of these has.
    pub fn is_steady(&self) -> bool {
        let recorded = self.runs.saturating_sub(self.unrecorded);
        self.unrecorded >= FEWEST_STEADY
            && recorded >= FEWEST_RECORDED
            && self.texts.values().all(|seen| seen.whole.len() <= 1)
    }

    /// Where a run differs from all passing ones; nothing where it does not, or where nothing is known.
    pub fn unusual(&self, run: &Observation) -> Option<Unusual> {
        if self.runs == 0 {
            return None;
        }
        run.texts.iter().find_map(|(place, text)| {
            let line = self.texts.get(place)?.unusual(&sorted_lines(text))?;
            Some(Unusual { place: place.clone(), line })
        })
    }

    /// Lines of an output that no passing run has.
    pub fn new_lines<'t>(&self, place: &str, text: &'t str) -> Vec<&'t str> {
        let seen = self.texts.get(place);
        let is_new = |line: &&str| {
            !line.trim().is_empty() && seen.is_none_or(|seen| !seen.whole.iter().any(|whole| has(whole, &masked(line))))
        };
        text.lines().filter(is_new).collect()
    }
}

fn has(sorted: &[String], line: &str) -> bool {
    sorted.binary_search_by(|other| other.as_str().cmp(line)).is_ok()
}

impl Seen {
    fn add(&mut self, text: &str) {
        self.add_lines(sorted_lines(text));
    }

    fn add_lines(&mut self, lines: Vec<String>) {
        if !self.whole.insert(lines.clone()) {
            return;
        }
        self.shapes.insert(shapes_of(&lines));
        self.known.extend(lines.iter().map(|line| shape(line).0));
        for (key, numbers) in numbered(&lines) {
            let varies = self.varies.entry(key.0.clone()).or_insert_with(|| vec![false; numbers.len()]);
            let first = self.numbers.entry(key).or_insert_with(|| numbers.clone());
            for ((first, number), varies) in first.iter().zip(&numbers).zip(varies) {
                *varies |= first != number;
            }
        }
    }

    /// Whether numbers differ that never varied.
    fn differs(&self, key: &(String, usize), numbers: &[String]) -> bool {
        let (Some(first), Some(varies)) = (self.numbers.get(key), self.varies.get(&key.0)) else { return false };
        first.iter().zip(numbers).zip(varies).any(|((first, number), varies)| !varies && first != number)
    }

    /// A line that differs; nothing inside where only one is missing.
    fn unusual(&self, lines: &[String]) -> Option<Option<String>> {
        if self.whole.contains(lines) {
            return None;
        }
        let new_line = || lines.iter().find(|line| !self.whole.iter().any(|whole| has(whole, line))).cloned();
        if self.whole.len() == 1 {
            return Some(new_line());
        }
        if let Some(line) = lines.iter().find(|line| !self.known.contains(&shape(line).0)) {
            return Some(Some(line.clone()));
        }
        if self.shapes.len() > 1 {
            return None; // which lines there are varies by itself
        }
        if !self.shapes.contains(&shapes_of(lines)) {
            return Some(new_line());
        }
        let all = numbered(lines);
        let (found, numbers) = all.iter().find(|(key, numbers)| self.differs(key, numbers))?;
        Some(Some(with_numbers(&found.0, numbers)))
    }
}

/// The whole texts tell the rest.
impl From<BTreeSet<Vec<String>>> for Seen {
    fn from(whole: BTreeSet<Vec<String>>) -> Seen {
        let mut seen = Seen::default();
        whole.into_iter().for_each(|lines| seen.add_lines(lines));
        seen
    }
}

impl From<Seen> for BTreeSet<Vec<String>> {
    fn from(seen: Seen) -> BTreeSet<Vec<String>> {
        seen.whole.into_iter().collect()
    }
}

/// The lines of a text in order, without what varies from run to run anyway.
fn sorted_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(masked).collect();
    lines.sort_unstable();
    lines
}

/// Lines of a text that have their shape to themselves.
fn single_lines(lines: &[String]) -> Vec<&String> {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for line in lines {
        *times.entry(shape(line).0).or_default() += 1;
    }
    lines.iter().filter(|line| times.get(&shape(line).0) == Some(&1)).collect()
}

fn shapes_of(lines: &[String]) -> Vec<String> {
    let mut shapes: Vec<String> = lines.iter().map(|line| shape(line).0).collect();
    shapes.sort_unstable();
    shapes
}

/// The numbers of each line, by its shape and its place among the lines of that shape.
fn numbered(lines: &[String]) -> Vec<((String, usize), Vec<String>)> {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let each = lines.iter().map(|line| {
        let (shape, numbers) = shape(line);
        let place = times.entry(shape.clone()).or_default();
        *place += 1;
        ((shape, *place), numbers)
    });
    each.collect()
}

/// A line with its numbers taken out, with their signs.
fn shape(line: &str) -> (String, Vec<String>) {
    let (mut shape, mut numbers) = (String::with_capacity(line.len()), Vec::new());
    let mut rest = line;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        shape.push_str(&rest[..start]);
        let unsigned =
            shape.strip_suffix('-').filter(|before| !before.ends_with(|c: char| c.is_alphanumeric() || c == '#'));
        let sign = if unsigned.is_some() { "-" } else { "" };
        shape.truncate(shape.len() - sign.len());
        shape.push('#');
        let after = &rest[start..];
        let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        numbers.push(format!("{sign}{}", &after[..end]));
        rest = &after[end..];
    }
    shape.push_str(rest);
    (shape, numbers)
}

fn with_numbers(shape: &str, numbers: &[String]) -> String {
    let mut parts = shape.split('#');
    let mut line = parts.next().unwrap_or_default().to_string();
    for (part, number) in parts.zip(numbers.iter().map(String::as_str).chain(std::iter::repeat("#"))) {
        line.push_str(number);
        line.push_str(part);
    }
    line
}

/// Durations, also as `00:00:01.5` and `0m1.5s`, rates by time, and addresses.
static VARYING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    const FORMS: [&str; 5] = [
        "0x[0-9a-fA-F]+",
        r"\b\d+:\d\d:\d\d(\.\d+)?\b",
        r"\b\d+m ?\d+(\.\d+)?s\b",
        r"\b\d+(\.\d+)? ?(s|sec|secs|seconds|ms|µs|us|ns)\b",
        r"\b\d+(\.\d+)? ?[A-Za-z]*/(s|sec|second)\b",
    ];
    Regex::new(&FORMS.join("|")).ok()
});

/// A line without durations, rates and addresses.
pub fn masked(line: &str) -> String {
    match VARYING.as_ref() {
        Some(varying) => varying.replace_all(line, "~").into_owned(),
        None => line.to_string(),
    }
}

/// Words of hexadecimal digits, as of checksums and hashes. One without a decimal digit may be a word of a language.
static HASH: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\b[0-9a-f]{8,}\b|\b[0-9A-F]{8,}\b").ok());

/// A line by which failures are told apart: without numbers, and with one for a list of numbers.
pub fn without_numbers(line: &str) -> String {
    let number = |found: &Captures<'_>| {
        if found[0].contains(|one: char| one.is_ascii_digit()) { "0" } else { &found[0] }.to_string()
    };
    let line = HASH.as_ref().map_or(line.into(), |hash| hash.replace_all(line, number));
    let mut shape = shape(&masked(&line)).0;
    for list in ["#, #", "# #", "~, ~"] {
        while shape.contains(list) {
            shape = shape.replace(list, &list[..1]);
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretrace_harness::Ending;

    fn run(output: &str) -> Observation {
        let texts = [(crate::observation::OUTPUT.to_string(), output.to_string())];
        Observation {
            ending: Ending::Code(0),
            texts: texts.into_iter().collect(),
            is_late: false,
            used_after_free: None,
        }
    }

    /// Threads take turns at lines that they number: who wrote the last line is the same in the passing runs by chance.
    #[test]
    fn a_number_that_varies_in_one_line_varies_in_others_of_its_shape() {
        let passing = ["0 host1\n1 host2\n2 host2\n", "0 host2\n1 host1\n2 host2\n"];
        assert_eq!(unusual(&passing, "0 host2\n1 host2\n2 host1\n"), None);
        let twice = Some(Some("1 host2".to_string()));
        assert_eq!(unusual(&passing, "0 host2\n1 host1\n1 host2\n"), twice);
    }

    fn unusual(passing: &[&str], output: &str) -> Option<Option<String>> {
        let mut baseline = Baseline::default();
        passing.iter().for_each(|output| baseline.add(&run(output)));
        baseline.unusual(&run(output)).map(|unusual| unusual.line)
    }

    #[test]
    fn without_variation_every_difference_counts() {
        assert_eq!(unusual(&["sum 3\n", "sum 3\n"], "sum 3\n"), None);
        assert_eq!(unusual(&["sum 3\n"], "sum 2\n"), Some(Some("sum 2".to_string())));
        assert_eq!(unusual(&["a\nb\n"], "a\n"), Some(None));
        assert_eq!(unusual(&[], "a\n"), None, "nothing is known");
    }

    #[test]
    fn a_line_that_hardly_varies_without_recording_is_told() {
        let mut baseline = Baseline::default();
        let texts = ["0 b\n1 a\nfirst a\nlines 9\n", "0 a\n1 b\nfirst b\nlines 9\n"].repeat(5);
        texts.iter().for_each(|text| baseline.add_unrecorded(&run(text)));
        baseline.add(&run("0 b\n1 b\nfirst c\nlines 9\n"));
        let told = baseline.unsteady().map(|unsteady| (unsteady.runs, unsteady.line, unsteady.hardly_varies));
        assert_eq!(
            told,
            Some(((5, 10), "0 b".to_string(), false)),
            "a line of two forms is told if none hardly varies"
        );
        baseline.add_unrecorded(&run("0 b\n1 a\nfirst b\nlines 7\n"));
        let kept = serde_json::to_string(&baseline).expect("JSON");
        let again: Baseline = serde_json::from_str(&kept).expect("the same");
        let (line, other) = ("lines 9".to_string(), Some("lines 7".to_string()));
        let unsteady = Unsteady { runs: (10, 11), line, other, hardly_varies: true };
        for baseline in [&baseline, &again] {
            assert_eq!(baseline.unsteady().as_ref(), Some(&unsteady));
        }
    }

    #[test]
    fn a_line_that_varies_where_whole_turns_do_is_not_told() {
        let mut baseline = Baseline::default();
        (0..8).for_each(|_| baseline.add_unrecorded(&run("got 9 of 18\n")));
        for text in ["got 9 of 18\n", "got 7 of 18\n"] {
            baseline.add(&run(text));
            baseline.note_turns(&run(text));
        }
        baseline.add(&run("got 8 of 18\n"));
        assert_eq!(baseline.unsteady(), None);
        baseline.add(&run("got 8 of 17\n"));
        assert_eq!(baseline.unsteady().and_then(|unsteady| unsteady.other), Some("got 8 of 17".to_string()));
    }

    #[test]
    fn a_line_that_each_run_writes_otherwise_is_not_told() {
        let mut baseline = Baseline::default();
        (0..8).for_each(|number| baseline.add_unrecorded(&run(&format!("asked {number} times\n"))));
        assert_eq!(baseline.unsteady(), None);
    }

    #[test]
    fn what_is_kept_says_the_same_of_each_run() {
        let texts = ["open 4, total 18\n", "open 3, total 18\n", "took 1.5 s\nopen 4, total 18\n"];
        let mut baseline = Baseline::default();
        texts[..2].iter().for_each(|text| baseline.add(&run(text)));
        let kept = serde_json::to_string(&baseline).expect("JSON");
        let again: Baseline = serde_json::from_str(&kept).expect("the same");
        for text in texts.into_iter().chain(["open 9, total 18\n", "open 4, total 17\n", "lost\n"]) {
            assert_eq!(again.unusual(&run(text)), baseline.unusual(&run(text)), "{text}");
        }
        assert_eq!(serde_json::to_string(&again).expect("JSON"), kept);
    }

    #[test]
    fn the_order_of_lines_does_not_count() {
        assert_eq!(unusual(&["a\nb\n"], "b\na\n"), None);
    }

    #[test]
    fn numbers_that_vary_by_themselves_do_not_count() {
        let passing = ["open 4, requests 18, total 18\n", "open 3, requests 18, total 15\n"];
        assert_eq!(unusual(&passing, "open 2, requests 18, total 16\n"), None);
        let lost = unusual(&passing, "open 4, requests 17, total 18\n");
        assert_eq!(lost, Some(Some("open 4, requests 17, total 18".to_string())));
        assert_eq!(unusual(&passing, "FAIL\n"), Some(Some("FAIL".to_string())));
    }

    #[test]
    fn a_new_line_counts_where_the_number_of_lines_varies() {
        let passing = ["retry\nok\n", "ok\n"];
        assert_eq!(unusual(&passing, "retry\nretry\nok\n"), None);
        assert_eq!(unusual(&passing, "lost\nok\n"), Some(Some("lost".to_string())));
    }

    #[test]
    fn durations_and_addresses_do_not_count() {
        assert_eq!(unusual(&["took 0.12s at 0x7f12\n"], "took 31 ms at 0xabc\n"), None);
        assert_eq!(unusual(&["real 0m0.01s, in all 00:00:00.01\n"], "real 0m2.5s, in all 0:01:02\n"), None);
        assert_eq!(unusual(&["0.000MB/s, 12 requests/sec\n"], "1.5 MB/s, 7 requests/sec\n"), None);
        assert_eq!(unusual(&["1/2 sent\n"], "2/2 sent\n"), Some(Some("2/2 sent".to_string())));
        assert_eq!(unusual(&["waited 3 times\n"], "waited 4 times\n"), Some(Some("waited 4 times".to_string())));
    }
}

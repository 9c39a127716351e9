//! Real traces, whole or changed, and what `predict` says of them.

use foretrace::options::Options;
use foretrace::predict::{Totals, predict};
use foretrace::verdict::{Decider, Decision, Verdict};
use foretrace_trace::{EventId, Format, Observed, Trace, Transaction, Triple, observe, read, read_from};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The folder of the repository's own traces.
pub fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/traces")
}

/// The traces of the repository and of the collection, by file name.
pub fn all_files() -> Vec<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/traces");
    let collection = std::env::var_os("FORETRACE_TRACES").map_or(beside, PathBuf::from);
    let mut files: BTreeMap<String, PathBuf> = BTreeMap::new();
    for folder in [collection, corpus()] {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        for path in entries.flatten().map(|entry| entry.path()).filter(|path| Format::of_path(path).is_some()) {
            files.insert(path.file_name().expect("an entry has a name").to_string_lossy().into_owned(), path);
        }
    }
    files.into_values().collect()
}

/// A trace of the corpus as text.
pub fn text(name: &str) -> String {
    std::fs::read_to_string(corpus().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A valid trace with what its run showed.
pub struct Real {
    pub name: String,
    pub trace: Trace,
    pub observed: Observed,
}

impl Real {
    /// A trace of the corpus.
    pub fn named(name: &str) -> Real {
        Real::at(&corpus().join(name))
    }

    pub fn at(path: &Path) -> Real {
        Real::new(&path.display().to_string(), read(path).unwrap_or_else(|error| panic!("{error}")))
    }

    /// A trace that a test has changed.
    pub fn from_text(name: &str, text: &str) -> Real {
        Real::new(name, read_from(text.as_bytes(), name).unwrap_or_else(|error| panic!("{error}")))
    }

    fn new(name: &str, trace: Trace) -> Real {
        let observed = observe(&trace).expect("a trace that was read is valid");
        Real { name: name.to_string(), trace, observed }
    }

    pub fn options(&self) -> Options {
        Options::new(self.trace.data)
    }

    pub fn transactions(&self) -> Vec<Transaction> {
        self.options().atomic.transactions(&self.trace)
    }

    /// What `predict` decides, with options of choice.
    pub fn predict(&self, options: &Options) -> (Vec<Decision>, Totals) {
        let transactions = options.atomic.transactions(&self.trace);
        let mut found = Vec::new();
        let stop = AtomicBool::new(false);
        let totals = predict(&self.trace, &self.observed, &transactions, options, &stop, &mut found)
            .unwrap_or_else(|error| panic!("{}: {error}", self.name));
        (found, totals)
    }

    /// The first event that is so.
    pub fn find(&self, wanted: impl Fn(EventId) -> bool) -> EventId {
        let found = self.trace.iter().map(|(id, _)| id).find(|id| wanted(*id));
        found.unwrap_or_else(|| panic!("{} has no such event", self.name))
    }
}

/// Every filter.
pub fn filters() -> impl Iterator<Item = Decider> {
    Decider::ALL.into_iter().filter(|decider| *decider != Decider::Smt)
}

/// Whether each candidate is feasible; none may be undecided.
pub fn verdicts(name: &str, decisions: &[Decision]) -> BTreeMap<Triple, bool> {
    let verdict = |decision: &Decision| match &decision.verdict {
        Verdict::Feasible(_) => true,
        Verdict::Infeasible => false,
        Verdict::Unknown(limit) => panic!("{name}: {} is unknown: {limit}", decision.triple),
    };
    decisions.iter().map(|decision| (decision.triple, verdict(decision))).collect()
}

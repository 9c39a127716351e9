//! Mutants: changes code that verdicts depend on, one operator, condition, statement or function at a time, and runs the tests that reach
//! each change. A change that no test notices is a gap in the tests, or makes no difference.
//!
//! All changes of an area are compiled at once, each behind a number that an environment variable chooses ("mutant schemata": Untch, Offutt,
//! Harrold, *Mutation analysis using mutant schemata*, ISSTA 1993). So a change costs the time of some tests, and no compilation.

pub mod area;
pub mod changes;
pub mod compile;
pub mod outcome;
pub mod rewrite;
pub mod run;
pub mod tree;

use anyhow::Result;
use area::Area;
use outcome::{Outcome, Record, Summary};
use run::End;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;

/// Which changes are asked for, and how.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Only changes whose names have this text.
    pub only: Option<String>,
    /// Only those that no test noticed in the last run. The others keep what became of them.
    pub again: bool,
    /// How many tests run at a time.
    pub jobs: usize,
    /// The most seconds that a test may take without a change; longer ones are left out.
    pub longest: Option<u64>,
    /// Of a hundred changes, how many are taken: always the same ones.
    pub share: Option<u64>,
}

impl Options {
    /// Whether a change is asked for.
    pub fn asks(&self, change: &str) -> bool {
        // FNV-1a: the same number in each run and for each compiler.
        let number = change
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |n: u64, byte| (n ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        self.only.as_ref().is_none_or(|text| change.contains(text.as_str()))
            && self.share.is_none_or(|share| (number >> 32) % 100 < share)
    }

    /// Whether what became of a change holds for a run that leaves out these tests and no others.
    fn trusts(&self, record: &Record) -> bool {
        let fewer = record.longest.is_some_and(|then| self.longest.is_none_or(|now| then < now));
        !(fewer && record.outcome.is_unnoticed())
    }
}

/// Changes the area of the repository at `root`, with all files of its own below `place`.
pub fn run(
    root: &Path,
    place: &Path,
    area: &Area,
    equivalents: &BTreeMap<String, String>,
    options: &Options,
) -> Result<Summary> {
    let own = place.join(&area.name);
    std::fs::create_dir_all(&own)?;
    let compile::Compiled { tree, left_out, binaries } = compile::compile(root, place, area)?;
    let file = own.join("outcomes.jsonl");
    let mut known: BTreeMap<String, Record> = BTreeMap::new();
    if let Some((fingerprint, records)) = outcome::read(&file) {
        let keeps = |record: &Record| {
            (fingerprint == tree.fingerprint && options.trusts(record))
                || (options.again && !record.outcome.is_unnoticed())
        };
        known.extend(records.into_iter().filter(keeps).map(|record| (record.change.clone(), record)));
    }
    let names: BTreeSet<&str> = tree.changes.iter().map(|change| change.name.as_str()).collect();
    known.retain(|name, _| names.contains(name.as_str()));
    for change in tree.changes.iter().filter(|change| left_out.contains(&change.number)) {
        let record = Record { change: change.name.clone(), outcome: Outcome::DoesNotCompile, by: None, longest: None };
        known.insert(change.name.clone(), record);
    }
    let asked: Vec<_> =
        tree.changes.iter().filter(|change| !known.contains_key(&change.name) && options.asks(&change.name)).collect();
    let first: Vec<Record> = known.values().cloned().collect();
    let kept = Mutex::new(outcome::write(&file, tree.fingerprint, &first)?);
    let known = Mutex::new(known);
    let (tests, too_long) = match asked.is_empty() {
        true => Default::default(),
        false => run::reach(area, &binaries, tree.fingerprint, &own, options)?,
    };
    if !too_long.is_empty() {
        eprintln!("{}: {} tests are left out: {}", area.name, too_long.len(), too_long.join(", "));
    }
    let longest = options.longest.filter(|_| !too_long.is_empty());
    let time: f64 = tests.iter().map(|test| test.time.as_secs_f64()).sum();
    eprintln!("{}: {} tests of {time:.1} s, {} changes to run", area.name, tests.len(), asked.len());
    run::in_parallel(&asked, options.jobs, |nth, change| {
        let is_reached = tests.iter().any(|test| test.reached.contains(&change.number));
        let (outcome, by) = match run::notice(&tests, change.number)? {
            Some((test, End::TooLong)) => (Outcome::TimedOut, Some(test.name.clone())),
            Some((test, _)) => (Outcome::Killed, Some(test.name.clone())),
            None if is_reached => (Outcome::Survived, None),
            None => (Outcome::NotReached, None),
        };
        if nth % 100 == 99 {
            eprintln!("{}: {} of {}", area.name, nth + 1, asked.len());
        }
        let record = Record { change: change.name.clone(), outcome, by, longest };
        outcome::add(&mut kept.lock().expect("no thread panics"), &record)?;
        known.lock().expect("no thread panics").insert(change.name.clone(), record);
        Ok(())
    })?;
    let known = known.into_inner().expect("no thread panics");
    let records: Vec<Record> = tree
        .changes
        .iter()
        .filter_map(|change| known.get(&change.name))
        .filter(|record| options.asks(&record.change))
        .cloned()
        .collect();
    // A part of the changes says nothing about what the others' lines claim, nor do some of the tests.
    let is_whole = options.only.is_none() && options.share.is_none();
    Ok(Summary { too_long, ..outcome::summary(&records, equivalents, |file| area.has(file) && is_whole) })
}

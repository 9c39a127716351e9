//! Making a trace of a recording: what the walk is asked for, and what it says of the trace.

use super::files::{stage_trace, write_trace};
use anyhow::{Context, bail};
use foretrace::recorder::{WalkedBy, keep_call_stacks, keep_unlogged};
use foretrace_trace::Data;
use foretrace_walker::{Options, Statistics, walk};
use std::collections::BTreeMap;
use std::path::Path;

/// What a walk is asked for, and how that is noted.
pub struct Walking {
    pub options: Options,
    pub by: WalkedBy,
}

/// Whether a walk found a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// It did.
    Blocks,
    /// None of what was asked for.
    Nothing,
}

/// A trace that was made.
pub struct Made {
    /// What is in it, in words.
    pub told: String,
    /// Whether a block is.
    pub found: Found,
    /// By place of the program's own code, where inside of a library its accesses happen.
    pub inside: BTreeMap<String, String>,
}

/// What becomes of a trace without blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Or {
    /// It is written all the same.
    Write,
    /// It is an error, and nothing is written.
    Fail,
}

/// That a walk found nothing of what was asked for.
pub const NOTHING: &str =
    "found no transactions: no block that fits --atomic, --include and --focus accesses shared memory twice";

/// Walks a recording and writes its trace; the result says what is in it, and whether a block is.
pub fn walk_to(recording: &Path, output: &Path, walking: &Walking, or: Or) -> anyhow::Result<Made> {
    let (walked, staged) = walk(recording, &walking.options, |walked| stage_trace(&walked.trace, output))?;
    let found = if walked.statistics.transactions > 0 { Found::Blocks } else { Found::Nothing };
    let wants_operations = walking.options.operations.is_some();
    let has_no_operations = wants_operations && walked.statistics.named_operations == 0;
    if has_no_operations && or == Or::Fail {
        bail!("{}: {NO_OPERATIONS}{}", recording.display(), unknown_of_operations(&walked.statistics));
    }
    if !wants_operations && (found, or) == (Found::Nothing, Or::Fail) {
        bail!("{}: {NOTHING}", recording.display());
    }
    match staged? {
        Some(staged) => staged.put_in_place().with_context(|| output.display().to_string())?,
        None => write_trace(&walked.trace, Some(output), None)?,
    }
    if output.parent() == Some(recording) {
        keep_call_stacks(recording, &walked.trace)?;
        if !walked.statistics.unlogged.is_empty() {
            keep_unlogged(recording, &walked).with_context(|| recording.display().to_string())?;
        }
    }
    let (events, threads) = (walked.trace.events.len(), walked.trace.threads.len());
    let part = if walked.statistics.begins_later { ", of the end of the run, which cannot be replayed" } else { "" };
    let is_full = walked.statistics.ends_early && !walked.statistics.ends_unexplained;
    let end = if is_full { ENDS_EARLY } else { "" };
    let told = match walked.trace.data {
        Data::Concrete => concrete(&walked.statistics),
        _ => told(&walked.statistics),
    };
    let races = raced(walked.statistics.races);
    let operations = if wants_operations { operations(&walked.statistics) } else { String::new() };
    let told = format!(
        "{told}{operations}{}{races}{}{}{}",
        foreign(&walked.statistics),
        not_held(&walked.statistics),
        unseen_writes(&walked.statistics),
        unexplained(&walked.statistics)
    );
    let told = format!("{events} events of {threads} threads{part}{end}, {told}");
    Ok(Made { told, found, inside: walked.statistics.inside })
}

/// That a walk found no operation by the names that were asked for.
const NO_OPERATIONS: &str = "found no operations: no function that was called and recorded fits --operations";

/// The operations by names of functions, in words, and what is not known of them.
fn operations(statistics: &Statistics) -> String {
    let unknown = unknown_of_operations(statistics);
    match statistics.named_operations {
        0 => format!(", {NO_OPERATIONS}{unknown}"),
        1 => format!(", 1 operation{unknown}"),
        count => format!(", {count} operations{unknown}"),
    }
}

fn unknown_of_operations(statistics: &Statistics) -> String {
    let unknown: Vec<&str> = statistics.unknown_of_operations.iter().map(String::as_str).collect();
    match unknown.len() {
        0 => String::new(),
        1..=4 => format!(" (not known: {})", unknown.join(", ")),
        all => format!(" (not known: {}, and {} more)", unknown[..3].join(", "), all - 3),
    }
}

/// What is said where the logs go on.
const ENDS_EARLY: &str = ", not to the end of what was recorded: accesses that were left out of the logs would make more \
    events than the logs may have records (more: --max-size when recording; else --serial)";

/// How general a trace is, in a few words.
fn told(statistics: &Statistics) -> String {
    let mut pins: Vec<(&str, u64)> = statistics.pins.iter().map(|(what, count)| (what.as_str(), *count)).collect();
    pins.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let most: Vec<String> = pins.iter().take(3).map(|(what, count)| format!("{count} × {what}")).collect();
    let mut told = match pins.iter().map(|(_, count)| count).sum::<u64>() {
        0 => "no value pinned".to_string(),
        1 => format!("1 value pinned ({})", pins[0].0),
        all => format!("{all} values pinned ({})", most.join(", ")),
    };
    told += &external(statistics);
    told
}

/// The same of a trace without expressions.
fn concrete(statistics: &Statistics) -> String {
    let mut told = "values only, no expressions (built with gcc)".to_string();
    told += &external(statistics);
    told
}

/// How often code that was not recorded wrote to shared memory, if it did.
fn external(statistics: &Statistics) -> String {
    match statistics.external_writes {
        0 => String::new(),
        writes => format!(", {writes} writes by code that was not recorded"),
    }
}

/// What is said of code that foretrace did not build.
fn foreign(statistics: &Statistics) -> String {
    let names: Vec<&str> = statistics.foreign.iter().take(3).map(String::as_str).collect();
    match statistics.foreign.len() {
        0 => String::new(),
        1..=3 => format!(", {} may order threads unseen (not built by foretrace)", names.join(", ")),
        all => format!(", {} and {} more may order threads unseen (not built by foretrace)", names.join(", "), all - 3),
    }
}

/// What is said of functions of the C library whose writes the trace does not have.
fn unseen_writes(statistics: &Statistics) -> String {
    let names: Vec<&str> = statistics.unseen_writes.iter().take(3).map(String::as_str).collect();
    match statistics.unseen_writes.len() {
        0 => String::new(),
        1..=3 => format!(", without what {} may have written", names.join(", ")),
        all => format!(", without what {} and {} more functions may have written", names.join(", "), all - 3),
    }
}

/// Names the places where threads unlock what they do not hold.
fn not_held(statistics: &Statistics) -> String {
    let places: Vec<&str> = statistics.not_held.iter().take(3).map(String::as_str).collect();
    match statistics.not_held.len() {
        0 => String::new(),
        1..=3 => format!(", {NOT_HELD} {}", places.join(", ")),
        all => format!(", {NOT_HELD} {} and {} more", places.join(", "), all - 3),
    }
}

/// Comes before the places.
const NOT_HELD: &str = "without unlocks by a thread that does not hold the lock:";

/// What is said of values that are not certain.
fn raced(races: u64) -> String {
    match races {
        0 => String::new(),
        races => format!(
            ", {races} accesses at the same time as another thread's: the program may have seen other values, record in serial mode"
        ),
    }
}

/// What is said where the log does not fit to the program, which a thread that was cancelled in the middle of a function explains.
fn unexplained(statistics: &Statistics) -> String {
    let Some(first) = statistics.mismatches.first() else { return String::new() };
    let count = statistics.mismatch_count;
    let cost = match statistics.ends_unexplained {
        true => "the trace ends there",
        false => "what the thread reads there is pinned",
    };
    format!(", {count} places where the log does not explain the program, the first {first}: {cost}")
}

//! Which violations are looked for: triples of accesses, whole blocks, or both.

use super::choices::Choice;
use foretrace::serializability::{Bounds, Method};
use foretrace_trace::{Trace, VarId};
use foretrace_walker::Pattern;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// What is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Property {
    /// Three accesses of one variable.
    Triples,
    /// Whole blocks, over all their variables.
    Serializability,
    /// Triples, of blocks what no triple shows, and uses of memory after its `free`.
    Both,
    /// Histories of operations.
    Linearizability,
}

/// The values of `--property`.
pub const PROPERTIES: &[Choice<Property>] = &[
    ("triples", "two accesses of a transaction with another thread's in between, of one variable", Property::Triples),
    (
        "serializability",
        "whole blocks, over all their variables: what `foretrace serializability` decides",
        Property::Serializability,
    ),
    (
        "linearizability",
        "whether another schedule has a history of operations that does not fit --spec",
        Property::Linearizability,
    ),
    (
        "both",
        "triples, and with bounded work: violations of whole blocks that no triple shows, and uses of memory after its free",
        Property::Both,
    ),
];

/// The values of `--decide`.
pub const METHODS: &[Choice<Method>] = &[
    ("both", "exploration for a while, then the solver, then exploration to the end", Method::Both),
    ("explore", "exploration alone", Method::Explore),
    ("solve", "the solver alone", Method::Solve),
];

/// Which of a trace's variables fit one of these patterns.
pub fn fitting(trace: &Trace, patterns: &[String]) -> Vec<bool> {
    let patterns: Vec<Pattern> = patterns.iter().map(|pattern| Pattern::new(pattern)).collect();
    trace.vars.iter().map(|var| patterns.iter().any(|pattern| pattern.fits(var.shown()))).collect()
}

/// Whether a variable is among those that fit; all are where there are no patterns and `unless_none` says so.
pub fn is_among(fitting: &[bool], var: VarId) -> bool {
    fitting.get(var.index()).copied().unwrap_or(false)
}

/// The bounds of blocks by options: time of one block, and of the whole run from its start.
pub fn bounds(of_block: Option<Duration>, of_run: Option<Duration>, stop: &AtomicBool) -> Bounds<'_> {
    let deadline =
        of_run.and_then(|limit| Instant::now().checked_add(limit.saturating_sub(super::outcome::since_start())));
    Bounds { of_block, deadline, work: None, stop }
}

//! The models side by side: how many candidates each leaves, and why `ctp` refutes what another allows.
//!
//! Candidates that orders or locks refute are counted and dropped. The others are decided in blocks (`round.rs`): each block goes
//! through the pipeline of `predict` once for every model. So memory stays bounded for any number of candidates.

mod asked;
mod block;
mod known;
mod outcome;
mod round;
mod verdicts;
mod worker;

pub use asked::{Asked, Contest, Listener, MODELS};
pub use outcome::{Comparison, Counts, Disagreement, Said};

use crate::candidates::Candidates;
use crate::explain::granted;
use crate::filters::{Locksets, RemoteClasses, Screen};
use foretrace_encodings::TraceView;
use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_solve::Limits;
use round::Round;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Compares models.
///
/// # Errors
/// As [`crate::predict::predict`]; what the listener says; where a verdict and its argument contradict each other.
pub fn compare(asked: Asked<'_>, stop: &AtomicBool, listener: &mut dyn Listener) -> anyhow::Result<Comparison> {
    let start = Instant::now();
    let Asked { trace, observed, options, .. } = asked;
    let deadline = options.budget.map(|budget| start + budget);
    listener.so_far(&Comparison::new(asked.contest.models.len()));
    let trace_index = TraceIndex::new(trace);
    let clocks = MustHappenBefore::new(trace, &trace_index);
    let ordered = Instant::now();
    let locksets = Locksets::new(trace, &trace_index);
    let remote_classes = RemoteClasses::new(trace, &trace_index, &locksets);
    let filters = [ordered - start, ordered.elapsed()];
    let candidates = Candidates::new(trace, &trace_index, asked.transactions);
    let granted = granted(trace, &trace_index);
    let view = TraceView { trace, trace_index: &trace_index, observed, clocks: &granted };
    let limits = Limits { timeout: options.timeout, deadline, work: None, stop };
    let screen = Screen::new(trace, &trace_index, &clocks, &locksets, |_| true);
    let count = candidates.count(options.candidates);
    let mut comparison =
        Round::new(asked, view, &clocks, limits, count, filters, listener).all(&candidates, screen, &remote_classes)?;
    comparison.sum();
    comparison.interrupted = stop.load(Ordering::Relaxed);
    Ok(comparison)
}

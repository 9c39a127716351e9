//! What can happen in a trace, one candidate for each class: what is asked of a trace in which a repair holds.

use crate::blocks::NamedBlocks;
use crate::options::{CandidateSet, Options, Per, Strategy};
use crate::predict::{Sink, predict};
use crate::verdict::{Decision, Verdict};
use foretrace_trace::{Observed, Trace, Triple};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What can happen.
#[derive(Clone, Debug, Default)]
pub struct Remaining {
    /// Candidates that are feasible, at least one of each class that has any.
    pub feasible: Vec<Triple>,
    /// Candidates that are off the path.
    pub off_path: Vec<Triple>,
    /// Candidates that were not decided.
    pub undecided: Vec<Triple>,
    /// Whether all candidates were reached.
    pub complete: bool,
}

impl Sink for Remaining {
    fn decision(&mut self, decision: &Decision) -> anyhow::Result<()> {
        match &decision.verdict {
            Verdict::Feasible(_) => self.feasible.push(decision.triple),
            Verdict::Unknown(_) => self.undecided.push(decision.triple),
            Verdict::Infeasible if decision.off_path.is_some() => self.off_path.push(decision.triple),
            Verdict::Infeasible => {}
        }
        Ok(())
    }

    fn takes_refuted(&self) -> bool {
        true
    }
}

/// Decides the candidates of a trace, with the question and the limits of `options`.
///
/// # Errors
/// As [`predict`].
pub fn remaining(
    trace: &Trace,
    observed: &Observed,
    options: &Options,
    stop: &AtomicBool,
) -> anyhow::Result<Remaining> {
    let options = Options {
        candidates: CandidateSet::Adjacent,
        per: Per::Location,
        strategy: Strategy::Demand,
        dump_smt2: None,
        verdicts_only: true,
        blocks: Some(Arc::new(NamedBlocks::new(trace, options.atomic))),
        ..options.clone()
    };
    let transactions = options.atomic.transactions(trace);
    let mut found = Remaining::default();
    let totals = predict(trace, observed, &transactions, &options, stop, &mut found)?;
    found.complete = totals.unreached == 0 && !totals.interrupted;
    Ok(found)
}

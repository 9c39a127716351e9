//! What foretrace says of a row: the paper's columns.

use super::rows::{self, Figures};
use foretrace::options::{CandidateSet, Options, Per, Strategy};
use foretrace::predict::{Sink, Totals, predict};
use foretrace::verdict::{Decider, Decision, Verdict};
use foretrace_trace::{Atomic, EventId, Feasibility, Independence, Model, Op, Question, Trace, Triple};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What one strategy makes of a row.
pub struct Measured {
    /// The paper's columns.
    pub figures: Figures,
    /// Which candidates can happen, as far as they were decided.
    pub verdicts: BTreeMap<Triple, bool>,
}

impl Measured {
    /// Whether every candidate was decided.
    pub fn is_whole(&self) -> bool {
        self.verdicts.len() as u64 == self.figures.candidates
    }
}

#[derive(Default)]
struct Verdicts(BTreeMap<Triple, bool>);

impl Sink for Verdicts {
    fn decision(&mut self, decision: &Decision) -> anyhow::Result<()> {
        if !matches!(decision.verdict, Verdict::Unknown(_)) {
            self.0.insert(decision.triple, matches!(decision.verdict, Verdict::Feasible(_)));
        }
        Ok(())
    }
}

/// Decides every candidate of a row within the limit, each for itself, under guarded independence, by one thread.
pub fn measure(name: &str, strategy: Strategy, limit: Duration) -> anyhow::Result<Measured> {
    let trace = rows::trace(name)?;
    let observed = foretrace_trace::observe(&trace)?;
    let transactions = Atomic::Marked.transactions(&trace);
    let question =
        Question { model: Model::Ctp, feasibility: Feasibility::Prefix, independence: Independence::Guarded };
    let options = Options {
        question,
        candidates: CandidateSet::All,
        per: Per::Event,
        strategy,
        jobs: 1,
        timeout: limit,
        budget: Some(limit),
        ..Options::new(trace.data)
    };
    let mut verdicts = Verdicts::default();
    let totals = predict(&trace, &observed, &transactions, &options, &AtomicBool::new(false), &mut verdicts)?;
    Ok(Measured { figures: figures(&trace, &totals), verdicts: verdicts.0 })
}

fn figures(trace: &Trace, totals: &Totals) -> Figures {
    let refuted = |asked: Decider| {
        totals.decided_by.iter().filter(|(by, _)| *by == asked).map(|(_, tally)| tally.infeasible).sum::<u64>()
    };
    let after_orders = totals.candidates - refuted(Decider::MustHappenBefore);
    Figures {
        threads: trace.threads.len(),
        shared: shared(trace),
        events: (trace.events.len(), trace.events.len()),
        regions: totals.transactions,
        candidates: totals.candidates,
        after_orders,
        feasible: totals.decided_by.iter().map(|(_, tally)| tally.feasible).sum(),
        seconds: totals.elapsed.as_secs_f64(),
        without_data: after_orders - refuted(Decider::CutPoints),
    }
}

/// Variables and synchronisation objects that more than one thread accesses.
fn shared(trace: &Trace) -> usize {
    let mut threads: BTreeMap<(bool, u32), BTreeSet<u32>> = BTreeMap::new();
    for index in 0..trace.events.len() {
        let event = trace.event(EventId::from_index(index));
        let syncs = match event.op {
            Op::Acquire { lock } | Op::Release { lock } => vec![lock],
            Op::Wait { cond, lock } | Op::Wake { cond, lock, .. } => vec![cond, lock],
            Op::Signal { cond } | Op::Broadcast { cond } => vec![cond],
            _ => Vec::new(),
        };
        let objects = event.op.var().map(|var| (false, var.0)).into_iter().chain(syncs.iter().map(|s| (true, s.0)));
        for object in objects {
            threads.entry(object).or_default().insert(event.thread.0);
        }
    }
    threads.values().filter(|threads| threads.len() > 1).count()
}

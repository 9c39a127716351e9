//! What each filter did: how much it decided and how long that took.

use super::judgement::Judgement;
use crate::verdict::Decider;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// What one filter did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FilterCount {
    /// Candidates that it was asked about.
    pub asked: u64,
    /// Those that it proved feasible.
    pub feasible: u64,
    /// Those that it refuted.
    pub infeasible: u64,
    /// Of these, the ones that need a pin.
    pub pinned: u64,
    /// Time spent, in all threads together.
    pub time: Duration,
}

/// What the filters did, in the order in which they are asked.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FilterReport(pub Vec<(Decider, FilterCount)>);

/// The counts while workers add to them.
#[derive(Debug, Default)]
pub(super) struct Counters([Counter; Decider::ALL.len()]);

#[derive(Debug, Default)]
struct Counter {
    asked: AtomicU64,
    feasible: AtomicU64,
    infeasible: AtomicU64,
    pinned: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Counters {
    pub fn count(&self, decider: Decider, judgement: Option<&Judgement>, time: Duration) {
        let Some(counter) = self.counter_of(decider) else { return };
        counter.asked.fetch_add(1, Relaxed);
        counter.nanoseconds.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Relaxed);
        match judgement {
            None => {}
            Some(Judgement::Feasible { .. }) => {
                counter.feasible.fetch_add(1, Relaxed);
            }
            Some(Judgement::Infeasible { rests_on_pin, .. }) => {
                counter.infeasible.fetch_add(1, Relaxed);
                counter.pinned.fetch_add(u64::from(*rests_on_pin), Relaxed);
            }
        }
    }

    /// Counts candidates that were asked and refuted together.
    pub fn count_screened(&self, decider: Decider, asked: u64, refuted: u64, time: Duration) {
        let Some(counter) = self.counter_of(decider) else { return };
        counter.asked.fetch_add(asked, Relaxed);
        counter.infeasible.fetch_add(refuted, Relaxed);
        counter.nanoseconds.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Relaxed);
    }

    fn counter_of(&self, decider: Decider) -> Option<&Counter> {
        Decider::ALL.iter().position(|other| *other == decider).and_then(|at| self.0.get(at))
    }

    pub fn report(&self) -> FilterReport {
        let counts = Decider::ALL.iter().zip(&self.0).filter(|(decider, _)| decider.is_filter());
        let read = |counter: &Counter| FilterCount {
            asked: counter.asked.load(Relaxed),
            feasible: counter.feasible.load(Relaxed),
            infeasible: counter.infeasible.load(Relaxed),
            pinned: counter.pinned.load(Relaxed),
            time: Duration::from_nanos(counter.nanoseconds.load(Relaxed)),
        };
        FilterReport(counts.map(|(decider, counter)| (*decider, read(counter))).collect())
    }
}

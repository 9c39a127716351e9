//! Orders that every prefix keeps, asked for where candidates are refuted or not easy.
//!
//! Where code runs in rounds, what refutes the candidates of one round often rests on what refutes those of the round before. The solver forgets a
//! refutation with its question. An order stays: it refutes all candidates beyond it, and later questions take it as a fact.
//!
//! An order that rests on pins is a fact only for questions that assume pinned values.

use crate::filters::Effort;
use foretrace_solve::KnownOrder;
use foretrace_trace::{EventId, ThreadId, Trace, Triple};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// Most orders that are kept: each is a constraint of every solver.
const MOST_ORDERS: usize = 1 << 14;

/// Which orders are asked for together: of the events of one thread, before or after a pair.
pub(super) type Side = (EventId, EventId, ThreadId, bool);

/// The orders that a worker knows, and how often it was of use to ask for some.
#[derive(Default)]
pub(super) struct Orders {
    all: FxHashSet<KnownOrder>,
    by_threads: FxHashMap<(ThreadId, ThreadId), Vec<KnownOrder>>,
    /// Those that the worker found and did not report yet.
    pub(super) new: Vec<KnownOrder>,
    /// The orders of earlier stages that the worker took in last.
    pub(super) told: Option<Arc<[KnownOrder]>>,
    pub(super) asked: FxHashSet<Side>,
    /// How often a question found orders.
    pub(super) effort: Effort,
    /// Whether the last question was of use: then orders are asked for before candidates.
    pub(super) come_first: bool,
}

impl Orders {
    /// Takes in an order, if it is new and there is room.
    pub(super) fn add(&mut self, trace: &Trace, order: KnownOrder) -> bool {
        if self.all.len() >= MOST_ORDERS || !self.all.insert(order) {
            return false;
        }
        let threads = (trace.event(order.earlier).thread, trace.event(order.later).thread);
        self.by_threads.entry(threads).or_default().push(order);
        true
    }

    /// Whether a known order refutes a candidate: remote comes before first, or after second. Then whether that rests on pins.
    pub(super) fn refutes(&self, trace: &Trace, Triple { first, remote, second }: Triple) -> Option<bool> {
        [self.keep(trace, remote, first), self.keep(trace, second, remote)].into_iter().flatten().min()
    }

    /// Whether known orders say that one event comes before another; then whether that rests on pins.
    fn keep(&self, trace: &Trace, earlier: EventId, later: EventId) -> Option<bool> {
        let orders = self.by_threads.get(&(trace.event(earlier).thread, trace.event(later).thread))?;
        let says_so = |order: &&KnownOrder| earlier <= order.earlier && order.later <= later;
        orders.iter().filter(says_so).map(|order| order.rests_on_pin).min()
    }

    /// Whether orders are asked for before candidates are.
    pub(super) fn come_first(&self) -> bool {
        self.come_first
    }

    /// Those that were found since this was last asked.
    pub(super) fn take_new(&mut self) -> Vec<KnownOrder> {
        std::mem::take(&mut self.new)
    }

    /// From now on each side of a pair may be asked about again.
    pub(super) fn forget_asked(&mut self) {
        self.asked.clear();
    }
}

//! Filters: what decides candidates without a solver.
//!
//! Each is sound for the model that it serves: it refutes only what no prefix of that model shows, and proves only by
//! a schedule that the checker has run. So none changes a verdict, and each can be switched off.

mod early_refutation;
mod early_witness;
mod forced_reads;
mod locksets;
mod must_happen_before;
mod orders;
mod report;
mod segment;
#[cfg(test)]
mod tests;

pub use forced_reads::{Forced, ForcedRead, ReadRule, Reads};
pub use locksets::Locksets;
pub use orders::Orders;
pub use report::{FilterCount, FilterReport};
pub use segment::AtomicitySegment;

use crate::options::Options;
use crate::schedule::simpler;
use crate::verdict::Decider;
use early_refutation::{EarlyRefutation, ReadIndex};
use early_witness::EarlyWitness;
use foretrace_trace::{
    EventId, MustHappenBefore, Observed, Question, Semantics, Structure, Trace, Transaction, Triple, Unsupported,
    Witness, check,
};
use report::Counters;
use std::collections::BTreeSet;
use std::time::Instant;

/// Schedules of one candidate that the checker may refuse before its witness is left to the solver.
const MOST_CHECKS: usize = 4;

/// What a filter found out.
#[derive(Clone, Debug)]
pub enum Judgement {
    /// No prefix of the model shows the candidate.
    Infeasible {
        /// The filter that proved it.
        by: Decider,
        /// Whether the proof needs that a pinned value stays as it was.
        rests_on_pin: bool,
    },
    /// The checker has run a schedule that shows it.
    Feasible {
        /// The proof.
        witness: Box<Witness>,
    },
}

/// How much was tried for the candidates of one class, so that a class whose witnesses cannot be guessed does not cost a
/// try for each of its candidates.
///
/// One value belongs to one class and goes through its candidates in their order: then the same run gives the same
/// results, whoever works on it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effort {
    failures: u32,
    pause: u32,
}

/// Failures of a class before tries become rarer.
const PATIENCE: u32 = 8;

impl Effort {
    fn may_try(&mut self) -> bool {
        if self.pause > 0 {
            self.pause -= 1;
            return false;
        }
        true
    }

    fn failed(&mut self) {
        self.failures += 1;
        let doublings = self.failures.saturating_sub(PATIENCE).min(12);
        self.pause = (1 << doublings) - 1;
    }

    fn succeeded(&mut self) {
        *self = Effort::default();
    }
}

/// Orders with the reads that they leave no choice about.
#[derive(Debug)]
struct Forcing {
    orders: Orders,
    reads: ReadIndex,
}

impl Forcing {
    fn new(trace: &Trace, structure: &Structure, reads: &Reads<'_>, rule: ReadRule, question: Question) -> Forcing {
        let orders = Orders::new(trace, structure, reads, rule, question.feasibility);
        let reads = ReadIndex::new(trace, &orders.reads);
        Forcing { orders, reads }
    }
}

/// All filters of one analysis run. Workers share it.
pub struct Filters<'a> {
    trace: &'a Trace,
    structure: &'a Structure,
    transactions: &'a [Transaction],
    question: Question,
    without: BTreeSet<Decider>,
    clocks: MustHappenBefore,
    locksets: &'a Locksets,
    /// What holds without pins, and what holds with them where that is more.
    forcing: Forcing,
    with_pins: Option<Forcing>,
    refutation: EarlyRefutation<'a>,
    semantics: &'a Semantics<'a>,
    witness: EarlyWitness<'a>,
    counters: Counters,
}

/// What the filters are made of and borrow.
pub struct Basis<'a> {
    structure: &'a Structure,
    observed: &'a Observed,
    semantics: Semantics<'a>,
    locksets: Locksets,
}

impl<'a> Basis<'a> {
    /// Prepares a valid trace for questions in one model.
    pub fn new(
        trace: &'a Trace,
        structure: &'a Structure,
        observed: &'a Observed,
        question: Question,
    ) -> Result<Basis<'a>, Unsupported> {
        let semantics = Semantics::new(trace, observed, question.model)?;
        Ok(Basis { structure, observed, semantics, locksets: Locksets::new(trace, structure) })
    }
}

impl<'a> Filters<'a> {
    /// Prepares the filters that `options` do not switch off.
    pub fn new(basis: &'a Basis<'a>, transactions: &'a [Transaction], options: &Options) -> Filters<'a> {
        let Basis { structure, observed, semantics, locksets } = basis;
        let (trace, question) = (semantics.trace(), options.question);
        let reads = Reads::new(trace, structure, observed);
        let (rule, rule_with_pins) = ReadRule::of(question.model);
        let rule_with_pins = rule_with_pins.filter(|_| reads.any_pin());
        Filters {
            trace,
            structure,
            transactions,
            question,
            without: options.without.clone(),
            clocks: MustHappenBefore::new(trace, structure),
            locksets,
            forcing: Forcing::new(trace, structure, &reads, rule, question),
            with_pins: rule_with_pins.map(|rule| Forcing::new(trace, structure, &reads, rule, question)),
            refutation: EarlyRefutation::new(trace, structure, question.feasibility),
            semantics,
            witness: EarlyWitness::new(structure, observed, semantics, locksets, question),
            counters: Counters::default(),
        }
    }

    /// Decides a candidate, if one of the filters can.
    pub fn judge(&self, triple: Triple, effort: &mut Effort) -> Option<Judgement> {
        Decider::ALL.into_iter().filter(|decider| !self.without.contains(decider)).find_map(|decider| {
            let start = Instant::now();
            let judgement = self.ask(decider, triple, effort);
            self.counters.count(decider, judgement.as_ref(), start.elapsed());
            judgement
        })
    }

    fn ask(&self, decider: Decider, triple: Triple, effort: &mut Effort) -> Option<Judgement> {
        let infeasible = |rests_on_pin| Judgement::Infeasible { by: decider, rests_on_pin };
        let (trace, structure) = (self.trace, self.structure);
        match decider {
            Decider::MustHappenBefore => {
                must_happen_before::refutes(trace, structure, &self.clocks, triple).then(|| infeasible(false))
            }
            Decider::CutPoints => {
                self.locksets.refute(trace, structure, &self.clocks, triple).then(|| infeasible(false))
            }
            Decider::Segment => self
                .with_or_without_pins(|forcing| segment::refutes(trace, structure, &forcing.orders, triple))
                .map(infeasible),
            Decider::EarlyWitness => self.early_witness(triple, effort),
            Decider::EarlyRefutation => self
                .with_or_without_pins(|forcing| self.refutation.refutes(&forcing.orders, &forcing.reads, triple))
                .map(infeasible),
            Decider::Smt => None,
        }
    }

    /// Whether `refutes` does so, and whether it needs pins for that.
    fn with_or_without_pins(&self, refutes: impl Fn(&Forcing) -> bool) -> Option<bool> {
        if refutes(&self.forcing) {
            return Some(false);
        }
        self.with_pins.as_ref().filter(|forcing| refutes(forcing)).map(|_| true)
    }

    fn early_witness(&self, triple: Triple, effort: &mut Effort) -> Option<Judgement> {
        if !effort.may_try() {
            return None;
        }
        let found = self.witness.schedules(triple).take(MOST_CHECKS).find_map(|schedule| self.prove(triple, &schedule));
        match &found {
            Some(_) => effort.succeeded(),
            None => effort.failed(),
        }
        found.map(|witness| Judgement::Feasible { witness: Box::new(witness) })
    }

    /// The simplest schedule near this one that the checker accepts, as a witness.
    pub fn prove(&self, triple: Triple, schedule: &[EventId]) -> Option<Witness> {
        let check = |schedule: &[EventId]| {
            check(self.semantics, self.transactions, self.question, triple, schedule).ok()
        };
        simpler(self.trace, self.question.feasibility, triple, schedule)
            .find_map(|simpler| check(&simpler))
            .or_else(|| check(schedule))
    }

    /// The trace atomicity segment between a transaction's first and last access.
    pub fn segment(&self, first: EventId, last: EventId) -> AtomicitySegment {
        AtomicitySegment::new(self.trace, self.structure, &self.forcing.orders, first, last)
    }

    /// What each filter has decided so far, and how long it took.
    pub fn report(&self) -> FilterReport {
        self.counters.report()
    }
}

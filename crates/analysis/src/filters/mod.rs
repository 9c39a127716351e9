//! Filters: what decides candidates without a solver.
//!
//! Each is sound for the model that it serves: it refutes only what no prefix of that model shows, and proves only by
//! a schedule that the checker has run. So none changes a verdict, and each can be switched off.

mod early_refutation;
mod early_witness;
mod enabling_sets;
mod flags;
mod forced_reads;
mod inferred_exclusion;
mod inferred_locks;
mod inferred_tickets;
mod judgement;
mod known_writes;
mod locksets;
mod must_happen_before;
mod orders;
mod regions;
mod remote_classes;
mod report;
mod segment;
mod signals;
#[cfg(test)]
mod tests;
mod wake_search;

pub(crate) use early_witness::{Guide, Span, Way};
pub use forced_reads::{Forced, ForcedRead, ReadRule, Reads};
pub use judgement::Judgement;
pub use locksets::Locksets;
pub use orders::Orders;
pub(crate) use regions::{RegionsByThread, region_around, regions_by_thread};
pub use remote_classes::{RemoteClass, RemoteClasses, SCREENS, Screen, ScreenedAccesses};
pub use report::{FilterCount, FilterReport};
pub use segment::AtomicitySegment;

use crate::candidates::{Class, Pair};
use crate::options::Options;
use crate::schedule;
use crate::verdict::Decider;
use early_refutation::{EarlyRefutation, ReadIndex};
use early_witness::EarlyWitness;
use flags::Flags;
use foretrace_checker::{Checker, Interruption, Witness};
use foretrace_encodings::TraceView;
use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_trace::{EventId, Feasibility, Question, Trace, Transaction, Triple, Value};
use inferred_locks::InferredLocks;
use report::Counters;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Schedules of one candidate that the checker may refuse before its witness is left to the solver.
const MOST_CHECKS: usize = 4;

/// How often something was tried in vain, as guessing the witnesses of one class. Tries become rarer then, so that such a class
/// does not cost a try for each of its candidates: each failure beyond the first few doubles the candidates until the next try, up to 4096.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Effort {
    failures: u32,
    pause: u32,
}

/// Failures before tries become rarer.
const PATIENCE: u32 = 8;

impl Effort {
    /// Whether to try now.
    pub(crate) fn may_try(&mut self) -> bool {
        let may = self.pause == 0;
        self.pause = self.pause.saturating_sub(1);
        may
    }

    /// Takes note of a try.
    pub(crate) fn tried(&mut self, found: bool) {
        self.failures = if found { 0 } else { self.failures + 1 };
        self.pause = (1 << self.failures.saturating_sub(PATIENCE).min(12)) - 1;
    }
}

/// Orders with the reads that they leave no choice about.
#[derive(Debug)]
struct Forcing {
    orders: Orders,
    reads: ReadIndex,
    flags: Flags,
}

impl Forcing {
    fn new(
        trace: &Trace,
        trace_index: &TraceIndex,
        (reads, inferred): (&Reads<'_>, &InferredLocks),
        rule: ReadRule,
        question: Question,
        go_on: &dyn Fn() -> bool,
    ) -> Forcing {
        let orders = Orders::within(trace, trace_index, reads, rule, question.feasibility, go_on);
        let mut flags = match go_on() {
            true => Flags::new(trace, trace_index, reads, rule, &orders.clocks),
            false => Flags::default(),
        };
        flags.add_locks(inferred);
        let reads = ReadIndex::new(trace, &orders.reads);
        Forcing { orders, reads, flags }
    }
}

/// All filters of one analysis run.
///
/// Threads may share it; but who decides a candidate is the same in every run only if those of one class are judged in
/// their order.
pub struct Filters<'a> {
    view: TraceView<'a>,
    question: Question,
    without: BTreeSet<Decider>,
    locksets: Locksets,
    /// What holds without pins, and what holds with them where that is more.
    forcing: Forcing,
    with_pins: Option<Forcing>,
    refutation: EarlyRefutation<'a>,
    /// Nothing where the trace knows too little for the model.
    witness: Option<(EarlyWitness<'a>, Checker<'a>)>,
    efforts: Mutex<FxHashMap<Class, Effort>>,
    counters: Counters,
}

impl<'a> Filters<'a> {
    /// Prepares the filters for a question. `constants` are reads that return one value in every prefix of its model.
    pub fn new(
        view: TraceView<'a>,
        transactions: &'a [Transaction],
        options: &Options,
        constants: &FxHashMap<EventId, Value>,
    ) -> Filters<'a> {
        Filters::within(view, transactions, options, constants, &|| true)
    }

    /// The same as long as `go_on` agrees: filters that are prepared in part refute and prove less.
    pub fn within(
        view: TraceView<'a>,
        transactions: &'a [Transaction],
        options: &Options,
        constants: &FxHashMap<EventId, Value>,
        go_on: &dyn Fn() -> bool,
    ) -> Filters<'a> {
        let TraceView { trace, trace_index, observed, clocks, .. } = view;
        let question = options.question;
        let mut reads = Reads::new(trace, trace_index, observed, constants);
        let (rule, rule_with_pins) = ReadRule::of_model(question.model);
        let mut inferred = InferredLocks::new((trace, trace_index, observed), &reads, rule, clocks);
        if matches!(rule, ReadRule::Conditions { .. }) {
            inferred_tickets::add(&mut inferred, (trace, trace_index), clocks);
            inferred_exclusion::add(&mut inferred, (trace, trace_index), &reads, rule, clocks);
        }
        reads.add_regions(&inferred.sections);
        if go_on() {
            let flags = Flags::new(trace, trace_index, &reads, rule, clocks);
            let sections = flags.sections(trace, reads.regions().len());
            reads.add_regions(&sections);
        }
        let forcing = |rule| Forcing::new(trace, trace_index, (&reads, &inferred), rule, question, go_on);
        let locksets = Locksets::new(trace, trace_index);
        let witness = EarlyWitness::within(trace, trace_index, observed, &locksets, question, go_on).ok();
        let checker = Checker::new(trace, observed, transactions, question).ok();
        let checker = checker.map(|checker| checker.within(options.context_switches));
        let with_pins = rule_with_pins.filter(|_| reads.any_pin()).map(forcing);
        let forcing = forcing(rule);
        let refutation =
            EarlyRefutation::new((trace, trace_index), question.feasibility, (reads.into_regions(), inferred.taken_at));
        Filters {
            view,
            question,
            without: options.without.clone(),
            locksets,
            forcing,
            with_pins,
            refutation,
            witness: witness.zip(checker),
            efforts: Mutex::default(),
            counters: Counters::default(),
        }
    }

    /// The orders that hold in every prefix of the model, by pins or without.
    pub fn clocks(&self) -> &MustHappenBefore {
        &self.with_pins.as_ref().unwrap_or(&self.forcing).orders.clocks
    }

    /// Decides a candidate, if one of the filters that are switched on can.
    pub fn judge(&self, triple: Triple) -> Option<Judgement> {
        self.judge_by(&Decider::ALL, triple)
    }

    /// The same where [`Filters::judge_remote_classes`] has left the candidate open.
    pub fn judge_left(&self, triple: Triple) -> Option<Judgement> {
        self.judge_by(&Decider::ALL[SCREENS.len()..], triple)
    }

    /// What one of the filters says of a candidate, if it is switched on.
    pub(crate) fn judge_only(&self, decider: Decider, triple: Triple) -> Option<Judgement> {
        self.judge_by(&[decider], triple)
    }

    /// Makes schedules in which many of the accesses in these spans interrupt the pair `ends`. There are none if the filter is switched
    /// off, or if most reads stop their thread.
    pub(crate) fn sweeps(
        &self,
        ends: (EventId, EventId),
        spans: &[Span],
        way: Way<'_>,
    ) -> Option<impl Iterator<Item = Vec<EventId>>> {
        let (witnesses, _) = self.witness.as_ref().filter(|_| !self.without.contains(&Decider::EarlyWitness))?;
        witnesses.goes_on().then(|| witnesses.sweeps(&self.locksets, ends, spans, way))
    }

    /// Whether [`Filters::by_handshakes`] may find something: no value counts, and threads wait for signals.
    pub(crate) fn has_handshakes(&self) -> bool {
        let witnesses = self.witness.as_ref().filter(|_| !self.without.contains(&Decider::EarlyWitness));
        witnesses.is_some_and(|(witnesses, _)| witnesses.has_handshakes())
    }

    /// A schedule that may show the pair `ends` interrupted by the earliest of these accesses, and by more of them, made by a search
    /// for who signals whom.
    pub(crate) fn by_handshakes(&self, ends: (EventId, EventId), span: Span) -> Option<Vec<EventId>> {
        let (witnesses, _) = self.witness.as_ref()?;
        witnesses.by_handshakes(&self.locksets, ends, span)
    }

    /// The remote accesses of the trace, for [`Filters::judge_remote_classes`].
    pub fn remote_classes(&self) -> RemoteClasses {
        RemoteClasses::new(self.view.trace, self.view.trace_index, &self.locksets)
    }

    /// What must-happen-before and cut-points, as far as they are switched on, say of a pair with each access of these
    /// classes of remote accesses, as `parts`; returns how long each took.
    pub fn judge_remote_classes<'b>(
        &self,
        pair: Pair,
        remote_classes: impl Iterator<Item = &'b RemoteClass>,
        parts: &mut Vec<ScreenedAccesses<'b>>,
    ) -> [Duration; 2] {
        let TraceView { trace, trace_index, clocks, .. } = self.view;
        let asks = |decider| !self.without.contains(&decider);
        parts.clear();
        let times = Screen::new(trace, trace_index, clocks, &self.locksets, asks).judge(pair, remote_classes, parts);
        let count = |of: &dyn Fn(Option<Decider>) -> bool| {
            parts.iter().filter(|part| of(part.refuted_by)).map(|part| part.accesses.len() as u64).sum()
        };
        let mut asked: u64 = count(&|_| true);
        for (decider, time) in SCREENS.into_iter().zip(times).filter(|(decider, _)| asks(*decider)) {
            let refuted = count(&|by| by == Some(decider));
            self.counters.count_screened(decider, asked, refuted, time);
            asked -= refuted;
        }
        times
    }

    fn judge_by(&self, deciders: &[Decider], triple: Triple) -> Option<Judgement> {
        deciders.iter().copied().filter(|decider| !self.without.contains(decider)).find_map(|decider| {
            let start = Instant::now();
            let judgement = self.ask(decider, triple);
            self.counters.count(decider, judgement.as_ref(), start.elapsed());
            judgement
        })
    }

    fn ask(&self, decider: Decider, triple: Triple) -> Option<Judgement> {
        let infeasible = |rests_on_pin| Judgement::Infeasible { by: decider, rests_on_pin };
        let TraceView { trace, trace_index, clocks, .. } = self.view;
        match decider {
            Decider::MustHappenBefore => {
                must_happen_before::refutes(trace, trace_index, clocks, triple).then(|| infeasible(false))
            }
            Decider::CutPoints => self.locksets.refute(trace, trace_index, clocks, triple).then(|| infeasible(false)),
            Decider::Segment => self
                .with_or_without_pins(|forcing| segment::refutes(trace, trace_index, &forcing.orders, triple))
                .map(infeasible),
            Decider::EarlyWitness => self.early_witness(triple),
            Decider::EarlyRefutation => self
                .with_or_without_pins(|forcing| {
                    forcing.flags.refutes(trace, triple)
                        || self.refutation.refutes(&forcing.orders, &forcing.reads, triple)
                })
                .map(infeasible),
            Decider::States | Decider::Smt => None,
        }
    }

    /// Whether no prefix that ends with `later` holds `earlier` before, by early refutation, with pins or without.
    pub(crate) fn refutes_order(&self, earlier: EventId, later: EventId) -> bool {
        let is_on = !self.without.contains(&Decider::EarlyRefutation);
        let refutes =
            |forcing: &Forcing| self.refutation.refutes_sequence(&forcing.orders, &forcing.reads, &[earlier, later]);
        is_on && self.with_or_without_pins(refutes).is_some()
    }

    /// Whether `refutes` does so, and whether it needs pins for that.
    fn with_or_without_pins(&self, refutes: impl Fn(&Forcing) -> bool) -> Option<bool> {
        if refutes(&self.forcing) {
            return Some(false);
        }
        self.with_pins.as_ref().filter(|forcing| refutes(forcing)).map(|_| true)
    }

    fn early_witness(&self, triple: Triple) -> Option<Judgement> {
        let (witnesses, checker) = self.witness.as_ref()?;
        let checked = |schedule: Vec<EventId>| {
            let shorter = schedule::shorter(self.view.trace, self.question.feasibility, triple, &schedule);
            checker.check(triple, &shorter).or_else(|_| checker.check(triple, &schedule)).ok()
        };
        let feasible = |witness| Judgement::Feasible { witness: Box::new(witness) };
        if let Some(witness) = witnesses.recorded(triple).and_then(checked) {
            return Some(feasible(witness));
        }
        let class = Class::by_locations(self.view.trace, triple);
        if !self.effort(class, Effort::may_try) {
            return None;
        }
        let found = witnesses.schedules(&self.locksets, triple).take(MOST_CHECKS).find_map(checked);
        self.effort(class, |effort| effort.tried(found.is_some()));
        found.map(feasible)
    }

    /// A checked prefix that holds first and then remote of a candidate, and not second, if one is found without a solver.
    pub fn interruption(&self, triple: Triple) -> Option<Witness<Interruption>> {
        let (witnesses, checker) = self.witness.as_ref().filter(|_| !self.without.contains(&Decider::EarlyWitness))?;
        let checked = |schedule: Vec<EventId>| {
            let shorter = schedule::shorter(self.view.trace, Feasibility::Prefix, triple, &schedule);
            let check = |schedule: &[EventId]| checker.check(Interruption(triple), schedule).ok();
            check(&shorter).or_else(|| check(&schedule))
        };
        witnesses.interruptions(&self.locksets, triple).take(MOST_CHECKS).find_map(checked)
    }

    /// Whether no prefix holds first and then remote of a candidate, and not second, by the orders that hold in every prefix (remote comes
    /// before first, or after second) or by a flag or lock that both threads own. Not for filters of complete executions. A prefix may
    /// end within a step of several events, so what comes before a step's later events need not come before remote there: the solver decides that.
    pub fn refutes_interruption(&self, triple: Triple) -> bool {
        let TraceView { trace, trace_index, .. } = self.view;
        let Forcing { orders, flags, .. } = self.with_pins.as_ref().unwrap_or(&self.forcing);
        let asks = |decider| !self.without.contains(&decider);
        let ends_step = trace.event(triple.remote).part.is_none_or(|(part, parts)| part == parts);
        ends_step
            && (asks(Decider::Segment) && segment::refutes(trace, trace_index, orders, triple)
                || asks(Decider::EarlyRefutation) && flags.refutes(trace, triple))
    }

    fn effort<T>(&self, class: Class, change: impl FnOnce(&mut Effort) -> T) -> T {
        if class.is_one_candidate() {
            return change(&mut Effort::default());
        }
        let mut efforts = self.efforts.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        change(efforts.entry(class).or_default())
    }

    /// The trace atomicity segment between a transaction's first and last access.
    pub fn segment(&self, first: EventId, last: EventId) -> AtomicitySegment {
        AtomicitySegment::new(self.view.trace, &self.forcing.orders, first, last)
    }

    /// What each filter has decided so far, and how long it took.
    pub fn report(&self) -> FilterReport {
        self.counters.report()
    }
}

//! What an assignment of a solver makes of every constraint, by our own evaluation.

use super::{Answer, KnownOrder, Limits, Outcome, Session};
use crate::Order;
use foretrace_checker::oracle::candidates;
use foretrace_encodings::{Atom, Reads, Rules, TraceView, constant_reads};
use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_trace::strategies::{Shape, random_trace};
use foretrace_trace::{
    Atomic, EventId, Feasibility, Independence, Model, Node, Question, Semantics, State, TermId, Terms, Value,
};
use indexmap::IndexSet;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

impl Session<'_> {
    /// The values of all atoms of the arena under the solver's assignment, of order atoms by the places of their steps.
    fn values(&mut self, terms: &Terms<Atom>) -> FxHashMap<Atom, Value> {
        let mut values = FxHashMap::default();
        for term in terms.iter() {
            let Node::Leaf(atom) = terms.node(term) else { continue };
            let value = match atom {
                Atom::Before(a, b) => {
                    let place = |step: &EventId| (self.solver.place(*step), *step);
                    (place(a) < place(b)).into()
                }
                _ => self.solver.value(terms, term),
            };
            values.insert(*atom, value);
        }
        values
    }
}

/// Ways to decide order.
const ORDERS: [Order; 2] = [Order::Auto, Order::Order];

/// Random traces, each in all models that its data allows, for prefixes and for complete runs.
fn for_each_case(seeds: Range<u64>, mut check: impl FnMut(u64, TraceView<'_>, Model, Feasibility)) {
    for seed in seeds {
        let (trace, observed) = random_trace(seed, &Shape::default());
        let trace_index = TraceIndex::new(&trace);
        let clocks = MustHappenBefore::new(&trace, &trace_index);
        let view = TraceView { trace: &trace, trace_index: &trace_index, observed: &observed, clocks: &clocks };
        let models = [Model::Cam, Model::Ctp, Model::Mcm, Model::Avp];
        for model in models.into_iter().filter(|model| model.needs() <= trace.data) {
            check(seed, view, model, Feasibility::Prefix);
            check(seed, view, model, Feasibility::Complete);
        }
    }
}

/// In the assignment of every feasible query, every constraint and goal has the value true by our own evaluation.
#[test]
fn assignments_fulfil_all_constraints() {
    for order in [Order::Idl, Order::Order, Order::Sat] {
        fulfil_all_constraints(order);
    }
}

fn fulfil_all_constraints(order: Order) {
    let stop = AtomicBool::new(false);
    let limits = Limits { timeout: Duration::from_secs(60), deadline: None, work: None, stop: &stop };
    let (mut feasible, mut evaluated) = (0, 0);
    for_each_case(0..40, |seed, view, model, feasibility| {
        let trace = view.trace;
        let independence = if model.has_values() { Independence::Guarded } else { Independence::Conflict };
        let rules = Rules::for_question(Question { model, feasibility, independence });
        let constants = if rules.reads == Reads::Latest { constant_reads(view) } else { Default::default() };
        let mut session = Session::new(view, rules, &constants, order, 0);
        for triple in candidates(trace, &Atomic::Threads.transactions(trace)) {
            let guarded = triple.patterns(trace).next().filter(|_| model.has_values());
            let query = session.encoder.query(triple, guarded);
            session.begin(&query).expect("the solver speaks of all that random traces hold");
            let outcome = session.ask(Some(query.pins), limits);
            assert!(outcome != Outcome::Beyond, "seed {seed}, {model}, {feasibility}, {triple}");
            if outcome != Outcome::Sat {
                session.solver.end();
                continue;
            }
            feasible += 1;
            let constraints: Vec<TermId> = session.encoder.constraints().iter().map(|c| c.term).collect();
            let terms = session.encoder.build().terms.clone();
            let values = session.values(&terms);
            // The SAT solver gives tokens as many numbers as it likes.
            let has_number = |atom: &&Atom| order != Order::Sat || !matches!(atom, Atom::Token(_));
            for term in constraints.into_iter().chain(query.goals).chain([query.pins]) {
                if !terms.leaves(term).iter().all(has_number) {
                    continue;
                }
                let holds = terms.evaluate(term, &mut |atom| values[atom].clone());
                assert!(holds.is_true(), "seed {seed}, {model}, {feasibility}, {triple}: {:?}", terms.node(term));
                evaluated += 1;
            }
            session.solver.end();
        }
    });
    assert!(feasible > 200 && evaluated > 10_000, "{feasible} feasible queries, {evaluated} constraints");
}

/// The orders of events of different threads that some prefix breaks, by running through all of them; for complete feasibility, some
/// execution of all events.
fn broken_orders(semantics: &Semantics<'_>, feasibility: Feasibility) -> FxHashSet<(EventId, EventId)> {
    let trace = semantics.trace();
    let mut states = IndexSet::from([semantics.initial()]);
    let mut steps: Vec<(usize, EventId, usize)> = Vec::new();
    let mut at = 0;
    while let Some(state) = states.get_index(at).cloned() {
        for event in semantics.next_events(&state) {
            let releasable = semantics.releasable(&state, event);
            let choices: Vec<_> =
                if releasable.is_empty() { vec![None] } else { releasable.into_iter().map(Some).collect() };
            for released in choices {
                let mut next = state.clone();
                if semantics.step(&mut next, event, released).is_ok() {
                    steps.push((at, event, states.insert_full(next).0));
                }
            }
        }
        at += 1;
    }
    let ends = |state: &State| feasibility == Feasibility::Prefix || semantics.is_complete(state);
    let mut counts: Vec<bool> = states.iter().map(ends).collect();
    // Each step leads to a state that was found later, or again: until nothing changes.
    while steps.iter().any(|(from, _, to)| counts[*to] && !std::mem::replace(&mut counts[*from], true)) {}
    let mut broken = FxHashSet::default();
    for (from, later, to) in &steps {
        for (earlier, _) in trace.iter().filter(|_| counts[*to]) {
            let apart = trace.event(earlier).thread != trace.event(*later).thread;
            if apart && !semantics.is_done(&states[*from], earlier) {
                broken.insert((earlier, *later));
            }
        }
    }
    broken
}

/// Which orders every prefix keeps, and that verdicts stay as they are when these are known, also in whether they rest on pins.
#[test]
fn orders_are_kept_as_all_prefixes_say() {
    let stop = AtomicBool::new(false);
    let limits = Limits { timeout: Duration::from_secs(60), deadline: None, work: None, stop: &stop };
    let (mut kept, mut broken, mut decided) = (0, 0, 0);
    let (mut kept_by_pins, mut refuted_by_pins) = (0, 0);
    for_each_case(0..30, |seed, view, model, feasibility| {
        let TraceView { trace, trace_index, observed, .. } = view;
        let rules = Rules::for_question(Question { model, feasibility, independence: Independence::Conflict });
        let constants = if rules.reads == Reads::Latest { constant_reads(view) } else { Default::default() };
        let semantics = Semantics::new(trace, observed, model).expect("the model fits");
        let all_broken = broken_orders(&semantics, feasibility);
        let mut session = Session::new(view, rules.clone(), &constants, Order::Auto, 0);
        let mut knowing = Session::new(view, rules, &constants, ORDERS[seed as usize % ORDERS.len()], 0);
        for (later, event) in trace.iter() {
            let alone = trace_index.step(trace, later) == (later, later) && event.part.is_none();
            if !alone || event.op.var().is_none() {
                continue;
            }
            for (earlier, other) in trace.iter().filter(|(_, other)| other.thread != event.thread) {
                let (is_broken, rests_on_pin) = match session.decide_orders_and_pins(&[(earlier, later)], limits) {
                    Answer::Feasible(_) => (true, false),
                    Answer::Infeasible { rests_on_pin } => (false, rests_on_pin),
                    Answer::Unknown(limit) => panic!("{limit:?}"),
                };
                let asked = format!("seed {seed}, {model}, {feasibility}, {earlier} before {later} ({other:?})");
                assert_eq!(is_broken, all_broken.contains(&(earlier, later)), "{asked}");
                if is_broken {
                    broken += 1;
                } else {
                    kept += 1;
                    kept_by_pins += usize::from(rests_on_pin);
                    knowing.know_order(KnownOrder { earlier, later, rests_on_pin });
                }
            }
        }
        let mut remotes: BTreeMap<_, (Vec<EventId>, bool)> = BTreeMap::new();
        for triple in candidates(trace, &Atomic::Threads.transactions(trace)) {
            let [without, with] = [&mut session, &mut knowing]
                .map(|session| session.decide_any(triple.first, &[triple.remote], triple.second, limits));
            assert_eq!(without.kind(), with.kind(), "seed {seed}, {model}, {feasibility}, {triple}");
            let alone = session.decide(triple, None, limits);
            let by_pins = |answer: &Answer| matches!(answer, Answer::Infeasible { rests_on_pin: true });
            let with = knowing.decide(triple, None, limits);
            assert_eq!(by_pins(&alone), by_pins(&with), "seed {seed}, {model}, {feasibility}, {triple} and pins");
            refuted_by_pins += usize::from(by_pins(&alone));
            assert_eq!(without.kind(), alone.kind(), "seed {seed}, {model}, {feasibility}, {triple} by itself");
            let all = remotes.entry((triple.first, triple.second)).or_insert((vec![], false));
            all.0.push(triple.remote);
            all.1 |= matches!(alone, Answer::Feasible(_));
            decided += 1;
        }
        for ((first, second), (remotes, is_feasible)) in remotes {
            let any = matches!(session.decide_any(first, &remotes, second, limits), Answer::Feasible(_));
            assert_eq!(
                any, is_feasible,
                "seed {seed}, {model}, {feasibility}, any of {remotes:?} in {first} to {second}"
            );
        }
    });
    assert!(kept_by_pins > 10 && refuted_by_pins > 5, "{kept_by_pins} kept, {refuted_by_pins} refuted by pins");
    assert!(kept > 1_000 && broken > 1_000 && decided > 1_000, "{kept} kept, {broken} broken, {decided} decided");
}

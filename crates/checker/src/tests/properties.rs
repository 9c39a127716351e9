//! What must hold of every random trace: models and questions include each other, oracle and checker agree.

use crate::oracle::{Oracle, candidates};
use crate::{Checker, check, run_schedule};
use Feasibility::{Complete, Prefix};
use Independence::{Conflict, Guarded};
use Model::{Avp, Cam, Ctp, Mcm};
use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_trace::strategies::{Shape, Topic, random_trace, traces};
use foretrace_trace::{
    Atomic, Data, EventId, Feasibility, Independence, Model, Observed, Pattern, Question, Semantics, Trace,
    Transaction, Triple, VarId, validate,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

type Decided = BTreeMap<Triple, Option<Pattern>>;

/// All verdicts of one trace for the questions that it can be asked.
fn all_verdicts(trace: &Trace, observed: &Observed) -> BTreeMap<(Model, Feasibility, Independence), Decided> {
    let transactions = Atomic::Marked.transactions(trace);
    let mut all = BTreeMap::new();
    for model in [Cam, Ctp, Mcm, Avp] {
        let Ok(oracle) = Oracle::new(trace, observed, model) else { continue };
        for feasibility in [Prefix, Complete] {
            all.insert((model, feasibility, Conflict), oracle.decide(&transactions, feasibility, Conflict));
            if model.has_values() {
                all.insert((model, feasibility, Guarded), oracle.decide(&transactions, feasibility, Guarded));
            }
        }
    }
    all
}

fn feasible(decided: &Decided) -> BTreeSet<Triple> {
    decided.iter().filter(|(_, pattern)| pattern.is_some()).map(|(triple, _)| *triple).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn random_traces_are_valid((trace, _) in traces(Shape::default())) {
        prop_assert_eq!(validate(&trace), Ok(()));
    }

    #[test]
    fn what_threads_learn_is_all_that_they_know((trace, _) in traces(Shape::default())) {
        let trace_index = TraceIndex::new(&trace);
        let clocks = MustHappenBefore::new(&trace, &trace_index);
        let threads = trace.threads.len();
        for (thread, own) in trace_index.threads.iter().enumerate() {
            let mut known = vec![0; threads];
            for event in own {
                for (other, events) in clocks.learned(*event) {
                    prop_assert!(other != thread && events > known[other], "{event} learns nothing of {other}");
                    known[other] = events;
                }
                for other in (0..threads).filter(|other| *other != thread) {
                    prop_assert_eq!(known[other], clocks.seen(*event, other));
                }
            }
        }
    }

    #[test]
    fn stronger_models_and_questions_find_less((trace, observed) in traces(Shape::default())) {
        let all = all_verdicts(&trace, &observed);
        for ((model, feasibility, independence), decided) in &all {
            let included_in = |key: (Model, Feasibility, Independence)| {
                all.get(&key).is_none_or(|weaker| feasible(decided).is_subset(&feasible(weaker)))
            };
            let weaker_models: &[Model] = match model {
                Cam => &[],
                Ctp => &[Cam],
                Mcm => &[Ctp, Cam],
                Avp => &[Mcm, Ctp, Cam],
            };
            for weaker in weaker_models {
                prop_assert!(included_in((*weaker, *feasibility, *independence)), "{model} in {weaker}");
            }
            prop_assert!(included_in((*model, Prefix, *independence)), "complete in prefix");
            prop_assert!(included_in((*model, *feasibility, Conflict)), "guarded in conflict");
        }
    }

    #[test]
    fn the_recorded_order_is_a_complete_prefix_of_every_model((trace, observed) in traces(Shape::default())) {
        let order: Vec<EventId> = trace.iter().map(|(id, _)| id).collect();
        for model in [Cam, Ctp, Mcm, Avp] {
            if trace.data >= model.needs() {
                let run = run_schedule(&trace, &observed, model, &order);
                prop_assert!(run.is_ok_and(|run| run.complete), "{model}");
            }
        }
    }

    #[test]
    fn every_feasible_triple_has_a_schedule_that_the_checker_accepts((trace, observed) in traces(Shape::default())) {
        let transactions = Atomic::Marked.transactions(&trace);
        for ((model, feasibility, independence), decided) in all_verdicts(&trace, &observed) {
            let question = Question { model, feasibility, independence };
            let oracle = Oracle::new(&trace, &observed, model).expect("the data suffices");
            for (triple, pattern) in decided {
                let Some((shown, schedule)) = oracle.witness(triple, feasibility, independence) else {
                    prop_assert_eq!(pattern, None);
                    continue;
                };
                let witness = check(&trace, &observed, &transactions, question, triple, &schedule);
                let witness = witness.map_err(|error| TestCaseError::fail(error.to_string()))?;
                // The schedule may happen to show an earlier pattern only if that was feasible: it was not.
                prop_assert_eq!((Some(shown), witness.pattern()), (pattern, shown));
                mutated_schedules_are_judged_by_the_steps(&trace, &observed, &transactions, question, triple, &schedule)?;
            }
        }
    }
}

/// Swaps neighbours and leaves events out: the checker accepts exactly what the oracle's own step function accepts.
fn mutated_schedules_are_judged_by_the_steps(
    trace: &Trace,
    observed: &Observed,
    transactions: &[Transaction],
    question: Question,
    triple: Triple,
    schedule: &[EventId],
) -> Result<(), TestCaseError> {
    let checker = Checker::new(trace, observed, transactions, question).expect("the data suffices");
    let semantics = Semantics::new(trace, observed, question.model).expect("the data suffices");
    let swapped = (1..schedule.len()).map(|place| {
        let mut schedule = schedule.to_vec();
        schedule.swap(place - 1, place);
        schedule
    });
    let shortened = (0..schedule.len()).map(|place| {
        let mut schedule = schedule.to_vec();
        schedule.remove(place);
        schedule
    });
    for mutated in swapped.chain(shortened) {
        let accepted = checker.check(triple, &mutated);
        prop_assert_eq!(semantics.run(&mutated, |_, _| {}).is_ok(), is_prefix(&semantics, &mutated));
        let place = |event| mutated.iter().position(|e| *e == event);
        let places = [place(triple.first), place(triple.remote), place(triple.second)];
        let in_order = places.iter().all(Option::is_some) && places.is_sorted();
        let ends = match question.feasibility {
            Prefix => mutated.last() == Some(&triple.second),
            Complete => mutated.len() == trace.events.len(),
        };
        let may_pass = in_order && ends && is_prefix(&semantics, &mutated);
        if question.independence == Conflict {
            prop_assert_eq!(accepted.is_ok(), may_pass, "{:?}", accepted);
        } else {
            prop_assert!(may_pass || accepted.is_err());
        }
    }
    Ok(())
}

/// Whether some choices of its signals make the order a prefix: tries them all.
fn is_prefix(semantics: &Semantics<'_>, order: &[EventId]) -> bool {
    let mut states = vec![semantics.initial()];
    for event in order {
        let mut next = Vec::new();
        for state in states {
            let waiting = semantics.releasable(&state, *event);
            let choices = if waiting.is_empty() { vec![None] } else { waiting.into_iter().map(Some).collect() };
            for choice in choices {
                let mut state = state.clone();
                if semantics.step(&mut state, *event, choice).is_ok() {
                    next.push(state);
                }
            }
        }
        states = next;
    }
    !states.is_empty()
}

/// Verdicts by the plainest search: every prefix on its own, nothing remembered. For very small traces.
fn by_all_prefixes(trace: &Trace, observed: &Observed, model: Model) -> BTreeSet<Triple> {
    let semantics = Semantics::new(trace, observed, model).expect("the data suffices");
    let all = candidates(trace, &Atomic::Marked.transactions(trace));
    let mut found = BTreeSet::new();
    let mut unexplored: Vec<Vec<EventId>> = vec![vec![]];
    while let Some(prefix) = unexplored.pop() {
        for (event, _) in trace.iter() {
            let longer: Vec<EventId> = prefix.iter().copied().chain([event]).collect();
            if is_prefix(&semantics, &longer) {
                let place = |event| longer.iter().position(|e| *e == event);
                found.extend(all.iter().filter(|triple| {
                    let places = [place(triple.first), place(triple.remote), place(triple.second)];
                    places.iter().all(Option::is_some) && places.is_sorted()
                }));
                unexplored.push(longer);
            }
        }
    }
    found
}

#[test]
fn merging_equal_states_loses_nothing() {
    let mut candidates = 0;
    for seed in 0..150 {
        let (trace, observed) = random_trace(seed, &Shape { events: 8, ..Shape::default() });
        for model in [Cam, Ctp, Mcm, Avp] {
            let Ok(oracle) = Oracle::new(&trace, &observed, model) else { continue };
            let decided = oracle.decide(&Atomic::Marked.transactions(&trace), Prefix, Conflict);
            candidates += decided.len();
            assert_eq!(feasible(&decided), by_all_prefixes(&trace, &observed, model), "seed {seed} {model}");
        }
    }
    assert!(candidates > 300, "only {candidates} candidates");
}

#[test]
fn the_choice_made_for_signals_is_as_good_as_any() {
    let (mut accepted, mut refused, mut choices) = (0, 0, 0);
    for seed in 0..3000 {
        let shape = Shape { events: 12, topics: vec![Topic::Condvar], ..Shape::default() };
        let (trace, observed) = random_trace(seed, &shape);
        let semantics = Semantics::new(&trace, &observed, Cam).expect("cam needs no data");
        for rotation in 1..4 {
            let order = interleaved(&trace, rotation);
            let prefix = is_prefix(&semantics, &order);
            assert_eq!(semantics.run(&order, |_, _| {}).is_ok(), prefix, "seed {seed}, order {order:?}");
            *(if prefix { &mut accepted } else { &mut refused }) += 1;
            choices += usize::from(prefix && has_choice(&semantics, &order));
        }
    }
    assert!(accepted > 1000 && refused > 1000 && choices > 10, "{accepted} {refused} {choices}");
}

/// The events thread by thread, some of each in turn.
fn interleaved(trace: &Trace, turn: usize) -> Vec<EventId> {
    let mut threads: Vec<Vec<EventId>> = vec![Vec::new(); trace.threads.len()];
    trace.iter().rev().for_each(|(id, event)| threads[event.thread.index()].push(id));
    let mut order = Vec::new();
    while order.len() < trace.events.len() {
        for thread in threads.iter_mut().rev() {
            order.extend((0..turn).filter_map(|_| thread.pop()));
        }
    }
    order
}

/// Whether some signal of the order finds two who wait.
fn has_choice(semantics: &Semantics<'_>, order: &[EventId]) -> bool {
    (0..order.len()).any(|length| {
        let state = semantics.run(&order[..length], |_, _| {});
        state.is_ok_and(|state| semantics.releasable(&state, order[length]).len() > 1)
    })
}

#[test]
fn random_traces_cover_the_format_and_ask_real_questions() {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    let mut data: BTreeMap<Data, usize> = BTreeMap::new();
    let (mut with_candidates, mut parts, mut guards, mut external) = (0, 0, 0, 0);
    let mut verdicts: BTreeMap<Model, (usize, usize)> = BTreeMap::new();
    for seed in 0..600 {
        let (trace, observed) = random_trace(seed, &Shape::default());
        assert!(trace.events.len() <= 14 && trace.threads.len() <= 4);
        *data.entry(trace.data).or_default() += 1;
        for event in &trace.events {
            *kinds.entry(event.op.kind()).or_default() += 1;
            parts += usize::from(event.part.is_some());
            guards += usize::from(event.op.var().is_some() && event.op.condition().is_some());
            external += usize::from(event.op.is_external());
        }
        let transactions = Atomic::Marked.transactions(&trace);
        with_candidates += usize::from(!candidates(&trace, &transactions).is_empty());
        for model in [Cam, Ctp, Mcm, Avp] {
            let Ok(oracle) = Oracle::new(&trace, &observed, model) else { continue };
            let decided = oracle.decide(&transactions, Prefix, Conflict);
            let (yes, all) = verdicts.entry(model).or_default();
            *yes += feasible(&decided).len();
            *all += decided.len();
        }
    }
    assert_eq!(kinds.len(), 30, "{kinds:?}");
    assert!(kinds.values().all(|count| *count >= 10), "{kinds:?}");
    assert!(data.len() == 3 && data.values().all(|count| *count >= 60), "{data:?}");
    assert!(with_candidates >= 400, "{with_candidates}");
    assert!(parts >= 100 && guards >= 100 && external >= 20, "{parts} {guards} {external}");
    for (model, (yes, all)) in verdicts {
        let share = 100 * yes / all;
        assert!((20..=95).contains(&share), "{model}: {yes} of {all} feasible");
    }
}

/// What is looked up of writes and regions is what a look at all of them says.
#[test]
fn structure_of_random_traces_is_what_a_look_at_all_events_says() {
    let (mut next_writes, mut contended, mut alone) = (0, 0, 0);
    for seed in 0..300 {
        let (trace, _) = random_trace(seed, &Shape { events: 60, ..Shape::default() });
        let trace_index = TraceIndex::new(&trace);
        for (var, writes) in trace_index.writes.iter().enumerate() {
            let by_thread: Vec<&[EventId]> = trace_index.writes_by_thread(&trace, VarId::from_index(var)).collect();
            let mut all = by_thread.concat();
            all.sort_unstable();
            assert_eq!(all, *writes, "seed {seed}");
            for own in by_thread {
                let of_thread = |write: &EventId| trace.event(*write).thread == trace.event(own[0]).thread;
                assert!(own.is_sorted() && own.iter().all(of_thread), "seed {seed}: {own:?}");
                assert_eq!(writes.iter().filter(|write| of_thread(write)).count(), own.len(), "seed {seed}: {own:?}");
            }
            for (nth, write) in writes.iter().enumerate() {
                let same_thread = |other: &&EventId| trace.event(**other).thread == trace.event(*write).thread;
                let next = writes[nth + 1..].iter().find(same_thread).copied();
                next_writes += usize::from(next.is_some());
                assert_eq!(trace_index.next_write(&trace, *write), next, "seed {seed}, event {write}");
            }
        }
        for regions in &trace_index.regions {
            for region in regions {
                let expected = regions.iter().any(|other| region.excludes(other));
                *if expected { &mut contended } else { &mut alone } += 1;
                assert_eq!(trace_index.is_contended(region), expected, "seed {seed}, {region:?}");
            }
        }
    }
    assert!(next_writes > 100 && contended > 100 && alone > 100, "{next_writes}, {contended}, {alone}");
}
